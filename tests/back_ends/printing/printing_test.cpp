// What a back end is asked to do, by one that prints it: a formula, a reduction, a loop, transfers and streams.
#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "printing.hpp"

namespace {

struct printing_back_end : testing::Test {
  static void SetUpTestSuite() {
    printing::add_devices();
    setenv("DSL_DEVICE", "print", 1);
  }
  void SetUp() override { printing::printed(); }
};

TEST_F(printing_back_end, is_known_by_its_name) {
  EXPECT_EQ(dsl::device::current().name(), "print:0");
  EXPECT_EQ(dsl::device("print:1").name(), "print:1");
  EXPECT_EQ(dsl::devices().back(), dsl::device("print:1"));
  EXPECT_STREQ(dsl::properties("print:1").name, "printer");
  EXPECT_THROW(dsl::properties("print:2"), dsl::device_error);
  dsl::device("print:1").synchronize();
  EXPECT_EQ(printing::printed(), "wait for print:1\n");
}

TEST_F(printing_back_end, runs_formulas_and_reductions) {
  {
    const auto a = dsl::to_device(std::vector<float>(1000));
    const dsl::array<float> c = exp(a) + 2 * a;
    const dsl::scalar<float> total = dsl::sum(c * c);
    EXPECT_EQ(printing::printed(),
              "allocate 4000 bytes on print:0, the default stream\n"
              "copy 4000 bytes to the device\n"
              "allocate 4000 bytes on print:0, the default stream\n"
              "launch on the default stream: exp(a) + 2 * b, 1000 elements, grid 4, block 64; 4 operands\n"
              "allocate 4 bytes on print:0, the default stream\n"
              "fill 1 x 4 bytes\n"
              "allocate 131072 bytes on print:0, the default stream\n"
              "zero 65536 bytes\n"
              "launch on the default stream: sum(a * b), 1000 elements, grid 2, block 64, 256 bytes of shared memory; 3 "
              "operands, beside them 8 "
              "bytes and 4 bytes\n");
    total.value();
    EXPECT_EQ(printing::printed(), "copy 4 bytes to the host\nwait for the default stream\n");
  }
  EXPECT_EQ(printing::printed(), "free\nfree\nfree\n");
}

// In one kernel, whose blocks tell each other their sums; and as a graph of kernels.
TEST_F(printing_back_end, runs_loops) {
  dsl::array<float> x(100'000);
  dsl::scalar<float> total = 1.0f;
  const auto step = dsl::vectorize([](auto v, auto sum) {
    auto next = v / sum;
    return std::tuple{next, dsl::sum(next)};
  });
  printing::printed();
  dsl::iterate(10, step, dsl::state(x, total));
  EXPECT_EQ(printing::printed(),
            "allocate 40 bytes on print:0, the default stream\n"
            "allocate 16384 bytes on print:0, the default stream\n"
            "zero 16384 bytes\n"
            "launch together on the default stream: a / b, 100000 elements, grid 4, block 512, 49152 bytes of shared memory; 4 "
            "operands, beside "
            "them 40 bytes and 128 bytes\n"
            "free\n");
  dsl::iterate(2, step, dsl::state(x, total), dsl::strategy::graph);
  const std::string launch =
      "launch on the default stream: a / b, 100000 elements, grid 8, block 256, 1024 bytes of shared memory; 4 operands, beside "
      "them 4 bytes "
      "and 32 bytes and 4 bytes\n";
  EXPECT_EQ(printing::printed(), "allocate 8 bytes on print:0, the default stream\nbegin a graph\n" + launch + launch +
                                     "end the graph\nlaunch the graph\nfree\n");
}

TEST_F(printing_back_end, orders_streams) {
  const dsl::array<float> x(100);
  {
    const dsl::stream s;
    const dsl::stream_guard on(s);
    const dsl::array<float> y = x + 1;
    s.synchronize();
  }
  EXPECT_EQ(printing::printed(),
            "allocate 400 bytes on print:0, the default stream\n"
            "create stream 1 on print:0\n"
            "allocate 400 bytes on print:0, stream 1\n"
            "order stream 1 behind the default stream\n"
            "launch on stream 1: a + 1, 100 elements, grid 1, block 64; 3 operands\n"
            "wait for stream 1\n"
            "free\n");
}

}  // namespace
