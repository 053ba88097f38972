#include "sim/tasks.hpp"

#include "exec/tasks/convolve_kernel.hpp"
#include "exec/tasks/reach_kernel.hpp"
#include "exec/tasks/rolling_kernel.hpp"
#include "sim/grid.hpp"

namespace dsl::detail {

namespace {

template <class Function>
void roll_in_thread(const void* arguments, simulated_thread& self) {
  run_rolling<Function>(*static_cast<const rolling_arguments*>(arguments), simulated_memory{&self},
                        simulated_team{&self});
}
template <class V>
void convolve_in_thread(const void* arguments, simulated_thread& self) {
  run_convolve<V>(*static_cast<const convolve_arguments*>(arguments), simulated_memory{&self},
                  simulated_team{&self});
}
template <class Bits, bool IsReal>
void reach_in_thread(const void* arguments, simulated_thread& self) {
  run_reach<Bits, IsReal>(*static_cast<const reach_arguments*>(arguments), simulated_memory{&self},
                          simulated_team{&self});
}

simulated_range range_of(const void* at, std::int64_t count, dtype type, bool is_written) {
  return {reinterpret_cast<std::uintptr_t>(at), static_cast<std::size_t>(count * size_of(type)),
          is_written};
}

template <class Plan>
simulated_launch launch_of(const char* name, simulated_entry entry, const void* arguments,
                           const Plan& plan, std::vector<simulated_range> memory) {
  simulated_launch launch{};
  launch.name = name;
  launch.entry = entry;
  launch.arguments = arguments;
  launch.grid = plan.blocks;
  launch.block = plan.threads;
  launch.shared_bytes = static_cast<int>(plan.shared_bytes);
  launch.cluster = 1;
  launch.memory = std::move(memory);
  return launch;
}

}  // namespace

void simulate(const rolling_task& task, std::size_t shared_per_block) {
  const rolling_plan plan = plan_rolling(task, shared_per_block);
  const rolling_arguments args{{}, task, plan.tile};
  const simulated_entry entry = with_rolling_function(
      task, [](auto function) -> simulated_entry { return roll_in_thread<decltype(function)>; });
  const std::int64_t results = task.count / task.length * (task.length - task.window + 1);
  simulate(launch_of("rolling", entry, &args, plan,
                     {range_of(task.elements, task.count, task.type, false),
                      range_of(task.results, results, task.result, true)}));
}

void simulate(const convolve_task& task, std::size_t shared_per_block) {
  const convolve_plan plan = plan_convolution(task, shared_per_block);
  const convolve_arguments args{{}, task, plan.taps};
  const simulated_entry entry = with_convolved_type(
      task.type, [](auto value) -> simulated_entry { return convolve_in_thread<decltype(value)>; });
  simulate(launch_of("convolve", entry, &args, plan,
                     {range_of(task.elements, task.elements_count, task.type, false),
                      range_of(task.taps, task.taps_count, task.type, false),
                      range_of(task.result, task.count, task.type, true)}));
}

void simulate(const reach_task& task, std::size_t shared_per_block) {
  const reach_arguments args{{}, task};
  const simulated_entry entry = with_bits(task, [](auto bits, auto is_real) -> simulated_entry {
    return reach_in_thread<decltype(bits), is_real()>;
  });
  simulate(launch_of(
      "reach", entry, &args, plan_reach(task, shared_per_block),
      {range_of(task.elements, task.count, task.type, false),
       range_of(task.bound, 1, task.type, false), range_of(task.last, 1, dtype::int64, false),
       range_of(task.found, task.capacity, dtype::uint64, true),
       range_of(task.reached, 1, dtype::uint32, true)}));
}

}  // namespace dsl::detail
