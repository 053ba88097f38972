// Evaluation of blocks of elements on the host, and tasks of such blocks on all cores.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "host/columns.hpp"
#include "host/host.hpp"
#include "host/threads.hpp"

namespace dsl::detail {

/// Rough estimate of a thread's time for one element, in nanoseconds: the larger of its arithmetic
/// and its bytes out of the caches.
inline double nanoseconds_of_element(const host_job& job) {
  constexpr double bytes_a_nanosecond = 80;
  int bytes = 0;
  for (int k = 0; k < job.code.inputs + job.code.outputs(); ++k)
    if (const operand& o = job.operands[k]; o.kind <= operand_kind::neighbour)
      bytes += size_of(o.type);
  return std::max(job.compiled.nanoseconds, bytes / bytes_a_nanosecond);
}
/// Number of blocks in one task, 4 to 64. It depends only on the formula, and so does the order in
/// which elements are reduced.
inline int blocks_of_task(const host_job& job) {
  const auto enough = static_cast<unsigned>(of_a_task / nanoseconds_of_element(job)) / host_block;
  return static_cast<int>(std::bit_floor(std::clamp(enough, 4u, 64u)));
}

// The dtypes of the accumulators of all reductions, one reduction after another.
inline std::vector<dtype> accumulator_dtypes(const pass_view& p) {
  std::vector<dtype> types;
  for (int j = 0; j < p.reductions; ++j)
    for (int k = 0; k < p.rules[j].output_count; ++k) types.push_back(p.rules[j].output(k).type());
  return types;
}
inline std::size_t bytes_of_value(dtype type) {
  return static_cast<std::size_t>(size_of(computed_in(type)));
}

// The accumulators of each lane of a block.
class lane_accumulators {
 public:
  lane_accumulators(const host_job& job, int lanes)
      : job_(job),
        types_(accumulator_dtypes(job.code.pass.view)),
        bytes_(column_bytes * static_cast<std::size_t>(lanes / host_block)),
        memory_(allocate_host_memory((bytes_ + column_bytes) * types_.size())),
        addresses_(2 * types_.size()) {
    for (std::size_t s = 0; s < types_.size(); ++s) addresses_[s] = memory_.get() + bytes_ * s;
  }

  void* const* columns() const { return addresses_.data(); }
  // The columns from `lane` on; valid until the next call.
  void* const* columns_from(int lane) {
    void** const from = addresses_.data() + types_.size();
    for (std::size_t s = 0; s < types_.size(); ++s)
      from[s] = static_cast<unsigned char*>(addresses_[s]) +
                bytes_of_value(types_[s]) * static_cast<std::size_t>(lane);
    return from;
  }
  void clear(int lanes) const { job_.compiled.clear(columns(), lanes); }
  // Calls `run`, which computes all `padded` lanes, but keeps the values of the lanes from `valid`
  // on.
  template <class Run>
  void run_tail(void* const* columns, int valid, int padded, const Run& run) const {
    const auto each = [&](bool restore) {
      for (std::size_t s = 0; s < types_.size(); ++s) {
        const std::size_t size = bytes_of_value(types_[s]),
                          from = size * static_cast<std::size_t>(valid),
                          count = size * static_cast<std::size_t>(padded - valid);
        unsigned char* const mine = static_cast<unsigned char*>(columns[s]) + from;
        unsigned char* const saved = memory_.get() + bytes_ * types_.size() + column_bytes * s;
        if (restore) std::memcpy(mine, saved, count);
        else std::memcpy(saved, mine, count);
      }
    };
    if (valid < padded) each(false);
    run();
    if (valid < padded) each(true);
  }
  // Storage of lanes between tasks: one accumulator after another, `count` lanes each.
  std::size_t stored_bytes(std::int64_t count) const {
    std::size_t bytes = 0;
    for (const dtype t : types_)
      bytes += (bytes_of_value(t) * static_cast<std::size_t>(count) + 15) / 16 * 16;
    return bytes;
  }
  void store(unsigned char* to, int count) const {
    for (std::size_t s = 0; s < types_.size(); ++s) {
      std::memcpy(to, addresses_[s], bytes_of_value(types_[s]) * static_cast<std::size_t>(count));
      to += (bytes_of_value(types_[s]) * static_cast<std::size_t>(count) + 15) / 16 * 16;
    }
  }
  std::vector<void*> stored(unsigned char* at, std::int64_t count) const {
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
  std::size_t bytes_;   // of a column of lanes
  host_memory memory_;  // columns of all lanes, then columns for lanes that are kept meanwhile
  std::vector<void*> addresses_;  // of the columns, then of one lane in each column
};

// Evaluates blocks of elements that are consecutive in the order of the job's dimensions.
class block_runner {
 public:
  explicit block_runner(const host_job& job)
      : job_(job),
        inputs_(job.operands, job.code.inputs, job.space, job.code.pass.view),
        columns_(allocate_columns(static_cast<std::size_t>(job.code.outputs()))) {
    is_direct_ = inputs_.is_direct_throughout();
    for (int i = 0; i < job.code.outputs(); ++i) {
      direct_[i] = is_direct(target(i), layout_of(i), job.space);
      is_direct_ = is_direct_ && (direct_[i] || target(i).kind == operand_kind::result);
      for (int k = 0; k < job.code.inputs; ++k)
        in_place_ = in_place_ || job.operands[k].word[0] == target(i).word[0];
    }
  }

  void count_step(std::int64_t number) { inputs_.count_step(number); }
  /// Evaluates elements first .. first + valid. If there are reductions, reduces them into the
  /// lanes of `sums` from `lane` on. If `keep`, padded lanes after them do not change.
  void run(std::int64_t first, int valid, lane_accumulators& sums, int lane = 0, bool keep = true) {
    if (const int rest = valid % 64;
        rest != 0 && valid > 64) {  // only the rest needs padding, and so a copy
      run(first, valid - rest, sums, lane, keep);
      return run(first + valid - rest, rest, sums, lane + valid - rest, keep);
    }
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
    sums.run_tail(columns, keep ? valid : padded, padded, [&] {
      loop_of_level(job_.compiled.block)(padded, 1, 0, inputs_.at(), out, columns);
    });
    for (int i = 0; i < job_.code.outputs(); ++i)
      if (target(i).kind == operand_kind::array && out[i] == column(i) && valid > 0)
        scatter(column(i), target(i), job_.space, layout_of(i), inputs_.place(), valid);
  }

  /// The same for a tile: `rows` blocks of adjacent rows, which have `inner` elements.
  void run_tile(std::int64_t first, int valid, std::int64_t rows, std::int64_t inner,
                lane_accumulators& sums) {
    inputs_.enter_tile(first, valid, rows);
    for (std::int64_t r = 0; r < rows; ++r) run(first + r * inner, valid, sums);
    inputs_.leave_tile();
  }

  /// The same for `rows` blocks that are `stride` elements apart. Lanes from `valid` on may change.
  void run_rows(std::int64_t first, int valid, std::int64_t rows, std::int64_t stride,
                lane_accumulators& sums) {
    const int padded = padded_block(valid);
    const std::int64_t end = first + (rows - 1) * stride + padded;
    bool direct = is_direct_ && (valid == padded || end <= job_.space.elements);
    for (int i = 0; i < job_.code.outputs(); ++i)
      direct = direct && (target(i).kind == operand_kind::result || valid == padded);
    if (!direct) {
      for (; rows > 0; --rows, first += stride)
        for (int lane = 0; lane < valid; lane += host_block)
          run(first + lane, std::min(host_block, valid - lane), sums, lane, false);
    } else if (rows > 0) {
      run_directly(first, padded, static_cast<int>(rows), stride, sums.columns());
    }
  }

  /// Evaluates elements first .. first + count, without reductions.
  void run_map(std::int64_t first, std::int64_t count, lane_accumulators& none) {
    const std::int64_t end = first + count;
    if (!is_direct_) {
      for (const std::int64_t begin = first; first < end;)
        first += run_in_row(first, begin, end, none);
      return;
    }
    const auto rest = static_cast<int>(count % 64);
    if (count >= 64) run_directly(first, static_cast<int>(count - rest), 1, 0, nullptr);
    if (rest == 0) return;
    // Computes the last elements together with some earlier ones a second time, unless the targets
    // overwrite inputs.
    if (count >= 64 && !in_place_) run_directly(end - 64, 64, 1, 0, nullptr);
    else run(end - rest, rest, none);
  }

  /// Evaluates elements of one row from `first` on, which belong to elements `begin` to `end`;
  /// returns their number. Elements whose neighbours are all in the row are read in place; those
  /// near the ends of the row are packed.
  std::int64_t run_in_row(std::int64_t first, std::int64_t begin, std::int64_t end,
                          lane_accumulators& none) {
    constexpr std::int64_t shortest_row = 128;
    const geometry& g = job_.space;
    if (g.rank == 0 || g.extents[g.rank - 1] < shortest_row) {
      const std::int64_t count = std::min<std::int64_t>(host_block, end - first);
      run(first, static_cast<int>(count), none);
      return count;
    }
    const std::int64_t inner = g.extents[g.rank - 1], x = first % inner,
                       left = std::min(inner - x, end - first);
    const std::int64_t whole =
        std::min({left, inner - x - inputs_.after(), inputs_.longest_run()}) / 64 * 64;
    if (x >= inputs_.before() && whole > 0 && run_in_place(first, whole)) return whole;
    // Computes the last elements together with some earlier ones a second time, unless the targets
    // overwrite inputs.
    if (left < 64 && x >= 64 && first + left - 64 >= begin && !in_place_) {
      run(first + left - 64, 64, none);
      return left;
    }
    const std::int64_t count = std::min<std::int64_t>(x < inputs_.before() ? 64 : host_block, left);
    run(first, static_cast<int>(count), none);
    return count;
  }

  /// Reduces `rows` consecutive rows of `length` elements into one lane each.
  void run_strips(std::int64_t first, int rows, std::int64_t length,
                  const lane_accumulators& sums) {
    const bool is_short = length < strip_lanes;
    const int together = inputs_.counts() || is_short ? 1 : rows;
    for (int row = 0; row < rows; row += together) {
      if (is_short) inputs_.read(first + row * length, static_cast<int>(length));
      else inputs_.read_in_a_row(first + row * length);
      loop_of_level(job_.compiled.strip)(row, together, length, length, inputs_.at(),
                                         sums.columns());
    }
  }

  /// The same for short rows, whose elements are added one after another. At most host_block rows;
  /// at most 64 if they are longer than a piece that is transposed.
  void run_transposed(std::int64_t first, int rows, std::int64_t length, lane_accumulators& sums) {
    const int padded = padded_block(rows);
    void* out[max_operands];
    for (int i = 0; i < job_.code.outputs(); ++i) out[i] = column(i);
    for (std::int64_t begin = 0; begin < length; begin += transposed_columns) {
      const std::int64_t columns = std::min<std::int64_t>(length - begin, transposed_columns);
      inputs_.read_transposed(first, {rows, length, begin, columns}, padded);
      void* const* const piece = begin == 0 ? sums.columns() : sums.columns_from(padded);
      job_.compiled.clear(piece, padded);
      loop_of_level(job_.compiled.block)(padded, static_cast<int>(columns), padded, inputs_.at(),
                                         out, piece);
      if (begin > 0) job_.compiled.add(sums.columns(), piece, rows);
    }
  }

  /// Stores the results of `owners` lanes, which are `lane_step` apart. The first element of the
  /// first owner is number `element`; those of the next owners are `element_step` apart.
  void finish(const void* const* sums, int lane_step, int owners, std::int64_t element,
              std::int64_t element_step) const {
    void *to[max_operands], *again[max_operands];
    std::int64_t step[max_operands] = {};
    const geometry& g = job_.space;
    const auto extent = [&](int d) {
      return g.elements > 0 || (g.kept >> d & 1) != 0 ? g.extents[d] : 1;
    };  // at least 1 if kept: reductions of no elements have results too
    int last = g.rank - 1;  // the last kept dimension: results along it are at equal distances
    std::int64_t below = 1;
    for (; last >= 0 && (g.kept >> last & 1) == 0; --last) below *= extent(last);
    for (int done = 0, count; done < owners; done += count) {
      const std::int64_t first = element + done * element_step;
      count = 1;
      if (last >= 0 && g.kept != 0)
        count = static_cast<int>(
            std::min<std::int64_t>(owners - done, extent(last) - first / below % extent(last)));
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
      job_.compiled.finish(sums, done * lane_step, lane_step, count, g.count, inputs_.at(), to,
                           step, again);
    }
  }

 private:
  const operand& target(int i) const { return job_.operands[job_.code.inputs + i]; }
  const operand_layout& layout_of(int i) const { return job_.space.layouts[job_.code.inputs + i]; }
  unsigned char* column(int i) const {
    return columns_.get() + column_bytes * static_cast<std::size_t>(i);
  }
  void run_directly(std::int64_t first, int padded, int rows, std::int64_t stride,
                    void* const* sums) {
    inputs_.read_directly(first);
    void* out[max_operands];
    for (int i = 0; i < job_.code.outputs(); ++i)
      out[i] =
          target(i).kind == operand_kind::result ? column(i) : direct_address(target(i), first);
    loop_of_level(job_.compiled.block)(padded, rows, stride, inputs_.at(), out, sums);
  }

  // Evaluates `count` elements of a row in place, if possible; returns whether it did.
  bool run_in_place(std::int64_t first, std::int64_t count) {
    if (!inputs_.read_in_place(first, count)) return false;
    void* out[max_operands];
    for (int i = 0; i < job_.code.outputs(); ++i) {
      out[i] = lies_at(target(i), job_.space, layout_of(i), inputs_.place(), count);
      if (out[i] == nullptr) return false;
    }
    loop_of_level(job_.compiled.block)(static_cast<int>(count), 1, 0, inputs_.at(), out, nullptr);
    return true;
  }

  const host_job& job_;
  input_columns inputs_;
  host_memory columns_;  // of the targets
  bool direct_[max_operands], is_direct_, in_place_ = false;
};

// Runs tasks 0 .. count on all cores, `rounds` times each; each thread has its own runner and
// lanes.
template <class Task>
void for_each_task(const host_job& job, int lanes, std::int64_t count, const Task& task,
                   std::int64_t rounds = 1) {
  const double elements = static_cast<double>(job.space.elements) * static_cast<double>(rounds);
  on_threads(count, elements * nanoseconds_of_element(job),
             [&](std::int64_t begin, std::int64_t end) {
               block_runner runner(job);
               lane_accumulators sums(job, lanes);
               for (std::int64_t t = begin; t < end; ++t) task(t, runner, sums);
             });
}

}  // namespace dsl::detail
