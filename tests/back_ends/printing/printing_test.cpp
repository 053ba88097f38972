// The calls that a back end receives, as printed by the printing back end: a formula, a reduction,
// rows, a loop, transfers and streams.
#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <cstdlib>
#include <optional>
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

TEST_F(printing_back_end, prints_formulas) {
  const dsl::array<float> a(1000);
  const dsl::array<float> c = 2 * a + 1;
  const std::string text = printing::last_text();
  EXPECT_TRUE(text.starts_with("// d = a * b + c\n")) << text;
  EXPECT_NE(text.find("__kernel void dsl_pass("), std::string::npos) << text;
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
              "launch dsl_pass on the default stream: exp(a) + 2 * a, 1000 work-items, 6 "
              "arguments\n"
              "allocate 4 bytes on print:0, the default stream\n"
              "fill 1 x 4 bytes\n"
              "16 bytes for partial results\n"
              "launch dsl_pass on the default stream: sum(a * a), 256 work-items, 12 arguments\n");
    total.value();
    EXPECT_EQ(printing::printed(), "copy 4 bytes to the host\nwait for the default stream\n");
  }
  EXPECT_EQ(printing::printed(), "free\nfree\nfree\n");
}

// Three passes, of which the last two use the first ones' results.
TEST_F(printing_back_end, takes_rows_apart) {
  const dsl::array<float, 2> m(30, 7);
  printing::printed();
  const auto e = exp(m - dsl::max(m, dsl::axis(1), dsl::keep_dims));
  const dsl::array<float, 2> r = e / dsl::sum(e, dsl::axis(1), dsl::keep_dims);
  EXPECT_EQ(printing::printed(),
            "allocate 65536 bytes on print:0, the default stream\n"
            "allocate 840 bytes on print:0, the default stream\n"
            "16 bytes for partial results\n"
            "launch dsl_pass on the default stream: max(a), 256 work-items, 15 arguments\n"
            "16 bytes for partial results\n"
            "launch dsl_pass on the default stream: sum(exp(a - max(a, axis(1)))), 256 work-items, "
            "16 arguments\n"
            "launch dsl_pass on the default stream: exp(a - max(a, axis(1))) / sum(exp(a - max(a, "
            "axis(1))), axis(1)), 210 work-items, 11 arguments\n");
}

// As launches of passes, and these recorded in a graph.
TEST_F(printing_back_end, runs_loops) {
  dsl::array<float> x(300'000);
  dsl::scalar<float> total = 1.0f;
  const auto step = dsl::vectorize([](auto v, auto sum) {
    auto next = v / sum;
    return std::tuple{next, dsl::sum(next)};
  });
  const std::string of_step =
      "640 bytes for partial results\n"
      "launch dsl_pass on the default stream: a / b, 37376 work-items, 14 arguments\n"
      "launch dsl_pass_finish on the default stream: a / b, 256 work-items, 14 arguments\n";
  printing::printed();
  dsl::iterate(2, step, dsl::state(x, total));
  EXPECT_EQ(printing::printed(),
            "allocate 8 bytes on print:0, the default stream\n" + of_step + of_step + "free\n");
  dsl::iterate(2, step, dsl::state(x, total), dsl::strategy::graph);
  EXPECT_EQ(printing::printed(),
            "allocate 8 bytes on print:0, the default stream\nbegin a graph\n" + of_step + of_step +
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
            "launch dsl_pass on stream 1: a + 1, 100 work-items, 5 arguments\n"
            "wait for stream 1\n"
            "free\n");
}

void* stream_made_elsewhere(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
float* memory_made_elsewhere(std::uintptr_t number) {
  return reinterpret_cast<float*>(number << 30);
}

// A foreign stream ends with the last dsl::stream that wraps it. Afterwards the library does not
// use it, although an array's memory must be freed on it and work queued elsewhere waits for its
// end.
TEST_F(printing_back_end, leaves_streams_made_elsewhere_alone) {
  dsl::array<float> x(100);
  std::optional<dsl::array<float>> y;
  printing::printed();
  {
    const dsl::stream s(stream_made_elsewhere(100));
    EXPECT_EQ(s.where(), dsl::device("print:0"));
    EXPECT_EQ(s.native(), stream_made_elsewhere(100));
    const dsl::stream_guard on(s);
    x = 2 * x;
    y.emplace(100);
  }
  EXPECT_EQ(printing::printed(),
            "order stream 100 behind the default stream\n"  // before reading
            "order stream 100 behind the default stream\n"  // before writing
            "launch dsl_pass on stream 100: 2 * a, 100 work-items, 5 arguments\n"
            "allocate 400 bytes on print:0, stream 100\n"
            "event 1 in stream 100\n");
  x = 2 * x;
  EXPECT_EQ(printing::printed(),
            "order the default stream behind event 1\norder the default stream behind event 1\n"
            "launch dsl_pass on the default stream: 2 * a, 100 work-items, 5 arguments\n");
  y.reset();
  EXPECT_EQ(printing::printed(),
            "order the default stream behind event 1\nfree\ndestroy event 1\n");
  EXPECT_EQ(dsl::stream(nullptr), dsl::stream::current());
  EXPECT_THROW(dsl::stream(stream_made_elsewhere(100), "print:1"), dsl::device_error);
  EXPECT_EQ(dsl::stream(stream_made_elsewhere(200)).where(), dsl::device("print:1"));
}

// Views of the same memory see each other's writes, on any stream. The library neither allocates
// nor frees the memory. Work queued on the stream where it was made runs after the last view's
// work.
TEST_F(printing_back_end, orders_views_of_foreign_memory) {
  const dsl::stream s;
  printing::printed();
  {
    const dsl::view a(memory_made_elsewhere(1), 100), elsewhere(memory_made_elsewhere(2), 100);
    const dsl::view b(memory_made_elsewhere(1) + 50, 100);
    const auto write_on_s = [&](const auto& v) {
      const dsl::stream_guard on(s);
      v = 2 * v;
    };
    write_on_s(a);
    EXPECT_EQ(printing::printed(),
              // reads of b and a
              "order stream 2 behind the default stream\norder stream 2 behind the default stream\n"
              // write
              "order stream 2 behind the default stream\norder stream 2 behind the default stream\n"
              "launch dsl_pass on stream 2: 2 * a, 100 work-items, 5 arguments\n");
    b = 2 * b;
    EXPECT_EQ(printing::printed(),
              "order the default stream behind stream 2\norder the default stream behind stream 2\n"
              "launch dsl_pass on the default stream: 2 * a, 100 work-items, 5 arguments\n");
    elsewhere = 2 * elsewhere;
    EXPECT_EQ(printing::printed(),
              "launch dsl_pass on the default stream: 2 * a, 100 work-items, 5 arguments\n");
  }
  EXPECT_EQ(printing::printed(), "order the default stream behind stream 2\n");
}

}  // namespace
