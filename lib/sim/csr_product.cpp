#include "sim/csr_product.hpp"

#include "exec/tasks/csr_kernel.hpp"
#include "sim/grid.hpp"

namespace dsl::detail {

namespace {

template <class T, csr_step Step>
void csr_thread(const void* arguments, simulated_thread& self) {
  run_csr<T, Step>(*static_cast<const csr_arguments*>(arguments), simulated_memory{&self},
                   simulated_team_of<csr_warp>{&self});
}
template <class T>
simulated_entry entry_of(csr_step step) {
  switch (step) {
    case csr_step::rows: return &csr_thread<T, csr_step::rows>;
    case csr_step::streamed_rows: return &csr_thread<T, csr_step::streamed_rows>;
    default: return &csr_thread<T, csr_step::totals>;
  }
}

}  // namespace

void simulate(const csr_task& task) {
  const auto range = [](const void* begin, std::int64_t count, std::size_t size, bool is_written) {
    return simulated_range{reinterpret_cast<std::uintptr_t>(begin),
                           static_cast<std::size_t>(count) * size, is_written};
  };
  const auto size = static_cast<std::size_t>(size_of(task.type));
  constexpr std::size_t index = sizeof(std::int32_t);
  std::vector<simulated_range> memory{
      range(task.values, task.count, size, false), range(task.column_of, task.count, index, false),
      range(task.offsets, task.rows + 1, index, false), range(task.x, task.x_elements, size, false),
      range(task.y, task.rows * task.columns, size, true)};
  if (task.long_rows > 0) {
    memory.push_back(range(task.parts, 2 * std::int64_t{task.long_rows} + 1, index, false));
    memory.push_back(range(task.partials, task.part_count * task.columns, size, true));
  }
  for_each_csr_step(task, [&](csr_step step, std::int64_t blocks) {
    const csr_arguments arguments{{0, static_cast<std::uint32_t>(blocks)}, task};
    simulated_launch launch{
        nullptr, &arguments, blocks, csr_block, 0, false, 1, memory, "dsl::kernels::csr_product",
        nullptr, nullptr};
    launch.warp_size = csr_warp;
    with_csr_type(task.type, [&](auto zero) { launch.entry = entry_of<decltype(zero)>(step); });
    simulate(launch);
  });
}

}  // namespace dsl::detail
