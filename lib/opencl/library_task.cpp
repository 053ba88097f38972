#include "opencl/library_task.hpp"

#include "mem/stream.hpp"
#include "opencl/launch.hpp"
#include "opencl/print/scatter_text.hpp"
#include "opencl/print/sort_text.hpp"

namespace dsl::detail::opencl {

void launch_task(const sort_task& task, const stream& on_stream) {
  device_state& on = device_state::of(on_stream.where().index);
  built_program& program =
      build(on, key_of_sort(task, on.can), [&] { return print_sort(task, on.can); });
  queue_launches(on, program, launches_of_sort(task, on.can), on_stream, [&](const char* which) {
    return std::string("launching the ") + which + " kernel of a sort of " +
           std::to_string(task.count) + " elements";
  });
}

void launch_task(const scatter_task& task, const stream& on_stream) {
  device_state& on = device_state::of(on_stream.where().index);
  built_program& program =
      build(on, key_of_scatter(task, on.can), [&] { return print_scatter(task, on.can); });
  queue_launches(on, program, launches_of_scatter(task), on_stream, [&](const char*) {
    return "launching the kernel that writes " + std::to_string(task.count) +
           " values to positions";
  });
}

}  // namespace dsl::detail::opencl
