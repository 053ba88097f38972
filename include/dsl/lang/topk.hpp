// The largest elements.
#pragma once

#include <dsl/exec/tasks/topk.hpp>
#include <dsl/lang/sort.hpp>

namespace dsl {

namespace detail {

/// The positions of the k largest elements, in falling order, by a sort. Of the elements in reverse
/// order: a sort keeps the order of equal ones.
template <class T>
array<std::int64_t, 1> largest_by_sort(const view<const T, 1>& x, std::int64_t k) {
  const auto order = argsort(flip(x));
  return array<std::int64_t, 1>(x.size() - 1 - flip(order)(slice(0, k)));
}

/// One random position in each `stride` elements. The same in every call.
inline auto sampled_positions(const topk_plan& plan) {
  const auto i = cast<std::uint64_t>(positions(plan.sampled));
  const auto mixed = (i + 1) * std::uint64_t{0x9e3779b97f4a7c15};
  const auto bits = ((mixed >> 32) ^ mixed) * std::uint64_t{0xd6e8feb86659fd93} >> 33;
  return cast<std::int64_t>(i * static_cast<std::uint64_t>(plan.stride) +
                            bits % static_cast<std::uint64_t>(plan.stride));
}

template <class T>
array<std::int64_t, 1> largest_positions(const view<const T, 1>& x, std::int64_t k) {
  const device where = x.owner().where();
  const topk_plan plan = plan_topk(where, x.size(), k);
  if (plan.sampled == 0) return largest_by_sort(x, k);
  const device_guard on(where);
  const array<std::int64_t, 1> places = sampled_positions(plan);
  const array<T, 1> sample = take(x, places);
  const auto order = largest_by_sort(view<const T, 1>(sample.view()), k);
  const scalar<std::int64_t> last = take(places, order(k - 1));
  const scalar<T> bound = take(x, last);
  array<std::uint64_t, 1> found(plan.capacity);
  scalar<std::uint32_t> count(0u);
  run_reach(operand_in_memory(x), operand_in_memory(bound.view()), operand_in_memory(last.view()),
            operand_in_memory(found.view()), operand_in_memory(count.view()));
  const std::int64_t reached = count.value();
  if (reached > plan.capacity) return largest_by_sort(x, k);
  // Equal elements keep the order of their positions.
  const auto these = sort(found(slice(0, reached)));
  if constexpr (sizeof(T) <= 4) {
    constexpr std::uint64_t position = 0xffff'ffff;
    return array<std::int64_t, 1>(cast<std::int64_t>(these(slice(0, k)) & position));
  } else {
    const array<T, 1> values = take(x, these);
    return array<std::int64_t, 1>(
        cast<std::int64_t>(take(these, largest_by_sort(view<const T, 1>(values.view()), k))));
  }
}

}  // namespace detail

// x is an array, a view or an expression of one dimension, of real numbers, integers or booleans.
// Few of many elements are found by one read of x: those that reach a bound, which comes from a
// sample; the call waits for their number. If x is short, or k a large part of it, all elements are
// sorted, and nothing waits. Throws shape_error unless 0 <= k <= x's size, or for 2^32 elements or
// more.

/// The positions of the k largest elements, int64, in falling order of the elements; those of equal
/// elements in rising order. NaN is the largest, as in sorts and in torch.topk; -0 equals 0.
template <class X>
  requires detail::operands<X>
auto argtopk(const X& x, std::int64_t k) {
  if constexpr (!detail::may_be_sorted<X>()) return refused{};
  else return detail::largest_positions(detail::elements_in_line(x), k);
}
/// The k largest elements in falling order, as argtopk has them: torch.topk's values.
/// ```cpp
/// dsl::array<std::int64_t> best = dsl::argtopk(score, 3);
/// dsl::array<float> highest = dsl::topk(score, 3);
/// ```
template <class X>
  requires detail::operands<X>
auto topk(const X& x, std::int64_t k) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    const auto elements = detail::elements_in_line(x);
    using T = std::remove_const_t<typename decltype(elements)::value_type>;
    const auto order = detail::largest_positions(elements, k);
    // `take` from an empty array would throw.
    if (k == 0) return array<T, 1>(dsl::extents<1>{0}, elements.owner().where());
    return array<T, 1>(take(elements, order));
  }
}

}  // namespace dsl
