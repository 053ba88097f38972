#include "work.hpp"

#include <cuda_runtime_api.h>
#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <numeric>
#include <optional>
#include <thread>
#include <tuple>

#include "runtime.hpp"

namespace faults {

namespace {

using dsl::strategy;
using integer = std::int64_t;
using numbers = std::vector<integer>;

// Without kernels there are no results.
void want(bool right, const char* what) {
  if (!right && !is_emulated()) throw wrong_result(what);
}

template <class Of> numbers numbers_of(integer count, const Of& of) {
  numbers all;
  for (integer i = 0; i < count; ++i) all.push_back(of(i));
  return all;
}

// What a target holds; nothing where it has no memory.
template <int Rank> numbers held_by(const dsl::array<integer, Rank>& x) { return x.copy_to_host(); }
numbers held_by(const dsl::scalar<integer>& x) { return {x.value()}; }

// Runs a statement that makes a target hold `after`. Where it fails the target is as it was, or complete.
template <class Target, class Statement>
void changes(const char* what, Target& target, const numbers& after, const Statement& statement) {
  std::optional<numbers> before;
  {
    const pause unseen;
    before = held_by(target);
  }
  try {
    statement();
  } catch (const dsl::error&) {
    const pause unseen;
    const numbers now = held_by(target);
    want(now == *before || now == after, what);
    throw;
  }
  want(held_by(target) == after, what);
}

constexpr integer n = 3000;
const numbers counted = numbers_of(n, [](integer i) { return i % 1000; });

void transfers() {
  dsl::array<integer> x = dsl::to_device(counted), zeros = dsl::zeros<integer>(n), none, sevens = dsl::full<integer>(7, n);
  want(x.copy_to_host() == counted, "what was sent");
  changes("a copy", zeros, counted, [&] { zeros = x; });
  changes("a copy to a target without memory", none, counted, [&] { none = x; });
  changes("a fill", sevens, numbers(n, 9), [&] { sevens = 9; });
  changes("a fill with zeros", sevens, numbers(n, 0), [&] { sevens = 0; });
  want(x(dsl::slice(0, dsl::end, 3)).copy_to_host() == numbers_of(n / 3, [](integer i) { return 3 * i % 1000; }),
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
  changes("in place", fresh, numbers_of(n, [](integer i) { return 2 * (i % 1000) + 4; }), [&] { fresh += 3; });
  const auto both = dsl::vectorize([](auto v) { return std::tuple{2 * v, v * v}; });
  changes("two targets", twice, numbers_of(n, [](integer i) { return 2 * (i % 1000); }),
          [&] { dsl::tie(twice, square) = both(x); });
  want(held_by(square)[30] == 900, "the second target");
  dsl::array<integer> turned = dsl::to_device(counted);
  changes("a target over its operand", turned, numbers_of(n, [](integer i) { return (n - 1 - i) % 1000; }),
          [&] { turned = turned(dsl::slice(dsl::end, dsl::end, -1)); });
  const dsl::array<integer, 2> m = dsl::reshape(x, 60, 50);
  dsl::array<integer, 2> t = dsl::zeros<integer>(50, 60);
  changes("a transposed operand", t, numbers_of(n, [](integer i) { return (i % 60 * 50 + i / 60) % 1000; }),
          [&] { t = dsl::transpose(m); });
  const dsl::array<integer> index = dsl::to_device(numbers_of(n, [](integer i) { return n - 1 - i; }));
  changes("a gather", y, numbers_of(n, [](integer i) { return (n - 1 - i) % 1000; }), [&] { y = dsl::take(x, index); });
}

void reductions() {
  const dsl::array<integer> x = dsl::to_device(counted);
  const integer sum = std::accumulate(counted.begin(), counted.end(), integer{0});
  dsl::scalar<integer> total = integer{1}, most = integer{2}, where = integer{3};
  changes("a sum", total, {sum}, [&] { total = dsl::sum(x); });
  changes("a position", where, {999}, [&] { where = dsl::argmax(x); });
  dsl::array<integer> squares;
  const auto three = dsl::vectorize([](auto v) { return std::tuple{v * v, dsl::sum(v), dsl::max(v)}; });
  changes("reductions beside an array", most, {999}, [&] { dsl::tie(squares, total, most) = three(x); });
  want(total.value() == sum && held_by(squares)[30] == 900, "an array beside reductions");
  const dsl::array<integer, 2> m = dsl::reshape(x, 60, 50);
  dsl::array<integer> rows = dsl::zeros<integer>(60), columns;
  const auto element = [](integer r, integer c) { return (50 * r + c) % 1000; };
  changes("rows", rows,
          numbers_of(60,
                     [&](integer r) {
                       integer all = 0;
                       for (integer c = 0; c < 50; ++c) all += element(r, c);
                       return all;
                     }),
          [&] { rows = dsl::sum(m, dsl::axis(1)); });
  changes("columns", columns,
          numbers_of(50,
                     [&](integer c) {
                       integer all = 0;
                       for (integer r = 0; r < 60; ++r) all += element(r, c);
                       return all;
                     }),
          [&] { columns = dsl::sum(m, dsl::axis(0)); });
  // Two passes, one after another.
  dsl::array<integer> apart = dsl::to_device(counted);
  changes("a reduction in an expression", apart, numbers_of(n, [](integer i) { return i % 1000 - 999; }),
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

constexpr auto mix = dsl::vectorize([](auto x, auto total, auto k) {
  auto y = (x * 5 + total + k) & 1023;
  return std::tuple{y, dsl::sum(y)};
});

// The steps on this side: the totals after each, and the elements at the end.
struct mixed {
  numbers totals, elements;
};
mixed mix_here(integer count, integer steps) {
  mixed m{{}, numbers_of(count, [](integer i) { return i; })};
  for (integer k = 0, total = 1; k < steps; ++k) {
    integer sum = 0;
    for (integer& each : m.elements) each = (each * 5 + total + k) & 1023, sum += each;
    m.totals.push_back(total = sum);
  }
  return m;
}

template <class... Options> void loop(integer count, integer steps, const Options&... options) {
  const mixed right = mix_here(count, steps);
  dsl::array<integer> x = dsl::arange<integer>(count);
  dsl::scalar<integer> total = integer{1};
  const dsl::array<integer> history = dsl::iterate(steps, mix, dsl::state(x, total), dsl::step, options...);
  want(held_by(history) == right.totals, "a loop's history");
  want(held_by(x) == right.elements && total.value() == right.totals.back(), "a loop's variables");
}

void loop_by_itself() { loop(n, 3); }
void loop_of_launches() { loop(n, 3, strategy::launches); }
void loop_as_a_graph() { loop(n, 130, strategy::graph); }  // two of 64 steps, and two steps
void loop_in_one_block() { loop(n, 3, strategy::one_block); }
void loop_of_all_blocks() { loop(n, 3, strategy::cooperative); }
void loop_that_streams() { loop(6 * n, 3, strategy::streamed, dsl::launch{.block = 32, .grid = 4}); }
void loop_that_is_watched() {
  loop(n, 6, strategy::cooperative, dsl::progress([](integer, integer) { return true; }));
}
void loop_of_elements() {
  const auto next = dsl::vectorize([](auto v, auto k) { return (v * 5 + k) & 255; });
  dsl::array<integer> x = dsl::arange<integer>(n);
  dsl::iterate(4, next, dsl::state(x), dsl::step, strategy::elementwise);
  want(held_by(x) == numbers_of(n,
                                [](integer i) {
                                  for (integer k = 0; k < 4; ++k) i = (i * 5 + k) & 255;
                                  return i;
                                }),
       "elements by themselves");
}
void loop_until() {
  const auto next = dsl::vectorize([](auto s, auto k) { return s + k; });
  for (const strategy how : {strategy::automatic, strategy::launches}) {
    dsl::scalar<integer> s = integer{0}, ran;
    dsl::iterate(20, next, dsl::state(s), dsl::step, dsl::until(s >= 10, ran), how);
    want(s.value() == 10 && ran.value() == 5, "a loop until a condition");
  }
}

void streams() {
  const dsl::stream one, two;
  dsl::array<integer> x = dsl::to_device(counted), y = dsl::zeros<integer>(n);
  dsl::scalar<integer> sum;
  {
    const dsl::stream_guard on(one);
    changes("on another stream", y, numbers_of(n, [](integer i) { return 3 * (i % 1000); }), [&] { y = 3 * x; });
    sum = dsl::sum(x);
  }
  {
    const dsl::stream_guard on(two);
    dsl::array<integer> z = x + y;  // dies before it has been computed
    x = z + 1;
    z = dsl::cumsum(y);
  }
  y = x - 1;
  want(held_by(y) == numbers_of(n, [](integer i) { return 4 * (i % 1000); }), "what streams gave each other");
  want(sum.value() == std::accumulate(counted.begin(), counted.end(), integer{0}), "another stream's sum");
  loop(n, 2, strategy::cooperative);
}

// What the program captures of a stream into a graph of its own, and runs. The program's calls are not the library's.
class captured_graph {
 public:
  explicit captured_graph(const dsl::stream& from) : stream_(static_cast<cudaStream_t>(from.native())) {
    const pause unseen;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }
  ~captured_graph() {
    const pause unseen;
    if (!is_complete_) cudaStreamEndCapture(stream_, &graph_);
    if (ready_ != nullptr) cudaGraphExecDestroy(ready_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    cudaGetLastError();
  }
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;
  void launch() {
    const pause unseen;
    is_complete_ = true;
    check(cudaStreamEndCapture(stream_, &graph_));
    check(cudaGraphInstantiate(&ready_, graph_, 0));
    check(cudaGraphLaunch(ready_, stream_));
  }

 private:
  // A call that failed may have ended the capture as well.
  static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    if (failed() != nullptr) throw dsl::cuda_error(dsl::text("the capture came to nothing"));
    throw wrong_result(std::string("a capture: ") + cudaGetErrorString(status));
  }
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
  bool is_complete_ = false;
};

void captured() {
  const dsl::stream stream;
  const dsl::stream_guard on(stream);
  const dsl::array<integer> x = dsl::to_device(counted);
  dsl::array<integer> y = dsl::zeros<integer>(n);
  dsl::scalar<integer> sum = integer{0};
  stream.synchronize();
  captured_graph graph(stream);
  y = 2 * x + 1;
  sum = dsl::sum(y);
  y = dsl::cumsum(x);
  graph.launch();
  const integer all = std::accumulate(counted.begin(), counted.end(), integer{0});
  want(sum.value() == 2 * all + n && held_by(y).back() == all, "what a graph of the program's computed");
}

void threads() {
  std::exception_ptr failures[3];
  std::vector<std::thread> all;
  const dsl::array<integer> shared = dsl::to_device(counted);
  for (integer t = 0; t < 3; ++t)
    all.emplace_back([&, t] {
      try {
        std::optional<dsl::stream> mine;
        std::optional<dsl::stream_guard> on;
        if (t > 0) mine.emplace(), on.emplace(*mine);
        dsl::array<integer> x = shared * (t + 1);
        dsl::scalar<integer> most = dsl::max(x);
        want(most.value() == 999 * (t + 1), "a thread's maximum");
        x += dsl::arange<integer>(n);
        want(held_by(x)[2500] == 500 * (t + 1) + 2500, "a thread's elements");
      } catch (...) {
        failures[t] = std::current_exception();
      }
    });
  for (std::thread& each : all) each.join();
  // What must not be goes before a failure.
  std::exception_ptr failure;
  for (const std::exception_ptr& each : failures) {
    try {
      if (each) std::rethrow_exception(each);
    } catch (const dsl::error&) {
      failure = each;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void files() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "dsl_fault_injection";
  std::filesystem::create_directories(folder);
  const std::string file = folder / "x.npy", checkpoint = folder / "checkpoint";
  const dsl::array<integer> x = dsl::to_device(counted);
  dsl::save_npy(file, x(dsl::slice(0, dsl::end, 2)));
  dsl::array<integer> back = dsl::load_npy<integer>(file);
  want(held_by(back) == numbers_of(n / 2, [](integer i) { return 2 * i % 1000; }), "a file");
  dsl::scalar<integer> s = integer{5};
  dsl::save_checkpoint(checkpoint, 12, x, s);
  dsl::array<integer> loaded;
  s = 6;
  changes("a checkpoint", loaded, counted,
          [&] { want(dsl::load_checkpoint(checkpoint, loaded, s) == 12, "a checkpoint's steps"); });
  want(s.value() == 5, "a checkpoint's scalar");
}

// Errors of the program's own, which leave everything as it was too.
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
    dsl::assign(y, x + 1, {.block = 33});
  } catch (const dsl::device_error&) {
    refused = true;
  }
  want(refused && held_by(y) == numbers(n, 1), "a target of a mistake");
  changes("a statement behind mistakes", y, numbers_of(n, [](integer i) { return i % 1000 + 1; }), [&] { y = x + 1; });
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
  static const std::vector<work> all{
      {"transfers", transfers},
      {"maps", maps},
      {"reductions", reductions},
      {"scans", scans},
      {"a loop by itself", loop_by_itself},
      {"a loop of launches", loop_of_launches},
      {"a loop as a graph", loop_as_a_graph},
      {"a loop in one block", loop_in_one_block},
      {"a loop of all blocks", loop_of_all_blocks},
      {"a loop that streams", loop_that_streams},
      {"a loop that is watched", loop_that_is_watched},
      {"a loop of elements", loop_of_elements},
      {"a loop until a condition", loop_until},
      {"streams", streams},
      {"a stream that is captured", captured},
      {"threads", threads},
      {"files", files},
      {"mistakes", mistakes},
      {"memory", memory},
  };
  return all;
}

}  // namespace faults
