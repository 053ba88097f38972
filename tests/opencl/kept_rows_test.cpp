// Rows that the work-items of a GPU keep in registers from the first phase to the last, on the
// first OpenCL device, whatever it is, against the host.
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "../on_device.hpp"
#include "counted_launches.hpp"
#include "on_opencl.hpp"
#include "opencl/device.hpp"

namespace {

struct opencl_kept_rows : on_opencl {
  void SetUp() override {
    on_opencl::SetUp();
    if (guard) takes_lanes() = true;
  }
  void TearDown() override {
    if (guard) takes_lanes() = false;
  }
  static bool& takes_lanes() { return dsl::detail::opencl::device_state::of(0).can.takes_lanes; }
};

dsl::array<float, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed = 1) {
  return dsl::reshape(dsl::to_device(random_floats(rows * columns, -2, 2, seed)), rows, columns);
}

// The results on the device are near the host's, and take one launch.
template <class Target, class Compute>
void expect_one_launch(const Target& target, const Compute& compute, double relative = 1e-5) {
  int launched = 0;
  const auto run = [&] {
    auto r = target();
    const auto prepared = compute(r);
    const counted_launches count;
    prepared();
    launched = count.so_far();
    return r.copy_to_host();
  };
  const auto wanted = on_host(run);
  expect_near(run(), wanted, relative);
  EXPECT_EQ(launched, 1);
}

// One vector of a work-item, several, larger work-groups, and rows that are too long to be kept.
const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{
    {1, 4}, {257, 8}, {3, 1028}, {5, 8192}, {2, 20'000}, {2, 66'000}};

TEST_F(opencl_kept_rows, in_three_phases) {
  for (const auto& [rows, n] : shapes) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << n);
    const auto target = [r = rows, c = n] { return dsl::array<float, 2>(r, c); };
    if (n > 65'536) {
      const auto compute = [r = rows, c = n] {
        const auto m = matrix(r, c);
        return dsl::eval(m - dsl::max(m, dsl::axis(1), dsl::keep_dims)).copy_to_host();
      };
      EXPECT_EQ(compute(), on_host(compute));
      continue;
    }
    expect_one_launch(target, [r = rows, c = n](auto& to) {
      const auto m = matrix(r, c);
      return [m, &to] {
        to = dsl::apply_along_axis(
            [](auto row) {
              const auto e = exp(row - dsl::max(row));
              return e / dsl::sum(e);
            },
            dsl::axis(1), m);
      };
    });
  }
}

// Arrays that the last phase alone reads, that all rows share, and that have one value a row.
TEST_F(opencl_kept_rows, with_other_arrays) {
  for (const std::int64_t n : {8, 3000}) {
    SCOPED_TRACE(n);
    expect_one_launch([n] { return dsl::array<float, 2>(20, n); },
                      [n](auto& to) {
                        const auto m = matrix(20, n), other = matrix(20, n, 2);
                        const auto gain = dsl::to_device(random_floats(n, -1, 1, 3));
                        const auto weight =
                            dsl::reshape(dsl::to_device(random_floats(20, 0, 1, 4)), 20, 1);
                        return [=, &to] {
                          const auto mean = dsl::mean(m, dsl::axis(1), dsl::keep_dims);
                          to = gain * (m - mean) /
                                   (1 + dsl::sum(square(m - mean), dsl::axis(1), dsl::keep_dims)) +
                               weight * other;
                        };
                      },
                      1e-4);
  }
}

// A row that a group of 256 work-items would keep in more than 8 vectors of each has a larger one.
TEST_F(opencl_kept_rows, in_groups_by_their_length) {
  const auto explained = [](std::int64_t n) {
    const auto m = matrix(30, n);
    dsl::array<float, 2> r(30, n);
    return std::string(dsl::explain(r, m - dsl::max(m, dsl::axis(1), dsl::keep_dims)).text());
  };
  EXPECT_NE(explained(8196).find("30 work-groups of 512"), std::string::npos);
  EXPECT_NE(explained(20'000).find("30 work-groups of 1024"), std::string::npos);
  EXPECT_NE(explained(8193).find("30 work-groups of 256"), std::string::npos);
}

TEST_F(opencl_kept_rows, in_place) {
  for (const auto& [rows, n] : {std::pair<std::int64_t, std::int64_t>{257, 8}, {3, 1028}}) {
    const auto compute = [r = rows, c = n] {
      dsl::array<float, 2> m = matrix(r, c);
      m = 3 + m;
      m = m / dsl::sum(m, dsl::axis(1), dsl::keep_dims);
      return m.copy_to_host();
    };
    expect_near(compute(), on_host(compute), 1e-5);
  }
}

// Elements that an earlier phase stores, and targets that begin between vectors; and, with --all,
// dtypes of other sizes.
TEST_F(opencl_kept_rows, or_not) {
  const auto of_two = [] {
    const auto m = matrix(30, 500);
    dsl::array<float, 2> e(30, 500), r(30, 500);
    dsl::tie(e, r) = dsl::apply_along_axis(
        [](auto row) {
          const auto from_greatest = exp(row - dsl::max(row));
          return std::tuple{from_greatest, from_greatest / dsl::sum(from_greatest)};
        },
        dsl::axis(1), m);
    std::vector<float> all = e.copy_to_host();
    for (const float each : r.copy_to_host()) all.push_back(each);
    return all;
  };
  expect_near(of_two(), on_host(of_two), 1e-5);
  const auto in_view = [] {
    const auto m = matrix(30, 500);
    dsl::array<float, 2> r = dsl::zeros<float>(30, 501);
    auto part = r(dsl::slice(0, dsl::end), dsl::slice(1, dsl::end));
    part = m - dsl::max(m, dsl::axis(1), dsl::keep_dims);
    return r.copy_to_host();
  };
  EXPECT_EQ(in_view(), on_host(in_view));
#ifdef DSL_TEST_ALL
  const auto of_halves = [] {
    const dsl::array<dsl::half, 2> m = dsl::cast<dsl::half>(matrix(40, 304));
    const dsl::array<dsl::half, 2> r = m * dsl::max(m * m, dsl::axis(1), dsl::keep_dims);
    return dsl::eval(dsl::cast<float>(r)).copy_to_host();
  };
  EXPECT_EQ(of_halves(), on_host(of_halves));
  const auto of_doubles = [] {
    const dsl::array<double, 2> m = dsl::cast<double>(matrix(40, 302));
    return dsl::eval(m - dsl::sum(m, dsl::axis(1), dsl::keep_dims) / matrix(40, 302))
        .copy_to_host();
  };
  expect_near(of_doubles(), on_host(of_doubles), 1e-12);
#endif
}

}  // namespace
