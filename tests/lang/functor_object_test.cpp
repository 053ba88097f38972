// Functors with members.
#include <array>
#include <complex>
#include <tuple>

#include "../on_device.hpp"

// The members differ in size and alignment.
struct scaled_and_clamped {
  double scale;
  std::uint8_t shift;
  std::array<float, 3> table;
  dsl::complex<float> offset;
  const float* bounds;  // in device memory

  DSL_FN float operator()(float x, int which) const {
    const auto y = static_cast<float>(scale * static_cast<double>(x)) +
                   table[static_cast<std::size_t>(which)] + static_cast<float>(1 << shift) +
                   offset.real() - offset.imag();
    return y < bounds[0] ? bounds[0] : y > bounds[1] ? bounds[1] : y;
  }
};

struct step_and_distance {
  std::int16_t step;
  DSL_FN std::tuple<int, int> operator()(int x) const { return {x + step, x < 0 ? -x : x}; }
};

namespace {

using functor_objects = on_device;
ON_EVERY_DEVICE(functor_objects);

TEST_P(functor_objects, members_are_given_by_value) {
  const dsl::array<float> bounds = dsl::to_device(std::vector<float>{-100, 200});
  for (const std::int64_t n : sizes()) {
    const auto x = random_floats(n, -300, 300);
    const dsl::array<float> a = dsl::to_device(x);
    const dsl::array<int> which = dsl::arange<int>(n) % 3;
    dsl::array<float> y(n);
    for (const double scale : {1.0, -0.5}) {
      const scaled_and_clamped f{
          scale, static_cast<std::uint8_t>(scale < 0 ? 3 : 0), {1, 20, 300}, {4, 1}, bounds.data()};
      y = dsl::vectorize(f)(a, which);
      const auto values = y.copy_to_host();
      const float host_bounds[] = {-100, 200};
      scaled_and_clamped on_host = f;
      on_host.bounds = host_bounds;
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], on_host(x[i], static_cast<int>(i % 3))) << i;
    }
  }
}

// One kernel serves all values of the members: the loop's type is the same, and so are a
// temporary's and a named functor's.
TEST_P(functor_objects, in_loops_and_reductions) {
  dsl::array<int> x = dsl::arange<int>(1000) - 500, y = dsl::zeros<int>(1000);
  std::int64_t expected = 0, at = -500;
  for (const int step : {1, 7, -3}) {
    const auto f = dsl::vectorize(step_and_distance{static_cast<std::int16_t>(step)});
    dsl::tie(x, y) = f(x);
    EXPECT_EQ(y(0).value(), std::abs(at));
    at += step;
    EXPECT_EQ(x(0).value(), at);
  }
  const auto distance = dsl::vectorize(step_and_distance{0});
  dsl::array<int> ignored(1000), far(1000);
  dsl::tie(ignored, far) = distance(x);
  for (int i = 0; i < 1000; ++i) expected += std::abs(i - 500 + 5);
  EXPECT_EQ(dsl::sum(far).value(), expected);
}

struct towards {
  float target, rate;
  DSL_FN float operator()(float x, float weight) const { return x + rate * weight * (target - x); }
};

TEST_P(functor_objects, are_steps_of_loops) {
  for (const float target : {3.f, -1.f}) {
    dsl::array<float> x = dsl::zeros<float>(1234);
    const dsl::array<float> weight = dsl::full<float>(0.5f, 1234);
    dsl::iterate(10, dsl::vectorize(towards{target, 0.25f}), dsl::state(x), weight);
    float expected = 0;
    for (int i = 0; i < 10; ++i) expected = expected + 0.25f * 0.5f * (target - expected);
    const auto values = x.copy_to_host();
    for (const float v : values) ASSERT_NEAR(v, expected, 1e-6f);
    EXPECT_NEAR((dsl::sum(dsl::vectorize(towards{target, 1.f})(x, 1.f)).value()), 1234 * target,
                1e-2);
  }
}

}  // namespace
