#include "sim/rolling.hpp"

#include "exec/tasks/rolling_kernel.hpp"
#include "sim/grid.hpp"

namespace dsl::detail {

namespace {

template <class Function>
void simulate_thread(const void* arguments, simulated_thread& self) {
  run_rolling<Function>(*static_cast<const rolling_arguments*>(arguments), simulated_memory{&self},
                        simulated_team{&self});
}

}  // namespace

void run_rolling(const rolling_task& task, std::size_t shared_per_block) {
  const rolling_plan plan = plan_rolling(task, shared_per_block);
  const rolling_arguments args{{}, task, plan.tile};
  simulated_launch launch{};
  launch.entry = with_rolling_function(task, [](auto function) -> simulated_entry {
    return simulate_thread<decltype(function)>;
  });
  launch.arguments = &args;
  launch.grid = plan.blocks;
  launch.block = plan.threads;
  launch.shared_bytes = static_cast<int>(plan.shared_bytes);
  launch.cluster = 1;
  launch.name = "rolling";
  const auto range = [](const void* at, std::int64_t count, dtype type, bool is_written) {
    return simulated_range{reinterpret_cast<std::uintptr_t>(at),
                           static_cast<std::size_t>(count * size_of(type)), is_written};
  };
  launch.memory = {range(task.elements, task.count, task.type, false),
                   range(task.results,
                         task.count / task.length * (task.length - task.window + 1), task.result,
                         true)};
  simulate(launch);
}

}  // namespace dsl::detail
