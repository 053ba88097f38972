#include "opencl/launch.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "mem/buffer.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail::opencl {

namespace {

// Work-items of a group. There is one for each element: on PoCL's CPU, whose groups are loops over
// adjacent elements, that is five times as fast as fewer ones that take several elements each.
constexpr std::size_t usual_group = 256;

built_program& program_of(const bound_pass& pass, device_state& on, std::uint64_t key) {
  return build(on, key, [&] { return print_pass(pass, on.can); });
}

std::string spell_launch(const bound_pass& pass, const char* which) {
  const program_code& code = pass.code();
  return std::string("launching the ") + which + " kernel of " + spell_kernel(code.name) + " (" +
         spell_pass(code.pass.view, pass.operands()) + ", " +
         std::to_string(pass.space().elements) + " elements)";
}

// A multiple of what the kernel prefers.
std::size_t usual_group_of(const built_kernel& kernel) {
  const std::size_t most = std::min(usual_group, kernel.largest_work_group),
                    multiple = kernel.work_group_multiple;
  return most >= multiple ? most / multiple * multiple : most;
}

// The work-items of a group, unless the call has fixed them.
std::size_t group_for(const bound_pass& pass, const built_kernel& kernel) {
  if (const int fixed = pass.fixed().block; fixed != 0) {
    if (fixed < 0 || static_cast<std::size_t>(fixed) > kernel.largest_work_group)
      raise<device_error>("a block of " + std::to_string(fixed) + " work-items on " +
                          std::string(pass.where().name()) + ": this kernel takes at most " +
                          std::to_string(kernel.largest_work_group) + ": " +
                          spell_pass(pass.code().pass.view, pass.operands()));
    return static_cast<std::size_t>(fixed);
  }
  return usual_group_of(kernel);
}

// Values that a kernel reads from memory. Once the launch is queued, the driver keeps them until it
// has run.
class packed_values {
 public:
  packed_values() = default;
  packed_values(const packed_values&) = delete;
  ~packed_values() {
    if (memory_ != nullptr) driver().clReleaseMemObject(memory_);
  }

  void add(const void* bytes, std::size_t size) {
    bytes_.resize(bytes_.size() + packed_value_bytes);
    std::memcpy(bytes_.data() + bytes_.size() - packed_value_bytes, bytes, size);
  }
  const cl_mem& copy_to(const device_state& on) {
    cl_int status = CL_SUCCESS;
    memory_ = driver().clCreateBuffer(on.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                      bytes_.size(), bytes_.data(), &status);
    on.check(status, "clCreateBuffer", "copying a kernel's values");
    return memory_;
  }

 private:
  std::vector<unsigned char> bytes_{};
  cl_mem memory_ = nullptr;
};

// `packed` must live until the launch is queued.
void set_arguments(device_state& on, cl_kernel kernel, const kernel_launch& now,
                   const void* scratch, packed_values& packed) {
  cl_uint number = 0;
  const auto set = [&](const void* bytes, std::size_t size) {
    on.check(driver().clSetKernelArg(kernel, number, size, bytes), "clSetKernelArg", [&] {
      return "argument " + std::to_string(number) + " of a kernel, " + std::to_string(size) +
             " bytes,";
    });
    ++number;
  };
  const bool packs = packs_values(now.arguments, on.can);
  const auto set_value = [&](const void* bytes, std::size_t size) {
    if (packs) packed.add(bytes, size);
    else set(bytes, size);
  };
  for (const kernel_argument& a : now.arguments) {
    if (a.what == kernel_argument::kind::value) {
      set_value(a.bytes, a.size);
      continue;
    }
    const bool is_scratch = a.what == kernel_argument::kind::scratch;
    const void* const at = is_scratch ? scratch : reinterpret_cast<const void*>(a.address);
    const memory_place place = at == nullptr ? memory_place{} : on.pool().at(at);
    const auto offset = static_cast<cl_long>(place.offset);
    set(&place.memory, sizeof(cl_mem));
    set_value(&offset, sizeof offset);
  }
  if (packs) set(&packed.copy_to(on), sizeof(cl_mem));
}

}  // namespace

void plan_groups(dsl::plan& p, built_program& program, const kernel_launch& of) {
  p.block = static_cast<int>(
      of.group != 0 ? of.group : static_cast<std::int64_t>(usual_group_of(program.at(of.number))));
  p.grid = pieces(of.work_items, p.block);
}

reduction_plan plan_of(const bound_pass& pass) {
  device_state& on = device_state::of(pass.where().index);
  const auto [key, all] = keyed_launches_of(pass, on.can);
  const built_kernel& kernel = program_of(pass, on, key).first;
  reduction_plan p{};
  p.where = pass.where();
  p.path = pass.space().linear ? "linear" : "strided";
  p.elements = pass.space().elements;
  if (all.launches.empty()) return p;
  const kernel_launch& first = all.launches.front();
  if (first.group != 0) {
    p.block = static_cast<int>(first.group);
    p.grid = first.work_items / first.group;
    return p;
  }
  p.block = static_cast<int>(group_for(pass, kernel));
  p.grid = pieces(first.work_items, p.block);
  if (pass.fixed().grid != 0) {
    require_grid(pass.fixed(), 1, pass.code().pass.view);
    p.grid = std::min<std::int64_t>(p.grid, pass.fixed().grid);
  }
  return p;
}

void queue_launches(device_state& on, built_program& program, const kernel_launches& all,
                    const stream& on_stream, const std::function<std::string(const char*)>& spell) {
  buffer_ref scratch;
  if (all.scratch_bytes > 0)
    scratch = buffer_ref::allocate_briefly(all.scratch_bytes, device(backend::opencl, on.index));
  const cl_command_queue queue = on.queue_of(stream_state::of(on_stream).native);
  for (const kernel_launch& now : all.launches) {
    built_kernel& kernel = program.at(now.number);
    const std::size_t group =
        now.group != 0 ? static_cast<std::size_t>(now.group) : usual_group_of(kernel);
    const std::size_t work_items =
        group * static_cast<std::size_t>(pieces(now.work_items, static_cast<std::int64_t>(group)));
    const std::lock_guard one_at_a_time(kernel.mutex);
    packed_values packed;
    set_arguments(on, kernel.kernel, now, scratch.data(), packed);
    on.check(driver().clEnqueueNDRangeKernel(queue, kernel.kernel, 1, nullptr, &work_items, &group,
                                             0, nullptr, nullptr),
             "clEnqueueNDRangeKernel", [&] { return spell(now.which); });
  }
  on.check(driver().clFlush(queue), "clFlush", [&] { return spell("last"); });
}

void launch(const bound_pass& pass, const reduction_plan& planned, const stream& on_stream) {
  device_state& on = device_state::of(pass.where().index);
  auto [key, all] = keyed_launches_of(pass, on.can);
  if (!all.launches.empty() && all.launches[0].group == 0) {
    all.launches[0].group = planned.block;
    all.launches[0].work_items = planned.grid * planned.block;
  }
  queue_launches(on, program_of(pass, on, key), all, on_stream,
                 [&](const char* which) { return spell_launch(pass, which); });
}

}  // namespace dsl::detail::opencl
