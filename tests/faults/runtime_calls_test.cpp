// The library's calls of the CUDA runtime: which answers it remembers, when it queries, and what it
// releases when a call fails. The runtime is emulated (`faults::emulate`), so no GPU is needed.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <dsl/cuda_array_interface.hpp>
#include <dsl/dsl.hpp>

#include "cuda/recorded_graph.hpp"
#include "exec/loop/loop_end.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/scratch.hpp"
#include "mem/buffer.hpp"
#include "runtime.hpp"

namespace {

using namespace dsl::detail;
using faults::calls_of;

const dsl::device gpu = dsl::backend::cuda;

// Starts counting; at the end everything that the test acquired has been released.
struct runtime_calls : testing::Test {
  static void SetUpTestSuite() { faults::emulate(); }
  void SetUp() override {
    dsl::properties(gpu);
    faults::begin();
    before = faults::alive();
  }
  void TearDown() override {
    faults::end();
    EXPECT_EQ(faults::alive(), before)
        << faults::alive().describe() << " instead of " << before.describe();
    EXPECT_EQ(faults::strangers(), 0);
  }
  // The first call of a function that `work` makes fails, and `work` throws.
  template <class Work> static void fails_at(const char* function, const Work& work,
                                             faults::failure how = {}) {
    faults::begin_at(function, 1, how);
    EXPECT_THROW(work(), dsl::error) << function;
    EXPECT_NE(faults::failed(), nullptr) << function << " was not called";
    faults::end();
  }
  faults::living before;
};

// Stand-ins for kernels, which the library knows by their addresses only.
constexpr char functions[8] = {};
const pass_view no_pass{};
back_end& gpus = back_end::of(gpu);
const auto& kernels = static_cast<const grid_executor&>(executor::of(gpus));

kernel_attributes attributes_of(int function, int block, int device) {
  return kernels.attributes({&functions[function], nullptr, nullptr, no_pass}, block, device);
}
kernel_launch launch_of(int function, int shared = 0) {
  static block_range blocks;
  return {
      {&functions[function], nullptr, nullptr, no_pass}, 1, 32, shared, &blocks, nullptr, 0, 0, 1};
}

TEST(device_properties, are_asked_for_until_there_is_an_answer_and_no_more) {
  faults::emulate();
  for (const char* const function :
       {"cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaDriverGetVersion",
        "cudaRuntimeGetVersion", "cudaDeviceGetDefaultMemPool", "cudaMemPoolSetAttribute"}) {
    faults::begin_at(function);
    EXPECT_THROW(dsl::properties(gpu), dsl::error) << function;
    EXPECT_NE(faults::failed(), nullptr) << function;
  }
  faults::begin();
  EXPECT_EQ(dsl::properties(gpu).multiprocessors, 16);
  EXPECT_EQ(calls_of("cudaGetDeviceProperties"), 1);
  faults::begin();
  EXPECT_EQ(dsl::properties(gpu).compute_capability, 90);
  EXPECT_GE(dsl::devices().size(), 3u);  // and OpenCL's
  EXPECT_EQ(faults::calls(), 0);
}

TEST_F(runtime_calls, a_kernels_attributes_are_read_once_for_each_block_and_device) {
  const auto read = [](int function, int block, int device) {
    faults::begin();
    const kernel_attributes a = attributes_of(function, block, device);
    EXPECT_EQ(a.blocks_per_multiprocessor, block <= 1024 ? 2048 / block : 0);
    EXPECT_EQ(a.registers, 32);
    return calls_of("cudaFuncGetAttributes");
  };
  EXPECT_EQ(read(0, 256, 0), 1);
  EXPECT_EQ(read(0, 256, 0), 0);
  EXPECT_EQ(read(0, 128, 0), 1);
  EXPECT_EQ(read(0, 256, 1), 1);
  EXPECT_EQ(read(1, 256, 0), 1);
  EXPECT_EQ(read(1, 2048, 0), 1);  // more threads than the kernel's limit
  EXPECT_EQ(calls_of("cudaOccupancyMaxActiveBlocksPerMultiprocessor"), 0);
  for (const int function : {0, 1})
    for (const int block : {256, 256}) EXPECT_EQ(read(function, block, 0), 0);
  EXPECT_EQ(read(0, 128, 0), 0);
  EXPECT_EQ(read(0, 256, 1), 0);
}

TEST_F(runtime_calls, a_failure_to_read_attributes_is_not_kept) {
  for (const char* const function :
       {"cudaFuncGetAttributes", "cudaOccupancyMaxActiveBlocksPerMultiprocessor"})
    fails_at(function, [] { attributes_of(2, 256, 0); });
  faults::begin();
  EXPECT_EQ(attributes_of(2, 256, 0).registers, 32);
  EXPECT_EQ(calls_of("cudaFuncGetAttributes"), 1);
}

TEST_F(runtime_calls, threads_share_what_is_kept) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&right] {
      for (int i = 0; i < 200; ++i)
        right += attributes_of(3, 32 << i % 5, 0).blocks_per_multiprocessor == 64 >> i % 5;
    });
  for (auto& each : threads) each.join();
  EXPECT_EQ(right, 8 * 200);
  EXPECT_EQ(calls_of("cudaFuncGetAttributes"), 5);
}

// A block's limit of shared memory belongs to a function: it is raised once, to the maximum, and
// only for blocks that need it.
TEST_F(runtime_calls, a_kernels_shared_memory_is_raised_once) {
  const dsl::stream on(gpu);
  const auto launch = [&](int function, int shared) {
    faults::begin();
    kernels.launch_kernel(launch_of(function, shared), on);
    EXPECT_EQ(calls_of("cudaLaunchKernelExC"), 1);
    return calls_of("cudaFuncSetAttribute");
  };
  EXPECT_EQ(launch(4, 0), 0);
  EXPECT_EQ(launch(4, 47 << 10),
            0);  // with the function's own 1,024 bytes, the limit without opting in
  EXPECT_EQ(launch(4, (47 << 10) + 16), 1);
  EXPECT_EQ(launch(4, 200 << 10), 0);
  EXPECT_EQ(launch(5, 200 << 10), 1);
  EXPECT_EQ(launch(4, 60 << 10), 0);
}

TEST_F(runtime_calls, sums_are_exchanged_in_memory_that_is_cleared_when_its_numbers_end) {
  const dsl::stream on(gpu);
  const auto next = [&](std::size_t bytes, std::int64_t steps) {
    faults::begin();
    return cells_of(on, bytes, steps);
  };
  const auto cleared = [] { return calls_of("cudaMemsetAsync"); };
  const exchange_cells first = next(1000, 10);
  EXPECT_EQ(first.epoch, 1u);
  EXPECT_EQ(cleared(), 1);
  EXPECT_EQ(next(1000, 5).epoch, 11u);
  EXPECT_EQ(cleared(), 0);
  const exchange_cells same = next(16'000, 1);  // fits in the existing memory
  EXPECT_EQ(same.epoch, 16u);
  EXPECT_EQ(same.cells, first.cells);
  const exchange_cells larger = next(100'000, 7);
  EXPECT_EQ(larger.epoch, 1u);
  EXPECT_NE(larger.cells, first.cells);
  EXPECT_EQ(cleared(), 1);
  EXPECT_EQ(next(100, 1).epoch, 8u);
  cells_of(on, 100, UINT32_MAX - 8 - 3);
  EXPECT_EQ(next(100, 3).epoch, UINT32_MAX - 2);  // the last three numbers
  EXPECT_EQ(cleared(), 0);
  std::memset(larger.cells, 0xff, 100'000);
  EXPECT_EQ(next(100, 1).epoch, 1u);
  EXPECT_EQ(cleared(), 1);
  EXPECT_EQ(static_cast<const unsigned char*>(larger.cells)[99'999], 0);
  const dsl::stream other(gpu);
  faults::begin();
  EXPECT_NE(cells_of(other, 100, 1).cells, larger.cells);  // each stream has its own
}

TEST_F(runtime_calls, memory_for_exchanged_sums_that_was_not_cleared_is_cleared_later) {
  const dsl::stream on(gpu);
  fails_at("cudaMemsetAsync", [&] { cells_of(on, 1000, 10); });
  faults::begin();
  EXPECT_EQ(cells_of(on, 1000, 10).epoch, 1u);
  EXPECT_EQ(calls_of("cudaMemsetAsync"), 1);
  EXPECT_EQ(calls_of("cudaMallocAsync"), 0);
}

TEST_F(runtime_calls, partial_results_have_a_streams_own_memory) {
  const dsl::stream on(gpu);
  const workspace first = scratch_of(on, 1000);
  for (std::size_t i = 0; i < max_tickets; ++i) ASSERT_EQ(first.tickets[i], 0u);
  faults::begin();
  EXPECT_EQ(scratch_of(on, 60'000).partials, first.partials);
  EXPECT_EQ(calls_of("cudaMallocAsync"), 0);
  const workspace larger = scratch_of(on, 70'000);
  EXPECT_NE(larger.partials, first.partials);
  EXPECT_EQ(scratch_of(on, 1).partials, larger.partials);
  EXPECT_EQ(calls_of("cudaMallocAsync"), 1);
  EXPECT_EQ(calls_of("cudaFreeAsync"),
            0);  // another thread may be about to launch with the smaller one
}

TEST_F(runtime_calls, partial_results_memory_whose_tickets_were_not_cleared_is_given_back) {
  const dsl::stream on(gpu);
  const faults::living with_stream = faults::alive();
  fails_at("cudaMemsetAsync", [&] { scratch_of(on, 1000); });
  EXPECT_EQ(faults::alive(), with_stream) << faults::alive().describe();
  EXPECT_NE(scratch_of(on, 1000).partials, nullptr);
}

// An allocation that fails waits, trims the pool, and tries again.
TEST_F(runtime_calls, an_allocation_is_tried_twice) {
  faults::begin_at("cudaMallocAsync", 1, {cudaErrorMemoryAllocation});
  void* const memory = gpus.allocate(1000, 0, nullptr);
  EXPECT_EQ(calls_of("cudaMallocAsync"), 2);
  EXPECT_EQ(calls_of("cudaMemPoolTrimTo"), 1);
  EXPECT_EQ(calls_of("cudaDeviceSynchronize"), 1);
  gpus.release(memory, 0, nullptr);
  faults::begin_at("cudaMallocAsync", 1, {cudaErrorMemoryAllocation, true});
  EXPECT_THROW(gpus.allocate(1000, 0, nullptr), dsl::memory_error);
  EXPECT_EQ(calls_of("cudaMallocAsync"), 2);
  faults::begin_at("cudaMallocAsync");
  EXPECT_THROW(gpus.allocate(1000, 0, nullptr), dsl::cuda_error);
  EXPECT_EQ(calls_of("cudaMallocAsync"), 1);
}

TEST_F(runtime_calls, events_are_given_back_where_a_call_fails) {
  const dsl::stream one(gpu), other(gpu);
  for (const char* const function :
       {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaStreamWaitEvent"})
    fails_at(function, [&] { stream_state::of(one).wait_for(stream_state::of(other)); });
  for (const char* const function :
       {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaEventSynchronize"})
    fails_at(function, [&] { marker(one).wait(); }, {cudaErrorLaunchFailure});
  EXPECT_EQ(faults::alive().events, before.events);
}

TEST_F(runtime_calls, a_stream_that_cannot_be_made_leaves_nothing) {
  fails_at("cudaStreamCreateWithFlags", [] { dsl::stream s(gpu); });
  const dsl::stream s(gpu);
  EXPECT_EQ(faults::alive().streams, before.streams + 1);
}

// A recorded graph of kernels is instantiated once; afterwards only its parameters are updated.
TEST_F(runtime_calls, a_graph_of_kernels_is_made_once_and_given_back) {
  const dsl::stream on(gpu);
  const kernel_launch k = launch_of(6);
  const auto run = [&](int times) {
    const auto graph = kernels.make_graph(on);
    for (int i = 0; i < times; ++i)
      graph->run([&] {
        for (int launch = 0; launch < 3; ++launch) kernels.launch_kernel(k, on);
      });
  };
  faults::begin();
  run(4);
  EXPECT_EQ(calls_of("cudaGraphAddKernelNode"), 3);
  EXPECT_EQ(calls_of("cudaGraphInstantiate"), 1);
  EXPECT_EQ(calls_of("cudaGraphExecKernelNodeSetParams"), 9);
  EXPECT_EQ(calls_of("cudaGraphLaunch"), 4);
  EXPECT_EQ(calls_of("cudaLaunchKernelExC"), 0);
  for (const char* const function :
       {"cudaGraphCreate", "cudaGraphAddKernelNode", "cudaGraphInstantiate",
        "cudaGraphExecKernelNodeSetParams", "cudaGraphLaunch"}) {
    fails_at(function, [&] { run(2); });
    EXPECT_EQ(faults::alive().graphs, before.graphs) << function;
    EXPECT_EQ(faults::alive().executables, before.executables) << function;
    faults::begin();
    kernels.launch_kernel(k, on);  // recording has ended
    EXPECT_EQ(calls_of("cudaLaunchKernelExC"), 1) << function;
  }
}

// A loop of groups of four steps, whose condition becomes true in one of them.
struct groups_of_steps {
  explicit groups_of_steps(std::int64_t groups) : left(4 * groups) {
    std::memset(memory.data(), 0, 1);
    condition.memory = memory.get();
    condition.word[0] = reinterpret_cast<std::uintptr_t>(memory.data());
    end.emplace(condition, 4);
  }
  // Queues a group, in two parts; returns whether the end is known.
  bool queue(bool ends = false) {
    if (ends) std::memset(memory.data(), 1, 1);
    for (const std::int64_t part : {3, 1}) {
      EXPECT_EQ(end->left_in_group(), part == 3 ? 4 : 1);
      left -= part;
      end->note(part, left);
    }
    return end->has_come();
  }
  buffer_ref memory = buffer_ref::allocate(1, gpu);
  operand condition;
  std::int64_t left;
  std::optional<loop_end> end;
};

// While one group runs, the next one is queued: only the group before the last one is waited for,
// and nobody looks at the last two.
TEST_F(runtime_calls, the_end_of_a_loop_is_looked_for_a_group_late) {
  const dsl::stream on(gpu);
  const dsl::stream_guard guard(on);
  groups_of_steps two(2);
  faults::begin();
  EXPECT_FALSE(two.queue() || two.queue());
  EXPECT_EQ(faults::calls(), 0);

  groups_of_steps five(5);
  faults::begin();
  for (const long waits : {0, 1, 2, 3, 3}) {
    EXPECT_FALSE(five.queue());
    EXPECT_EQ(calls_of("cudaEventSynchronize"), waits);
  }
  EXPECT_EQ(calls_of("cudaMemcpyAsync"), 3);
  EXPECT_EQ(calls_of("cudaStreamSynchronize"), 0);

  groups_of_steps many(1000);
  faults::begin();
  EXPECT_FALSE(many.queue());
  EXPECT_FALSE(many.queue(true));
  EXPECT_TRUE(many.queue());
  EXPECT_TRUE(many.end->has_come());
  EXPECT_EQ(calls_of("cudaEventSynchronize"), 2);
  two.end.reset();
  five.end.reset();

  groups_of_steps others(1000);  // the stream has kept page-locked memory for two loops
  faults::begin();
  for (int k = 0; k < 9; ++k) EXPECT_FALSE(others.queue());
  EXPECT_TRUE(others.queue(true) || others.queue());
  EXPECT_EQ(calls_of("cudaMallocHost"), 0);
}

TEST_F(runtime_calls, the_end_of_a_loop_is_not_looked_for_while_a_stream_is_captured) {
  const dsl::stream on(gpu);
  const dsl::stream_guard guard(on);
  groups_of_steps many(1000);
  auto* const native = static_cast<cudaStream_t>(on.native());
  cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal);
  faults::begin();
  for (int k = 0; k < 9; ++k) EXPECT_FALSE(many.queue(true));
  EXPECT_EQ(calls_of("cudaMemcpyAsync") + calls_of("cudaEventRecord"), 0);
  cudaGraph_t graph{};
  cudaStreamEndCapture(native, &graph);
  cudaGraphDestroy(graph);
}

TEST_F(runtime_calls, a_look_for_the_end_of_a_loop_that_fails_leaves_nothing) {
  for (const char* const function :
       {"cudaMallocHost", "cudaMemcpyAsync", "cudaEventCreateWithFlags", "cudaEventRecord",
        "cudaEventSynchronize"}) {
    const dsl::stream on(gpu);
    const dsl::stream_guard guard(on);
    groups_of_steps many(1000);
    fails_at(function, [&] {
      many.queue();
      many.queue();
    });
  }
}

// In a mesh's graph each member's kernels depend on its earlier ones, and on other members' kernels
// that may have touched the same memory.
TEST_F(runtime_calls, a_graph_of_several_gpus_has_a_kernel_for_each) {
  struct graph_of_two final : cuda::recorded_graph {
    graph_of_two() : recorded_graph({0, 0}) {}
    void queue() override { ++queued; }
    int queued = 0;
  } graph;
  const kernel_launch k = launch_of(6);
  const auto add = [&](unsigned by, cuda::touches what) {
    graph.add(k, by, what, [](int m) { return m + 1; });
  };
  faults::begin();
  for (int i = 0; i < 2; ++i)
    graph.run([&] {
      ASSERT_EQ(cuda::recorded_graph::current(), &graph);
      add(3, cuda::touches::own);     // 1, 2
      add(3, cuda::touches::others);  // 3, 4
      add(3, cuda::touches::own);     // 5, 6
      add(3, cuda::touches::own);     // 7, 8
      add(2, cuda::touches::others);  // 9
      add(3, cuda::touches::own);     // 10, 11
    });
  EXPECT_EQ(cuda::recorded_graph::current(), nullptr);
  EXPECT_EQ(graph.queued, 2);
  EXPECT_EQ(calls_of("cudaGraphExecKernelNodeSetParams"), 11);
  EXPECT_EQ(faults::graph_kernels(),
            (std::vector<std::vector<long>>{
                {}, {}, {1, 2}, {1, 2}, {3, 4}, {3, 4}, {5, 4}, {3, 6}, {7, 8}, {7, 9}, {3, 9}}));
}

// A stream waits once for each stream that wrote what it reads or read what it writes, and never
// for itself.
TEST_F(runtime_calls, streams_wait_for_each_other_where_they_share_memory) {
  const dsl::stream one(gpu), two(gpu), three(gpu);
  std::optional<buffer_ref> memory;
  {
    const dsl::stream_guard on(one);
    memory = buffer_ref::allocate(1000, gpu);
  }
  const auto waits = [&](const dsl::stream& on, bool writes) {
    faults::begin();
    use(memory->get(), on, writes);
    return calls_of("cudaStreamWaitEvent");
  };
  EXPECT_EQ(waits(one, true), 0);
  EXPECT_EQ(waits(one, false), 0);
  EXPECT_EQ(waits(two, false), 1);
  EXPECT_EQ(waits(two, false), 0);
  EXPECT_EQ(waits(three, false), 1);
  EXPECT_EQ(waits(one, true), 2);  // after both readers
  EXPECT_EQ(waits(two, true), 1);
  EXPECT_EQ(waits(three, false), 1);
  // Freed on the stream of its allocation, after the writer and the reader.
  faults::begin();
  memory.reset();
  EXPECT_EQ(calls_of("cudaStreamWaitEvent"), 2);
  EXPECT_EQ(calls_of("cudaFreeAsync"), 1);
}

TEST_F(runtime_calls, a_wait_that_fails_leaves_who_uses_memory_as_it_was) {
  const dsl::stream one(gpu), two(gpu), three(gpu);
  const dsl::stream_guard on(one);
  const buffer_ref memory = buffer_ref::allocate(1000, gpu);
  const auto waits_after_a_failure = [&](const dsl::stream& of, bool writes) {
    fails_at("cudaStreamWaitEvent", [&] { use(memory.get(), of, writes); });
    faults::begin();
    use(memory.get(), of, writes);
    return calls_of("cudaStreamWaitEvent");
  };
  EXPECT_EQ(waits_after_a_failure(two, false), 1);
  EXPECT_EQ(waits_after_a_failure(three, true), 2);
}

// Memory is never freed while work uses it: if one stream cannot be ordered after another, the host
// waits.
TEST_F(runtime_calls, memory_is_freed_behind_all_streams_even_where_a_call_fails) {
  const dsl::stream one(gpu), two(gpu);
  for (const char* const function :
       {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaStreamWaitEvent"}) {
    std::optional<buffer_ref> memory;
    {
      const dsl::stream_guard on(one);
      memory = buffer_ref::allocate(1000, gpu);
    }
    use(memory->get(), two, false);
    faults::begin_at(function);
    memory.reset();
    EXPECT_NE(faults::failed(), nullptr) << function;
    EXPECT_EQ(calls_of("cudaStreamSynchronize"), 1) << function;
    EXPECT_EQ(calls_of("cudaFreeAsync"), 1);
  }
}

TEST_F(runtime_calls, what_lies_at_an_address_is_asked_for) {
  const dsl::device_guard on(gpu);
  dsl::array<float> x(100);
  std::vector<float> host(100);
  const dsl::pinned_array<float> locked(100);
  EXPECT_EQ(dsl::device_of(x.data() + 99), gpu);
  EXPECT_EQ(dsl::device_of(host.data()), dsl::backend::host);
  EXPECT_EQ(dsl::device_of(locked.data()), dsl::backend::host);
  EXPECT_EQ(dsl::view(x.data(), 100).where(), gpu);
  EXPECT_EQ(dsl::view(locked.data(), 100, gpu).where(), gpu);
  EXPECT_THROW((void)dsl::view(host.data(), 100, gpu), dsl::device_error);
  EXPECT_THROW((void)dsl::view(x.data(), 100, dsl::backend::host), dsl::device_error);
  fails_at("cudaPointerGetAttributes", [&] { (void)dsl::view(x.data(), 100); });
  faults::begin();
  const mapping m = to_mapping(dsl::extents<1>{100}, dsl::extents<1>{1});
  (void)borrow(x.data(), m, sizeof(float), &gpu, true, keeper(), address_check::trusted);
  EXPECT_EQ(faults::calls(), 0);
}

TEST_F(runtime_calls, copies_from_page_locked_memory_are_waited_for) {
  const dsl::device_guard on(gpu);
  dsl::array<float> x(100);
  const auto waits = [&](const auto& from) {
    faults::begin();
    x.copy_from_host(from);
    return calls_of("cudaStreamSynchronize");
  };
  EXPECT_EQ(waits(std::vector<float>(100)), 0);
  dsl::pinned_array<float> locked(100);
  EXPECT_EQ(waits(locked), 1);
  faults::begin();
  x.copy_from_host_async(locked);
  x.copy_to_host_async(locked);
  EXPECT_EQ(calls_of("cudaStreamSynchronize"), 0);
  locked.wait();
  EXPECT_EQ(calls_of("cudaEventSynchronize"), 1);  // for both copies, which are on one stream
  x.copy_to_host_async(locked);
  locked = {};  // waits again
  EXPECT_EQ(calls_of("cudaEventSynchronize"), 2);
  fails_at("cudaMallocHost", [] { (void)dsl::pinned_array<float>(100); });
  fails_at("cudaMallocHost", [] { (void)dsl::pinned_array<float>(100); },
           {cudaErrorMemoryAllocation});
  dsl::pinned_array<float> other(100);
  for (const char* const function :
       {"cudaMemcpyAsync", "cudaEventCreateWithFlags", "cudaEventRecord"})
    fails_at(function, [&] { x.copy_to_host_async(other); });
  EXPECT_EQ(calls_of("cudaStreamSynchronize"),
            1);  // the copy is queued, but no event records its end
}

TEST_F(runtime_calls, a_stream_made_elsewhere_is_not_destroyed) {
  int theirs = 0;
  {
    const dsl::stream s(&theirs);
    EXPECT_EQ(s.where(), gpu);
    const dsl::stream_guard on(s);
    const dsl::array<float> x(100);
  }
  EXPECT_EQ(calls_of("cudaStreamGetDevice"), 2);
  fails_at("cudaStreamGetDevice", [&] { const dsl::stream s(&theirs); });
  fails_at("cudaEventRecord", [&] {
    const dsl::device_guard here(gpu);
    std::optional<dsl::stream> s(&theirs);
    std::optional<dsl::stream_guard> on(*s);
    dsl::array<float> x(100);
    on.reset();
    s.reset();  // no event follows its work, so the host waits
    EXPECT_EQ(calls_of("cudaStreamSynchronize"), 1);
    throw dsl::error(dsl::text("as wanted"));
  });
}

TEST_F(runtime_calls, the_cuda_array_interface_names_streams) {
  const dsl::device_guard on(gpu);
  int theirs = 0;
  dsl::array<float> x(100);
  EXPECT_EQ(dsl::to_cuda_array_interface(x).stream, 1u);
  const dsl::stream other(gpu);
  dsl::cuda_array_interface named;
  {
    const dsl::stream_guard elsewhere(other);
    faults::begin();
    named = dsl::to_cuda_array_interface(x);
    EXPECT_EQ(calls_of("cudaStreamWaitEvent"), 1);  // after the stream where x was made
    EXPECT_EQ(named.stream, reinterpret_cast<std::uintptr_t>(other.native()));
  }
  for (void* const stream : {static_cast<void*>(&theirs), static_cast<void*>(nullptr)}) {
    named.stream = reinterpret_cast<std::uintptr_t>(stream);
    faults::begin();
    (void)dsl::from_cuda_array_interface<float>(named);
    EXPECT_EQ(calls_of("cudaStreamWaitEvent"), stream != nullptr ? 1 : 0);
  }
}

// Threads create and destroy their own streams and views of the same memory, and use the views on
// each other's streams.
TEST_F(runtime_calls, threads_share_foreign_memory) {
  constexpr int at_once = 4, rounds = 3000;
  const dsl::device_guard on(gpu);
  const dsl::array<float> memory(100);
  const dsl::view shared(const_cast<float*>(memory.data()), 100);
  const dsl::stream third(gpu);
  std::vector<std::thread> threads;
  int theirs[at_once] = {};
  for (int t = 0; t < at_once; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        const dsl::device_guard here(gpu);
        const dsl::stream mine(&theirs[t]);
        const dsl::stream_guard current(mine);
        const dsl::view part(shared.data() + 25 * t, 25 + t);
        use(part.owner().get(), mine, true);
        use(part.owner().get(), third, i % 2 == 0);
        use(shared.owner().get(), mine, i % 3 == 0);
      }
    });
  for (auto& each : threads) each.join();
}

}  // namespace
