// The examples of docs/gpus.md do what is said of them.
#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <iostream>
#include <sstream>
#include <string>

namespace {

struct gpus_doc : testing::Test {
  std::ostringstream said;
  std::streambuf* const screen = std::cout.rdbuf(said.rdbuf());
  ~gpus_doc() override { std::cout.rdbuf(screen); }
};

TEST_F(gpus_doc, names) {
#include <docs/gpus/in-a-minute.inc>
  EXPECT_EQ(dsl::device::current(), four);
  EXPECT_EQ(said.str(), "sim:0-3: 4 x simulator\n");
}

TEST_F(gpus_doc, plans) {
  const dsl::device_guard guard("sim:0-3");
#include <docs/gpus/where-arrays-lie.inc>
  const std::string plans = said.str();
  const auto line = plans.find('\n');
  EXPECT_NE(plans.substr(0, line).find(", shared by 4 devices, "), plans.npos) << plans;
  EXPECT_NE(plans.substr(line).find(", on one of 4 devices, "), plans.npos) << plans;
}

}  // namespace
