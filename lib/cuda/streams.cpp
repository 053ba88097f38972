// A GPU's streams and events.
#include "cuda/back_end.hpp"
#include "cuda/calls.hpp"
#include "cuda/process_waits.hpp"

namespace dsl::detail {

using namespace cuda;

void cuda::wait_for_others(void* stream) {
  process_waits::wait([stream] { return cudaStreamQuery(native(stream)) != cudaErrorNotReady; });
}

void* cuda_back_end::create_stream(int index) {
  const current_device on(index);
  cudaStream_t s{};
  DSL_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
int cuda_back_end::device_of_stream([[maybe_unused]] void* stream) {
  int index = 0;
#if CUDART_VERSION >= 12080
  if (!is_capturing(stream)) {  // CUDA does not return the device of a captured stream
    DSL_CHECK(cudaStreamGetDevice(native(stream), &index));
    return index;
  }
#endif
  DSL_CHECK(cudaGetDevice(&index));
  return index;
}
void cuda_back_end::destroy_stream(int index, void* stream) noexcept {
  const current_device_quietly on(index);
  forget_launches(index, stream);
  cudaStreamDestroy(native(stream));
}
void cuda_back_end::synchronize(int index, void* stream) {
  const current_device on(index);
  wait_for_others(stream);
  check(cudaStreamSynchronize(native(stream)), "waiting for a stream", stream);
  process_waits::require_all();
  forget_launches(index, stream);
}
void cuda_back_end::synchronize_quietly(int index, void* stream) noexcept {
  const current_device_quietly on(index);
  cudaStreamSynchronize(native(stream));
}
void cuda_back_end::wait_for(int index, void* stream, void* other) {
  const current_device on(index);
  cudaEvent_t reached{};
  DSL_CHECK(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming));
  const cudaError_t recorded = cudaEventRecord(reached, native(other));
  const cudaError_t waited =
      recorded == cudaSuccess ? cudaStreamWaitEvent(native(stream), reached, 0) : recorded;
  cudaEventDestroy(reached);  // lives on until it is reached
  check(waited, "ordering one stream behind another", other);
}

bool cuda_back_end::is_captured(int index, void* stream) {
  const current_device on(index);
  return is_capturing(stream);
}

void* cuda_back_end::record_event(int index, void* stream) {
  const current_device on(index);
  cudaEvent_t made{};
  DSL_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  if (const cudaError_t recorded = cudaEventRecord(made, native(stream)); recorded != cudaSuccess) {
    cudaEventDestroy(made);
    check(recorded, "recording an event", stream);
  }
  return made;
}
void cuda_back_end::wait_for_event(void* event) {
  process_waits::wait(
      [&] { return cudaEventQuery(static_cast<cudaEvent_t>(event)) != cudaErrorNotReady; });
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "waiting for a stream");
  process_waits::require_all();
}
bool cuda_back_end::is_reached(void* event) {
  const cudaError_t status = cudaEventQuery(static_cast<cudaEvent_t>(event));
  if (status == cudaErrorNotReady) return false;
  check(status, "asking how far a stream is");
  return true;
}
void cuda_back_end::wait_for_event_on(int index, void* stream, void* event) {
  const current_device on(index);
  check(cudaStreamWaitEvent(native(stream), static_cast<cudaEvent_t>(event), 0),
        "ordering a stream behind an event", stream);
}
void cuda_back_end::destroy_event(void* event) noexcept {
  cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

}  // namespace dsl::detail
