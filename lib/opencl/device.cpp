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

// Platforms or devices, which a driver gives in two calls: their number, then they themselves.
template <class Each, class Get>
cl_int list(std::vector<Each>& all, const Get& get) {
  cl_uint count = 0;
  cl_int status = get(0, nullptr, &count);
  if (status != CL_SUCCESS) return status;
  all.resize(count);
  status = get(count, all.data(), nullptr);
  if (status != CL_SUCCESS) all.clear();
  return status;
}

device_list list_devices() {
  device_list found;
  const driver_functions* const call = find_driver();
  if (call == nullptr) {
    found.why_none = why_no_driver();
    return found;
  }
  std::vector<cl_platform_id> platforms;
  cl_int status = list(platforms, [call](cl_uint count, cl_platform_id* to, cl_uint* needed) {
    return call->clGetPlatformIDs(count, to, needed);
  });
  if (platforms.empty()) {
    found.why_none =
        "no driver is installed (clGetPlatformIDs returned " + name_of_status(status) + ")";
    return found;
  }
  // A driver without a device, or one that does not start, leaves the others' devices.
  for (const cl_platform_id platform : platforms) {
    std::vector<cl_device_id> ids;
    const cl_int now = list(ids, [&](cl_uint count, cl_device_id* to, cl_uint* needed) {
      return call->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, to, needed);
    });
    if (now != CL_SUCCESS) status = now;
    for (const cl_device_id id : ids)
      if (found.all.size() < back_end::max_devices) found.all.push_back({platform, id});
  }
  if (found.all.empty())
    found.why_none =
        "the drivers have none (clGetDeviceIDs returned " + name_of_status(status) + ")";
  return found;
}

const device_list& listed() {
  static const device_list& once = *new device_list(list_devices());
  return once;
}

// Reads properties. Throws opencl_error.
class property_reader {
 public:
  property_reader(int number, cl_platform_id platform, cl_device_id id)
      : name_("opencl:" + std::to_string(number)), platform_(platform), id_(id) {}

  template <class Value>
  Value value(cl_device_info what) const {
    Value read{};
    check(driver().clGetDeviceInfo(id_, what, sizeof read, &read, nullptr), "clGetDeviceInfo");
    return read;
  }
  std::string text(cl_device_info what) const {
    return read_text("clGetDeviceInfo", [&](std::size_t bytes, char* to, std::size_t* needed) {
      return driver().clGetDeviceInfo(id_, what, bytes, to, needed);
    });
  }
  std::string text_of_platform(cl_platform_info what) const {
    return read_text("clGetPlatformInfo", [&](std::size_t bytes, char* to, std::size_t* needed) {
      return driver().clGetPlatformInfo(platform_, what, bytes, to, needed);
    });
  }

  device_properties properties() const;
  opencl::abilities abilities() const;

 private:
  void check(cl_int status, const char* call) const {
    if (status != CL_SUCCESS) raise_failure(status, call, "reading properties", name_);
  }
  // A driver gives text in two calls: its length, then its characters and a zero.
  template <class Get>
  std::string read_text(const char* call, const Get& get) const {
    std::size_t bytes = 0;
    check(get(0, nullptr, &bytes), call);
    std::string read(bytes, '\0');
    check(get(bytes, read.data(), nullptr), call);
    read.resize(read.find_last_not_of('\0') + 1);
    return read;
  }

  std::string name_;
  cl_platform_id platform_;
  cl_device_id id_;
};

abilities property_reader::abilities() const {
  opencl::abilities a{};
  a.has_double = value<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  a.largest_work_group = value<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  a.local_memory = static_cast<std::size_t>(value<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE));
  a.parameter_bytes = value<std::size_t>(CL_DEVICE_MAX_PARAMETER_SIZE);
  a.rounds_divide_and_sqrt = (value<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG) &
                              CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  a.takes_lanes = (value<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) == 0;
  return a;
}

device_properties property_reader::properties() const {
  device_properties d{};
  std::snprintf(d.name, sizeof d.name, "%s", text(CL_DEVICE_NAME).c_str());
  d.multiprocessors = static_cast<int>(value<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS));
  // OpenCL does not say how many work-items a compute unit holds; a work-group fits in one.
  d.threads_per_multiprocessor =
      static_cast<int>(value<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
  d.memory = static_cast<std::size_t>(value<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE));
  d.l2 = static_cast<std::size_t>(value<cl_ulong>(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
  d.shared_per_block = static_cast<std::size_t>(value<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE));
  return d;
}

// Read at first use. A device whose properties cannot be read is asked again by the next call.
std::atomic<device_state*> used[back_end::max_devices] = {};
constinit std::mutex use_mutex;

}  // namespace

int count_devices() { return static_cast<int>(listed().all.size()); }
std::string why_no_device() { return "no OpenCL device was found: " + listed().why_none; }

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

device_state* device_state::find(cl_context context) noexcept {
  for (int i = 0; i < back_end::max_devices; ++i)
    if (device_state* const on = find(i); on != nullptr && on->context() == context) return on;
  return nullptr;
}

device_state::device_state(int number, cl_platform_id platform, cl_device_id of)
    : index(number), id(of), pool_(std::make_unique<memory_pool>(*this)) {
  const property_reader read(number, platform, of);
  properties = read.properties();
  can = read.abilities();
  driver_version = read.text(CL_DRIVER_VERSION);
  platform_version = read.text_of_platform(CL_PLATFORM_VERSION);
  largest_allocation = static_cast<std::size_t>(read.value<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  pool_->set_release_threshold(release_threshold_from_environment());
  const cl_context_properties wanted[] = {CL_CONTEXT_PLATFORM,
                                          reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int status = CL_SUCCESS;
  context_ = driver().clCreateContext(wanted, 1, &id, nullptr, nullptr, &status);
  check(status, "clCreateContext", "making a context");
  try {
    default_queue_ = create_queue();
  } catch (...) {
    driver().clReleaseContext(context_);
    throw;
  }
}

std::string device_state::name() const {
  return "opencl:" + std::to_string(index) + " (" + properties.name + ")";
}

cl_command_queue device_state::create_queue() {
  cl_int status = CL_SUCCESS;
  const cl_command_queue made = driver().clCreateCommandQueue(context_, id, 0, &status);
  check(status, "clCreateCommandQueue", "making a queue");
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

cl_event device_state::record_marker(cl_command_queue queue) const {
  cl_event made = nullptr;
  check(driver().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &made),
        "clEnqueueMarkerWithWaitList", "recording an event");
  const cl_int status = driver().clFlush(queue);
  if (status != CL_SUCCESS) driver().clReleaseEvent(made);
  check(status, "clFlush", "recording an event");
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
  cl_int retained = CL_SUCCESS, finished = CL_SUCCESS;
  {
    const std::lock_guard lock(mutex_);
    for (const cl_command_queue each : queues_)
      if (const cl_int now = driver().clRetainCommandQueue(each); now == CL_SUCCESS)
        all.push_back(each);
      else retained = now;
  }
  for (const cl_command_queue each : all) {
    if (const cl_int now = driver().clFinish(each); now != CL_SUCCESS) finished = now;
    driver().clReleaseCommandQueue(each);
  }
  check(retained, "clRetainCommandQueue", "waiting for all queues");
  check(finished, "clFinish", "waiting for all queues");
}

}  // namespace dsl::detail::opencl
