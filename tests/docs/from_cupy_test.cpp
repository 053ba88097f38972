// The right side of docs/from-cupy.md compiles, runs on every device and prints what the page says.
#include "../on_device.hpp"
#include "printed.hpp"

#include <docs/from-cupy/from-cupy.inc>

namespace {

struct from_cupy_doc : on_device {};
ON_EVERY_DEVICE(from_cupy_doc);

TEST_P(from_cupy_doc, prints_what_cupy_prints) {
  testing::internal::CaptureStdout();
#include <docs/from-cupy/the-same-program.inc>
#include <docs/from-cupy/the-same-program-2.inc>
#include <docs/from-cupy/the-same-program-3.inc>
#include <docs/from-cupy/the-same-program-4.inc>
#include <docs/from-cupy/kernels-of-ones-own.inc>
#include <docs/from-cupy/kernels-of-ones-own-2.inc>
#include <docs/from-cupy/kernels-of-ones-own-3.inc>
#include <docs/from-cupy/indices-and-scans.inc>
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), printed_on("from-cupy.md"));
}

}  // namespace
