// Loops on an OpenCL device: all steps in one kernel where elements need only scalars of each
// other, against the host.
#include <dsl/ode.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

#include "../on_device.hpp"
#include "counted_launches.hpp"
#include "on_opencl.hpp"

namespace {

struct opencl_loop : on_opencl {};

TEST_F(opencl_loop, runs_step_by_step) {
  const auto compute = [] {
    auto x = dsl::to_device(random_floats(1000));
    dsl::scalar<float> total = 1.0f;
    const auto step = dsl::vectorize([](auto v, auto sum) {
      auto next = v * 0.9f + sum * 1e-4f;
      return std::tuple{next, dsl::sum(next)};
    });
    const auto history = dsl::iterate(10, step, dsl::state(x, total));
    std::vector<float> all = history.copy_to_host();
    const std::vector<float> more = x.copy_to_host();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_near(compute(), on_host(compute), 1e-5);
}

// Steps with sums of their own, ended on the device. PoCL 3.1 compiles barriers behind a
// conditional return wrongly, so kernels of a loop that has ended may not return at once.
TEST_F(opencl_loop, ends_on_a_condition) {
  for (const dsl::strategy how : {dsl::strategy::one_block, dsl::strategy::launches}) {
    const auto compute = [how] {
      auto x = dsl::to_device(random_floats(300));
      dsl::scalar<float> size = dsl::sum(x * x);
      dsl::scalar<std::int64_t> steps;
      const auto step = dsl::vectorize([](auto v, auto) {
        auto next = v - 0.25f * v / (1 + dsl::mean(v * v));
        return std::tuple{next, dsl::sum(next * next)};
      });
      const bool is_host = dsl::device::current().kind == dsl::backend::host;
      dsl::iterate(1000, step, dsl::state(x, size), dsl::until(size < 1.0f, steps),
                   is_host ? dsl::strategy::automatic : how);
      std::vector<float> all = x.copy_to_host();
      all.push_back(size.value());
      all.push_back(static_cast<float>(steps.value()));
      return all;
    };
    const std::vector<float> got = compute();
    EXPECT_LT(got.back(), 1000.0f);
    expect_near(got, on_host(compute), 1e-4);
  }
}

// The numbers of a loop are near those on the host; `launches`: of the loop alone.
template <class Loop>
void expect_alike(const Loop& loop, int launches, double relative = 1e-5) {
  int launched = 0;
  const auto got = loop(launched);
  EXPECT_EQ(launched, launches);
  expect_near(got, on_host([&] { return loop(launched); }), relative);
}
void append(std::vector<float>& to, const std::vector<float>& more) {
  to.insert(to.end(), more.begin(), more.end());
}
template <class Run> auto counted(int& launches, const Run& run) {
  const bool is_host = dsl::device::current().kind == dsl::backend::host;
  std::optional<counted_launches> count;
  if (!is_host) count.emplace();
  auto made = run();
  if (!is_host) launches = count->so_far();
  return made;
}

// The first one says that the loop has not ended.
constexpr int launches_until = 2;

// Each work-item runs all steps of its elements.
TEST_F(opencl_loop, without_reductions) {
  for (const std::int64_t n : {1, 255, 257, 100'003}) {
    SCOPED_TRACE(n);
    expect_alike(
        [n](int& launches) {
          auto x = dsl::to_device(random_floats(n)), v = dsl::to_device(random_floats(n, 0, 1, 2));
          const auto k = dsl::to_device(random_floats(n, 1, 2, 3));
          const auto step = dsl::vectorize([](auto x, auto v, auto k, auto t) {
            auto faster = v + 0.01f * (t - k * x);
            return std::tuple{x + 0.01f * faster, faster};
          });
          counted(launches, [&] {
            dsl::iterate(30, step, dsl::state(x, v), k, 0.5f * dsl::cast<float>(dsl::step));
            return 0;
          });
          std::vector<float> all = x.copy_to_host();
          append(all, v.copy_to_host());
          return all;
        },
        1);
  }
}

// Variables that change places.
TEST_F(opencl_loop, that_swaps) {
  expect_alike(
      [](int& launches) {
        auto a = dsl::to_device(random_floats(1000)), b = dsl::to_device(random_floats(1000, 5, 6));
        const auto step = dsl::vectorize([](auto a, auto b) { return std::tuple{b, a}; });
        counted(launches, [&] {
          dsl::iterate(7, step, dsl::state(a, b));
          return 0;
        });
        std::vector<float> all = a.copy_to_host();
        append(all, b.copy_to_host());
        return all;
      },
      1, 0);
}

TEST_F(opencl_loop, of_scalars_alone) {
  expect_alike(
      [](int& launches) {
        dsl::scalar<double> x = 1.0, v = 0.0;
        const auto step = dsl::vectorize([](auto x, auto v) {
          auto faster = v - 0.01 * x;
          return std::tuple{x + 0.01 * faster, faster};
        });
        const auto [xs, vs] = counted(
            launches, [&] { return dsl::iterate(100, step, dsl::state(x, v), dsl::every(3)); });
        std::vector<double> all = xs.copy_to_host();
        for (const double each : vs.copy_to_host()) all.push_back(each);
        all.push_back(x.value());
        all.push_back(v.value());
        return all;
      },
      1, 1e-12);
}

TEST_F(opencl_loop, of_scalars_alone_until_a_condition) {
  for (const double limit : {0.7, 2.0, -1.0}) {  // At some step, at the first one, never.
    SCOPED_TRACE(limit);
    expect_alike(
        [limit](int& launches) {
          dsl::scalar<double> x = 1.0;
          dsl::scalar<std::int64_t> ran;
          const auto step = dsl::vectorize([](auto x) { return x * 0.99; });
          const auto xs = counted(launches, [&] {
            return dsl::iterate(200, step, dsl::state(x), dsl::until(x < limit, ran));
          });
          std::vector<double> all = xs.copy_to_host();
          all.push_back(x.value());
          all.push_back(static_cast<double>(ran.value()));
          return all;
        },
        launches_until, 1e-12);
  }
}

// Sums that the next step reads, of several fields, in one work-group.
TEST_F(opencl_loop, whose_sums_are_fed_back) {
  for (const std::int64_t n : {1, 2, 255, 256, 257, 1000, 4096}) {
    SCOPED_TRACE(n);
    expect_alike(
        [n](int& launches) {
          auto x = dsl::to_device(random_floats(n)), y = dsl::to_device(random_floats(n, 0, 1, 2));
          dsl::scalar<float> total = 1.0f, most = 2.0f;
          const auto step = dsl::vectorize([](auto x, auto y, auto total, auto most, auto t) {
            auto next = 0.9f * x + total * 1e-4f + y / most + t;
            auto other = 0.5f * y + 0.1f * x;
            return std::tuple{next, other, dsl::mean(next), 1 + dsl::max(abs(other))};
          });
          const auto [totals, mosts] = counted(launches, [&] {
            return dsl::iterate(50, step, dsl::state(x, y, total, most),
                                1e-3f * dsl::cast<float>(dsl::step), dsl::every(7));
          });
          std::vector<float> all = x.copy_to_host();
          for (const auto& more : {y.copy_to_host(), totals.copy_to_host(), mosts.copy_to_host()})
            append(all, more);
          all.push_back(total.value());
          all.push_back(most.value());
          return all;
        },
        1, 1e-4);
  }
}

// A step of several phases: a sum that the same step uses, and a formula that is recorded.
TEST_F(opencl_loop, in_phases_with_a_recorded_formula) {
  expect_alike(
      [](int& launches) {
        auto x = dsl::to_device(random_floats(300, 1, 2));
        dsl::scalar<float> size = 1.0f;
        const auto step = dsl::vectorize([](auto x, auto size) {
          auto scaled = x / dsl::sqrt(dsl::sum(x * x));
          auto next = scaled + 1e-3f * size;
          return std::tuple{next, dsl::sum(next)};
        });
        const auto [sizes, lowest] = counted(launches, [&] {
          return dsl::iterate(20, step, dsl::state(x, size),
                              dsl::record([](auto x, auto) { return dsl::min(x); }));
        });
        std::vector<float> all = x.copy_to_host();
        append(all, sizes.copy_to_host());
        append(all, lowest.copy_to_host());
        return all;
      },
      1, 1e-4);
}

TEST_F(opencl_loop, that_ends_in_one_launch) {
  expect_alike(
      [](int& launches) {
        auto x = dsl::to_device(random_floats(1000));
        dsl::scalar<float> size = dsl::sum(x * x);
        dsl::scalar<std::int64_t> ran;
        const auto step = dsl::vectorize([](auto v, auto) {
          auto next = v - 0.25f * v / (1 + dsl::mean(v * v));
          return std::tuple{next, dsl::sum(next * next)};
        });
        const auto sizes = counted(launches, [&] {
          return dsl::iterate(100, step, dsl::state(x, size), dsl::until(size < 1.0f, ran));
        });
        std::vector<float> all = x.copy_to_host();
        append(all, sizes.copy_to_host());
        all.push_back(size.value());
        all.push_back(static_cast<float>(ran.value()));
        return all;
      },
      launches_until, 1e-4);
}

// More elements than one work-group takes in short time: a launch for each pass.
TEST_F(opencl_loop, of_many_elements) {
  int launches = 0;
  const auto loop = [&launches] {
    auto x = dsl::to_device(random_floats(50'000));
    dsl::scalar<float> total = 1.0f;
    const auto step = dsl::vectorize([](auto v, auto total) {
      auto next = 0.9f * v + 1e-4f * total;
      return std::tuple{next, dsl::sum(next)};
    });
    counted(launches, [&] { return dsl::iterate(5, step, dsl::state(x, total)); });
    return x.copy_to_host();
  };
  const auto got = loop();
  EXPECT_GE(launches, 5);
  expect_near(got, on_host(loop), 1e-4);
}

// The derivative of a loop keeps its states and reads them backwards.
template <class Step>
void expect_derivative(const Step& step) {
  const auto compute = [&] {
    auto x = dsl::to_device(random_floats(500));
    const dsl::scalar<float> k = 1.5f;
    const auto found = dsl::iterate_gradient(
        10, step, [](auto last) { return dsl::sum(last * last); }, dsl::state(x), k);
    std::vector<float> all = found.template state<0>().copy_to_host();
    all.push_back(found.template parameter<0>().value());
    return all;
  };
  expect_near(compute(), on_host(compute), 1e-4);
}
TEST_F(opencl_loop, has_a_derivative) {
  expect_derivative(dsl::vectorize([](auto v, auto k) { return v + 0.1f * sin(k * v); }));
  expect_derivative(dsl::vectorize(
      [](auto v, auto k) { return 0.9f * v + 0.1f * sin(k * v) - 0.1f * dsl::mean(v * v); }));
}

// All steps of sizes that they choose are one launch; the others set the clock and the first size.
TEST_F(opencl_loop, integrates_until_the_end) {
  expect_alike(
      [](int& launches) {
        auto y = dsl::to_device(random_floats(1000, 1, 2));
        counted(launches, [&] {
          dsl::ode::integrate([](auto y) { return -y; }, dsl::state(y), 0, 2,
                              {.relative = 1e-5, .absolute = 1e-7});
          return 0;
        });
        return y.copy_to_host();
      },
      5, 1e-4);
}

}  // namespace
