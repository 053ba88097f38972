// Profiler ranges without a tool attached; tests/profiling tests what a tool sees.
#include <gtest/gtest.h>

#include "mem/profiling.hpp"

TEST(profiling, nothing_is_described_where_no_tool_listens) {
  bool was_asked = false;
  {
    const dsl::detail::profiled_range range([&] {
      was_asked = true;
      return dsl::detail::profiled_work{};
    });
  }
  EXPECT_EQ(was_asked, dsl::detail::is_profiled());
}
