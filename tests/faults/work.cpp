#include "work.hpp"

#include <dsl/scan.hpp>

#include <filesystem>
#include <numeric>
#include <tuple>

#include "../scratch_folder.hpp"
#include "checks.hpp"

namespace faults {

namespace {

void transfers() {
  dsl::array<integer> x = dsl::to_device(counted), zeros = dsl::zeros<integer>(n), none,
                      sevens = dsl::full<integer>(7, n);
  want(x.copy_to_host() == counted, "what was sent", made_by::transfers);
  changes("a copy", zeros, counted, [&] { zeros = x; }, made_by::transfers);
  changes(
      "a copy to a target without memory", none, counted, [&] { none = x; }, made_by::transfers);
  changes("a fill", sevens, numbers(n, 9), [&] { sevens = 9; });
  changes("a fill with zeros", sevens, numbers(n, 0), [&] { sevens = 0; });
  want(x(dsl::slice(0, dsl::end, 3)).copy_to_host() ==
           numbers_of(n / 3, [](integer i) { return 3 * i % 1000; }),
       "elements apart from each other");
  dsl::scalar<integer> one = 5;
  changes("a scalar", one, {8}, [&] { one = 8; });
  x(17) = 4;
  want(x(17).value() == 4, "an element");
}

void maps() {
  const dsl::array<integer> x = dsl::to_device(counted);
  dsl::array<integer> y = dsl::ones<integer>(n), fresh, twice, square;
  const auto line = numbers_of(n, [](integer i) { return 2 * (i % 1000) + 1; });
  changes("a formula", y, line, [&] { y = 2 * x + 1; });
  changes("a formula without memory for its target", fresh, line, [&] { fresh = 2 * x + 1; });
  changes("in place", fresh, numbers_of(n, [](integer i) { return 2 * (i % 1000) + 4; }),
          [&] { fresh += 3; });
  const auto both = dsl::vectorize([](auto v) { return std::tuple{2 * v, v * v}; });
  changes("two targets", twice, numbers_of(n, [](integer i) { return 2 * (i % 1000); }),
          [&] { dsl::tie(twice, square) = both(x); });
  want(held_by(square)[30] == 900, "the second target");
  dsl::array<integer> turned = dsl::to_device(counted);
  changes("a target over its operand", turned,
          numbers_of(n, [](integer i) { return (n - 1 - i) % 1000; }),
          [&] { turned = turned(dsl::slice(dsl::end, dsl::end, -1)); });
  const dsl::array<integer, 2> m = dsl::reshape(x, 60, 50);
  dsl::array<integer, 2> t = dsl::zeros<integer>(50, 60);
  changes("a transposed operand", t,
          numbers_of(n, [](integer i) { return (i % 60 * 50 + i / 60) % 1000; }),
          [&] { t = dsl::transpose(m); });
  const dsl::array<integer> index =
      dsl::to_device(numbers_of(n, [](integer i) { return n - 1 - i; }));
  changes("a gather", y, numbers_of(n, [](integer i) { return (n - 1 - i) % 1000; }),
          [&] { y = dsl::take(x, index); });
}

void reductions() {
  const dsl::array<integer> x = dsl::to_device(counted);
  const integer sum = std::accumulate(counted.begin(), counted.end(), integer{0});
  dsl::scalar<integer> total = integer{1}, most = integer{2}, where = integer{3};
  changes("a sum", total, {sum}, [&] { total = dsl::sum(x); });
  changes("a position", where, {999}, [&] { where = dsl::argmax(x); });
  dsl::array<integer> squares;
  const auto three =
      dsl::vectorize([](auto v) { return std::tuple{v * v, dsl::sum(v), dsl::max(v)}; });
  changes("reductions beside an array", most, {999},
          [&] { dsl::tie(squares, total, most) = three(x); });
  want(total.value() == sum && held_by(squares)[30] == 900, "an array beside reductions");
  const dsl::array<integer, 2> m = dsl::reshape(x, 60, 50);
  dsl::array<integer> rows = dsl::zeros<integer>(60), columns;
  const auto element = [](integer r, integer c) { return (50 * r + c) % 1000; };
  const auto sum_of = [](integer count, const auto& value) {
    return [count, value](integer k) {
      integer all = 0;
      for (integer i = 0; i < count; ++i) all += value(k, i);
      return all;
    };
  };
  const auto transposed = [element](integer c, integer r) { return element(r, c); };
  changes("rows", rows, numbers_of(60, sum_of(50, element)),
          [&] { rows = dsl::sum(m, dsl::axis(1)); });
  changes("columns", columns, numbers_of(50, sum_of(60, transposed)),
          [&] { columns = dsl::sum(m, dsl::axis(0)); });
  // Two passes, one after another.
  dsl::array<integer> apart = dsl::to_device(counted);
  changes("a reduction in an expression", apart,
          numbers_of(n, [](integer i) { return i % 1000 - 999; }),
          [&] { apart = apart - dsl::max(apart); });
}

void scans() {
  const dsl::array<integer> x = dsl::to_device(counted);
  numbers sums(counted.size());
  std::partial_sum(counted.begin(), counted.end(), sums.begin());
  dsl::array<integer> c = dsl::ones<integer>(n), over = dsl::to_device(counted);
  changes("a scan", c, sums, [&] { c = dsl::cumsum(x); });
  changes("a scan over its operand", over, sums, [&] { over = dsl::cumsum(over); });
  const dsl::array<integer, 2> m = dsl::reshape(dsl::arange<integer>(2 * n), 2000, 3);
  dsl::array<integer, 2> down = dsl::zeros<integer>(2000, 3);
  changes("a scan of columns", down,
          numbers_of(2 * n,
                     [](integer i) {
                       const integer r = i / 3, column = i % 3;
                       return 3 * r * (r + 1) / 2 + (r + 1) * column;
                     }),
          [&] { down = dsl::cumsum(m, dsl::axis(0)); });
}

void files() {
  const scratch_folder scratch;
  const std::string file = scratch.outer / "x.npy", checkpoint = scratch.folder;
  const dsl::array<integer> x = dsl::to_device(counted);
  dsl::save_npy(file, x(dsl::slice(0, dsl::end, 2)));
  dsl::array<integer> back = dsl::load_npy<integer>(file);
  want(held_by(back) == numbers_of(n / 2, [](integer i) { return 2 * i % 1000; }), "a file");
  dsl::scalar<integer> s = integer{5};
  dsl::save_checkpoint(checkpoint, 12, x, s);
  dsl::array<integer> loaded;
  integer steps = 0;
  s = 6;
  changes(
      "a checkpoint", loaded, counted, [&] { steps = dsl::load_checkpoint(checkpoint, loaded, s); },
      made_by::transfers);
  want(steps == 12, "a checkpoint's steps", made_by::transfers);
  want(s.value() == 5, "a checkpoint's scalar");
}

// Errors of the program's own also leave everything unchanged.
void mistakes() {
  const dsl::array<integer> x = dsl::to_device(counted), shorter = dsl::ones<integer>(n - 1);
  dsl::array<integer> y = dsl::ones<integer>(n);
  bool refused = false;
  try {
    y = x + shorter;
  } catch (const dsl::shape_error&) {
    refused = true;
  }
  want(refused && held_by(y) == numbers(n, 1), "a target of a mistake");
  refused = false;
  try {
    dsl::assign(y, x + 1, {.block = -32});
  } catch (const dsl::device_error&) {
    refused = true;
  }
  want(refused && held_by(y) == numbers(n, 1), "a target of a mistake");
  changes("a statement behind mistakes", y, numbers_of(n, [](integer i) { return i % 1000 + 1; }),
          [&] { y = x + 1; });
}

void memory() {
  dsl::device::current().synchronize();
  const dsl::memory_usage before = dsl::memory_usage_of();
  { const dsl::array<integer> x(1 << 16); }
  dsl::device::current().synchronize();
  dsl::release_memory();
  const dsl::memory_usage after = dsl::memory_usage_of();
  want(after.used == before.used && after.total == before.total, "memory in use");
  dsl::set_release_threshold(SIZE_MAX);
}

void first() {
  const dsl::array<integer> x = dsl::arange<integer>(n) + 1;
  want(held_by(x)[7] == 8, "the first result");
}

}  // namespace

const work& first_work() {
  static const work w{"the first work of a process", first};
  return w;
}

const std::vector<work>& all_work() {
  static const std::vector<work> all = [] {
    std::vector<work> each{
        {"transfers", transfers}, {"maps", maps}, {"reductions", reductions}, {"scans", scans}};
    const std::vector<work> own = own_work(),
                            others{{"files", files}, {"mistakes", mistakes}, {"memory", memory}};
    each.insert(each.end(), own.begin(), own.end());
    each.insert(each.end(), others.begin(), others.end());
    return each;
  }();
  return all;
}

}  // namespace faults
