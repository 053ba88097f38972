// Scans on the host: what is done with a block of evaluated elements.
#pragma once

#include <dsl/exec/host.hpp>
#include <dsl/exec/scan_arguments.hpp>
#include <dsl/exec/segment.hpp>

namespace dsl::detail {

/// A scan's loops as data. Elements and running values have the dtype that is accumulated; `y` has the target's and may be null
/// where nothing is to be written. Elements are combined one after another in runs of `scan_run`; what comes before is combined
/// with what a run has come to, so that no rounding is carried from element to element.
struct scan_host_code {
  block_function elements[3];
  int segment_bytes;
  /// n elements of one row, of which the first may be its head, on from `before` (a segment). `total` becomes what they come to.
  void (*row)(const scan_parameters&, const void* x, std::int64_t n, bool head, const void* before, void* total, void* y);
  /// An element each of n columns, which `run` goes on with; a null `before` or a run that is new: there is nothing. `head`: they
  /// are the columns' heads.
  void (*columns)(const scan_parameters&, const void* x, std::int64_t n, bool head, const void* before, bool is_new, void* run,
                  void* y);
  void (*join)(void* to, const void* segment);  // to = to, then segment
  void (*join_values)(void* to, const void* values, std::int64_t n);
};

inline constexpr int scan_run = 16;

template <class Scan>
struct scan_host_loop {
  using V = typename Scan::value;
  using T = memory_t<Scan::target>;

  DSL_DETAIL_FN static V combine(V a, V b) { return apply_inlined<typename Scan::combine>(a, b); }
  static T element(V v) { return static_cast<T>(math::convert_to<Scan::target>(v)); }

  static void row(const scan_parameters& scan, const void* from, std::int64_t n, bool head, const void* segment_before,
                  void* segment_total, void* to) {
    const V* const x = static_cast<const V*>(from);
    T* const y = static_cast<T*>(to);
    const auto& earlier = *static_cast<const segment<V>*>(segment_before);
    bool goes_on = !head && !earlier.is_none();
    V before = earlier.value, whole{};
    const V init = from_literal<V>(scan.init);
    for (std::int64_t i = 0; i < n; i += scan_run) {
      const std::int64_t end = i + scan_run < n ? i + scan_run : n;
      const auto at = [&](V run) { return element(goes_on ? combine(before, run) : run); };
      V run = head && i == 0 && scan.has_init != 0 ? combine(init, x[0]) : x[i];
      if (y == nullptr) {
        for (std::int64_t k = i + 1; k < end; ++k) run = combine(run, x[k]);
      } else if (scan.exclusive != 0) {
        y[i] = element(goes_on ? before : init);
        for (std::int64_t k = i + 1; k < end; ++k) {
          y[k] = at(run);
          run = combine(run, x[k]);
        }
      } else {
        y[i] = at(run);
        for (std::int64_t k = i + 1; k < end; ++k) y[k] = at(run = combine(run, x[k]));
      }
      whole = i == 0 ? run : combine(whole, run);
      before = !head && !earlier.is_none() ? combine(earlier.value, whole) : whole;
      goes_on = true;
    }
    *static_cast<segment<V>*>(segment_total) = {whole, head ? segment_state::headed : segment_state::open};
  }

  static void columns(const scan_parameters& scan, const void* from, std::int64_t n, bool head, const void* values_before,
                      bool is_new, void* values_run, void* to) {
    const V* const x = static_cast<const V*>(from);
    const V* const before = static_cast<const V*>(values_before);
    V* const run = static_cast<V*>(values_run);
    T* const y = static_cast<T*>(to);
    const V init = from_literal<V>(scan.init);
    const auto write = [&](bool any_run) {
      if (before == nullptr)
        for (std::int64_t c = 0; c < n; ++c) y[c] = element(any_run ? run[c] : init);
      else
        for (std::int64_t c = 0; c < n; ++c) y[c] = element(any_run ? combine(before[c], run[c]) : before[c]);
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
    for (std::int64_t c = 0; c < n; ++c) static_cast<V*>(to)[c] = combine(static_cast<V*>(to)[c], static_cast<const V*>(from)[c]);
  }

  static constexpr scan_host_code code() {
    const host_code elements = host_loop<typename Scan::pass>::code();
    return {{elements.block[0], elements.block[1], elements.block[2]}, sizeof(segment<V>), &row, &columns, &join, &join_values};
  }
};

}  // namespace dsl::detail
