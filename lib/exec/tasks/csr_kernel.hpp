// The kernels of products with sparse matrices, for GPUs and the simulator.
//
// A few lanes of a warp share a row ("vector CSR"): N. Bell, M. Garland, Implementing sparse
// matrix-vector multiplication on throughput-oriented processors, SC09 (2009). Long rows are cut
// into parts, one block each, so that they take no longer than others. For a vector, a warp reads
// the entries of several rows together and keeps the products until it adds up the rows
// ("CSR-stream"): J. L. Greathouse, M. Daga, Efficient sparse matrix-vector multiplication on GPUs
// using the CSR storage format, SC14 (2014). So no lane is idle because its row is short, and each
// sector of the entries is read once.
#pragma once

#include <dsl/exec/team/team.hpp>

#include "exec/tasks/csr_task.hpp"

namespace dsl::detail {

struct csr_arguments {
  block_range range;
  csr_task task;
};

/// The launches: of the long rows' parts and then of all other rows, row by row or streamed; of the
/// sums of the parts.
enum class csr_step { rows, streamed_rows, totals };
inline constexpr int csr_block = 256, csr_warp = 32;

/// Calls use(step, blocks) for each launch of a task.
template <class Use>
void for_each_csr_step(const csr_task& t, const Use& use) {
  const int log2_threads = t.log2_lanes + t.log2_columns;
  use(t.is_streamed ? csr_step::streamed_rows : csr_step::rows,
      t.part_count + ((t.rows << log2_threads) + csr_block - 1) / csr_block);
  if (t.long_rows > 0)
    use(csr_step::totals, (std::int64_t{t.long_rows} * csr_warp + csr_block - 1) / csr_block);
}

/// A thread of one of these launches.
template <class T, class Memory, class Team>
struct csr_body {
  const csr_task& task;
  Memory memory;
  Team team;

  DSL_DETAIL_KERNEL_FN void run(csr_step step) const {
    if (step == csr_step::totals) run_total();
    else if (team.block() < task.part_count) run_part();
    else if (step == csr_step::rows) run_row();
    else run_streamed_row();
  }

 private:
  DSL_DETAIL_KERNEL_FN std::uint32_t offset(std::int64_t row) const {
    return static_cast<std::uint32_t>(memory.template load<std::int32_t>(task.offsets + row));
  }
  // Places in the table: the numbers of long rows, and their first parts.
  DSL_DETAIL_KERNEL_FN std::int32_t long_row(std::int32_t n) const {
    return memory.template load<std::int32_t>(task.parts + n);
  }
  DSL_DETAIL_KERNEL_FN std::int32_t first_part(std::int32_t n) const {
    return long_row(task.long_rows + n);
  }
  DSL_DETAIL_KERNEL_FN void store(void* to, std::int64_t row, std::int64_t column, T value) const {
    memory.store(static_cast<T*>(to) + row * task.columns + column, value);
  }

  // Entries times the elements of a column of x. All loads of a round are in flight together.
  DSL_DETAIL_KERNEL_FN T sum(std::uint32_t first, std::uint32_t end, std::uint32_t step,
                             std::int64_t column) const {
    const T* const x = static_cast<const T*>(task.x) + column * task.column_step;
    T total{};
    for (std::uint32_t k = first; k < end; k += entries_ahead * step) {
      std::int32_t from[entries_ahead];
      T value[entries_ahead], other[entries_ahead];
      DSL_DETAIL_UNROLL
      for (int i = 0; i < entries_ahead; ++i) {
        const std::uint32_t at = k + static_cast<std::uint32_t>(i) * step;
        const bool exists = at < end;
        from[i] = exists ? memory.template load<std::int32_t>(task.column_of + at) : -1;
        value[i] = exists ? memory.template load<T>(static_cast<const T*>(task.values) + at) : T{};
      }
      DSL_DETAIL_UNROLL
      for (int i = 0; i < entries_ahead; ++i)
        other[i] = from[i] >= 0 ? memory.template load<T>(x + from[i] * task.row_step) : T{};
      DSL_DETAIL_UNROLL
      for (int i = 0; i < entries_ahead; ++i) total = total + value[i] * other[i];
    }
    return total;
  }
  // The sum over the lanes that have the same column; all lanes of the warp call it.
  DSL_DETAIL_KERNEL_FN T sum_of_lanes(T total, int threads) const {
    for (int distance = 1 << task.log2_columns; distance < threads; distance *= 2)
      total = total + team.from_lane(total, team.lane() ^ distance);
    return total;
  }
  // Calls use(column) for this lane's columns; beyond the last one too, so that all lanes make the
  // same number of calls.
  template <class Use> DSL_DETAIL_KERNEL_FN void for_each_column(const Use& use) const {
    const int lane = team.lane() & ((1 << task.log2_columns) - 1);
    for (std::int64_t first = 0; first < task.columns; first += 1 << task.log2_columns)
      use(first + lane);
  }

  // This thread's row and its entries; beyond the last row, none.
  struct row_entries {
    std::int64_t row;
    std::uint32_t first, end;
    bool exists, is_long;
  };
  DSL_DETAIL_KERNEL_FN row_entries own_row() const {
    const std::int64_t row = ((team.block() - task.part_count) * csr_block + team.thread()) >>
                             (task.log2_lanes + task.log2_columns);
    const bool exists = row < task.rows;
    const std::uint32_t first = exists ? offset(row) : static_cast<std::uint32_t>(task.count),
                        end = exists ? offset(row + 1) : first;
    const bool is_short = end - first <= static_cast<std::uint32_t>(task.longest);
    return {row, first, end, exists, !is_short};
  }
  DSL_DETAIL_KERNEL_FN void run_row() const { add_up(own_row()); }
  DSL_DETAIL_KERNEL_FN void add_up(const row_entries& of) const {
    const int threads = 1 << (task.log2_lanes + task.log2_columns),
              lane = (team.lane() & (threads - 1)) >> task.log2_columns;
    for_each_column([&](std::int64_t column) {
      const bool exists = of.exists && !of.is_long && column < task.columns;
      const T total = sum_of_lanes(exists ? sum(of.first + static_cast<std::uint32_t>(lane), of.end,
                                                1u << task.log2_lanes, column)
                                          : T{},
                                   threads);
      if (exists && lane == 0) store(task.y, of.row, column, total);
    });
  }

  // The products that a warp keeps. One place in 33 is skipped: rows of 2^k entries would begin in
  // the same bank of shared memory.
  struct products_of_warps {};
  static constexpr int a_lane = 8, products = a_lane * csr_warp,
                       places = products + products / csr_warp;
  DSL_DETAIL_KERNEL_FN static std::uint32_t place(std::uint32_t product) {
    return product + product / csr_warp;
  }
  DSL_DETAIL_KERNEL_FN void run_streamed_row() const {
    const row_entries own = own_row();
    if (team.ballot(own.is_long) != 0) return add_up(own);
    T* const kept = team.template shared<products_of_warps, T, csr_block / csr_warp * places>() +
                    team.warp() * places;
    const int lanes = 1 << task.log2_lanes, lane = team.lane() & (lanes - 1);
    const std::uint32_t first = team.from_lane(own.first, 0),
                        end = team.from_lane(own.end, csr_warp - 1);
    std::uint32_t next = own.first + static_cast<std::uint32_t>(lane);
    T total{};
    // From a place where a sector of memory begins.
    for (std::uint32_t from = first & ~7u; from < end; from += products) {
      keep_products(kept, from, first, end);
      team.synchronize_warp();
      for (; next < own.end && next - from < products; next += static_cast<std::uint32_t>(lanes))
        total = total + memory.template load<T>(kept + place(next - from));
      team.synchronize_warp();
    }
    total = sum_of_lanes(total, lanes);
    if (own.exists && lane == 0) store(task.y, own.row, 0, total);
  }
  // The products of the entries at `from` and behind it, of those in [first, end). All loads are in
  // flight together. The entries should leave the caches before x does.
  DSL_DETAIL_KERNEL_FN void keep_products(T* kept, std::uint32_t from, std::uint32_t first,
                                          std::uint32_t end) const {
    const auto lane = static_cast<std::uint32_t>(team.lane());
    const std::uint32_t begin = from + lane;
    const auto* const columns = task.column_of + begin;
    const auto* const values = static_cast<const T*>(task.values) + begin;
    const auto* const x = static_cast<const T*>(task.x);
    std::int32_t column[a_lane];
    T value[a_lane], other[a_lane];
    DSL_DETAIL_UNROLL
    for (int i = 0; i < a_lane; ++i) {
      const int step = i * csr_warp;
      const bool exists =
          begin + static_cast<std::uint32_t>(step) < end && (i > 0 || begin >= first);
      column[i] = exists ? memory.template load_streaming<std::int32_t>(columns + step) : -1;
      value[i] = exists ? memory.template load_streaming<T>(values + step) : T{};
    }
    DSL_DETAIL_UNROLL
    for (int i = 0; i < a_lane; ++i)
      other[i] = column[i] >= 0 ? memory.template load<T>(x + column[i] * task.row_step) : T{};
    DSL_DETAIL_UNROLL
    for (int i = 0; i < a_lane; ++i)
      memory.store(kept + place(static_cast<std::uint32_t>(i * csr_warp) + lane),
                   value[i] * other[i]);
  }

  struct sums_of_warps {};
  DSL_DETAIL_KERNEL_FN void run_part() const {
    const auto part = static_cast<std::int32_t>(team.block());
    std::int32_t n = 0;  // The last row whose first part is not behind this one.
    for (std::int32_t beyond = task.long_rows; beyond - n > 1;) {
      const std::int32_t middle = n + (beyond - n) / 2;
      if (first_part(middle) <= part) n = middle;
      else beyond = middle;
    }
    const std::int32_t row = long_row(n);
    const std::uint32_t end_of_row = offset(row + 1),
                        first = offset(row) +
                                static_cast<std::uint32_t>(part - first_part(n)) * entries_of_part,
                        end = end_of_row - first < entries_of_part ? end_of_row
                                                                   : first + entries_of_part;
    constexpr int warps = csr_block / csr_warp;
    T* const of_warps = team.template shared<sums_of_warps, T, csr_block>();
    const auto lane = static_cast<std::uint32_t>(team.thread() >> task.log2_columns);
    for_each_column([&](std::int64_t column) {
      T total =
          sum_of_lanes(column < task.columns
                           ? sum(first + lane, end,
                                 static_cast<std::uint32_t>(csr_block >> task.log2_columns), column)
                           : T{},
                       csr_warp);
      if (team.lane() >> task.log2_columns == 0)
        memory.store(of_warps + team.warp() * csr_warp + team.lane(), total);
      team.synchronize();
      if (lane == 0 && column < task.columns) {
        total = T{};
        for (int w = 0; w < warps; ++w)
          total = total + memory.template load<T>(of_warps + w * csr_warp + team.lane());
        store(task.partials, part, column, total);
      }
      team.synchronize();
    });
  }

  // A warp has a row.
  DSL_DETAIL_KERNEL_FN void run_total() const {
    const auto n = static_cast<std::int32_t>((team.block() * csr_block + team.thread()) / csr_warp);
    const bool is_row = n < task.long_rows;
    const int lane = team.lane() >> task.log2_columns;
    const std::int32_t first = is_row ? first_part(n) : 0, end = is_row ? first_part(n + 1) : 0;
    for_each_column([&](std::int64_t column) {
      T total{};
      if (column < task.columns)
        for (std::int32_t part = first + lane; part < end; part += csr_warp >> task.log2_columns)
          total = total + memory.template load<T>(static_cast<const T*>(task.partials) +
                                                  part * task.columns + column);
      total = sum_of_lanes(total, csr_warp);
      if (is_row && lane == 0 && column < task.columns) store(task.y, long_row(n), column, total);
    });
  }
};

template <class T, csr_step Step, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_csr(const csr_arguments& a, Memory memory, Team team) {
  csr_body<T, Memory, Team>{a.task, memory, team}.run(Step);
}

}  // namespace dsl::detail
