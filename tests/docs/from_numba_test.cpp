// The right side of docs/from-numba.md compiles, runs on every device and prints what the page
// says.
#include "../on_device.hpp"
#include "printed.hpp"

#include <docs/from-numba/from-numba.inc>

namespace from_numba_test {  // functors have names of their own in a program
#include <docs/from-numba/loops-and-branches-of-an-element.inc>
}  // namespace from_numba_test

namespace {

using namespace from_numba_test;

struct from_numba_doc : on_device {};
ON_EVERY_DEVICE(from_numba_doc);

TEST_P(from_numba_doc, prints_what_numba_prints) {
  testing::internal::CaptureStdout();
#include <docs/from-numba/a-function-of-elements.inc>
#include <docs/from-numba/a-function-of-elements-2.inc>
#include <docs/from-numba/a-function-of-elements-3.inc>
#include <docs/from-numba/a-kernel-with-a-grid.inc>
#include <docs/from-numba/a-kernel-with-a-grid-2.inc>
#include <docs/from-numba/loops-and-branches-of-an-element-2.inc>
#include <docs/from-numba/a-reduction.inc>
#include <docs/from-numba/a-loop-whose-steps-depend-on-a-sum.inc>
#include <docs/from-numba/a-loop-whose-steps-depend-on-a-sum-2.inc>
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed_on("from-numba.md"));
}

}  // namespace
