#include "cuda.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "fill.hpp"
#include "stream.hpp"
#include "text.hpp"

namespace dsl::detail {

namespace cuda {

namespace {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not be found again by the next call
  raise<cuda_error>(std::string(call) + " failed: " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}
#define DSL_CHECK(call) check(call, #call)

// The runtime works on the calling thread's current device; it is put back, since the program may use CUDA itself. Where nothing may be
// thrown, as at the program's end, errors are passed over.
template <void (*Check)(cudaError_t, const char*)>
class device_switch {
 public:
  explicit device_switch(int index) {
    Check(cudaGetDevice(&previous_), "cudaGetDevice");
    if (previous_ != index) Check(cudaSetDevice(index), "cudaSetDevice"), changed_ = true;
  }
  ~device_switch() {
    if (changed_) cudaSetDevice(previous_);
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};
void pass_over(cudaError_t, const char*) {}
using current_device = device_switch<check>;
using current_device_quietly = device_switch<pass_over>;

cudaStream_t native(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

int device_count() {
  static const int count = [] {
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
      cudaGetLastError();
      n = 0;
    }
    // Freed memory stays in the pool: in the steady state nothing is asked of the driver.
    for (int i = 0; i < n; ++i) {
      cudaMemPool_t pool{};
      std::uint64_t all = UINT64_MAX;
      if (cudaDeviceGetDefaultMemPool(&pool, i) == cudaSuccess) cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
    }
    return n;
  }();
  return count;
}

device_properties properties(int index) {
  cudaDeviceProp p{};
  DSL_CHECK(cudaGetDeviceProperties(&p, index));
  device_properties d{};
  std::snprintf(d.name, sizeof d.name, "%s", p.name);
  d.multiprocessors = p.multiProcessorCount;
  d.threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
  d.registers_per_multiprocessor = p.regsPerMultiprocessor;
  d.compute_capability = 10 * p.major + p.minor;
  d.memory = p.totalGlobalMem;
  d.l2 = static_cast<std::size_t>(p.l2CacheSize);
  d.shared_per_block = p.sharedMemPerBlockOptin;
  DSL_CHECK(cudaDriverGetVersion(&d.driver));
  DSL_CHECK(cudaRuntimeGetVersion(&d.runtime));
  return d;
}

void* create_stream(int index) {
  const current_device on(index);
  cudaStream_t s{};
  DSL_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
void destroy_stream(int index, void* stream) noexcept {
  const current_device_quietly on(index);
  cudaStreamDestroy(native(stream));
}
void synchronize_stream(int index, void* stream) {
  const current_device on(index);
  DSL_CHECK(cudaStreamSynchronize(native(stream)));
}
void synchronize_device(int index) {
  const current_device on(index);
  DSL_CHECK(cudaDeviceSynchronize());
}

void wait_for(int index, void* stream, void* other) {
  const current_device on(index);
  cudaEvent_t reached{};
  DSL_CHECK(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming));
  const cudaError_t recorded = cudaEventRecord(reached, native(other));
  const cudaError_t waited = recorded == cudaSuccess ? cudaStreamWaitEvent(native(stream), reached, 0) : recorded;
  cudaEventDestroy(reached);  // lives on until it is reached
  check(waited, "ordering one stream behind another");
}

void* allocate(std::size_t bytes, int index, void* stream) {
  const current_device on(index);
  void* memory = nullptr;
  const cudaError_t status = cudaMallocAsync(&memory, bytes, native(stream));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    raise<memory_error>("out of memory on cuda:" + std::to_string(index) + ": asked for " + spell_bytes(static_cast<double>(bytes)) + ", " +
                        spell_bytes(static_cast<double>(free)) + " of " + spell_bytes(static_cast<double>(total)) + " are free");
  }
  check(status, "cudaMallocAsync");
  return memory;
}
void release(void* memory, int index, void* stream) noexcept {
  const current_device_quietly on(index);
  cudaFreeAsync(memory, native(stream));
}

void copy(void* to, const void* from, std::size_t bytes, direction way, int index, void* stream) {
  const current_device on(index);
  const cudaMemcpyKind kind = way == direction::to_device ? cudaMemcpyHostToDevice
                              : way == direction::to_host ? cudaMemcpyDeviceToHost
                                                          : cudaMemcpyDeviceToDevice;
  DSL_CHECK(cudaMemcpyAsync(to, from, bytes, kind, native(stream)));
}

void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index, void* stream) {
  const current_device on(index);
  const unsigned char zeros[16] = {};
  if (std::memcmp(value, zeros, size) == 0) {
    DSL_CHECK(cudaMemsetAsync(at, 0, size * static_cast<std::size_t>(count), native(stream)));
  } else {
    check(launch_fill(at, value, size, count, native(stream)), "the launch of the fill kernel");
  }
}
void set_zero(void* at, std::size_t bytes, int index, void* stream) {
  const current_device on(index);
  DSL_CHECK(cudaMemsetAsync(at, 0, bytes, native(stream)));
}

bool is_cooperative(int index) {
  int supported = 0;
  DSL_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, index));
  return supported != 0;
}

kernel_attributes attributes(const void* function, int block, int index) {
  static std::mutex mutex;
  static std::map<std::tuple<const void*, int, int>, kernel_attributes> known;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(function, block, index);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const current_device on(index);
  cudaFuncAttributes a{};
  check(cudaFuncGetAttributes(&a, function), "reading a kernel's attributes");
  int blocks = 0;
  if (block <= a.maxThreadsPerBlock)
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, block, 0), "reading a kernel's occupancy");
  return known[key] = {a.numRegs, a.maxThreadsPerBlock, blocks, static_cast<int>(a.sharedSizeBytes)};
}

namespace {
thread_local kernel_graph* recorded = nullptr;

[[noreturn]] void raise_launch(const kernel_launch& k, cudaError_t status) {
  cudaGetLastError();
  raise<cuda_error>("launching " + spell_kernel(k.name) + " (" + spell_pass(k.pass, k.operands) + ", " + std::to_string(k.elements) +
                    " elements, grid " + std::to_string(k.grid) + ", block " + std::to_string(k.block) + ") failed: " +
                    cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}
}  // namespace

void launch_kernel(const kernel_launch& k, const stream& on) {
  if (recorded != nullptr) return recorded->add(k);
  const current_device current(on.where().index);
  constexpr int without_asking = 48 << 10;
  if (k.shared_bytes > without_asking)
    check(cudaFuncSetAttribute(k.function, cudaFuncAttributeMaxDynamicSharedMemorySize, k.shared_bytes), "asking for shared memory");
  const dim3 grid(static_cast<unsigned>(k.grid)), block(static_cast<unsigned>(k.block));
  const auto shared = static_cast<std::size_t>(k.shared_bytes);
  const cudaError_t status = k.cooperative ? cudaLaunchCooperativeKernel(k.function, grid, block, k.parameters, shared, native(on.native()))
                                           : cudaLaunchKernel(k.function, grid, block, k.parameters, shared, native(on.native()));
  if (status != cudaSuccess) raise_launch(k, status);
}

kernel_graph::kernel_graph(const stream& on) : on_(on) {
  cudaGraph_t made{};
  DSL_CHECK(cudaGraphCreate(&made, 0));
  graph_ = made;
}
// What is queued still runs: the runtime keeps it until then.
kernel_graph::~kernel_graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
  cudaGraphDestroy(static_cast<cudaGraph_t>(graph_));
}
void kernel_graph::begin() { recorded = this, next_ = 0; }
void kernel_graph::end() noexcept { recorded = nullptr; }
void kernel_graph::add(const kernel_launch& k) {
  cudaKernelNodeParams p{};
  p.func = const_cast<void*>(k.function), p.kernelParams = k.parameters;
  p.gridDim = dim3(static_cast<unsigned>(k.grid)), p.blockDim = dim3(static_cast<unsigned>(k.block)), p.sharedMemBytes = static_cast<unsigned>(k.shared_bytes);
  const current_device current(on_.where().index);
  cudaError_t status{};
  if (executable_ == nullptr) {
    cudaGraphNode_t made{};
    const cudaGraphNode_t before = nodes_.empty() ? nullptr : static_cast<cudaGraphNode_t>(nodes_.back());
    status = cudaGraphAddKernelNode(&made, static_cast<cudaGraph_t>(graph_), &before, nodes_.empty() ? 0 : 1, &p);
    nodes_.push_back(made);
  } else {
    status = cudaGraphExecKernelNodeSetParams(static_cast<cudaGraphExec_t>(executable_), static_cast<cudaGraphNode_t>(nodes_.at(next_++)), &p);
  }
  if (status != cudaSuccess) raise_launch(k, status);
}
void kernel_graph::launch() {
  const current_device current(on_.where().index);
  if (executable_ == nullptr) {
    cudaGraphExec_t made{};
    DSL_CHECK(cudaGraphInstantiate(&made, static_cast<cudaGraph_t>(graph_), 0));
    executable_ = made;
  }
  DSL_CHECK(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), native(on_.native())));
}

marker::marker(const stream& on) : event_(nullptr) {
  const current_device current(on.where().index);
  cudaEvent_t made{};
  DSL_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  event_ = made;
  DSL_CHECK(cudaEventRecord(made, native(on.native())));
}
marker::~marker() {
  if (event_ != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}
void marker::wait() const { DSL_CHECK(cudaEventSynchronize(static_cast<cudaEvent_t>(event_))); }

bool is_captured(const stream& on) {
  const current_device current(on.where().index);
  cudaStreamCaptureStatus status{};
  DSL_CHECK(cudaStreamIsCapturing(native(on.native()), &status));
  return status != cudaStreamCaptureStatusNone;
}

namespace {

// Memory that is there to stay, with zeros at its beginning. Of a stream that is captured into a graph it must not be a part, or it
// would be the graph's: then another stream gets it, and is waited for.
void* allocate_zeroed(std::size_t bytes, std::size_t zeros, int index, void* stream) {
  const current_device on(index);
  cudaStreamCaptureStatus status{};
  DSL_CHECK(cudaStreamIsCapturing(native(stream), &status));
  if (status == cudaStreamCaptureStatusNone) {
    void* const memory = allocate(bytes, index, stream);
    set_zero(memory, zeros, index, stream);
    return memory;
  }
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  DSL_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  void* const beside = create_stream(index);
  void* const memory = allocate(bytes, index, beside);
  set_zero(memory, zeros, index, beside);
  synchronize_stream(index, beside);
  destroy_stream(index, beside);
  DSL_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  return memory;
}

}  // namespace

workspace scratch_of(const stream& on, std::size_t bytes) {
  // The tickets come first, zeroed once: every kernel that uses them leaves them at zero.
  constexpr std::size_t ticket_bytes = max_tickets * sizeof(unsigned);
  stream_state& s = stream_state::of(on);
  const std::lock_guard lock(s.mutex);
  if (s.scratch_bytes < bytes) {
    std::size_t size = 1 << 16;
    while (size < bytes) size *= 2;
    void* const larger = allocate_zeroed(ticket_bytes + size, ticket_bytes, s.where.index, s.native);
    if (s.scratch != nullptr) s.outgrown.push_back(s.scratch);
    s.scratch = larger;
    s.scratch_bytes = size;
  }
  return {static_cast<char*>(s.scratch) + ticket_bytes, static_cast<unsigned*>(s.scratch)};
}

exchange exchange_of(const stream& on, std::size_t bytes, std::int64_t steps) {
  stream_state& s = stream_state::of(on);
  const std::lock_guard lock(s.mutex);
  if (s.slot_bytes < bytes) {
    std::size_t size = 1 << 14;
    while (size < bytes) size *= 2;
    void* const larger = allocate_zeroed(size, size, s.where.index, s.native);
    if (s.slots != nullptr) s.outgrown.push_back(s.slots);
    s.slots = larger, s.slot_bytes = size, s.epoch = 0;
  }
  const current_device current(s.where.index);
  cudaStreamCaptureStatus capture{};
  DSL_CHECK(cudaStreamIsCapturing(native(s.native), &capture));
  const auto numbers = static_cast<unsigned>(steps);
  if (capture != cudaStreamCaptureStatusNone) {  // a graph takes the same numbers each time it runs
    set_zero(s.slots, s.slot_bytes, s.where.index, s.native);
    s.epoch = std::max(s.epoch, numbers);
    return {s.slots, 1};
  }
  if (s.epoch > UINT32_MAX - numbers) {
    set_zero(s.slots, s.slot_bytes, s.where.index, s.native);
    s.epoch = 0;
  }
  s.epoch += numbers;
  return {s.slots, s.epoch - numbers + 1};
}

}  // namespace cuda
}  // namespace dsl::detail
