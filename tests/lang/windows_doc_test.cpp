// The examples of docs/windows.md do what is said of them.
#include "../on_device.hpp"

#include <dsl/window.hpp>

#include <cmath>

namespace {

struct windows_doc : on_device {};
ON_EVERY_DEVICE(windows_doc);

TEST_P(windows_doc, weeks) {
  const auto price = dsl::to_device(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 15});
#include <docs/windows/windows-and-convolutions.inc>
  EXPECT_EQ(smooth.copy_to_host(), (std::vector<float>{4, 6}));
  EXPECT_EQ(rise.copy_to_host(), (std::vector<float>{6, 13}));
  EXPECT_EQ(highest.copy_to_host(), (std::vector<float>{7, 15}));
  EXPECT_FLOAT_EQ(spread.copy_to_host()[0], std::sqrt(28.f / 6));
}

TEST_P(windows_doc, pattern) {
  const auto signal = dsl::to_device(std::vector<float>{0, 1, 5, 2, 7, 1, 3});
  const auto pattern = dsl::to_device(std::vector<float>{2, 6, 1});
#include <docs/windows/windows-as-operands.inc>
  EXPECT_EQ(best.value(), 3);
}

TEST_P(windows_doc, taps) {
  const auto x = dsl::to_device(std::vector<float>{4, 8, 0, 4});
#include <docs/windows/convolutions.inc>
  EXPECT_EQ(smooth.copy_to_host(), (std::vector<float>{4, 5, 3, 2}));
}

}  // namespace
