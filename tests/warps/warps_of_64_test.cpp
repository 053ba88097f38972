// Each kind of kernel with warps of 64 threads, as AMD's GPUs have: the results are the host's. All
// values are integers, whose sums are exact in any order.
#include <dsl/by_key.hpp>
#include <dsl/ode.hpp>
#include <dsl/scan.hpp>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

using dsl::axis;
using std::int64_t;

static_assert(dsl::detail::simulated_team::warp_size == 64);

const std::vector<int64_t> lengths{1, 33, 63, 64, 65, 127, 1000, 20'011};

std::vector<float> values_of(int64_t n) {
  std::vector<float> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>(i * 37 % 101 % 23 - 11));
  return v;
}

template <class Run> void expect_as_host(const Run& run, const std::string& what) {
  const auto on = [&](const char* name) {
    const dsl::device_guard guard{dsl::device(name)};
    return run();
  };
  EXPECT_EQ(on("sim"), on("host")) << what;
}
template <class Run> void for_each_length(const Run& run) {
  for (const int64_t n : lengths)
    expect_as_host([&] { return run(n, dsl::to_device(values_of(n))); }, std::to_string(n));
}

TEST(warps_of_64, plans_have_whole_warps) {
  const dsl::device_guard sim{dsl::device("sim")};
  dsl::array<float> x = dsl::zeros<float>(1000);
  dsl::scalar<float> s;
  EXPECT_NE(error_of([&] {
              dsl::assign(s, dsl::sum(x), dsl::launch{.block = 32});
            }).find("powers of two from 64"),
            std::string::npos);
  dsl::assign(s, dsl::sum(x + 1), dsl::launch{.block = 64});
  EXPECT_EQ(s.value(), 1000);
}

TEST(warps_of_64, reduce) {
  for_each_length([](int64_t, const auto& x) {
    dsl::scalar<float> sum;
    dsl::scalar<int64_t> place;
    dsl::tie(sum, place) = std::tuple{dsl::sum(x), dsl::argmax(x)};
    return std::tuple{sum.value(), place.value()};
  });
}

TEST(warps_of_64, reduce_along_axes) {
  for (const auto& [rows, columns] : {std::pair{5, 7}, {3, 64}, {130, 65}, {300, 40}, {2, 3000}})
    expect_as_host(
        [rows = rows, columns = columns] {
          const auto all = dsl::to_device(values_of(int64_t{rows} * (columns + 1)));
          // Rows that begin anywhere.
          const auto m =
              dsl::reshape(all, rows, columns + 1)(dsl::slice(), dsl::slice(1, dsl::end));
          const dsl::array<float> across = dsl::sum(m, axis(1)), down = dsl::sum(m, axis(0));
          return std::pair{across.copy_to_host(), down.copy_to_host()};
        },
        std::to_string(rows) + " x " + std::to_string(columns));
}

TEST(warps_of_64, keep_rows_on_chip) {
  for (const auto& [rows, columns] : {std::pair{70, 3}, {9, 64}, {5, 257}, {2, 6000}, {1, 30'000}})
    expect_as_host(
        [rows = rows, columns = columns] {
          const auto all = dsl::to_device(values_of(int64_t{rows} * columns));
          const auto m = dsl::reshape(all, rows, columns);
          const dsl::array<float, 2> along = m - dsl::max(m, axis(1), dsl::keep_dims) +
                                             dsl::sum(m, axis(1), dsl::keep_dims),
                                     across = m - dsl::max(m, axis(0), dsl::keep_dims);
          return std::pair{along.copy_to_host(), across.copy_to_host()};
        },
        std::to_string(rows) + " x " + std::to_string(columns));
}

TEST(warps_of_64, scan) {
  for_each_length([](int64_t, const auto& x) {
    const dsl::array<float> all = dsl::cumsum(x);
    return all.copy_to_host();
  });
  for (const auto& [rows, columns] : {std::pair{50, 7}, {5, 700}, {2, 5000}})
    expect_as_host(
        [rows = rows, columns = columns] {
          const auto all = dsl::to_device(values_of(int64_t{rows} * columns));
          const auto m = dsl::reshape(all, rows, columns);
          const dsl::array<float, 2> along = dsl::cumsum(m, axis(1)),
                                     down = dsl::cumsum(dsl::transpose(m), axis(1));
          return std::pair{along.copy_to_host(), down.copy_to_host()};
        },
        std::to_string(rows) + " x " + std::to_string(columns));
}

// Tables with a copy of each entry for each lane, with fewer, with tags, and sorted buckets; keys
// that never meet, that often do, and that are all equal.
TEST(warps_of_64, reduce_by_key) {
  for (const int64_t n : {65, 4097})
    for (const int64_t groups : {1, 7, 40, 300, 1000, 9000})
      for (const int order : {0, 1, 2})
        expect_as_host(
            [=] {
              std::vector<std::int32_t> keys;
              for (int64_t i = 0; i < n; ++i)
                keys.push_back(static_cast<std::int32_t>(order == 0   ? i * 2'654'435'761 % groups
                                                         : order == 1 ? i * groups / n
                                                                      : groups / 2));
              const auto k = dsl::to_device(keys);
              const auto v = dsl::to_device(values_of(n));
              const dsl::array<float> sums = dsl::sum_by(k, v, groups);
              const dsl::array<int64_t> counts = dsl::bincount(k, groups);
              return std::pair{sums.copy_to_host(), counts.copy_to_host()};
            },
            std::to_string(n) + " elements, " + std::to_string(groups) + " groups, order " +
                std::to_string(order));
}

TEST(warps_of_64, select) {
  for_each_length([](int64_t n, const auto& x) {
    dsl::array<int64_t> places(n);
    dsl::scalar<int64_t> count;
    dsl::tie(places, count) = dsl::compress(x > 3.f, dsl::arange<int64_t>(n));
    return dsl::eval(places(dsl::slice(0, count.value()))).copy_to_host();
  });
}

// Steps that use two sums of their own, one after the other; in one block and in many.
TEST(warps_of_64, iterate_with_sums) {
  const auto step = dsl::vectorize([](auto x, auto most) {
    auto y = x + dsl::cast<float>(dsl::sum(x) > 0.f) - 1;
    return std::tuple{y, dsl::max(y * y) + 0 * most};
  });
  for_each_length([&](int64_t, const auto& given) {
    dsl::array<float> x = 1 * given;
    dsl::scalar<float> most = 0.f;
    const auto history = dsl::iterate(5, step, dsl::state(x, most));
    return std::pair{x.copy_to_host(), history.copy_to_host()};
  });
}

TEST(warps_of_64, iterate_over_neighbours) {
  const auto step = dsl::vectorize([](auto u) {
    const auto wrap = dsl::boundary::wrap;
    return (3 * u + dsl::shift(u, 1, wrap, 0) + 5 * dsl::shift(u, -1, wrap, 1)) & 0xffff;
  });
  expect_as_host(
      [&] {
        dsl::array<int, 2> u = dsl::reshape(dsl::arange<int>(70 * 96), 70, 96);
        dsl::iterate(7, step, dsl::state(u));
        return u.copy_to_host();
      },
      "a stencil");
}

// Elements that take from no step to many, so that lanes end at different times.
TEST(warps_of_64, systems_end_one_by_one) {
  for (const int64_t n : {1, 63, 64, 65, 1000})
    expect_as_host(
        [n] {
          dsl::array<double> y = dsl::ones<double>(n);
          const dsl::array<double> end = dsl::cast<double>(dsl::arange<int64_t>(n) * 37 % 50);
          const auto got = dsl::ode::ensemble([](auto x) { return 0 * x + 1; }, dsl::state(y), 0.0,
                                              end, {.relative = 1e-3, .absolute = 1e-3});
          const dsl::array<double> reached = dsl::round(1000 * y);
          return std::pair{reached.copy_to_host(), got.t.copy_to_host()};
        },
        std::to_string(n));
}

}  // namespace
