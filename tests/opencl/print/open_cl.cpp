#include "open_cl.hpp"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace open_cl {

using namespace dsl::detail;
using opencl::kernel_argument;

namespace {

void check(cl_int error, const std::string& call) {
  if (error != CL_SUCCESS)
    throw std::runtime_error(call + ": OpenCL error " + std::to_string(error));
}

template <class T> T asked(cl_device_id id, cl_device_info what) {
  T value{};
  clGetDeviceInfo(id, what, sizeof value, &value, nullptr);
  return value;
}
std::string asked_text(cl_device_id id, cl_device_info what) {
  char text[4096] = {};
  clGetDeviceInfo(id, what, sizeof text - 1, text, nullptr);
  return text;
}

// Sets the arguments of a kernel, in order.
class argument_setter {
 public:
  argument_setter(cl_kernel kernel, bool packs) : kernel_(kernel), packs_(packs) {}
  void set_value(std::size_t size, const void* value) {
    if (!packs_) return set(size, value);
    values_.resize(values_.size() + opencl::packed_value_bytes);
    std::memcpy(values_.data() + values_.size() - opencl::packed_value_bytes, value, size);
  }
  void set_memory(cl_mem memory, cl_long offset) {
    set(sizeof(cl_mem), &memory);
    set_value(sizeof offset, &offset);
  }
  // The memory of packed values, which the caller releases; null if they are not packed.
  cl_mem finish(cl_context context) {
    if (!packs_) return nullptr;
    cl_int error;
    const cl_mem memory = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                         values_.size(), values_.data(), &error);
    check(error, "clCreateBuffer");
    set(sizeof(cl_mem), &memory);
    return memory;
  }

 private:
  void set(std::size_t size, const void* value) {
    check(clSetKernelArg(kernel_, next_, size, value), "argument " + std::to_string(next_));
    ++next_;
  }

  cl_kernel kernel_;
  bool packs_;
  cl_uint next_ = 0;
  std::vector<unsigned char> values_{};
};

struct block {
  unsigned char* address;
  std::size_t size;
  cl_mem memory;
};

}  // namespace

device* device::first() {
  static const std::unique_ptr<device> made = [] {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return std::unique_ptr<device>();
    for (cl_uint i = 0; i < count; ++i) {
      cl_device_id id;
      if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &id, nullptr) == CL_SUCCESS)
        return std::unique_ptr<device>(new device(id));
    }
    return std::unique_ptr<device>();
  }();
  return made.get();
}

device::device(cl_device_id id) : id_(id) {
  cl_int error;
  context_ = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  queue_ = clCreateCommandQueue(context_, id, 0, &error);
  check(error, "clCreateCommandQueue");
  name_ = asked_text(id, CL_DEVICE_NAME);
  can_.has_double = asked<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  can_.largest_work_group = asked<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  can_.parameter_bytes = asked<std::size_t>(id, CL_DEVICE_MAX_PARAMETER_SIZE);
  can_.local_memory = asked<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
  can_.rounds_divide_and_sqrt = (asked<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG) &
                                 CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

cl_program device::build(const opencl::kernel_text& text) {
  const auto known = programs_.find(text.text);
  if (known != programs_.end()) return known->second;
  if (std::getenv("DSL_OPENCL_SOURCE") != nullptr) std::cerr << text.text << "\n";
  const char* source = text.text.c_str();
  cl_int error;
  const cl_program made = clCreateProgramWithSource(context_, 1, &source, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  if (clBuildProgram(made, 1, &id_, text.options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    std::vector<char> log(1 << 16);
    clGetProgramBuildInfo(made, id_, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    throw std::runtime_error(std::string(log.data()) + "\n" + text.text);
  }
  return programs_[text.text] = made;
}

void device::run(const bound_pass& pass, const std::map<const void*, std::size_t>& ranges) {
  const opencl::kernel_text text = opencl::print_pass(pass, can_);
  // Equal keys must mean equal texts, or a cache would give a wrong kernel.
  const std::string& known = texts_.emplace(opencl::text_key(pass, can_), text.text).first->second;
  if (known != text.text) throw std::runtime_error("two texts with one key:\n" + known + text.text);
  const opencl::kernel_launches all = opencl::launches_of(pass, can_);
  const cl_program program = build(text);
  last_text_ = text.text;
  cl_int error;
  std::vector<block> blocks;
  for (const auto& [address, size] : ranges) {
    auto* const bytes = static_cast<unsigned char*>(const_cast<void*>(address));
    const cl_mem memory =
        clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, bytes, &error);
    check(error, "clCreateBuffer");
    blocks.push_back({bytes, size, memory});
  }
  const cl_mem scratch =
      clCreateBuffer(context_, CL_MEM_READ_WRITE, all.scratch_bytes + 16, nullptr, &error);
  check(error, "clCreateBuffer");
  for (std::size_t i = 0; i < all.launches.size(); ++i) {
    const opencl::kernel_launch& launch = all.launches[i];
    const cl_kernel kernel =
        clCreateKernel(program, i == 0 ? text.name.c_str() : text.finish.c_str(), &error);
    check(error, "clCreateKernel");
    argument_setter arguments(kernel, opencl::packs_values(launch.arguments, can_));
    for (const kernel_argument& a : launch.arguments) {
      if (a.what == kernel_argument::kind::value) {
        arguments.set_value(a.size, a.bytes);
      } else if (a.what == kernel_argument::kind::scratch) {
        arguments.set_memory(scratch, 0);
      } else {
        const block* home = nullptr;
        for (const block& b : blocks) {
          const auto begin = reinterpret_cast<std::uint64_t>(b.address);
          if (a.address >= begin && a.address < begin + b.size) home = &b;
        }
        if (home == nullptr) throw std::runtime_error("an argument lies in no block");
        arguments.set_memory(
            home->memory,
            static_cast<cl_long>(a.address - reinterpret_cast<std::uint64_t>(home->address)));
      }
    }
    const cl_mem values = arguments.finish(context_);
    // Where the kernel allows it: always groups of one size, since PoCL compiles a kernel again for
    // each, and fewer work-items than elements.
    const std::size_t group = launch.group > 0 ? static_cast<std::size_t>(launch.group) : 64;
    const std::size_t size =
        launch.group > 0 ? static_cast<std::size_t>(launch.work_items)
                         : std::min<std::size_t>(
                               (static_cast<std::size_t>(launch.work_items) + 63) / 64 * 64, 512);
    check(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &size, &group, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    clFinish(queue_);
    clReleaseKernel(kernel);
    if (values != nullptr) clReleaseMemObject(values);
  }
  for (const block& b : blocks) {
    check(clEnqueueReadBuffer(queue_, b.memory, CL_TRUE, 0, b.size, b.address, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    clReleaseMemObject(b.memory);
  }
  clReleaseMemObject(scratch);
}

}  // namespace open_cl
