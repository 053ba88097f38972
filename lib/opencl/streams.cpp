// Streams, which are queues whose commands run in order, and events.
#include "mem/text.hpp"
#include "opencl/back_end.hpp"
#include "opencl/device.hpp"

namespace dsl::detail {

using namespace opencl;

namespace {

struct recorded_event {
  const device_state& on;
  cl_event event;

  static const recorded_event& at(void* event) { return *static_cast<recorded_event*>(event); }
};

}  // namespace

void* opencl_back_end::create_stream(int index) { return device_state::of(index).create_queue(); }

int opencl_back_end::device_of_stream(void* stream) {
  cl_context context = nullptr;
  const cl_int status =
      driver().clGetCommandQueueInfo(static_cast<cl_command_queue>(stream), CL_QUEUE_CONTEXT,
                                     sizeof(cl_context), &context, nullptr);
  if (status != CL_SUCCESS)
    raise_failure(status, "clGetCommandQueueInfo", "asking for a queue's context",
                  "an OpenCL device");
  if (const device_state* const on = device_state::find(context)) return on->index;
  raise<device_error>(
      "a queue of another OpenCL context: arrays of dsl are in contexts of its own, whose queues "
      "dsl::stream makes");
}

void opencl_back_end::destroy_stream(int index, void* stream) noexcept {
  device_state::find(index)->destroy_queue(static_cast<cl_command_queue>(stream));
}
void opencl_back_end::synchronize(int index, void* stream) {
  const device_state& on = device_state::of(index);
  on.check(driver().clFinish(on.queue_of(stream)), "clFinish", "waiting for a stream");
}
void opencl_back_end::synchronize_quietly(int index, void* stream) noexcept {
  driver().clFinish(device_state::find(index)->queue_of(stream));
}
void opencl_back_end::wait_for(int index, void* stream, void* other) {
  const device_state& on = device_state::of(index);
  on.order(on.queue_of(stream), on.queue_of(other));
}

void* opencl_back_end::record_event(int index, void* stream) {
  const device_state& on = device_state::of(index);
  return new recorded_event{on, on.record_marker(on.queue_of(stream))};
}
void opencl_back_end::wait_for_event(void* event) {
  const auto& [on, awaited] = recorded_event::at(event);
  on.check(driver().clWaitForEvents(1, &awaited), "clWaitForEvents", "waiting for a stream");
}
bool opencl_back_end::is_reached(void* event) {
  const auto& [on, asked] = recorded_event::at(event);
  cl_int state = CL_COMPLETE;
  on.check(driver().clGetEventInfo(asked, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                   nullptr),
           "clGetEventInfo", "asking how far a stream is");
  if (state < 0) on.check(state, "clGetEventInfo", "work before an event");
  return state == CL_COMPLETE;
}
void opencl_back_end::wait_for_event_on(int index, void* stream, void* event) {
  const device_state& on = device_state::of(index);
  const cl_event awaited = recorded_event::at(event).event;
  on.check(driver().clEnqueueBarrierWithWaitList(on.queue_of(stream), 1, &awaited, nullptr),
           "clEnqueueBarrierWithWaitList", "ordering a stream behind an event");
}
void opencl_back_end::destroy_event(void* event) noexcept {
  driver().clReleaseEvent(recorded_event::at(event).event);
  delete static_cast<recorded_event*>(event);
}

}  // namespace dsl::detail
