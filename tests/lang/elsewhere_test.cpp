// Operands that are not on the current device: an expression is evaluated on their device,
// including subexpressions without an operand in memory.
#include "../on_device.hpp"

#include <sstream>

namespace {

struct elsewhere : on_device {
  const dsl::device here = dsl::device::current(),
                    other{here.kind == dsl::backend::host ? dsl::backend::sim : dsl::backend::host};
  dsl::array<double> x = dsl::to_device(std::vector<double>{3, 1, 2, 5});
  dsl::scalar<double> s = 2.0;
};
ON_EVERY_DEVICE(elsewhere);

using doubles = std::vector<double>;

TEST_P(elsewhere, reductions_without_operands_in_memory) {
  const dsl::device_guard guard(other);
  const auto five = dsl::arange<double>(5);
  const auto expect = [&](const auto& got, const doubles& want) {
    EXPECT_EQ(got.where(), here);
    EXPECT_EQ(got.copy_to_host(), want);
  };
  const dsl::array<double> share = x / dsl::sum(five);
  expect(share, {0.3, 0.1, 0.2, 0.5});
  const dsl::scalar<double> single = s * dsl::sum(five);
  EXPECT_EQ(single.value(), 20);
  EXPECT_EQ(single.where(), here);
  const dsl::array<double> nowhere = dsl::arange<double>(2) + dsl::sum(five);
  EXPECT_EQ(nowhere.where(), other);
}

TEST_P(elsewhere, targets) {
  const dsl::device_guard guard(other);
  x = dsl::arange<double>(4) * dsl::sum(dsl::arange<double>(3));
  EXPECT_EQ(x.copy_to_host(), (doubles{0, 3, 6, 9}));
  dsl::array<double> without_memory;
  dsl::tie(x, without_memory) = std::tuple{dsl::arange<double>(4), dsl::arange<double>(4) * 2};
  EXPECT_EQ(without_memory.where(), here);
  EXPECT_EQ(without_memory.copy_to_host(), (doubles{0, 2, 4, 6}));
}

TEST_P(elsewhere, what_is_really_on_two_devices_is_refused) {
  const dsl::device_guard guard(other);
  auto y = dsl::full<double>(1.0, 4);
  EXPECT_THROW(y = x / dsl::sum(dsl::arange<double>(5)), dsl::device_error);
  EXPECT_THROW(dsl::tie(x, y) = (std::tuple{dsl::arange<double>(4), dsl::arange<double>(4)}),
               dsl::device_error);
  EXPECT_EQ(x.copy_to_host(), (doubles{3, 1, 2, 5}));
  EXPECT_EQ(y.copy_to_host(), (doubles{1, 1, 1, 1}));
}

TEST_P(elsewhere, printing) {
  const dsl::device_guard guard(other);
  std::ostringstream out;
  out << x << s << x(dsl::slice(0, dsl::end, 2));
  EXPECT_EQ(out.str(), "[3. 1. 2. 5.]2.0[3. 2.]");
}

}  // namespace
