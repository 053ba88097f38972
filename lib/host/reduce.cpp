// Reductions on the host: the order in which elements are reduced, and how partial results are
// combined.
#include <algorithm>
#include <optional>
#include <vector>

#include "host/block_runner.hpp"

namespace dsl::detail {

namespace {

// The order of the elements of a run: `steps` blocks of up to `lanes` elements that are `stride`
// apart. Then `lanes_a_result` lanes are combined into a result, for each of several owners.
struct lane_schedule {
  // The elements that the lanes of a block take. The last two kinds have no lanes: they reduce
  // contiguous rows strip by strip.
  enum {
    columns,          // one result per lane, from one row of columns
    rows_of_columns,  // several rows of columns side by side
    one_result,       // elements of one result
    several_results,  // whole results side by side
    transposed,       // one result per lane, after rows are transposed
    strips,           // a piece of one result
    rows_of_strips    // several rows, one result each
  } kind;
  std::int64_t lanes,         // of a block, at most
      stride,                 // elements from one block to the next
      length;                 // elements from the beginning of a run to its end
  int owner_step,             // lanes from one owner to the next
      lanes_a_result,         // lanes that are combined into one result
      result_lane_step;       // lanes from one of these to the next
  std::int64_t owner_stride;  // elements from one owner's first to the next one's
  bool by_strips() const { return kind >= strips; }
};

// The runs of a job. A run is a set of elements that are reduced one block after another.
struct reduction_runs {
  lane_schedule order;
  std::int64_t count,  // of runs
      across,          // runs side by side along the last dimension
      inner,           // extent of the last dimension, or lanes of a run
      run_stride;      // elements from one such group of runs to the next
  // The first element of a run.
  std::int64_t first(std::int64_t run) const {
    return run / across * run_stride + run % across * order.lanes;
  }
  // The lanes of a run that have elements.
  int lanes(std::int64_t run) const {
    return static_cast<int>(std::min(order.lanes, inner - run % across * order.lanes));
  }
};

// Whether the elements of a result can be reduced in place, strip by strip.
bool takes_strips(const host_job& job) {
  return job.compiled.strip[simd_level()] != nullptr && job.space.elements > 0 &&
         can_read_result_in_place(job.operands, job.code.inputs, job.space, job.code.pass.view);
}

// Number of columns that are reduced at a time: the piece of each row is as long as 16 KiB of
// accumulators allow, since the processor prefetches along rows.
int columns_at_once(const pass_view& pass) {
  std::size_t bytes = 0;
  for (const dtype t : accumulator_dtypes(pass)) bytes += bytes_of_value(t);
  return static_cast<int>(std::clamp<std::size_t>(16384 / bytes, host_block, 8 * host_block)) /
         host_block * host_block;
}

// Whether rows of this length are transposed: rows so short that combining their lanes takes longer
// than their elements, and enough of them to fill most lanes. A rule of many values, such as a
// variance's, takes longer to combine.
bool transposes_rows(const host_job& job, std::int64_t rows, std::int64_t length) {
  const pass_view& pass = job.code.pass.view;
  const std::int64_t longest = accumulator_dtypes(pass).size() > 2 ? 512 : 128,
                     fewest = length < 64 ? 32 : 256;
  return job.space.elements > 0 && length < longest && rows >= fewest &&
         pass.neighbours.nodes == 0 && !pass.reduces_beside_arrays();
}

// The extent of the last dimension, if it is kept: results along it are contiguous.
std::int64_t kept_inside(const geometry& g) {
  return g.kept != 0 && (g.kept >> (g.rank - 1) & 1) != 0 ? g.extents[g.rank - 1] : 1;
}

reduction_runs runs_of(const host_job& job, std::int64_t task_elements) {
  // Lanes of the shortest block. Also the least length of a row for which strips are faster than
  // sharing a block with other rows.
  constexpr std::int64_t few = 64;
  // Elements that stay in a core's first-level cache.
  constexpr std::int64_t transposed_elements = 4096;
  const geometry& g = job.space;
  const std::int64_t inner = kept_inside(g), kept = g.results / inner;
  const std::int64_t reduced = std::max<std::int64_t>(g.count, 1);
  const auto whole = [](std::int64_t n) { return host_block / n * n; };
  if (inner >= few) {  // columns: one lane each
    const int lanes = columns_at_once(job.code.pass.view);
    return {{lane_schedule::columns, lanes, inner, reduced * inner, 1, 1, 0, 1},
            kept * pieces(inner, lanes),
            pieces(inner, lanes),
            inner,
            reduced * inner};
  }
  if (inner > 1) {  // several rows of columns in a block
    const std::int64_t lanes = whole(inner);
    return {{lane_schedule::rows_of_columns, lanes, lanes, reduced * inner, 1,
             static_cast<int>(lanes / inner), static_cast<int>(inner), 1},
            kept,
            1,
            lanes,
            reduced * inner};
  }
  if (transposes_rows(job, kept, reduced)) {
    const std::int64_t rows =
        std::clamp<std::int64_t>(transposed_elements / reduced / 64 * 64, 64, host_block);
    return {{lane_schedule::transposed, rows, host_block, rows * reduced, 1, 1, 1, reduced},
            pieces(kept, rows),
            1,
            rows,
            rows * reduced};
  }
  if ((reduced >= few || kept == 1) && takes_strips(job)) {
    if (reduced > task_elements)
      return {{lane_schedule::strips, host_block, host_block, reduced, 1, 1, 1, 1},
              kept,
              1,
              host_block,
              reduced};
    const std::int64_t rows = std::min<std::int64_t>(host_block, task_elements / reduced);
    return {{lane_schedule::rows_of_strips, rows, host_block, rows * reduced, 1, 1, 1, reduced},
            pieces(kept, rows),
            1,
            rows,
            rows * reduced};
  }
  if (reduced >= few || kept == 1)
    return {{lane_schedule::one_result, host_block, host_block, reduced, 1,
             static_cast<int>(std::min<std::int64_t>(host_block, reduced)), 1, 1},
            kept,
            1,
            host_block,
            reduced};
  const std::int64_t lanes = whole(reduced), together = lanes / reduced;
  return {{lane_schedule::several_results, lanes, lanes, lanes, static_cast<int>(reduced),
           static_cast<int>(reduced), 1, reduced},
          pieces(kept, together),
          1,
          lanes,
          lanes};
}

// Partial results, in the order of their results: row-major in the kept dimensions.
class result_partials {
 public:
  result_partials(const host_job& job, unsigned char* memory)
      : types_(accumulator_dtypes(job.code.pass.view)),
        inside_(kept_inside(job.space)),
        reduced_(std::max<std::int64_t>(job.space.count, 1)) {
    const lane_accumulators shape(job, host_block);
    columns_ = shape.stored(memory, job.space.results);
  }
  // Columns of the results from the owner whose first element has this number on: the results of
  // the owners that follow it are consecutive.
  std::vector<void*> of(std::int64_t element) const {
    return from(element / (reduced_ * inside_) * inside_ + element % inside_);
  }
  std::vector<void*> from(std::int64_t result) const {
    std::vector<void*> columns = columns_;
    for (std::size_t s = 0; s < columns.size(); ++s)
      columns[s] = static_cast<unsigned char*>(columns[s]) +
                   bytes_of_value(types_[s]) * static_cast<std::size_t>(result);
    return columns;
  }
  void store(std::int64_t element, const void* const* sums, int lane_step, int owners) const {
    const std::vector<void*> to = of(element);
    for (std::size_t s = 0; s < to.size(); ++s)
      for (int k = 0; k < owners; ++k) {
        const std::size_t size = bytes_of_value(types_[s]);
        std::memcpy(static_cast<unsigned char*>(to[s]) + size * static_cast<std::size_t>(k),
                    static_cast<const unsigned char*>(sums[s]) +
                        size * static_cast<std::size_t>(k * lane_step),
                    size);
      }
  }

 private:
  std::vector<dtype> types_;
  std::int64_t inside_, reduced_;
  std::vector<void*> columns_;
};

}  // namespace

std::size_t partial_bytes_on_host(const host_job& job) {
  return lane_accumulators(job, host_block).stored_bytes(job.space.results);
}

void finish_partials_on_host(const host_job& job, std::int64_t partials, std::int64_t count) {
  const geometry& g = job.space;
  const std::size_t bytes = partial_bytes_on_host(job);
  const result_partials first(job, job.partials);
  const std::int64_t inside = kept_inside(g), reduced = std::max<std::int64_t>(g.count, 1),
                     length = inside > 1 ? inside : g.results;
  constexpr std::int64_t at_once = 1 << 20;
  geometry of_all = g;
  of_all.count = count;
  host_job finishing{job.code, job.compiled, job.operands, of_all, job.recorded};
  const block_runner runner(finishing);
  for (std::int64_t r = 0, owners; r < g.results; r += owners) {
    owners = std::min({at_once, g.results - r, length - r % length});
    const std::vector<void*> sums = first.from(r);
    for (std::int64_t p = 1; p < partials; ++p)
      job.compiled.add(
          sums.data(),
          result_partials(job, job.partials + bytes * static_cast<std::size_t>(p)).from(r).data(),
          static_cast<int>(owners));
    runner.finish(sums.data(), 1, static_cast<int>(owners),
                  r / inside * reduced * inside + r % inside, inside > 1 ? 1 : reduced);
  }
}

void reduce_on_host(const host_job& job) {
  const geometry& g = job.space;
  const host_code& code = job.compiled;
  const int task_blocks = blocks_of_task(job);
  const reduction_runs runs = runs_of(job, std::int64_t{host_block} * task_blocks);
  const lane_schedule& order = runs.order;
  // Columns: combining a piece with another costs as much as some of its rows.
  constexpr std::int64_t least_rows = 32, most_column_pieces = 512;
  const bool is_transposed = order.kind == lane_schedule::transposed;
  // Whole blocks, so that the pieces of a run depend only on its length.
  const std::int64_t steps = pieces(order.length, order.stride),
                     steps_a_piece =
                         order.kind == lane_schedule::columns
                             ? std::max(least_rows, pieces(steps * runs.count, most_column_pieces))
                             : std::max<std::int64_t>(task_blocks, pieces(steps, 1024));
  const std::int64_t splits =
      is_transposed ? 1 : std::max<std::int64_t>(1, pieces(steps, steps_a_piece));
  const std::int64_t runs_a_task =
      std::max<std::int64_t>(1, task_blocks / std::max<std::int64_t>(steps, 1));
  const auto valid_lanes = [&](std::int64_t run, std::int64_t step) {
    if (order.kind == lane_schedule::columns) return static_cast<std::int64_t>(runs.lanes(run));
    const std::int64_t all = g.results * std::max<std::int64_t>(g.count, 1);
    const std::int64_t end =
        order.kind == lane_schedule::several_results ? all - runs.first(run) : order.length;
    return std::clamp<std::int64_t>(end - step * order.stride, 0, order.lanes);
  };
  const auto owners_of = [&](std::int64_t run) -> int {
    switch (order.kind) {
      case lane_schedule::columns: return runs.lanes(run);
      case lane_schedule::rows_of_columns: return order.result_lane_step;
      case lane_schedule::one_result:
      case lane_schedule::strips: return 1;
      case lane_schedule::transposed:
      case lane_schedule::rows_of_strips:
        return static_cast<int>(std::min(order.lanes, g.results - run * order.lanes));
      default: return static_cast<int>(valid_lanes(run, 0) / order.lanes_a_result);
    }
  };
  const auto accumulate_strips = [&](std::int64_t run, std::int64_t split, block_runner& runner,
                                     const lane_accumulators& sums) {
    const int rows = owners_of(run);
    const std::int64_t piece = steps_a_piece * order.stride, begin = split * piece,
                       length = order.kind == lane_schedule::strips
                                    ? std::min(order.length - begin, piece)
                                    : order.owner_stride;
    sums.clear(rows);
    runner.run_strips(runs.first(run) + begin, rows, length, sums);
  };
  const auto accumulate = [&](std::int64_t run, std::int64_t split, block_runner& runner,
                              lane_accumulators& sums) {
    if (order.by_strips()) return accumulate_strips(run, split, runner, sums);
    if (is_transposed)
      return runner.run_transposed(runs.first(run), owners_of(run), order.owner_stride, sums);
    const bool columns = order.kind == lane_schedule::columns;
    sums.clear(padded_block(static_cast<int>(columns ? runs.lanes(run)
                                             : order.kind == lane_schedule::rows_of_columns
                                                 ? order.lanes
                                                 : std::min(order.lanes, order.length))));
    if (g.elements == 0) return;
    const std::int64_t begin = split * steps_a_piece, end = std::min(steps, begin + steps_a_piece),
                       at = runs.first(run);
    const std::int64_t last = valid_lanes(run, end - 1), most = columns ? last : order.lanes,
                       whole = end - begin - (last < most ? 1 : 0);
    runner.run_rows(at + begin * order.stride, static_cast<int>(most), whole, order.stride, sums);
    // Lanes after the last one must be kept if they have been used before, or are parts of a
    // result.
    if (last < most)
      runner.run(at + (end - 1) * order.stride, static_cast<int>(last), sums, 0,
                 steps > 1 || order.kind == lane_schedule::rows_of_columns);
  };
  // Combines the lanes into the `owners` lanes that own a result, which are `owner_step` apart.
  const int step = order.owner_step;
  const auto collapse = [&](std::int64_t run, void* const* columns) {
    code.collapse(columns, owners_of(run), step, order.lanes_a_result, order.result_lane_step);
  };
  std::optional<result_partials> partials_of_results;
  if (job.partials != nullptr) partials_of_results.emplace(job, job.partials);
  const auto finish = [&](std::int64_t run, const void* const* columns, int lane_step,
                          const block_runner& runner) {
    if (partials_of_results)
      return partials_of_results->store(runs.first(run), columns, lane_step, owners_of(run));
    runner.finish(columns, lane_step, owners_of(run), runs.first(run), order.owner_stride);
  };

  const int lanes =
      order.kind == lane_schedule::columns ? static_cast<int>(order.lanes) : host_block;
  if (splits == 1) {
    return for_each_task(job, lanes, pieces(runs.count, runs_a_task),
                         [&](std::int64_t task, block_runner& runner, lane_accumulators& sums) {
                           for (std::int64_t run = task * runs_a_task;
                                run < std::min(runs.count, (task + 1) * runs_a_task); ++run) {
                             accumulate(run, 0, runner, sums);
                             collapse(run, sums.columns());
                             finish(run, sums.columns(), step, runner);
                           }
                         });
  }
  // Packs the lanes of the owners, without the lanes between them.
  const lane_accumulators shape(job, lanes);
  const int most = order.kind == lane_schedule::columns
                       ? static_cast<int>(std::min<std::int64_t>(order.lanes, runs.inner))
                       : owners_of(0);
  const std::size_t bytes = shape.stored_bytes(most);
  const host_memory partials =
      allocate_host_memory(bytes * static_cast<std::size_t>(runs.count * splits));
  const auto partial = [&](std::int64_t run, std::int64_t split) {
    return partials.get() + bytes * static_cast<std::size_t>(run * splits + split);
  };
  for_each_task(job, lanes, runs.count * splits,
                [&](std::int64_t task, block_runner& runner, lane_accumulators& sums) {
                  accumulate(task / splits, task % splits, runner, sums);
                  collapse(task / splits, sums.columns());
                  sums.store(partial(task / splits, task % splits), most);
                });
  // Pairwise, so that the error grows with the logarithm of the number of pieces. If there is work
  // for several threads, near pieces are combined first.
  const auto join = [&](const lane_accumulators& sums, std::int64_t run, std::int64_t begin,
                        std::int64_t end, std::int64_t distance) {
    for (; distance < end - begin; distance *= 2)
      for (std::int64_t s = begin; s + distance < end; s += 2 * distance)
        code.add(sums.stored(partial(run, s), most).data(),
                 sums.stored(partial(run, s + distance), most).data(), owners_of(run));
  };
  constexpr std::int64_t near = 16, many_lanes = 4096;
  const bool is_shared = splits > near && splits * runs.count * most > many_lanes;
  if (is_shared) {
    const std::int64_t groups = pieces(splits, near);
    for_each_task(job, lanes, runs.count * groups,
                  [&](std::int64_t task, block_runner&, lane_accumulators& sums) {
                    const std::int64_t begin = task % groups * near;
                    join(sums, task / groups, begin, std::min(splits, begin + near), 1);
                  });
  }
  for_each_task(job, lanes, runs.count,
                [&](std::int64_t run, block_runner& runner, lane_accumulators& sums) {
                  join(sums, run, 0, splits, is_shared ? near : 1);
                  finish(run, sums.stored(partial(run, 0), most).data(), 1, runner);
                });
}

}  // namespace dsl::detail
