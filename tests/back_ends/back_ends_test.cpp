// A formula runs on every back end that any file of the program compiled it for, whichever file
// calls it.
#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <string>
#include <vector>

#include "parts.hpp"

namespace {

void expect_right(const results& r) {
  ASSERT_EQ(r.map.size(), 100u);
  ASSERT_EQ(r.scan.size(), 100u);
  float sum = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    sum += static_cast<float>(i);
    EXPECT_EQ(r.map[i], 3 * static_cast<float>(i) + 1);
    EXPECT_EQ(r.scan[i], sum);
  }
  EXPECT_EQ(r.sum, 4950);
  EXPECT_EQ(r.loop, 400);  // sum of the state before the third step
}

TEST(back_ends, come_together_from_all_files) {
  for (const char* where : {"host", "sim"}) {
    const dsl::device_guard guard{dsl::device(where)};
    SCOPED_TRACE(where);
    expect_right(of_host_file());
    expect_right(of_sim_file());
  }
}

TEST(back_ends, that_no_file_was_compiled_for_are_an_error) {
  EXPECT_EQ((dsl::device_guard{"host"}, of_host_file_alone()), 1024);
  const dsl::device_guard guard{"sim"};
  try {
    of_host_file_alone();
    FAIL() << "nothing was thrown";
  } catch (const dsl::device_error& e) {
    EXPECT_NE(
        std::string(e.what()).find(
            "cannot run on sim: its file was compiled with DSL_BACK_ENDS, which leaves sim out"),
        std::string::npos)
        << e.what();
  }
}

TEST(back_ends, that_a_later_pass_lacks_leave_all_targets_as_they_were) {
  const dsl::device_guard guard{"sim"};
  const auto x = dsl::to_device(std::vector<float>{1, 2, 3}),
             y = dsl::to_device(std::vector<float>{4, 5});
  dsl::scalar<float> sum = 10.0f, product = 20.0f;
  EXPECT_THROW(sum_and_product(sum, product, x, y), dsl::device_error);
  EXPECT_EQ(sum.value(), 10);
  EXPECT_EQ(product.value(), 20);
  sum_by_sim_file(sum, x);
  EXPECT_EQ(sum.value(), 6);
}

}  // namespace
