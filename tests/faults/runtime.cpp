#include "runtime.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

namespace faults {

namespace {

enum class kind { allocation, pinned, stream, event, graph, executable };

// Everything is guarded by one lock, so that calls of several threads have an order.
struct calls_of_one {
  long count = 0;
  int gpu = -1;  // current at the last call
};

struct state {
  std::mutex mutex;
  std::map<std::pair<kind, const void*>, std::size_t> alive;
  std::map<std::string, calls_of_one> calls_of;
  long calls = 0, wanted = 0, strangers = 0;
  std::string function;  // function that is to fail; empty: any
  failure how;
  const char* failed = nullptr;
  std::vector<std::vector<long>> graph_kernels;
  bool emulated = false, captures = false;  // captures: an emulated stream captures
  long writes_left = -1;                    // writes until streams stop; -1: they do not stop
  std::vector<std::pair<std::uint32_t*, std::uint32_t>> writes;
};
state& now() {
  static state& s = *new state;  // never freed: calls are made until the process ends
  return s;
}
thread_local int paused = 0;
thread_local int current_gpu = 0;  // of the emulation

bool counts_as(const char* function) { return paused == 0 && function != nullptr; }

// The caller holds the state's mutex.
long count(const char* function) {
  calls_of_one& all = now().calls_of[function];
  all.gpu = current_gpu;
  return ++all.count;
}

// Whether this call is the one that fails.
bool fails(const char* function, cudaError_t& status) {
  state& s = now();
  const std::lock_guard lock(s.mutex);
  if (!counts_as(function)) return false;
  const long of_function = count(function);
  ++s.calls;
  const bool first =
      s.wanted > 0 && (s.function.empty() ? s.calls == s.wanted
                                          : s.function == function && of_function == s.wanted);
  if (first) s.failed = function;
  if (!first && !(s.how.stays && s.failed != nullptr && std::string_view(s.failed) == function))
    return false;
  status = s.how.status;
  return true;
}

void take(kind k, const void* what, std::size_t bytes = 0) {
  const std::lock_guard lock(now().mutex);
  now().alive[{k, what}] = bytes;
}
void give_back(kind k, const void* what) {
  const std::lock_guard lock(now().mutex);
  if (now().alive.erase({k, what}) == 0) ++now().strangers;
}

}  // namespace

std::string living::describe() const {
  const auto each = [](long n, const char* what) { return std::to_string(n) + " " + what; };
  return each(allocations, "allocations of ") + each(bytes, "bytes, ") +
         each(pinned, "page-locked, ") + each(streams, "streams, ") + each(events, "events, ") +
         each(graphs, "graphs, ") + each(executables, "executable graphs");
}

living alive() {
  living all;
  const std::lock_guard lock(now().mutex);
  for (const auto& [what, bytes] : now().alive) {
    switch (what.first) {
      case kind::allocation:
        ++all.allocations;
        all.bytes += static_cast<long>(bytes);
        break;
      case kind::pinned: ++all.pinned; break;
      case kind::stream: ++all.streams; break;
      case kind::event: ++all.events; break;
      case kind::graph: ++all.graphs; break;
      case kind::executable: ++all.executables; break;
    }
  }
  return all;
}
long strangers() {
  const std::lock_guard lock(now().mutex);
  return now().strangers;
}

void begin(long number, failure how) { begin_at("", number, how); }
void begin_at(const char* function, long number, failure how) {
  state& s = now();
  const std::lock_guard lock(s.mutex);
  s.function = function;
  s.wanted = number;
  s.how = how;
  s.failed = nullptr;
  s.calls = 0;
  s.calls_of.clear();
  s.graph_kernels.clear();
}
void end() {
  const std::lock_guard lock(now().mutex);
  now().wanted = 0;
  now().how.stays = false;
}
long calls() {
  const std::lock_guard lock(now().mutex);
  return now().calls;
}
long calls_of(const char* function) {
  const std::lock_guard lock(now().mutex);
  return now().calls_of[function].count;
}
int gpu_of(const char* function) {
  const std::lock_guard lock(now().mutex);
  return now().calls_of[function].gpu;
}
std::vector<std::vector<long>> graph_kernels() {
  const std::lock_guard lock(now().mutex);
  return now().graph_kernels;
}
const char* failed() {
  const std::lock_guard lock(now().mutex);
  return now().failed;
}

void stop_streams(long after) {
  const std::lock_guard lock(now().mutex);
  now().writes_left = after;
}
void resume_streams() {
  const std::lock_guard lock(now().mutex);
  now().writes_left = -1;
  for (const auto& [to, value] : now().writes) *to = value;
  now().writes.clear();
}

pause::pause() { ++paused; }
pause::~pause() { --paused; }

void emulate() { now().emulated = true; }
bool is_emulated() { return now().emulated; }

namespace {

// A stream, an event or a graph: a unique address.
template <class Handle>
void make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(std::malloc(1));
}
// A graph's node is represented by its number.
cudaGraphNode_t add_kernel(const cudaGraphNode_t* behind, std::size_t count) {
  const std::lock_guard lock(now().mutex);
  std::vector<long>& made = now().graph_kernels.emplace_back();
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(static_cast<long>(reinterpret_cast<std::uintptr_t>(behind[i])));
  return reinterpret_cast<cudaGraphNode_t>(now().graph_kernels.size());
}
void fill_properties(cudaDeviceProp& p) {
  std::memset(static_cast<void*>(&p), 0, sizeof p);
  std::snprintf(p.name, sizeof p.name, "emulated");
  p.multiProcessorCount = 16;
  p.maxThreadsPerMultiProcessor = 2048;
  p.regsPerMultiprocessor = 65536;
  p.major = 9;
  p.totalGlobalMem = std::size_t{8} << 30;
  p.l2CacheSize = 32 << 20;
  p.sharedMemPerBlockOptin = 227 << 10;
}
// Addresses in an emulated allocation are the device's, or page-locked.
void fill_attributes(cudaPointerAttributes& found, const void* address) {
  found = {};
  const std::lock_guard lock(now().mutex);
  for (const auto& [what, bytes] : now().alive) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(what.second);
    if ((what.first == kind::allocation || what.first == kind::pinned) && offset < bytes) {
      found.type = what.first == kind::pinned ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
      found.devicePointer = const_cast<void*>(address);
    }
  }
}
int attribute_of(cudaDeviceAttr which) {
  if (which == cudaDevAttrPageableMemoryAccess) return 0;
  return which == cudaDevAttrCooperativeLaunch ? 1 : 227 << 10;
}
cudaFuncAttributes function_attributes() {
  cudaFuncAttributes a{};
  a.numRegs = 32;
  a.maxThreadsPerBlock = 1024;
  a.sharedSizeBytes = 1024;
  return a;
}
bool have_stopped() {
  const std::lock_guard lock(now().mutex);
  return !now().writes.empty();
}
CUresult write_value(CUstream, CUdeviceptr to, cuuint32_t value, unsigned) {
  state& s = now();
  const std::lock_guard lock(s.mutex);
  count("cuStreamWriteValue32");
  auto* const at = reinterpret_cast<std::uint32_t*>(to);
  if (s.writes_left == 0) s.writes.emplace_back(at, value);
  else *at = value;
  s.writes_left -= s.writes_left > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
// The only function of the driver's that the emulation implements.
void find_driver_function(const char* name, void** function) {
  *function = reinterpret_cast<void*>(&write_value);
  if (std::string_view(name) != "cuStreamWriteValue32")
    *function = reinterpret_cast<void*>(&find_driver_function);
}
std::size_t bytes_alive() { return static_cast<std::size_t>(alive().bytes); }

}  // namespace
}  // namespace faults

using namespace faults;

// The linker gives the library __wrap_f where it calls f (--wrap), and here __real_f is f. Each
// row: the function, its parameters, its arguments, and what the emulation does. CMakeLists.txt
// lists the same functions.
#define CALL(name, parameters, arguments, ...)          \
  extern "C" cudaError_t __real_##name parameters;      \
  extern "C" cudaError_t __wrap_##name parameters {     \
    cudaError_t status = cudaSuccess;                   \
    if (fails(#name, status)) return status;            \
    if (!is_emulated()) return __real_##name arguments; \
    __VA_ARGS__;                                        \
    return status;                                      \
  }
// A wait takes place even if it reports failure.
#define WAIT(name, parameters, arguments)                                           \
  extern "C" cudaError_t __real_##name parameters;                                  \
  extern "C" cudaError_t __wrap_##name parameters {                                 \
    cudaError_t status = cudaSuccess;                                               \
    const bool reports = fails(#name, status);                                      \
    const cudaError_t real = is_emulated() ? cudaSuccess : __real_##name arguments; \
    return reports ? status : real;                                                 \
  }
// Acquires a resource that must be released.
#define TAKE(name, parameters, arguments, what, handle, bytes, ...) \
  extern "C" cudaError_t __real_##name parameters;                  \
  extern "C" cudaError_t __wrap_##name parameters {                 \
    cudaError_t status = cudaSuccess;                               \
    if (fails(#name, status)) return status;                        \
    if (!is_emulated()) status = __real_##name arguments;           \
    else __VA_ARGS__;                                               \
    if (status == cudaSuccess) take(kind::what, handle, bytes);     \
    return status;                                                  \
  }
// Releases a resource, even if it reports failure.
#define GIVE_BACK(name, parameters, arguments, what, handle) \
  extern "C" cudaError_t __real_##name parameters;           \
  extern "C" cudaError_t __wrap_##name parameters {          \
    cudaError_t status = cudaSuccess;                        \
    const bool reports = fails(#name, status);               \
    give_back(kind::what, handle);                           \
    cudaError_t real = cudaSuccess;                          \
    if (is_emulated()) std::free(handle);                    \
    else real = __real_##name arguments;                     \
    return reports ? status : real;                          \
  }

CALL(cudaGetDeviceCount, (int* count), (count), *count = 1)
CALL(cudaDriverGetVersion, (int* version), (version), *version = 13000)
CALL(cudaRuntimeGetVersion, (int* version), (version), *version = 13000)
CALL(cudaGetDeviceProperties, (cudaDeviceProp * p, int device), (p, device), fill_properties(*p))
CALL(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr which, int device), (value, which, device),
     *value = attribute_of(which))
CALL(cudaGetDevice, (int* device), (device), *device = current_gpu)
CALL(cudaSetDevice, (int device), (device), current_gpu = device)
WAIT(cudaDeviceSynchronize, (), ())
CALL(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device), (pool, device),
     *pool = nullptr)
CALL(cudaMemPoolSetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr which, void* value),
     (pool, which, value))
CALL(cudaMemPoolGetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr which, void* value),
     (pool, which, value), *static_cast<std::size_t*>(value) = bytes_alive())
CALL(cudaMemPoolTrimTo, (cudaMemPool_t pool, std::size_t least), (pool, least))
CALL(cudaMemGetInfo, (std::size_t* free, std::size_t* total), (free, total),
     *total = std::size_t{8} << 30, *free = *total - bytes_alive())
CALL(cudaMemcpyAsync,
     (void* to, const void* from, std::size_t bytes, cudaMemcpyKind way, cudaStream_t stream),
     (to, from, bytes, way, stream), std::memmove(to, from, bytes))
CALL(cudaMemsetAsync, (void* at, int value, std::size_t bytes, cudaStream_t stream),
     (at, value, bytes, stream), std::memset(at, value, bytes))
WAIT(cudaStreamSynchronize, (cudaStream_t stream), (stream))
CALL(cudaStreamIsCapturing, (cudaStream_t stream, cudaStreamCaptureStatus* captured),
     (stream, captured),
     *captured = now().captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone)
CALL(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode),
     now().captures = true)
CALL(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
     (stream, event, flags))
CALL(cudaStreamQuery, (cudaStream_t stream), (stream),
     status = have_stopped() ? cudaErrorNotReady : cudaSuccess)
CALL(cudaEventQuery, (cudaEvent_t event), (event),
     status = have_stopped() ? cudaErrorNotReady : cudaSuccess)
CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
WAIT(cudaEventSynchronize, (cudaEvent_t event), (event))
CALL(cudaFuncGetAttributes, (cudaFuncAttributes * a, const void* function), (a, function),
     *a = function_attributes())
CALL(cudaFuncSetAttribute, (const void* function, cudaFuncAttribute which, int value),
     (function, which, value))
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
     (int* blocks, const void* function, int block, std::size_t shared),
     (blocks, function, block, shared), *blocks = 2048 / block)
CALL(cudaOccupancyMaxPotentialClusterSize,
     (int* size, const void* function, const cudaLaunchConfig_t* how), (size, function, how),
     *size = 8)
CALL(cudaLaunchKernel,
     (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
      cudaStream_t stream),
     (function, grid, block, arguments, shared, stream))
CALL(cudaLaunchCooperativeKernel,
     (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
      cudaStream_t stream),
     (function, grid, block, arguments, shared, stream))
CALL(cudaLaunchKernelExC, (const cudaLaunchConfig_t* how, const void* function, void** arguments),
     (how, function, arguments))
CALL(cudaGraphAddKernelNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
      const cudaKernelNodeParams* p),
     (node, graph, before, count, p), *node = add_kernel(before, count))
CALL(cudaGraphAddChildGraphNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
      cudaGraph_t child),
     (node, graph, before, count, child), *node = add_kernel(before, count))
CALL(cudaGraphExecKernelNodeSetParams,
     (cudaGraphExec_t graph, cudaGraphNode_t node, const cudaKernelNodeParams* p), (graph, node, p))
CALL(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))

TAKE(cudaMallocAsync, (void** memory, std::size_t bytes, cudaStream_t stream),
     (memory, bytes, stream), allocation, *memory, bytes,
     *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256), std::memset(*memory, 0, bytes))
TAKE(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags), stream,
     *stream, 0, make(stream))
TAKE(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags), event, *event,
     0, make(event))
TAKE(cudaGraphCreate, (cudaGraph_t * graph, unsigned flags), (graph, flags), graph, *graph, 0,
     make(graph))
TAKE(cudaGraphInstantiate, (cudaGraphExec_t * made, cudaGraph_t graph, unsigned long long flags),
     (made, graph, flags), executable, *made, 0, make(made))
TAKE(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), (stream, graph), graph,
     *graph, 0, make(graph), now().captures = false)
TAKE(cudaMallocHost, (void** memory, std::size_t bytes), (memory, bytes), pinned, *memory, bytes,
     *memory = std::malloc(bytes))
CALL(cudaHostAlloc, (void** memory, std::size_t bytes, unsigned flags), (memory, bytes, flags),
     *memory = std::malloc(bytes))
#if CUDART_VERSION >= 12050
CALL(cudaGetDriverEntryPointByVersion,
     (const char* name, void** function, unsigned version, unsigned long long flags,
      cudaDriverEntryPointQueryResult* found),
     (name, function, version, flags, found), find_driver_function(name, function),
     *found = cudaDriverEntryPointSuccess)
#else
CALL(cudaGetDriverEntryPoint,
     (const char* name, void** function, unsigned long long flags,
      cudaDriverEntryPointQueryResult* found),
     (name, function, flags, found), find_driver_function(name, function),
     *found = cudaDriverEntryPointSuccess)
#endif
CALL(cudaPointerGetAttributes, (cudaPointerAttributes * found, const void* address),
     (found, address), fill_attributes(*found, address))
CALL(cudaStreamGetDevice, (cudaStream_t stream, int* device), (stream, device), *device = 0)
GIVE_BACK(cudaFreeHost, (void* memory), (memory), pinned, memory)
GIVE_BACK(cudaFreeAsync, (void* memory, cudaStream_t stream), (memory, stream), allocation, memory)
GIVE_BACK(cudaStreamDestroy, (cudaStream_t stream), (stream), stream, stream)
GIVE_BACK(cudaEventDestroy, (cudaEvent_t event), (event), event, event)
GIVE_BACK(cudaGraphDestroy, (cudaGraph_t graph), (graph), graph, graph)
GIVE_BACK(cudaGraphExecDestroy, (cudaGraphExec_t graph), (graph), executable, graph)
