// A transform in place needs its plan and its memory before its target is written.
#include <dsl/fft.hpp>

#include <complex>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

struct prepared_transforms : on_device {};
ON_EVERY_DEVICE(prepared_transforms);

// An operation in place that finds no memory.
struct without_memory {
  static constexpr dsl::dtype argument_types[] = {dsl::dtype::float64};
  static constexpr bool in_place = true;
  static bool takes(const dsl::detail::operand&) { return true; }
  template <std::size_t R>
  std::array<std::int64_t, R> shape(const std::array<std::int64_t, R>& extents) const {
    return extents;
  }
  struct nothing {
    void run() const {}
  };
  static nothing prepare(const dsl::detail::operand&, const dsl::detail::operand*) {
    throw dsl::memory_error(dsl::text("no memory"));
  }
  static dsl::text describe(const dsl::detail::operand*) { return dsl::text("nothing"); }
};

TEST_P(prepared_transforms, leave_the_target_if_there_is_no_memory) {
  dsl::array<double> x = dsl::ones<double>(5);
  const auto formula = 2 * x;
  const dsl::detail::array_operation<without_memory, dsl::dtype::float64, 1,
                                     std::remove_const_t<decltype(formula)>>
      operation{{}, {formula}};
  EXPECT_EQ(error_of([&] { x = operation; }), "no memory");
  EXPECT_EQ(x.copy_to_host(), std::vector<double>(5, 1));
}

// Zeros behind x are written to the target, when all that may fail has been done.
TEST_P(prepared_transforms, run_again_and_again) {
  const dsl::array<std::complex<double>> x = dsl::ones<std::complex<double>>(3);
  dsl::array<std::complex<double>> y = dsl::zeros<std::complex<double>>(8);
  for (int k = 0; k < 3; ++k) {
    y = dsl::fft(x, 8);
    EXPECT_EQ(y(0).value(), 3.0) << k;
    y = dsl::fft(2 * y);
    EXPECT_NEAR(std::abs(y(0).value() - 16.0), 0, 1e-14) << k;
    EXPECT_NEAR(std::abs(y(6).value() - 16.0), 0, 1e-14) << k;
    EXPECT_NEAR(std::abs(y(1).value()), 0, 1e-14) << k;
  }
}

}  // namespace
