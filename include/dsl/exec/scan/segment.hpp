// Segments: values of consecutive elements of a scan, and how two are combined.
#pragma once

#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

// The operator's two operands.
template <class Operator, class V>
struct operator_source {
  V first, second;
  typename evaluator<Operator>::inputs in;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_FN void read() {
    input_of<Head>(in) = N == 0 ? first : second;
  }
};
template <class Operator, class V>
DSL_DETAIL_FN V apply_inlined(V first, V second) {
  operator_source<Operator, V> source{first, second, {}};
  evaluator<Operator>::read(source);
  return nth<0>(evaluator<Operator>::compute(source.in));
}
template <class Operator, class V>
DSL_DETAIL_KERNEL_FN V apply_operator(V first, V second) {
  return apply_inlined<Operator>(first, second);
}

/// none: no elements. open: elements that continue the previous ones. headed: a row begins among
/// them, and the value is that of the last row.
enum class segment_state : std::uint32_t { none, open, headed };

/// The value of consecutive elements. Segments are a monoid even if the operator has no identity,
/// and rows need no extra code: a row's first element is a headed segment.
template <class V>
struct segment {
  V value;
  segment_state state;
  DSL_DETAIL_KERNEL_FN bool is_none() const { return state == segment_state::none; }
  DSL_DETAIL_KERNEL_FN bool is_headed() const { return state == segment_state::headed; }
  /// The segment, or none.
  DSL_DETAIL_KERNEL_FN segment where(bool exists) const {
    return {value, exists ? state : segment_state::none};
  }
  DSL_DETAIL_KERNEL_FN unsigned tag() const { return static_cast<unsigned>(state); }
  DSL_DETAIL_KERNEL_FN static segment of(const V& value, unsigned tag) {
    return {value, static_cast<segment_state>(tag)};
  }
};
/// The same if all elements are one row: most of the state is then known at compile time.
template <class V>
struct one_row_segment {
  V value;
  bool any;
  DSL_DETAIL_KERNEL_FN bool is_none() const { return !any; }
  DSL_DETAIL_KERNEL_FN static constexpr bool is_headed() { return false; }
  DSL_DETAIL_KERNEL_FN one_row_segment where(bool exists) const { return {value, exists}; }
  DSL_DETAIL_KERNEL_FN static constexpr unsigned tag() { return 1; }
  DSL_DETAIL_KERNEL_FN static one_row_segment of(const V& value, unsigned tag) {
    return {value, tag != 0};
  }
};

/// Whether an operator must not be applied to missing elements: functors, and on a CPU any
/// operator, because it may trap. On a GPU a branch takes longer than the operation.
template <class Operator> inline constexpr bool must_skip_missing =
    !DSL_DETAIL_ON_DEVICE || calls_functors<Operator>;

/// The value of consecutive elements of one row. A functor must not be called with missing
/// elements, so it needs a segment with a state: only that tells other threads whether there are
/// elements.
template <class Operator, class V> using row_segment =
    std::conditional_t<calls_functors<Operator>, segment<V>, one_row_segment<V>>;

/// a, then b.
template <class Operator, class V>
DSL_DETAIL_KERNEL_FN segment<V> join(const segment<V>& a, const segment<V>& b) {
  const bool alone = b.is_headed() || a.is_none();
  if constexpr (must_skip_missing<Operator>) {
    if (b.is_none() || alone) return b.is_none() ? a : b;
  }
  const V joined = apply_operator<Operator>(a.value, b.value);
  return b.is_none() ? a : segment<V>{alone ? b.value : joined, alone ? b.state : a.state};
}
template <class Operator, class V>
DSL_DETAIL_KERNEL_FN one_row_segment<V> join(const one_row_segment<V>& a,
                                             const one_row_segment<V>& b) {
  if constexpr (must_skip_missing<Operator>) {
    if (a.is_none() || b.is_none()) return b.is_none() ? a : b;
  }
  const V joined = apply_operator<Operator>(a.value, b.value);
  return {b.is_none() ? a.value : a.is_none() ? b.value : joined, a.any || b.any};
}

}  // namespace dsl::detail
