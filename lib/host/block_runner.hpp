// Blocks of elements on the host, and tasks of them on all cores.
#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "exec/layout.hpp"
#include "exec/text.hpp"
#include "host/columns.hpp"
#include "host/host.hpp"

namespace dsl::detail {

inline constexpr int blocks_per_chunk = 64;  // 16,384 elements: one task
inline constexpr std::int64_t chunk_elements = std::int64_t{host_block} * blocks_per_chunk;

// The dtypes of all reductions' values, one after another.
inline std::vector<dtype> accumulator_dtypes(const pass_view& p) {
  std::vector<dtype> types;
  for (int j = 0; j < p.reductions; ++j)
    for (int k = 0; k < p.rules[j].output_count; ++k) types.push_back(p.rules[j].output(k).type());
  return types;
}
inline std::size_t bytes_of_value(dtype type) {
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
    if (const int rest = valid % 64; rest != 0 && valid > 64) {  // what needs no padding is worked on where it is
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
    if (!job_.code.reduces() && stride == padded)  // one long row: to begin one takes as long as some vectors
      return job_.compiled.block[simd_level()](static_cast<int>(rows) * padded, 1, 0, inputs_.at(), out, nullptr);
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

}  // namespace dsl::detail
