// Scans on the host: the work on a block of evaluated elements.
#pragma once

#include <dsl/exec/host/host.hpp>
#include <dsl/exec/scan/scan_arguments.hpp>
#include <dsl/exec/scan/segment.hpp>

namespace dsl::detail {

/// A scan's loops as data. Elements and running values have the dtype of the accumulator; `y` has
/// the target's dtype, and is null if nothing is to be written. Elements are combined one after
/// another in runs of `scan_run`; the prefix is combined with a run's value, so that rounding
/// errors do not accumulate from element to element.
struct scan_host_code {
  block_function elements[3];
  int segment_bytes;
  /// Scans n elements of one row, of which the first may be its head, continuing from `before` (a
  /// segment). `total` becomes their total.
  void (*row)(const scan_parameters&, const void* x, std::int64_t n, bool head, const void* before,
              void* total, void* y);
  /// Scans one element each of n columns, continuing `run`. A null `before`: no prefix; `is_new`:
  /// `run` is empty. `head`: they are the columns' first elements.
  void (*columns)(const scan_parameters&, const void* x, std::int64_t n, bool head,
                  const void* before, bool is_new, void* run, void* y);
  void (*join)(void* to, const void* segment);  // to = to, then segment.
  void (*join_values)(void* to, const void* values, std::int64_t n);
};

inline constexpr int scan_run = 16;

DSL_DETAIL_BEGIN_LOOPS
template <class Scan>
struct scan_host_loop {
  using V = typename Scan::value;
  using T = memory_t<Scan::target>;

  DSL_DETAIL_FN static V combine(V a, V b) { return apply_inlined<typename Scan::combine>(a, b); }
  DSL_DETAIL_FN static T element(V v) { return static_cast<T>(math::convert_to<Scan::target>(v)); }

  // Runs that are combined side by side, one element of each in turn: no operation waits for the
  // previous one.
  static constexpr int side_by_side = sizeof(V) <= 8 ? 8 : 4;

  // Computes the totals of some runs, each starting from its first element; with All, `values` gets
  // all intermediate values.
  template <int Runs, bool All>
  DSL_DETAIL_FN static void combine_runs(const V* x, V first, int length, V* totals, V* values) {
    V run[Runs];
    run[0] = first;
    for (int r = 1; r < Runs; ++r) run[r] = x[r * scan_run];
    if constexpr (All)
      for (int r = 0; r < Runs; ++r) values[r * scan_run] = run[r];
    for (int k = 1; k < length; ++k)
      for (int r = 0; r < Runs; ++r) {
        run[r] = combine(run[r], x[r * scan_run + k]);
        if constexpr (All) values[r * scan_run + k] = run[r];
      }
    for (int r = 0; r < Runs; ++r) totals[r] = run[r];
  }
  template <int Runs>
  DSL_DETAIL_FN static void combine_runs(const V* x, V first, int length, V* totals, V* values,
                                         bool all) {
    if (all) combine_runs<Runs, true>(x, first, length, totals, values);
    else combine_runs<Runs, false>(x, first, length, totals, values);
  }
  // Writes a run's values, combined with the prefix if there is one.
  DSL_DETAIL_FN static void write_run(const V* values, int count, bool any, V before, T* to) {
    if (any)
      for (int k = 0; k < count; ++k) to[k] = element(combine(before, values[k]));
    else
      for (int k = 0; k < count; ++k) to[k] = element(values[k]);
  }

  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void row(const scan_parameters& scan, const void* from, std::int64_t n, bool head,
                  const void* segment_before, void* segment_total, void* to) {
    const V* const x = static_cast<const V*>(from);
    T* const y = static_cast<T*>(to);
    const auto& earlier = *static_cast<const segment<V>*>(segment_before);
    const bool follows = !head && !earlier.is_none();
    bool goes_on = follows;
    V before = earlier.value, whole{};
    const V init = from_literal<V>(scan.init);
    V totals[side_by_side], values[side_by_side * scan_run];
    for (std::int64_t i = 0, runs; i < n; i += runs * scan_run) {
      const V first = head && i == 0 && scan.has_init != 0 ? combine(init, x[0]) : x[i];
      // The length of the run, if it is the only one.
      const int last_length = n - i < scan_run ? static_cast<int>(n - i) : scan_run;
      runs = n - i < side_by_side * scan_run ? 1 : side_by_side;
      if (runs == 1) combine_runs<1>(x + i, first, last_length, totals, values, y != nullptr);
      else combine_runs<side_by_side>(x + i, first, scan_run, totals, values, y != nullptr);
      for (int r = 0; r < static_cast<int>(runs); ++r) {
        const V* const mine = values + r * scan_run;
        T* const at = y == nullptr ? nullptr : y + i + r * scan_run;
        if (y != nullptr && scan.exclusive != 0) {
          at[0] = element(goes_on ? before : init);
          write_run(mine, last_length - 1, goes_on, before, at + 1);
        } else if (y != nullptr) {
          write_run(mine, last_length, goes_on, before, at);
        }
        whole = i == 0 && r == 0 ? totals[0] : combine(whole, totals[r]);
        before = follows ? combine(earlier.value, whole) : whole;
        goes_on = true;
      }
    }
    *static_cast<segment<V>*>(segment_total) = {whole,
                                                head ? segment_state::headed : segment_state::open};
  }

  static void columns(const scan_parameters& scan, const void* from, std::int64_t n, bool head,
                      const void* values_before, bool is_new, void* values_run, void* to) {
    const V* const x = static_cast<const V*>(from);
    const V* const before = static_cast<const V*>(values_before);
    V* const run = static_cast<V*>(values_run);
    T* const y = static_cast<T*>(to);
    const V init = from_literal<V>(scan.init);
    const auto write = [&](bool any_run) {
      if (before == nullptr)
        for (std::int64_t c = 0; c < n; ++c) y[c] = element(any_run ? run[c] : init);
      else
        for (std::int64_t c = 0; c < n; ++c)
          y[c] = element(any_run ? combine(before[c], run[c]) : before[c]);
    };
    if (y != nullptr && scan.exclusive != 0) write(!is_new);
    if (head && scan.has_init != 0)
      for (std::int64_t c = 0; c < n; ++c) run[c] = combine(init, x[c]);
    else if (is_new)
      for (std::int64_t c = 0; c < n; ++c) run[c] = x[c];
    else
      for (std::int64_t c = 0; c < n; ++c) run[c] = combine(run[c], x[c]);
    if (y != nullptr && scan.exclusive == 0) write(true);
  }

  static void join(void* to, const void* from) {
    auto& a = *static_cast<segment<V>*>(to);
    a = detail::join<typename Scan::combine>(a, *static_cast<const segment<V>*>(from));
  }
  static void join_values(void* to, const void* from, std::int64_t n) {
    for (std::int64_t c = 0; c < n; ++c)
      static_cast<V*>(to)[c] = combine(static_cast<V*>(to)[c], static_cast<const V*>(from)[c]);
  }

  static constexpr scan_host_code code() {
    const host_code elements = host_loop<typename Scan::pass>::code();
    return {{elements.block[0], elements.block[1], elements.block[2]},
            sizeof(segment<V>),
            &row,
            &columns,
            &join,
            &join_values};
  }
};
DSL_DETAIL_END_LOOPS

}  // namespace dsl::detail
