#include "host/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "host/block_runner.hpp"

namespace dsl::detail {

int simd_level() {
  static const int level = [] {
    const int best = DSL_DETAIL_BEST_LEVEL;
    const char* most = std::getenv("DSL_SIMD");
    if (most == nullptr || *most == '\0') return best;
    if (most[0] < '0' || most[0] > '2' || most[1] != '\0')
      raise<device_error>(std::string("DSL_SIMD is \"") + most +
                          "\"; valid are 0 (x86-64), 1 (AVX2) and 2 (AVX-512)");
    return std::min(most[0] - '0', best);
  }();
  return level;
}
void throw_no_simd() {
  raise<device_error>(
      "host: the file was compiled with -DDSL_SIMD for more vector instructions than this machine "
      "has, or than DSL_SIMD in "
      "the environment lets it use, which is level " +
      std::to_string(simd_level()));
}

namespace {

// For an input that is contiguous along the second dimension: tiles of rows of one block each.
void map_tiles_on_host(const host_job& job, std::optional<std::int64_t> first_step,
                       std::int64_t steps) {
  const geometry& g = job.space;
  const std::int64_t inner = g.extents[g.rank - 1], second = g.extents[g.rank - 2],
                     across = pieces(inner, host_block), down = pieces(second, tile_rows);
  const auto run_tile = [&](std::int64_t task, block_runner& runner, lane_accumulators& sums) {
    const std::int64_t column = task % across * host_block, row = task / across % down * tile_rows;
    const std::int64_t rows = std::min<std::int64_t>(second - row, tile_rows);
    const std::int64_t first = (task / across / down * second + row) * inner + column;
    for (std::int64_t k = 0; k < steps; ++k) {
      if (first_step) runner.count_step(*first_step + k);
      const auto valid = static_cast<int>(std::min<std::int64_t>(host_block, inner - column));
      runner.run_tile(first, valid, rows, inner, sums);
    }
  };
  for_each_task(job, host_block, g.elements / inner / second * across * down, run_tile, steps);
}

void map_on_host(const host_job& job, std::optional<std::int64_t> first_step = {},
                 std::int64_t steps = 1) {
  const std::int64_t elements = job.space.elements,
                     task_elements = std::int64_t{host_block} * blocks_of_task(job);
  for (int k = 0; k < job.code.inputs; ++k)
    if (elements > 0 && job.space.layouts[k].how == access::tiled &&
        job.space.extents[job.space.rank - 1] > host_block)
      return map_tiles_on_host(job, first_step, steps);
  const auto run_chunk = [&](std::int64_t task, block_runner& runner, lane_accumulators& none) {
    const std::int64_t first = task * task_elements;
    for (std::int64_t k = 0; k < steps; ++k) {
      if (first_step) runner.count_step(*first_step + k);
      runner.run_map(first, std::min(elements - first, task_elements), none);
    }
  };
  for_each_task(job, host_block, std::max<std::int64_t>(1, pieces(elements, task_elements)),
                run_chunk, steps);
}

}  // namespace

void run_on_host(const host_job& job) {
  if (job.code.reduces()) reduce_on_host(job);
  else map_on_host(job);
}
void run_on_host(const host_job& job, std::int64_t first, std::int64_t steps) {
  map_on_host(job, first, steps);
}

}  // namespace dsl::detail
