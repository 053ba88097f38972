// The right side of docs/from-thrust.md compiles, runs on every device and prints what the page
// says.
#include "../on_device.hpp"
#include "printed.hpp"

#include <docs/from-thrust/from-thrust.inc>

namespace {

struct from_thrust_doc : on_device {};
ON_EVERY_DEVICE(from_thrust_doc);

TEST_P(from_thrust_doc, prints_what_thrust_prints) {
  testing::internal::CaptureStdout();
#include <docs/from-thrust/the-same-program.inc>
#include <docs/from-thrust/the-same-program-2.inc>
#include <docs/from-thrust/the-same-program-3.inc>
#include <docs/from-thrust/the-same-program-4.inc>
#include <docs/from-thrust/the-same-program-5.inc>
#include <docs/from-thrust/the-same-program-6.inc>
#include <docs/from-thrust/the-same-program-7.inc>
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed_on("from-thrust.md"));
}

}  // namespace
