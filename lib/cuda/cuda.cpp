#include "cuda/cuda.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>

#include "cuda/fill.hpp"
#include "mem/stream.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

namespace cuda {

namespace {

std::string spell_status(cudaError_t status) { return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")"; }

// Errors of a kernel that ran, after which every call in this process fails.
bool is_fault(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

std::string spell_launch(const queued_kernel& k, const operand* operands = nullptr) {
  if (k.pass == nullptr) return "a fill of " + std::to_string(k.elements) + " elements";
  return spell_kernel(k.name) + " (" + spell_pass(*k.pass, operands) + ", " + std::to_string(k.elements) + " elements, grid " + std::to_string(k.grid) +
         ", block " + std::to_string(k.block) + ")";
}

// The last kernel of each stream that has not been waited for since: a fault is reported by some later call, of any stream.
class launch_log {
 public:
  void note(int index, void* stream, const queued_kernel& k) {
    const std::lock_guard lock(mutex_);
    last_.insert_or_assign({index, stream}, k);
  }
  void forget(int index, void* stream) {
    const std::lock_guard lock(mutex_);
    last_.erase({index, stream});
  }
  void forget(int index) {
    const std::lock_guard lock(mutex_);
    std::erase_if(last_, [index](const auto& each) { return each.first.first == index; });
  }
  // What an error says of a device's kernels, those of `first` before the others'.
  std::string spell(int index, void* first) {
    const std::lock_guard lock(mutex_);
    std::string kernels;
    constexpr int most = 4;
    int count = 0;
    const auto add = [&](const queued_kernel& k) {
      if (count < most) kernels += (count > 0 ? "; on another stream " : "") + spell_launch(k);
      if (count == most) kernels += "; and others";
      ++count;
    };
    if (const auto own = last_.find({index, first}); own != last_.end()) add(own->second);
    for (const auto& [where, k] : last_)
      if (where.first == index && where.second != first) add(k);
    return count == 0 ? "" : ". A kernel that was queued before failed; queued last was " + kernels + ". With DSL_BLOCKING=1 the error names the kernel";
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, void*>, queued_kernel> last_;
};
launch_log& launches() {
  static launch_log& log = *new launch_log;  // never freed: streams may outlive everything else
  return log;
}

[[noreturn]] void raise_failure(cudaError_t status, const std::string& call, void* stream = nullptr) {
  cudaGetLastError();  // an error that is not sticky must not be found again by the next call
  int index = 0;
  const bool known = is_fault(status) && cudaGetDevice(&index) == cudaSuccess;
  raise<cuda_error>(call + " failed: " + spell_status(status) + (known ? launches().spell(index, stream) : ""));
}
void check(cudaError_t status, const char* call, void* stream) {
  if (status != cudaSuccess) raise_failure(status, call, stream);
}
void check(cudaError_t status, const char* call) { check(status, call, nullptr); }
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

namespace {
// Only an answer is remembered: what failed may succeed the next time.
std::atomic<int> known_count{-1};
std::mutex count_mutex;  // of what follows
std::string count_error, why_none = "no GPU was found";

// The runtime gives the same error without a driver as with one that is too old.
bool has_no_driver(cudaError_t status) {
  int version = 0;
  return status == cudaErrorStubLibrary || (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess && version == 0);
}
}  // namespace

int device_count() {
  if (const int known = known_count; known >= 0) return known;
  const std::lock_guard lock(count_mutex);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  count_error.clear();
  if (status == cudaSuccess) return known_count = count;
  const bool driverless = has_no_driver(status);
  cudaGetLastError();
  if (driverless) why_none = "no GPU was found: there is no CUDA driver";
  if (driverless || status == cudaErrorNoDevice) return known_count = 0;
  count_error = "cudaGetDeviceCount failed: " + spell_status(status);
  return 0;
}
std::string device_count_error() {
  const std::lock_guard lock(count_mutex);
  return count_error;
}
std::string why_no_device() {
  const std::lock_guard lock(count_mutex);
  return count_error.empty() ? why_none : count_error;
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
  launches().forget(index, stream);
  cudaStreamDestroy(native(stream));
}
void synchronize_stream(int index, void* stream) {
  const current_device on(index);
  check(cudaStreamSynchronize(native(stream)), "waiting for a stream", stream);
  launches().forget(index, stream);
}
void wait_quietly(int index, void* stream) noexcept {
  const current_device_quietly on(index);
  cudaStreamSynchronize(native(stream));
}
void synchronize_device(int index) {
  const current_device on(index);
  check(cudaDeviceSynchronize(), "waiting for a device");
  launches().forget(index);
}

void wait_for(int index, void* stream, void* other) {
  const current_device on(index);
  cudaEvent_t reached{};
  DSL_CHECK(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming));
  const cudaError_t recorded = cudaEventRecord(reached, native(other));
  const cudaError_t waited = recorded == cudaSuccess ? cudaStreamWaitEvent(native(stream), reached, 0) : recorded;
  cudaEventDestroy(reached);  // lives on until it is reached
  check(waited, "ordering one stream behind another", other);
}

namespace {
bool is_capturing(void* stream) {
  if (stream == nullptr) return false;  // the default stream cannot be
  cudaStreamCaptureStatus status{};
  check(cudaStreamIsCapturing(native(stream), &status), "asking whether a stream is captured", stream);
  return status != cudaStreamCaptureStatusNone;
}
cudaMemPool_t pool_of(int index) {
  cudaMemPool_t pool{};
  DSL_CHECK(cudaDeviceGetDefaultMemPool(&pool, index));
  return pool;
}
}  // namespace

memory_usage usage(int index) {
  const current_device on(index);
  const cudaMemPool_t pool = pool_of(index);
  memory_usage m{};
  std::uint64_t used = 0, reserved = 0;
  DSL_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  DSL_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  DSL_CHECK(cudaMemGetInfo(&m.free, &m.total));
  m.used = used, m.reserved = reserved;
  return m;
}
void release_memory(int index) {
  synchronize_device(index);  // what was freed behind queued work is in use until then
  const current_device on(index);
  DSL_CHECK(cudaMemPoolTrimTo(pool_of(index), 0));
}
void set_release_threshold(int index, std::uint64_t bytes) { DSL_CHECK(cudaMemPoolSetAttribute(pool_of(index), cudaMemPoolAttrReleaseThreshold, &bytes)); }

void* allocate(std::size_t bytes, int index, void* stream) {
  const current_device on(index);
  void* memory = nullptr;
  cudaError_t status = cudaMallocAsync(&memory, bytes, native(stream));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    memory_usage m{};
    const auto give_back = [&] {
      if (!is_capturing(stream)) release_memory(index);
      m = usage(index);
    };
    // What other streams have freed is there once their work is done. A pool that fails keeps all that it took on the way.
    give_back();
    if (bytes <= m.free + m.reserved - std::min(m.used, m.reserved)) {
      status = cudaMallocAsync(&memory, bytes, native(stream));
      if (status != cudaErrorMemoryAllocation) return check(status, "cudaMallocAsync", stream), memory;
      cudaGetLastError();
      give_back();
    }
    const auto spell = [](std::size_t n) { return spell_bytes(static_cast<double>(n)); };
    raise<memory_error>("out of memory on cuda:" + std::to_string(index) + ": asked for " + spell(bytes) + "; of " + spell(m.total) + " this program uses " +
                        spell(m.used) + ", its pool keeps " + spell(m.reserved - std::min(m.used, m.reserved)) + " unused, and " + spell(m.free) + " are free");
  }
  check(status, "cudaMallocAsync", stream);
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
  check(cudaMemcpyAsync(to, from, bytes, kind, native(stream)), "a copy", stream);
}

bool is_cooperative(int index) {
  int supported = 0;
  DSL_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, index));
  return supported != 0;
}

namespace {

// "8.0, 9.0" from the "800,900" that nvcc gives.
std::string spell_architectures(std::string_view list) {
  std::string all;
  while (!list.empty()) {
    const int number = std::atoi(std::string(list).c_str());
    all += (all.empty() ? "" : ", ") + std::to_string(number / 100) + "." + std::to_string(number / 10 % 10);
    list.remove_prefix(std::min(list.size(), list.find(',')));
    if (!list.empty()) list.remove_prefix(1);
  }
  return all.empty() ? "others" : all;
}

// Throws device_error where the status says that there is no code for the GPU.
void check_code(cudaError_t status, const std::string& kernel, const char* architectures, int index) {
  if (status != cudaErrorNoKernelImageForDevice && status != cudaErrorInvalidDeviceFunction && status != cudaErrorUnsupportedPtxVersion) return;
  cudaGetLastError();
  const device_properties& d = dsl::properties({backend::cuda, index});
  const std::string number = std::to_string(d.compute_capability);
  raise<device_error>(kernel + " has no code for cuda:" + std::to_string(index) + " (" + d.name + ", compute capability " + spell_architectures(number + "0") +
                      "): its file was compiled for " + spell_architectures(architectures != nullptr ? architectures : "") + "; add -gencode arch=compute_" +
                      number + ",code=sm_" + number + " or, in CMake, " + number + " to CMAKE_CUDA_ARCHITECTURES (" + cudaGetErrorName(status) + ")");
}

// Lets a block have this much shared memory. A function's limit is raised once, to the most that the device has: it is the function's, so
// a limit for each launch would be another thread's too. Without that a block has 48 kB, of which the function's own are a part.
void allow_shared_memory(const void* function, int bytes, int index) {
  struct known_function { int own; bool is_raised; };
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, known_function> known;
  const std::lock_guard lock(mutex);
  auto found = known.find({function, index});
  if (found == known.end()) {
    cudaFuncAttributes a{};
    check(cudaFuncGetAttributes(&a, function), "reading a kernel's attributes");
    found = known.emplace(std::pair(function, index), known_function{static_cast<int>(a.sharedSizeBytes), false}).first;
  }
  known_function& f = found->second;
  constexpr int without_asking = 48 << 10;
  if (f.is_raised || bytes + f.own <= without_asking) return;
  int most = 0;
  DSL_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, index));
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most - f.own), "asking for shared memory");
  f.is_raised = true;
}

// Calls `launch` and notes the kernel. With DSL_BLOCKING=1 waits for it as well, one kernel at a time in all threads, so that a fault is
// known to be its own.
template <class Launch>
void queue_kernel(const queued_kernel& k, const operand* operands, const char* architectures, int index, void* stream, const Launch& launch) {
  static std::mutex one_at_a_time;
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  const bool waits = is_blocking() && !is_capturing(stream);
  if (waits) lock.lock();
  if (const cudaError_t status = launch(); status != cudaSuccess) {
    check_code(status, spell_launch(k, operands), architectures, index);
    raise_failure(status, "launching " + spell_launch(k, operands), stream);
  }
  launches().note(index, stream, k);
  if (!waits) return;
  const cudaError_t ran = cudaStreamSynchronize(native(stream));
  launches().forget(index, stream);
  if (ran != cudaSuccess) raise_failure(ran, spell_launch(k, operands), stream);
}

}  // namespace

bool is_blocking() {
  static const bool on = [] {
    const char* const value = std::getenv("DSL_BLOCKING");
    const std::string_view text = value != nullptr ? value : "";
    if (!text.empty() && text != "0" && text != "1") raise<device_error>("DSL_BLOCKING is \"" + std::string(text) + "\"; valid are \"0\" and \"1\"");
    return text == "1";
  }();
  return on;
}

kernel_attributes attributes(const program_code& code, const void* function, int block, int index) {
  static std::mutex mutex;
  static std::map<std::tuple<const void*, int, int>, kernel_attributes> known;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(function, block, index);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const current_device on(index);
  cudaFuncAttributes a{};
  const cudaError_t status = cudaFuncGetAttributes(&a, function);
  if (status != cudaSuccess) check_code(status, spell_kernel(code.name) + " (" + spell_pass(code.pass.view) + ")", code.cuda->architectures, index);
  check(status, "reading a kernel's attributes");
  int blocks = 0;
  if (block <= a.maxThreadsPerBlock)
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, block, 0), "reading a kernel's occupancy");
  return known[key] = {a.numRegs, a.maxThreadsPerBlock, blocks, static_cast<int>(a.sharedSizeBytes)};
}

namespace {
thread_local kernel_graph* recorded = nullptr;
queued_kernel as_queued(const kernel_launch& k) { return {k.name, &k.pass, k.elements, k.grid, k.block}; }
}  // namespace

void launch_kernel(const kernel_launch& k, const stream& on) {
  const int index = on.where().index;
  const current_device current(index);
  if (k.shared_bytes > 0) allow_shared_memory(k.function, k.shared_bytes, index);
  if (recorded != nullptr) return recorded->add(k);
  const dim3 grid(static_cast<unsigned>(k.grid)), block(static_cast<unsigned>(k.block));
  const auto shared = static_cast<std::size_t>(k.shared_bytes);
  queue_kernel(as_queued(k), k.operands, k.architectures, index, native_of(on), [&] {
    return k.cooperative ? cudaLaunchCooperativeKernel(k.function, grid, block, k.parameters, shared, native(native_of(on)))
                         : cudaLaunchKernel(k.function, grid, block, k.parameters, shared, native(native_of(on)));
  });
}

void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index, void* stream) {
  const current_device on(index);
  const unsigned char zeros[16] = {};
  if (std::memcmp(value, zeros, size) == 0) return set_zero(at, size * static_cast<std::size_t>(count), index, stream);
  const queued_kernel k{nullptr, nullptr, count, 0, 0};
  queue_kernel(k, nullptr, fill_architectures(), index, stream, [&] { return launch_fill(at, value, size, count, native(stream)); });
}
void set_zero(void* at, std::size_t bytes, int index, void* stream) {
  const current_device on(index);
  check(cudaMemsetAsync(at, 0, bytes, native(stream)), "a fill with zeros", stream);
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
  cudaError_t status{};
  if (executable_ == nullptr) {
    cudaGraphNode_t made{};
    const cudaGraphNode_t before = nodes_.empty() ? nullptr : static_cast<cudaGraphNode_t>(nodes_.back());
    status = cudaGraphAddKernelNode(&made, static_cast<cudaGraph_t>(graph_), &before, nodes_.empty() ? 0 : 1, &p);
    nodes_.push_back(made);
  } else {
    status = cudaGraphExecKernelNodeSetParams(static_cast<cudaGraphExec_t>(executable_), static_cast<cudaGraphNode_t>(nodes_.at(next_++)), &p);
  }
  last_ = as_queued(k);
  if (status != cudaSuccess) raise_failure(status, "launching " + spell_launch(last_, k.operands), native_of(on_));
}
void kernel_graph::launch() {
  const current_device current(on_.where().index);
  if (executable_ == nullptr) {
    cudaGraphExec_t made{};
    DSL_CHECK(cudaGraphInstantiate(&made, static_cast<cudaGraph_t>(graph_), 0));
    executable_ = made;
  }
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), native(native_of(on_))), "launching a graph of kernels", native_of(on_));
  launches().note(on_.where().index, native_of(on_), last_);
}

marker::marker(const stream& on) : event_(nullptr) {
  const current_device current(on.where().index);
  cudaEvent_t made{};
  DSL_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  if (const cudaError_t recorded = cudaEventRecord(made, native(native_of(on))); recorded != cudaSuccess) {
    cudaEventDestroy(made);
    check(recorded, "recording an event", native_of(on));
  }
  event_ = made;
}
marker::~marker() {
  if (event_ != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}
void marker::wait() const { check(cudaEventSynchronize(static_cast<cudaEvent_t>(event_)), "waiting for a stream"); }

bool is_captured(const stream& on) {
  const stream_state& s = stream_state::of(on);
  if (s.native == nullptr || !s.is_handed_out) return false;  // CUDA's legacy stream cannot be captured
  const current_device current(s.where.index);
  return is_capturing(s.native);
}

}  // namespace cuda
}  // namespace dsl::detail
