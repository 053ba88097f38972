#include "opencl/device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "mem/back_end.hpp"
#include "mem/release_threshold.hpp"

namespace dsl::detail::opencl {

namespace {

struct device_name {
  cl_platform_id platform;
  cl_device_id id;
};
struct device_list {
  std::vector<device_name> all{};
  std::string why_none{};
};

device_list list_devices() {
  device_list found;
  const driver_functions* const call = find_driver();
  if (call == nullptr) {
    found.why_none = "no OpenCL device was found: " + why_no_driver();
    return found;
  }
  cl_uint count = 0;
  const cl_int status = call->clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(status == CL_SUCCESS ? count : 0);
  if (platforms.empty()) {
    found.why_none = "no OpenCL device was found: no driver is installed (clGetPlatformIDs: " +
                     name_of_status(status) + ")";
    return found;
  }
  call->clGetPlatformIDs(count, platforms.data(), nullptr);
  for (const cl_platform_id platform : platforms) {
    if (call->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS)
      continue;  // a driver without a device, or one that does not start
    std::vector<cl_device_id> ids(count);
    call->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
    for (const cl_device_id id : ids)
      if (found.all.size() < back_end::max_devices) found.all.push_back({platform, id});
  }
  if (found.all.empty()) found.why_none = "no OpenCL device was found: the drivers have none";
  return found;
}

const device_list& listed() {
  static const device_list& once = *new device_list(list_devices());
  return once;
}

constexpr const char* reading = "reading a device's properties";

template <class Value>
Value read(cl_device_id id, cl_device_info what) {
  Value value{};
  check(driver().clGetDeviceInfo(id, what, sizeof value, &value, nullptr), "clGetDeviceInfo",
        reading);
  return value;
}

// Text that a driver gives in two calls: its length, then its characters and a zero.
template <class Get>
std::string read_text(const char* call, const Get& get) {
  std::size_t bytes = 0;
  check(get(0, nullptr, &bytes), call, reading);
  std::string text(bytes, '\0');
  check(get(bytes, text.data(), nullptr), call, reading);
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}
std::string read_text(cl_device_id id, cl_device_info what) {
  return read_text("clGetDeviceInfo", [&](std::size_t bytes, char* text, std::size_t* needed) {
    return driver().clGetDeviceInfo(id, what, bytes, text, needed);
  });
}

// A device of OpenCL 3.0 says it; before, only kernels do. All GPUs' own widths divide 64.
std::size_t read_work_group_multiple(cl_device_id id) {
  constexpr cl_device_info preferred_multiple = 0x1067;
  std::size_t multiple = 0;
  const cl_int status =
      driver().clGetDeviceInfo(id, preferred_multiple, sizeof multiple, &multiple, nullptr);
  return status == CL_SUCCESS && multiple > 0 ? multiple : 64;
}

abilities read_abilities(cl_device_id id) {
  const std::string extensions = " " + read_text(id, CL_DEVICE_EXTENSIONS) + " ";
  const auto has = [&](const char* name) {
    return extensions.find(" " + std::string(name) + " ") != std::string::npos;
  };
  const auto vector_of = [id](cl_device_info type) {
    return static_cast<int>(read<cl_uint>(id, type));
  };
  abilities a{};
  a.has_double = read<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  a.has_half = has("cl_khr_fp16");
  a.has_int64_atomics = has("cl_khr_int64_base_atomics");
  a.work_group_multiple = read_work_group_multiple(id);
  a.largest_work_group = read<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  a.local_memory = static_cast<std::size_t>(read<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE));
  a.float_vector = vector_of(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
  a.double_vector = vector_of(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE);
  a.int_vector = vector_of(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT);
  a.long_vector = vector_of(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG);
  a.half_vector = vector_of(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF);
  a.takes_lanes = (read<cl_device_type>(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) == 0;
  a.is_little_endian = read<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE) != 0;
  return a;
}

device_properties read_properties(cl_device_id id) {
  device_properties d{};
  std::snprintf(d.name, sizeof d.name, "%s", read_text(id, CL_DEVICE_NAME).c_str());
  d.multiprocessors = static_cast<int>(read<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS));
  // OpenCL does not say how many work-items a compute unit holds; a work-group fits in one.
  d.threads_per_multiprocessor =
      static_cast<int>(read<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  d.memory = static_cast<std::size_t>(read<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE));
  d.l2 = static_cast<std::size_t>(read<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
  d.shared_per_block = static_cast<std::size_t>(read<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE));
  return d;
}

// Read at first use. A device whose properties cannot be read is asked again by the next call.
std::atomic<device_state*> used[back_end::max_devices] = {};
constinit std::mutex use_mutex;

}  // namespace

int count_devices() { return static_cast<int>(listed().all.size()); }
const std::string& why_no_device() { return listed().why_none; }

device_state& device_state::of(int index) {
  if (device_state* const known = find(index)) return *known;
  const std::lock_guard lock(use_mutex);
  if (device_state* const known = find(index)) return *known;
  const device_name& named = listed().all[static_cast<std::size_t>(index)];
  auto* const made = new device_state(index, named.platform, named.id);
  used[index].store(made, std::memory_order_release);
  return *made;
}
device_state* device_state::find(int index) noexcept {
  return used[index].load(std::memory_order_acquire);
}

device_state::device_state(int number, cl_platform_id platform, cl_device_id of)
    : index(number),
      id(of),
      properties(read_properties(of)),
      can(read_abilities(of)),
      driver_version(read_text(of, CL_DRIVER_VERSION)),
      platform_version(read_text("clGetPlatformInfo",
                                 [platform](std::size_t bytes, char* text, std::size_t* needed) {
                                   return driver().clGetPlatformInfo(platform, CL_PLATFORM_VERSION,
                                                                     bytes, text, needed);
                                 })),
      largest_allocation(
          static_cast<std::size_t>(read<cl_ulong>(of, CL_DEVICE_MAX_MEM_ALLOC_SIZE))),
      pool_(std::make_unique<memory_pool>(*this)) {
  const auto opening = [this] { return "opening " + name(); };
  const cl_context_properties wanted[] = {CL_CONTEXT_PLATFORM,
                                          reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int status = CL_SUCCESS;
  context_ = driver().clCreateContext(wanted, 1, &id, nullptr, nullptr, &status);
  check(status, "clCreateContext", opening);
  default_queue_ = create_queue();
  pool_->set_release_threshold(release_threshold_from_environment());
}

std::string device_state::name() const {
  return "opencl:" + std::to_string(index) + " (" + properties.name + ")";
}

cl_command_queue device_state::create_queue() {
  cl_int status = CL_SUCCESS;
  const cl_command_queue made = driver().clCreateCommandQueue(context_, id, 0, &status);
  check(status, "clCreateCommandQueue", [this] { return "making a queue of " + name(); });
  const std::lock_guard lock(mutex_);
  queues_.insert(made);
  return made;
}
void device_state::destroy_queue(cl_command_queue queue) noexcept {
  {
    const std::lock_guard lock(mutex_);
    queues_.erase(queue);
  }
  driver().clReleaseCommandQueue(queue);
}

cl_event record_marker(cl_command_queue queue) {
  cl_event made = nullptr;
  check(driver().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &made),
        "clEnqueueMarkerWithWaitList", "recording an event");
  check(driver().clFlush(queue), "clFlush", "recording an event");
  return made;
}

void device_state::order(cl_command_queue queue, cl_command_queue other) const {
  const cl_event reached = record_marker(other);
  const cl_int status = driver().clEnqueueBarrierWithWaitList(queue, 1, &reached, nullptr);
  driver().clReleaseEvent(reached);  // lives on until it is reached
  check(status, "clEnqueueBarrierWithWaitList", "ordering one queue behind another");
}

void device_state::finish() {
  std::vector<cl_command_queue> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(queues_.begin(), queues_.end());
    for (const cl_command_queue each : all) driver().clRetainCommandQueue(each);
  }
  cl_int status = CL_SUCCESS;
  for (const cl_command_queue each : all) {
    if (const cl_int now = driver().clFinish(each); now != CL_SUCCESS) status = now;
    driver().clReleaseCommandQueue(each);
  }
  check(status, "clFinish", [this] { return "waiting for " + name(); });
}

}  // namespace dsl::detail::opencl
