// Rows that are reduced and used again, in one kernel on an OpenCL device, against the host.
#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "../on_device.hpp"
#include "counted_launches.hpp"
#include "on_opencl.hpp"

namespace {

struct opencl_rows : on_opencl {};

// Lengths around those of a work-item's part of a row, and of a work-group; and numbers of rows.
const std::vector<std::int64_t> lengths{1, 2, 3, 4, 5, 31, 255, 256, 257, 1000, 1023, 1025, 4097};
const std::vector<std::int64_t> counts{1, 2, 255, 257};

template <class T>
std::vector<T> numbers(std::int64_t n, unsigned seed = 1) {
  const std::vector<float> floats = random_floats(n, -2, 2, seed);
  return {floats.begin(), floats.end()};
}
template <class T>
dsl::array<T, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed = 1) {
  return dsl::reshape(dsl::to_device(numbers<T>(rows * columns, seed)), rows, columns);
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The statement's elements are near the host's, and it takes so many launches.
template <class Statement>
void expect_launches(int launches, const Statement& statement, double relative = 1e-5) {
  const auto wanted = on_host([&] { return statement(nullptr); });
  int launched = 0;
  expect_near(statement(&launched), wanted, relative);
  EXPECT_EQ(launched, launches);
}

// Runs a statement, and counts its launches unless it runs on the host.
template <class Run>
void counted(int* launches, const Run& run) {
  if (launches == nullptr) return run();
  const counted_launches count;
  run();
  *launches = count.so_far();
}

// Rows of one element have nothing to reduce, unless there is one row.
int launches_of_rows(std::int64_t rows, std::int64_t length, int phases = 2) {
  return length > 1 || rows == 1 ? 1 : phases;
}

template <class T>
void expect_softmax(double relative) {
  for (const std::int64_t n : lengths)
    for (const std::int64_t rows : counts) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << n);
      expect_launches(
          launches_of_rows(rows, n, 3),
          [&](int* launches) {
            const auto m = matrix<T>(rows, n);
            dsl::array<T, 2> r(rows, n);
            const auto softmax = dsl::apply_along_axis(
                [](auto row) {
                  const auto e = exp(row - dsl::max(row));
                  return e / dsl::sum(e);
                },
                dsl::axis(1), m);
            counted(launches, [&] { r = softmax; });
            return r.copy_to_host();
          },
          relative);
    }
}

TEST_F(opencl_rows, of_every_length_in_three_phases) { expect_softmax<float>(1e-5); }

#ifdef DSL_TEST_ALL
TEST_F(opencl_rows, of_doubles_in_three_phases) { expect_softmax<double>(1e-12); }
#endif

TEST_F(opencl_rows, in_two_phases) {
  for (const std::int64_t n : lengths)
    for (const std::int64_t rows : counts) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << n);
      expect_launches(launches_of_rows(rows, n), [&](int* launches) {
        const auto m = matrix<float>(rows, n);
        dsl::array<float, 2> r(rows, n);
        counted(launches, [&] { r = exp(m - dsl::max(m, dsl::axis(1), dsl::keep_dims)); });
        return r.copy_to_host();
      });
    }
}

TEST_F(opencl_rows, with_several_reductions_in_a_phase) {
  for (const std::int64_t n : {3, 256, 1000}) {
    SCOPED_TRACE(n);
    expect_launches(1, [&](int* launches) {
      const auto m = matrix<float>(300, n);
      dsl::array<float, 2> r(300, n);
      counted(launches, [&] {
        const auto lowest = dsl::min(m, dsl::axis(1), dsl::keep_dims);
        const auto highest = dsl::max(m, dsl::axis(1), dsl::keep_dims);
        r = (m - lowest) / (1 + highest - lowest) + dsl::mean(m, dsl::axis(1), dsl::keep_dims);
      });
      return r.copy_to_host();
    });
    expect_launches(
        1,
        [&](int* launches) {
          const auto m = matrix<float>(300, n);
          dsl::array<float, 2> r(300, n);
          counted(launches, [&] {
            r = (m - dsl::mean(m, dsl::axis(1), dsl::keep_dims)) /
                (1 + dsl::std(m, dsl::axis(1), dsl::keep_dims));
          });
          return r.copy_to_host();
        },
        1e-4);
  }
}

// One value a row, and values that are copied behind the kernel of the elements.
TEST_F(opencl_rows, whose_results_are_stored) {
  for (const std::int64_t n : {3, 257, 1000}) {
    SCOPED_TRACE(n);
    expect_launches(1, [&](int* launches) {
      const auto m = matrix<float>(100, n);
      dsl::array<float, 2> r(100, 1);
      counted(launches, [&] {
        const auto greatest = dsl::max(m, dsl::axis(1), dsl::keep_dims);
        r = greatest + log(dsl::sum(exp(m - greatest), dsl::axis(1), dsl::keep_dims));
      });
      return r.copy_to_host();
    });
    expect_launches(3, [&](int* launches) {
      const auto m = matrix<float>(100, n);
      dsl::array<float, 2> r(100, n);
      dsl::array<float> means(100), deviations(100);
      const auto standardise = dsl::vectorize([](auto x) {
        auto mean = dsl::mean(x), deviation = sqrt(dsl::var(x) + 0.1f);
        return std::tuple{(x - mean) / deviation, mean, deviation};
      });
      counted(launches, [&] {
        dsl::tie(r, means, deviations) = dsl::apply_along_axis(standardise, dsl::axis(-1), m);
      });
      std::vector<float> all = r.copy_to_host();
      append(all, means.copy_to_host());
      append(all, deviations.copy_to_host());
      return all;
    });
  }
}

TEST_F(opencl_rows, in_place) {
  for (const std::int64_t n : lengths) {
    SCOPED_TRACE(n);
    expect_launches(launches_of_rows(77, n), [&](int* launches) {
      dsl::array<float, 2> m = matrix<float>(77, n);
      m = 3 + m;
      counted(launches, [&] { m = m / dsl::sum(m, dsl::axis(1), dsl::keep_dims); });
      return m.copy_to_host();
    });
  }
}

// Again with another scalar, when the statement is prepared.
TEST_F(opencl_rows, again_with_other_scalars) {
  const auto compute = [] {
    const auto m = matrix<float>(50, 300);
    dsl::array<float, 2> r(50, 300);
    std::vector<float> all;
    for (int i = 0; i < 6; ++i) {
      const float scale = static_cast<float>(i) + 0.5f;
      r = scale * m - dsl::sum(scale * m, dsl::axis(1), dsl::keep_dims);
      append(all, r.copy_to_host());
    }
    return all;
  };
  expect_near(compute(), on_host(compute), 1e-4);
}

TEST_F(opencl_rows, of_halves_round_what_phases_leave) {
  const auto compute = [] {
    const dsl::array<dsl::half, 2> m = dsl::cast<dsl::half>(matrix<float>(40, 300));
    const dsl::array<dsl::half, 2> r = m * dsl::max(m * m, dsl::axis(1), dsl::keep_dims);
    return dsl::eval(dsl::cast<float>(r)).copy_to_host();
  };
  EXPECT_EQ(compute(), on_host(compute));
}

TEST_F(opencl_rows, of_integers_and_complex_numbers) {
  const auto integers = [] {
    const dsl::array<std::int32_t, 2> m = dsl::cast<std::int32_t>(1000 * matrix<float>(40, 300));
    const dsl::array<bool, 2> r =
        m > dsl::cast<std::int32_t>(dsl::mean(m, dsl::axis(1), dsl::keep_dims));
    return dsl::eval(dsl::cast<std::int32_t>(r)).copy_to_host();
  };
  EXPECT_EQ(integers(), on_host(integers));
  const auto numbers = [] {
    const dsl::array<std::complex<float>, 2> z =
        matrix<float>(40, 300) * std::complex<float>(1, 2) + matrix<float>(40, 300, 2);
    return dsl::eval(z - dsl::mean(z, dsl::axis(1), dsl::keep_dims)).copy_to_host();
  };
  expect_near(numbers(), on_host(numbers), 1e-5);
}

TEST_F(opencl_rows, with_nan) {
  const auto compute = [] {
    std::vector<float> h = random_floats(40 * 257);
    for (std::size_t i = 0; i < h.size(); i += 1000) h[i] = std::numeric_limits<float>::quiet_NaN();
    const auto m = dsl::reshape(dsl::to_device(h), 40, 257);
    std::vector<float> all =
        dsl::eval(m - dsl::max(m, dsl::axis(1), dsl::keep_dims)).copy_to_host();
    append(all, dsl::eval(m / dsl::sum(m, dsl::axis(1), dsl::keep_dims)).copy_to_host());
    return all;
  };
  expect_near(compute(), on_host(compute), 1e-5);
}

TEST_F(opencl_rows, of_no_elements) {
  const auto compute = [](std::int64_t rows, std::int64_t n) {
    const auto m = dsl::zeros<float>(rows, n);
    return dsl::eval(m - dsl::sum(m, dsl::axis(1), dsl::keep_dims)).copy_to_host();
  };
  EXPECT_TRUE(compute(0, 10).empty());
  EXPECT_TRUE(compute(10, 0).empty());
}

// A whole array is one row; views, three dimensions, and operands that vary by row or by column.
TEST_F(opencl_rows, of_other_layouts) {
  expect_launches(1, [&](int* launches) {
    const auto x = dsl::to_device(random_floats(1000));
    dsl::array<float> y(1000);
    counted(launches, [&] { y = x / dsl::sum(x * x); });
    return y.copy_to_host();
  });
  expect_launches(1, [&](int* launches) {
    const auto x = dsl::reshape(dsl::to_device(random_floats(7 * 11 * 130)), 7, 11, 130);
    const auto v = dsl::to_device(random_floats(130));
    dsl::array<float, 3> y(7, 11, 130);
    counted(launches, [&] { y = x * v - dsl::mean(x * v, dsl::axis(2), dsl::keep_dims); });
    return y.copy_to_host();
  });
  expect_launches(1, [&](int* launches) {
    const auto m = matrix<float>(60, 400);
    const auto part = m(dsl::slice(1, 50, 2), dsl::slice(3, 390));
    dsl::array<float, 2> r(25, 387);
    counted(launches, [&] { r = part - dsl::max(part, dsl::axis(1), dsl::keep_dims); });
    return r.copy_to_host();
  });
  expect_launches(1, [&](int* launches) {
    const auto m = matrix<float>(60, 400);
    const auto weight = dsl::reshape(dsl::to_device(random_floats(60)), 60, 1);
    dsl::array<float, 2> r(60, 400);
    counted(launches, [&] { r = weight * m - dsl::max(m, dsl::axis(1), dsl::keep_dims); });
    return r.copy_to_host();
  });
}

// Columns, and a few rows that are long, take a kernel for each phase.
TEST_F(opencl_rows, that_take_a_kernel_for_each_phase) {
  for (const auto& [rows, n, axis] :
       {std::tuple{300, 40, 0}, std::tuple{4097, 3, 0}, std::tuple{2, 100'000, 1}}) {
    const auto compute = [&, rows = rows, n = n, axis = axis] {
      const auto m = matrix<float>(rows, n);
      dsl::array<float, 2> r(rows, n);
      counted_launches count;
      if (axis == 0) r = m - dsl::max(m, dsl::axis(0), dsl::keep_dims);
      else r = m - dsl::max(m, dsl::axis(1), dsl::keep_dims);
      if (dsl::device::current().kind == dsl::backend::opencl) {
        EXPECT_GT(count.so_far(), 1);
      }
      return r.copy_to_host();
    };
    EXPECT_EQ(compute(), on_host(compute));
  }
}

TEST_F(opencl_rows, are_explained) {
  const auto m = matrix<float>(300, 1000);
  dsl::array<float, 2> r(300, 1000);
  const std::string text(dsl::explain(r, m - dsl::max(m, dsl::axis(1), dsl::keep_dims)).text());
  EXPECT_NE(text.find("300 rows of 1000 elements"), std::string::npos) << text;
  EXPECT_NE(text.find("300 work-groups of 256"), std::string::npos) << text;
}

}  // namespace
