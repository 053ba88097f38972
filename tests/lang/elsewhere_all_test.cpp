// Operands that are not on the current device: in nested reductions, along axes, in scans and in
// several reductions at once.
#include "../on_device.hpp"

#include <dsl/scan.hpp>

namespace {

struct all_elsewhere : on_device {
  const dsl::device here = dsl::device::current(),
                    other{here.kind == dsl::backend::host ? dsl::backend::sim : dsl::backend::host};
  dsl::array<double> x = dsl::to_device(std::vector<double>{3, 1, 2, 5});
  dsl::scalar<double> s = 2.0;
};
ON_EVERY_DEVICE(all_elsewhere);

using doubles = std::vector<double>;

TEST_P(all_elsewhere, reductions_without_operands_in_memory) {
  const dsl::device_guard guard(other);
  const auto five = dsl::arange<double>(5);
  const auto expect = [&](const auto& got, const doubles& want) {
    EXPECT_EQ(got.where(), here);
    EXPECT_EQ(got.copy_to_host(), want);
  };
  const dsl::array<double> deep = x * dsl::sum(five / dsl::max(five));
  expect(deep, {7.5, 2.5, 5, 12.5});
  const dsl::array<double> rows =
      x +
      dsl::sum(dsl::expand_dims(dsl::arange<double>(4), 1) + dsl::arange<double>(3), dsl::axis(1));
  expect(rows, {6, 7, 11, 17});
}

TEST_P(all_elsewhere, targets) {
  const dsl::device_guard guard(other);
  x = dsl::cumsum(dsl::arange<double>(4) * dsl::sum(dsl::arange<double>(3)));
  EXPECT_EQ(x.copy_to_host(), (doubles{0, 3, 9, 18}));
  auto first = x(0).view(), second = x(1).view();
  dsl::tie(first, second) =
      std::tuple{dsl::sum(dsl::arange<double>(4)), dsl::sum(dsl::arange<double>(5))};
  EXPECT_EQ(x.copy_to_host(), (doubles{6, 10, 9, 18}));
}

}  // namespace
