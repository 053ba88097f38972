// Scans on the host: what is done with a block of evaluated elements.
#pragma once

#include <dsl/exec/host.hpp>
#include <dsl/exec/scan_kernel.hpp>

namespace dsl::detail {

/// A scan's loops as data. Elements and running values have the dtype that is accumulated; `y` has the target's and may be null
/// where nothing is to be written.
struct scan_host_code {
  block_function elements[3];
  int value_bytes, segment_bytes;
  /// n elements of one row, of which the first may be its head, on from `before` (a segment), which they are added to.
  void (*row)(const scan_parameters&, const void* x, std::int64_t n, bool head, void* before, void* y);
  /// An element each of n columns, on from before[0..n). `first`: there is nothing before them; `head`: they are the columns' heads.
  void (*columns)(const scan_parameters&, const void* x, std::int64_t n, bool first, bool head, void* before, void* y);
  void (*join)(void* to, const void* segment);                          // to = to, then segment
  void (*join_values)(void* to, const void* values, std::int64_t n);
};

template <class Scan>
struct scan_host_loop {
  using V = typename Scan::value;
  using T = memory_t<Scan::target>;

  static V combine(V a, V b) { return apply_operator<typename Scan::combine>(a, b); }
  static T element(V v) { return static_cast<T>(math::convert<value_t<Scan::target>>(v)); }

  static void row(const scan_parameters& scan, const void* from, std::int64_t n, bool head, void* segment_before, void* to) {
    const V* const x = static_cast<const V*>(from);
    T* const y = static_cast<T*>(to);
    auto& before = *static_cast<segment<V>*>(segment_before);
    std::int64_t i = 0;
    if (head || before.state == segment_state::none) {
      const V init = from_literal<V>(scan.init);
      before = {head && scan.has_init != 0 ? combine(init, x[0]) : x[0], head ? segment_state::headed : segment_state::open};
      if (y != nullptr) y[0] = element(scan.exclusive != 0 ? init : before.value);
      i = 1;
    }
    V value = before.value;
    if (y == nullptr) {
      for (; i < n; ++i) value = combine(value, x[i]);
    } else if (scan.exclusive != 0) {
      for (; i < n; ++i) y[i] = element(value), value = combine(value, x[i]);
    } else {
      for (; i < n; ++i) y[i] = element(value = combine(value, x[i]));
    }
    before.value = value;
  }

  static void columns(const scan_parameters& scan, const void* from, std::int64_t n, bool first, bool head, void* values_before, void* to) {
    const V* const x = static_cast<const V*>(from);
    V* const before = static_cast<V*>(values_before);
    T* const y = static_cast<T*>(to);
    const V init = from_literal<V>(scan.init);
    if (y != nullptr && scan.exclusive != 0)
      for (std::int64_t c = 0; c < n; ++c) y[c] = element(head ? init : before[c]);
    if (head && scan.has_init != 0)
      for (std::int64_t c = 0; c < n; ++c) before[c] = combine(init, x[c]);
    else if (first)
      for (std::int64_t c = 0; c < n; ++c) before[c] = x[c];
    else
      for (std::int64_t c = 0; c < n; ++c) before[c] = combine(before[c], x[c]);
    if (y != nullptr && scan.exclusive == 0)
      for (std::int64_t c = 0; c < n; ++c) y[c] = element(before[c]);
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
    return {{elements.block[0], elements.block[1], elements.block[2]}, sizeof(V), sizeof(segment<V>), &row, &columns, &join, &join_values};
  }
};

}  // namespace dsl::detail
