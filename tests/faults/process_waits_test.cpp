// Waits for other processes' GPUs: how long they take, and what happens to queued work after a
// timeout. The GPU is emulated.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include <dsl/dsl.hpp>

#include "cuda/process_waits.hpp"
#include "cuda/recorded_graph.hpp"
#include "exec/run/grid_executor.hpp"
#include "mem/buffer.hpp"
#include "runtime.hpp"

namespace {

using namespace dsl::detail;
using clock_type = std::chrono::steady_clock;
using faults::calls_of;

const bool has_timeout = setenv("DSL_TIMEOUT", "0.6", 1) == 0;
const dsl::device gpu = dsl::backend::cuda;

struct other_processes final : cuda::process_waits {
  explicit other_processes(int gpu = 0) { begin(gpu); }
  void give_up() override { ++times_given_up; }
  std::string why_lost() override { return lost; }
  int times_given_up = 0;
  std::string lost;
};
other_processes& others() {
  static other_processes& all = *new other_processes;
  return all;
}

struct process_waits : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(has_timeout);
    faults::emulate();
    dsl::properties(gpu);
    others();
    faults::begin();
  }
  void TearDown() override { faults::resume_streams(); }
  static void queue(std::int64_t steps = 1) {
    others().queue(nullptr, steps, [] {});
  }
  // Seconds that a wait takes if the GPU continues after `resumed_after` seconds.
  static double seconds_of_wait(double resumed_after) {
    const auto begin = clock_type::now();
    std::jthread other([resumed_after] {
      std::this_thread::sleep_for(std::chrono::duration<double>(resumed_after));
      faults::resume_streams();
    });
    dsl::stream::current(gpu).synchronize();
    const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
    other.join();
    return seconds;
  }
};

TEST_F(process_waits, what_is_over_is_waited_for_by_cuda_alone) {
  queue();
  EXPECT_EQ(calls_of("cuStreamWriteValue32"), 2);
  dsl::stream::current(gpu).synchronize();
  EXPECT_EQ(calls_of("cudaStreamQuery"), 0);
  EXPECT_EQ(calls_of("cudaStreamSynchronize"), 1);
}

// The default stream is that of the current GPU.
TEST_F(process_waits, what_waits_is_queued_on_its_gpu) {
  static other_processes& of_gpu_1 = *new other_processes(1);
  int current = -1;
  of_gpu_1.queue(nullptr, 1, [&] { cudaGetDevice(&current); });
  EXPECT_EQ(current, 1);
  EXPECT_EQ(faults::gpu_of("cuStreamWriteValue32"), 1);
  cudaGetDevice(&current);
  EXPECT_EQ(current, 0);
}

TEST_F(process_waits, work_before_it_may_take_as_long_as_it_likes) {
  faults::stop_streams(0);
  queue();
  EXPECT_GE(seconds_of_wait(0.8), 0.8);
}

TEST_F(process_waits, others_have_the_seconds_for_each_step) {
  faults::stop_streams(1);
  queue();
  EXPECT_GE(seconds_of_wait(0.1), 0.1);
  faults::stop_streams(1);
  queue(4);
  EXPECT_GE(seconds_of_wait(1.2), 1.2);
}

TEST_F(process_waits, what_could_not_be_queued_is_not_waited_for) {
  EXPECT_THROW(others().queue(nullptr, 1, [] { throw std::runtime_error("no"); }),
               std::runtime_error);
  dsl::stream::current(gpu).synchronize();
  EXPECT_EQ(calls_of("cudaStreamQuery"), 0);
}

TEST_F(process_waits, of_a_captured_stream_nothing_is_known) {
  const dsl::stream captured(gpu);
  auto* const stream = static_cast<cudaStream_t>(captured.native());
  cudaGraph_t graph{};
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  others().queue(stream, 1, [] {});
  cudaStreamEndCapture(stream, &graph);
  cudaGraphDestroy(graph);
  EXPECT_EQ(calls_of("cuStreamWriteValue32"), 0);
}

// The queued wait becomes part of the graph, once, between the kernels before and after it.
TEST_F(process_waits, a_graph_has_what_waits_for_others) {
  struct graph_of_one final : cuda::recorded_graph {
    graph_of_one() : recorded_graph({0}) {}
    void queue() override { queue_on(nullptr); }
  };
  static constexpr char function = 0;
  const pass_view no_pass{};
  block_range blocks;
  const kernel_launch k{
      {&function, nullptr, nullptr, no_pass}, 1, 32, 0, &blocks, nullptr, 0, 0, 1};
  int queued = 0;
  const auto run = [&](int times) {
    graph_of_one graph;
    for (int i = 0; i < times; ++i)
      graph.run([&] {
        graph.add(k, 1, cuda::touches::own, [](int) { return 1; });
        graph.add([&](cudaStream_t) { ++queued; }, others());
        graph.add(k, 1, cuda::touches::own, [](int) { return 1; });
      });
  };
  const faults::living before = faults::alive();
  run(3);
  EXPECT_EQ(queued, 1);
  EXPECT_EQ(faults::graph_kernels(), (std::vector<std::vector<long>>{{}, {1}, {2}}));
  EXPECT_EQ(calls_of("cudaGraphLaunch"), 3);
  EXPECT_EQ(calls_of("cuStreamWriteValue32"), 6);
  for (const char* const function :
       {"cudaStreamCreateWithFlags", "cudaStreamBeginCapture", "cudaStreamEndCapture",
        "cudaGraphAddChildGraphNode", "cudaGraphLaunch"}) {
    faults::begin_at(function);
    EXPECT_THROW(run(1), dsl::error) << function;
    faults::end();
    EXPECT_EQ(faults::alive(), before) << function << ": " << faults::alive().describe();
  }
  EXPECT_EQ(cuda::recorded_graph::current(), nullptr);
}

// In a child process: the loss is permanent.
TEST_F(process_waits, others_that_are_lost_for_certain_are_not_waited_for) {
  const auto wait = [] {
    faults::stop_streams(0);
    queue();
    others().lost = "they are gone";
    try {
      dsl::stream::current(gpu).synchronize();
    } catch (const dsl::device_error& e) {
      std::_Exit(std::string(e.what()).find("they are gone") != std::string::npos ? 0 : 1);
    }
    std::_Exit(2);
  };
  EXPECT_EXIT(wait(), testing::ExitedWithCode(0), "");
}

TEST_F(process_waits, what_does_not_end_is_given_up_once_and_every_wait_says_so) {
  const dsl::array<float> x(dsl::extents<1>{4}, gpu);
  const dsl::detail::marker behind(dsl::stream::current(gpu));
  faults::stop_streams(1);
  queue();
  const auto begin = clock_type::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(clock_type::now() - begin).count();
  };
  EXPECT_THROW(dsl::stream::current(gpu).synchronize(), dsl::device_error);
  EXPECT_GE(seconds(), 0.6);
  EXPECT_THROW(dsl::stream::current(gpu).synchronize(), dsl::device_error);
  EXPECT_THROW(gpu.synchronize(), dsl::device_error);
  EXPECT_THROW(behind.wait(), dsl::device_error);
  EXPECT_THROW(x.copy_to_host(), dsl::device_error);
  EXPECT_THROW(queue(), dsl::device_error);
  EXPECT_EQ(others().times_given_up, 1);
  EXPECT_LT(seconds(), 3);
}

}  // namespace
