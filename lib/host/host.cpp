#include "host/host.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "exec/layout.hpp"
#include "exec/text.hpp"
#include "host/columns.hpp"

namespace dsl::detail {

int simd_level() {
  static const int level = [] {
#if DSL_DETAIL_X86_LEVELS
    const int best = __builtin_cpu_supports("x86-64-v4") ? 2 : __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
#else
    const int best = 0;
#endif
    const char* most = std::getenv("DSL_SIMD");
    if (most == nullptr || *most == '\0') return best;
    if (most[0] < '0' || most[0] > '2' || most[1] != '\0')
      raise<device_error>(std::string("DSL_SIMD is \"") + most + "\"; valid are 0 (x86-64), 1 (AVX2) and 2 (AVX-512)");
    return std::min(most[0] - '0', best);
  }();
  return level;
}

namespace {

constexpr int blocks_per_chunk = 64;  // 16,384 elements: one task
constexpr std::int64_t chunk_elements = std::int64_t{host_block} * blocks_per_chunk;

// The dtypes of all reductions' values, one after another.
std::vector<dtype> accumulator_dtypes(const pass_view& p) {
  std::vector<dtype> types;
  for (int j = 0; j < p.reductions; ++j)
    for (int k = 0; k < p.rules[j].output_count; ++k) types.push_back(p.rules[j].output(k).type());
  return types;
}
std::size_t bytes_of_value(dtype type) {
  return type == dtype::float16 || type == dtype::bfloat16 ? sizeof(float) : static_cast<std::size_t>(size_of(type));
}

// What the lanes of a block have been reduced into.
class lane_sums {
 public:
  lane_sums(const host_job& job, int lanes)
      : job_(job),
        types_(accumulator_dtypes(job.code.pass.view)),
        columns_(allocate_columns(types_.size() * static_cast<std::size_t>(lanes / host_block))),
        others_(allocate_columns(types_.size())),
        at_(types_.size()),
        from_(types_.size()) {
    for (std::size_t s = 0; s < types_.size(); ++s)
      at_[s] = columns_.get() + column_bytes * static_cast<std::size_t>(lanes / host_block) * s;
  }

  void* const* columns() const { return at_.data(); }
  // From a lane on; until the next call.
  void* const* columns_from(int lane) {
    for (std::size_t s = 0; s < types_.size(); ++s)
      from_[s] = static_cast<unsigned char*>(at_[s]) + bytes_of_value(types_[s]) * static_cast<std::size_t>(lane);
    return from_.data();
  }
  void clear(int lanes) const { job_.compiled.clear(at_.data(), lanes); }
  // Keeps lanes from `valid` on as they are while `run` computes them.
  template <class Run>
  void run_tail(void* const* columns, int valid, int padded, const Run& run) const {
    const auto each = [&](bool restore) {
      for (std::size_t s = 0; s < types_.size(); ++s) {
        const std::size_t size = bytes_of_value(types_[s]), from = size * static_cast<std::size_t>(valid),
                          count = size * static_cast<std::size_t>(padded - valid);
        unsigned char* const mine = static_cast<unsigned char*>(columns[s]) + from;
        unsigned char* const saved = others_.get() + column_bytes * s;
        if (restore) std::memcpy(mine, saved, count);
        else std::memcpy(saved, mine, count);
      }
    };
    if (valid < padded) each(false);
    run();
    if (valid < padded) each(true);
  }
  // Lanes as they are kept between tasks: value after value, `count` lanes each.
  std::size_t stored_bytes(int count) const {
    std::size_t bytes = 0;
    for (const dtype t : types_) bytes += (bytes_of_value(t) * static_cast<std::size_t>(count) + 15) / 16 * 16;
    return bytes;
  }
  void store(unsigned char* to, int count) const {
    for (std::size_t s = 0; s < types_.size(); ++s) {
      std::memcpy(to, at_[s], bytes_of_value(types_[s]) * static_cast<std::size_t>(count));
      to += (bytes_of_value(types_[s]) * static_cast<std::size_t>(count) + 15) / 16 * 16;
    }
  }
  std::vector<void*> stored(unsigned char* at, int count) const {
    std::vector<void*> columns;
    for (const dtype t : types_) {
      columns.push_back(at);
      at += (bytes_of_value(t) * static_cast<std::size_t>(count) + 15) / 16 * 16;
    }
    return columns;
  }

 private:
  const host_job& job_;
  std::vector<dtype> types_;
  host_memory columns_, others_;
  std::vector<void*> at_, from_;
};

// Evaluates blocks of elements, which follow each other in the order of the job's dimensions.
class block_runner {
 public:
  explicit block_runner(const host_job& job)
      : job_(job),
        inputs_(job.operands, job.code.inputs, job.space),
        columns_(allocate_columns(static_cast<std::size_t>(job.code.outputs()))) {
    for (int i = 0; i < job.code.outputs(); ++i) direct_[i] = is_direct(target(i), layout_of(i), job.space);
  }

  void count_step(std::int64_t number) { inputs_.count_step(number); }
  /// Elements first .. first + valid, reduced into the lanes of `sums` from `lane` on if there are reductions. Lanes beyond are
  /// left as they are if `keep` says so.
  void run(std::int64_t first, int valid, lane_sums& sums, int lane = 0, bool keep = true) {
    const int padded = padded_block(valid);
    inputs_.read(first, valid);
    void* out[max_operands];
    for (int i = 0; i < job_.code.outputs(); ++i) {
      out[i] = nullptr;
      if (valid == padded && direct_[i]) out[i] = direct_address(target(i), first);
      else if (valid == padded && target(i).kind == operand_kind::array)
        out[i] = lies_at(target(i), job_.space, layout_of(i), inputs_.place(), valid);
      if (out[i] == nullptr) out[i] = column(i);
    }
    void* const* const columns = sums.columns_from(lane);
    sums.run_tail(columns, keep ? valid : padded, padded,
                  [&] { job_.compiled.block[simd_level()](padded, 1, 0, inputs_.at(), out, columns); });
    for (int i = 0; i < job_.code.outputs(); ++i)
      if (target(i).kind == operand_kind::array && out[i] == column(i) && valid > 0)
        scatter(column(i), target(i), job_.space, layout_of(i), inputs_.place(), valid);
  }

  /// The same for `rows` blocks, `stride` elements apart, of which lanes beyond `valid` do not matter.
  void run_rows(std::int64_t first, int valid, std::int64_t rows, std::int64_t stride, lane_sums& sums) {
    const int padded = padded_block(valid);
    const std::int64_t end = first + (rows - 1) * stride + padded;
    bool direct = inputs_.is_direct_throughout() && (valid == padded || end <= job_.space.elements);
    for (int i = 0; i < job_.code.outputs(); ++i)
      direct = direct && (target(i).kind == operand_kind::result || (direct_[i] && valid == padded));
    if (!direct) {
      for (; rows > 0; --rows, first += stride)
        for (int lane = 0; lane < valid; lane += host_block)
          run(first + lane, std::min(host_block, valid - lane), sums, lane, false);
      return;
    }
    if (rows <= 0) return;
    inputs_.read_directly(first);
    void* out[max_operands];
    for (int i = 0; i < job_.code.outputs(); ++i)
      out[i] = target(i).kind == operand_kind::result ? column(i) : direct_address(target(i), first);
    job_.compiled.block[simd_level()](padded, static_cast<int>(rows), stride, inputs_.at(), out, sums.columns());
  }

  /// Reduces `rows` rows of `length` elements one behind the other, into a lane each.
  void run_strips(std::int64_t first, int rows, std::int64_t length, const lane_sums& sums) {
    const auto run = [&](int row, int count, std::int64_t elements) {
      job_.compiled.strip[simd_level()](row, count, elements, length, inputs_.at(), sums.columns());
    };
    const std::int64_t rest = length % strip_lanes, whole = length - rest;
    // Rows whose last strip is within the operands.
    const std::int64_t inside =
        rest == 0 ? rows
                  : std::clamp<std::int64_t>((job_.space.elements - first - whole - strip_lanes + length) / length, 0, rows);
    for (int row = 0, count = inputs_.counts() ? 1 : static_cast<int>(inside); row < inside; row += count) {
      inputs_.read_in_a_row(first + row * length);
      run(row, count, length);
    }
    for (int row = static_cast<int>(inside); row < rows; ++row) {
      inputs_.read_in_a_row(first + row * length);
      run(row, 1, whole);
      inputs_.read(first + row * length + whole, static_cast<int>(rest));
      run(row, 1, rest);
    }
  }

  /// Stores the results of `owners` lanes, `lane_step` apart, whose first elements are number `element` and `element_step`
  /// further each.
  void finish(const void* const* sums, int lane_step, int owners, std::int64_t element, std::int64_t element_step) const {
    void *to[max_operands], *again[max_operands];
    std::int64_t step[max_operands] = {};
    const geometry& g = job_.space;
    const auto extent = [&](int d) {
      return g.elements > 0 || (g.kept >> d & 1) != 0 ? g.extents[d] : 1;
    };  // or the results of no elements
    int last = g.rank - 1;  // of the kept dimensions: results along it are equally far apart
    std::int64_t below = 1;
    for (; last >= 0 && (g.kept >> last & 1) == 0; --last) below *= extent(last);
    for (int done = 0, count; done < owners; done += count) {
      const std::int64_t first = element + done * element_step;
      count = 1;
      if (last >= 0 && g.kept != 0)
        count = static_cast<int>(std::min<std::int64_t>(owners - done, extent(last) - first / below % extent(last)));
      for (int i = 0; i < job_.code.outputs(); ++i) {
        const operand& o = target(i);
        const operand_layout& w = layout_of(i);
        std::int64_t rest = first, offset = 0;
        for (int d = g.rank - 1; g.kept != 0 && d >= 0; --d) {
          offset += rest % extent(d) * w.strides[d];
          rest /= extent(d);
        }
        to[i] = reinterpret_cast<unsigned char*>(o.word[0]) + offset * size_of(o.type);
        step[i] = last >= 0 ? w.strides[last] : 0;
        if (o.discarded) to[i] = column(i);
        again[i] = job_.recorded != nullptr ? reinterpret_cast<void*>(job_.recorded[i]) : nullptr;
      }
      job_.compiled.finish(sums, done * lane_step, lane_step, count, g.count, inputs_.at(), to, step, again);
    }
  }

 private:
  const operand& target(int i) const { return job_.operands[job_.code.inputs + i]; }
  const operand_layout& layout_of(int i) const { return job_.space.layouts[job_.code.inputs + i]; }
  unsigned char* column(int i) const { return columns_.get() + column_bytes * static_cast<std::size_t>(i); }

  const host_job& job_;
  input_columns inputs_;
  host_memory columns_;  // of the targets
  bool direct_[max_operands];
};

// Tasks 0 .. count on all cores, each thread with memory of its own.
template <class Task>
void for_each_task(const host_job& job, int lanes, std::int64_t count, const Task& task) {
  if (count == 1) {
    block_runner runner(job);
    lane_sums sums(job, lanes);
    return task(0, runner, sums);
  }
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count), [&](const tbb::blocked_range<std::int64_t>& range) {
    block_runner runner(job);
    lane_sums sums(job, lanes);
    for (std::int64_t t = range.begin(); t != range.end(); ++t) task(t, runner, sums);
  });
}

// Tiles of rows of a block each, where an input lies along the second dimension: what a row of a tile brings into the cache, the
// next ones use.
void map_tiles_on_host(const host_job& job, std::optional<std::int64_t> first_step, std::int64_t steps) {
  const geometry& g = job.space;
  const std::int64_t inner = g.extents[g.rank - 1], second = g.extents[g.rank - 2], across = pieces(inner, host_block),
                     down = pieces(second, blocks_per_chunk);
  for_each_task(job, host_block, g.elements / inner / second * across * down,
                [&](std::int64_t task, block_runner& runner, lane_sums& sums) {
                  const std::int64_t column = task % across * host_block, row = task / across % down * blocks_per_chunk;
                  const std::int64_t rows = std::min<std::int64_t>(second - row, blocks_per_chunk);
                  const std::int64_t first = (task / across / down * second + row) * inner + column;
                  for (std::int64_t k = 0; k < steps; ++k) {
                    if (first_step) runner.count_step(*first_step + k);
                    for (std::int64_t r = 0; r < rows; ++r)
                      runner.run(first + r * inner, static_cast<int>(std::min<std::int64_t>(host_block, inner - column)), sums);
                  }
                });
}

void map_on_host(const host_job& job, std::optional<std::int64_t> first_step = {}, std::int64_t steps = 1) {
  const std::int64_t elements = job.space.elements;
  for (int k = 0; k < job.code.inputs; ++k)
    if (elements > 0 && job.space.layouts[k].how == access::tiled && job.space.extents[job.space.rank - 1] > host_block)
      return map_tiles_on_host(job, first_step, steps);
  for_each_task(job, host_block, std::max<std::int64_t>(1, pieces(elements, chunk_elements)),
                [&](std::int64_t task, block_runner& runner, lane_sums& sums) {
                  const std::int64_t first = task * chunk_elements, count = std::min(elements - first, chunk_elements),
                                     whole = count / host_block;
                  for (std::int64_t k = 0; k < steps; ++k) {
                    if (first_step) runner.count_step(*first_step + k);
                    runner.run_rows(first, host_block, whole, host_block, sums);
                    if (const std::int64_t rest = count - whole * host_block; rest > 0)
                      runner.run(first + whole * host_block, static_cast<int>(rest), sums);
                  }
                });
}

// How elements that are reduced together follow each other: `steps` blocks of up to `lanes` elements, `stride` apart. Then
// `lanes_a_result` lanes make a result, for each of some owners.
struct lane_schedule {
  // What lanes are: a result each; ...; and without lanes, by strips, a piece of one result or rows of one result each
  enum { columns, rows_of_columns, one_result, several_results, strips, rows_of_strips } kind;
  std::int64_t lanes, stride, length;  // of a run: in elements, from its beginning to its end
  int owner_step, lanes_a_result, result_lane_step;
  std::int64_t owner_stride;  // elements from one owner's first to the next one's
  bool by_strips() const { return kind >= strips; }
};

// The runs of a job: `count` of them, `first` finds where one begins and how many lanes of it there are.
struct reduction_runs {
  lane_schedule order;
  std::int64_t count, across, inner,
      run_stride;  // runs across the last dimension of that extent; and how far apart the others are
  std::int64_t first(std::int64_t run) const { return run / across * run_stride + run % across * order.lanes; }
  int lanes(std::int64_t run) const { return static_cast<int>(std::min(order.lanes, inner - run % across * order.lanes)); }
};

// Whether the elements of a result can be reduced where they lie, strip by strip.
bool takes_strips(const host_job& job) {
  return job.compiled.strip[0] != nullptr && job.space.elements > 0 &&
         input_columns(job.operands, job.code.inputs, job.space).is_in_a_row();
}

// Columns that are reduced at a time: as long a piece of each row as 16 KiB of sums allow, since the processor fetches ahead
// along rows.
int columns_at_once(const pass_view& pass) {
  std::size_t bytes = 0;
  for (const dtype t : accumulator_dtypes(pass)) bytes += bytes_of_value(t);
  return static_cast<int>(std::clamp<std::size_t>(16384 / bytes, host_block, 8 * host_block)) / host_block * host_block;
}

reduction_runs runs_of(const host_job& job) {
  constexpr std::int64_t few =
      64;  // lanes of the shortest block; and what a row by strips must have to be quicker than with others
  const geometry& g = job.space;
  const std::int64_t inner = g.kept != 0 && (g.kept >> (g.rank - 1) & 1) != 0 ? g.extents[g.rank - 1] : 1,
                     kept = g.results / inner;
  const std::int64_t reduced = std::max<std::int64_t>(g.count, 1);
  const auto whole = [](std::int64_t n) { return host_block / n * n; };
  if (inner >= few) {  // columns: a lane each
    const int lanes = columns_at_once(job.code.pass.view);
    return {{lane_schedule::columns, lanes, inner, reduced * inner, 1, 1, 0, 1},
            kept * pieces(inner, lanes),
            pieces(inner, lanes),
            inner,
            reduced * inner};
  }
  if (inner > 1) {  // several rows of columns in a block
    const std::int64_t lanes = whole(inner);
    return {{lane_schedule::rows_of_columns, lanes, lanes, reduced * inner, 1, static_cast<int>(lanes / inner),
             static_cast<int>(inner), 1},
            kept,
            1,
            lanes,
            reduced * inner};
  }
  if ((reduced >= few || kept == 1) && takes_strips(job)) {
    if (reduced > chunk_elements)
      return {{lane_schedule::strips, host_block, host_block, reduced, 1, 1, 1, 1}, kept, 1, host_block, reduced};
    const std::int64_t rows = std::min<std::int64_t>(host_block, chunk_elements / reduced);
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
  return {{lane_schedule::several_results, lanes, lanes, lanes, static_cast<int>(reduced), static_cast<int>(reduced), 1, reduced},
          pieces(kept, together),
          1,
          lanes,
          lanes};
}

void reduce_on_host(const host_job& job) {
  const geometry& g = job.space;
  const host_code& code = job.compiled;
  const reduction_runs runs = runs_of(job);
  const lane_schedule& order = runs.order;
  // Whole blocks, so that the pieces of a run depend on nothing but its length.
  const std::int64_t steps = pieces(order.length, order.stride),
                     steps_a_piece = std::max<std::int64_t>(blocks_per_chunk, pieces(steps, 1024));
  const std::int64_t splits = std::max<std::int64_t>(1, pieces(steps, steps_a_piece));
  const std::int64_t runs_a_task = std::max<std::int64_t>(1, blocks_per_chunk / std::max<std::int64_t>(steps, 1));
  const auto valid_lanes = [&](std::int64_t run, std::int64_t step) {
    if (order.kind == lane_schedule::columns) return static_cast<std::int64_t>(runs.lanes(run));
    const std::int64_t all = g.results * std::max<std::int64_t>(g.count, 1);
    const std::int64_t end = order.kind == lane_schedule::several_results ? all - runs.first(run) : order.length;
    return std::clamp<std::int64_t>(end - step * order.stride, 0, order.lanes);
  };
  const auto owners_of = [&](std::int64_t run) -> int {
    switch (order.kind) {
      case lane_schedule::columns: return runs.lanes(run);
      case lane_schedule::rows_of_columns: return order.result_lane_step;
      case lane_schedule::one_result:
      case lane_schedule::strips: return 1;
      case lane_schedule::rows_of_strips: return static_cast<int>(std::min(order.lanes, g.results - run * order.lanes));
      default: return static_cast<int>(valid_lanes(run, 0) / order.lanes_a_result);
    }
  };
  const auto accumulate_strips = [&](std::int64_t run, std::int64_t split, block_runner& runner, const lane_sums& sums) {
    const int rows = owners_of(run);
    const std::int64_t piece = steps_a_piece * order.stride, begin = split * piece,
                       length = order.kind == lane_schedule::strips ? std::min(order.length - begin, piece) : order.owner_stride;
    sums.clear(rows);
    runner.run_strips(runs.first(run) + begin, rows, length, sums);
  };
  const auto accumulate = [&](std::int64_t run, std::int64_t split, block_runner& runner, lane_sums& sums) {
    if (order.by_strips()) return accumulate_strips(run, split, runner, sums);
    const bool columns = order.kind == lane_schedule::columns;
    sums.clear(
        padded_block(static_cast<int>(columns                                        ? runs.lanes(run)
                                      : order.kind == lane_schedule::rows_of_columns ? order.lanes
                                                                                     : std::min(order.lanes, order.length))));
    if (g.elements == 0) return;
    const std::int64_t begin = split * steps_a_piece, end = std::min(steps, begin + steps_a_piece), at = runs.first(run);
    const std::int64_t last = valid_lanes(run, end - 1), most = columns ? last : order.lanes,
                       whole = end - begin - (last < most ? 1 : 0);
    runner.run_rows(at + begin * order.stride, static_cast<int>(most), whole, order.stride, sums);
    // Lanes beyond the last one matter where they have been used before, or are parts of a result.
    if (last < most)
      runner.run(at + (end - 1) * order.stride, static_cast<int>(last), sums, 0,
                 steps > 1 || order.kind == lane_schedule::rows_of_columns);
  };
  // Combines the lanes into those that own a result, which then are `owners`, `owner_step` apart.
  const int step = order.owner_step;
  const auto collapse = [&](std::int64_t run, void* const* columns) {
    code.collapse(columns, owners_of(run), step, order.lanes_a_result, order.result_lane_step);
  };
  const auto finish = [&](std::int64_t run, const void* const* columns, int lane_step, const block_runner& runner) {
    runner.finish(columns, lane_step, owners_of(run), runs.first(run), order.owner_stride);
  };

  const int lanes = order.kind == lane_schedule::columns ? static_cast<int>(order.lanes) : host_block;
  if (splits == 1) {
    return for_each_task(
        job, lanes, pieces(runs.count, runs_a_task), [&](std::int64_t task, block_runner& runner, lane_sums& sums) {
          for (std::int64_t run = task * runs_a_task; run < std::min(runs.count, (task + 1) * runs_a_task); ++run) {
            accumulate(run, 0, runner, sums);
            collapse(run, sums.columns());
            finish(run, sums.columns(), step, runner);
          }
        });
  }
  // One owner after another, without the lanes between.
  const lane_sums shape(job, lanes);
  const int most =
      order.kind == lane_schedule::columns ? static_cast<int>(std::min<std::int64_t>(order.lanes, runs.inner)) : owners_of(0);
  const std::size_t bytes = shape.stored_bytes(most);
  const host_memory partials = allocate_host_memory(bytes * static_cast<std::size_t>(runs.count * splits));
  const auto partial = [&](std::int64_t run, std::int64_t split) {
    return partials.get() + bytes * static_cast<std::size_t>(run * splits + split);
  };
  for_each_task(job, lanes, runs.count * splits, [&](std::int64_t task, block_runner& runner, lane_sums& sums) {
    accumulate(task / splits, task % splits, runner, sums);
    collapse(task / splits, sums.columns());
    sums.store(partial(task / splits, task % splits), most);
  });
  for_each_task(job, lanes, runs.count, [&](std::int64_t run, block_runner& runner, lane_sums& sums) {
    for (std::int64_t distance = 1; distance < splits; distance *= 2)  // pairwise: the error grows with the logarithm
      for (std::int64_t s = 0; s + distance < splits; s += 2 * distance)
        code.add(sums.stored(partial(run, s), most).data(), sums.stored(partial(run, s + distance), most).data(), owners_of(run));
    finish(run, sums.stored(partial(run, 0), most).data(), 1, runner);
  });
}

}  // namespace

void run_on_host(const host_job& job) {
  if (job.code.reduces()) reduce_on_host(job);
  else map_on_host(job);
}
void run_on_host(const host_job& job, std::int64_t first, std::int64_t steps) { map_on_host(job, first, steps); }

}  // namespace dsl::detail
