// Kept plans: the one that was not used for longest makes room.
#include "fft/recent.hpp"

#include <gtest/gtest.h>

TEST(recent_objects, make_room_for_new_ones) {
  dsl::detail::recent<int, const int> kept(2);
  int made = 0;
  const auto get = [&](int key) {
    return *kept.get(key, [&] { return std::make_shared<const int>(100 * ++made + key); });
  };
  EXPECT_EQ(get(1), 101);
  EXPECT_EQ(get(2), 202);
  EXPECT_EQ(get(1), 101);
  EXPECT_EQ(get(3), 303);  // in the place of 2
  EXPECT_EQ(get(1), 101);
  EXPECT_EQ(get(2), 402);  // in the place of 3
  EXPECT_EQ(get(3), 503);
  EXPECT_EQ(get(2), 402);
}

TEST(recent_objects, keep_nothing_that_failed) {
  dsl::detail::recent<int, const int> kept(2);
  EXPECT_THROW(kept.get(1, []() -> std::shared_ptr<const int> { throw 1; }), int);
  EXPECT_EQ(*kept.get(1, [] { return std::make_shared<const int>(7); }), 7);
}
