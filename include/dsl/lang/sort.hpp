// Sorting, and searching in sorted elements.
#pragma once

#include <dsl/exec/tasks/sort.hpp>
#include <dsl/lang/gather.hpp>
#include <dsl/lang/reduction_rules.hpp>
#include <dsl/lang/select.hpp>
#include <dsl/lang/vectorize.hpp>

#include <initializer_list>

namespace dsl {

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::sort, Explicit> = true;

template <class X>
constexpr bool may_be_sorted() {
  if constexpr (!require_operand<X>()) {
    return false;
  } else {
    constexpr bool is_line = operand_t<X>::rank == 1,
                   has_order = kind_of(trace_t<operand_t<X>>::type.type) != kind::complex;
    static_assert(is_line, "a sort is of one dimension: dsl::ravel(x)");
    static_assert(has_order, "complex numbers are not sorted: sort their real parts, or abs(x)");
    return is_line && has_order;
  }
}

/// Contiguous elements: those of an array or of a view that has them so, or those of an expression,
/// which is evaluated.
template <class T>
view<const T, 1> elements_in_line(const array<T, 1>& x) {
  require_memory(x.view().owner(), "sort");
  return x.view();
}
template <class X>
auto elements_in_line(const X& x) {
  if constexpr (requires { x.is_contiguous(); })
    if (x.has_memory() && x.is_contiguous()) return view<const typename X::value_type, 1>(x);
  const auto values = eval(x);
  return view<const typename decltype(values)::value_type, 1>(values.view());
}

}  // namespace detail

// x is an array, a view or an expression of one dimension, of real numbers, integers or booleans.
// The work is queued at the call, which does not wait; the result is an array. Equal elements keep
// their order, NaN comes last. Throws shape_error for 2^32 elements or more.

/// The elements in rising order: np.sort. -0 comes before 0; the sign of a NaN does not matter.
template <class X>
  requires detail::operands<X>
auto sort(const X& x) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    const auto elements = detail::elements_in_line(x);
    using T = std::remove_const_t<typename decltype(elements)::value_type>;
    array<T, 1> sorted(dsl::extents<1>{elements.size()}, elements.owner().where());
    const detail::operand to = detail::operand_in_memory(sorted.view());
    detail::run_sort(detail::operand_in_memory(elements), &to, nullptr);
    return sorted;
  }
}

/// The elements so that element k is the one that a sort has there, none before it is greater and
/// none after it is less: np.partition(x, k). They are all sorted; `topk` is faster if few are
/// wanted. Throws shape_error unless 0 <= k < x's size.
template <class X>
  requires detail::operands<X>
auto partition(const X& x, std::int64_t k) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    const auto elements = detail::elements_in_line(x);
    detail::require_place(k, elements.size());
    return sort(elements);
  }
}

/// The positions of the elements in rising order, int64: np.argsort(x, stable=True).
template <class X>
  requires detail::operands<X>
auto argsort(const X& x) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    const auto elements = detail::elements_in_line(x);
    array<std::int64_t, 1> order(dsl::extents<1>{elements.size()}, elements.owner().where());
    const detail::operand to = detail::operand_in_memory(order.view());
    detail::run_sort(detail::operand_in_memory(elements), nullptr, &to);
    return order;
  }
}

namespace detail {

/// Whether an element of a sorted array differs from the one before it, so that it is a new value;
/// NaNs are equal.
struct is_first_of_kind {
  template <class I, class X>
  constexpr auto operator()(const I& i, const X& x, const X& before) const {
    if constexpr (may_be_nan<X>) return (i == 0) | ((x != before) & !(isnan(x) & isnan(before)));
    else return (i == 0) | (x != before);
  }
};

}  // namespace detail

/// The distinct elements in rising order: np.unique; NaN once. A selection, as `compress`: assigned
/// to an array, it waits for the number of elements; assigned with a target for that number,
/// dsl::tie(values, count) = dsl::unique(x), it does not wait.
template <class X>
  requires detail::operands<X>
auto unique(const X& x) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    const auto sorted = sort(x);
    const auto all = sorted.view();
    // `take` of an empty array would throw, so the index is taken among at least one element.
    const std::int64_t n = sorted.size();
    const auto places = cast<std::int64_t>(detail::positions(n));
    const view<const typename decltype(all)::value_type, 0> first(all.owner(), all.origin(), {},
                                                                  {});
    const auto before =
        detail::gather(detail::as_operand(first), max(places - 1, 0), n > 0 ? n : 1, 1);
    return compress(vectorize(detail::is_first_of_kind{})(places, all, before), all);
  }
}

namespace detail {

[[noreturn]] void throw_no_quantile();
/// Throws value_error unless p is from 0 to 100.
void require_percentage(double p);

/// Sorted elements of which a quantile is computed. Throws shape_error if there are none.
template <class T>
struct sorted_elements {
  using result = element_t<mean_dtype(dtype_v<T>)>;
  array<T, 1> all;
  std::int64_t last;

  explicit sorted_elements(array<T, 1> sorted) : all(std::move(sorted)), last(all.size() - 1) {
    if (last < 0) throw_no_quantile();
  }
  auto operator()(std::int64_t i) const { return cast<result>(as_operand(all(i))); }
  /// NaN if any element is NaN: then the last one is.
  template <class Value>
  scalar<result> unless_nan(const Value& value) const {
    return scalar<result>(where(isnan((*this)(last)), (*this)(last), value));
  }
};

}  // namespace detail

/// The middle element, or the mean of the two middle elements: np.median. A double for integers;
/// NaN if an element is NaN, or if the two middle elements are infinities of opposite sign. Unlike
/// NumPy's, the mean of two large numbers does not overflow. Returns a dsl::scalar; does not wait.
/// Throws shape_error if there are no elements.
template <class X>
  requires detail::operands<X>
auto median(const X& x) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    const detail::sorted_elements sorted(sort(x));
    const auto a = sorted(sorted.last / 2), b = sorted((sorted.last + 1) / 2);
    const auto sum = a + b;
    return sorted.unless_nan(where(isinf(sum), a * 0.5 + b * 0.5, sum * 0.5));
  }
}
namespace detail {

template <class T>
auto percentile_of(const sorted_elements<T>& sorted, double p) {
  const double at = p / 100 * static_cast<double>(sorted.last);
  const auto lower = static_cast<std::int64_t>(at);
  const double beyond = at - static_cast<double>(lower);
  const auto a = sorted(lower), b = sorted(lower < sorted.last ? lower + 1 : lower);
  // As NumPy: interpolates from the nearer of the two.
  if (beyond < 0.5) return sorted.unless_nan(a + (b - a) * beyond);
  return sorted.unless_nan(b - (b - a) * (1 - beyond));
}

}  // namespace detail

/// The value below which p percent of the elements are, interpolated linearly between two elements:
/// np.percentile. As `median`, except that next to an infinity it gives the result of NumPy's
/// formula, often NaN. Throws value_error unless p is from 0 to 100.
template <class X>
  requires detail::operands<X>
auto percentile(const X& x, double p) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    detail::require_percentage(p);
    return detail::percentile_of(detail::sorted_elements(sort(x)), p);
  }
}
/// The same for several p, from one sort: an array of as many values.
/// ```cpp
/// dsl::array<float> box = dsl::percentile(score, {25, 50, 75});
/// ```
template <class X>
  requires detail::operands<X>
auto percentile(const X& x, std::initializer_list<double> several) {
  if constexpr (!detail::may_be_sorted<X>()) {
    return refused{};
  } else {
    for (const double p : several) detail::require_percentage(p);
    const detail::sorted_elements sorted(sort(x));
    using result = typename std::remove_cvref_t<decltype(sorted)>::result;
    array<result, 1> values(dsl::extents<1>{static_cast<std::int64_t>(several.size())},
                            sorted.all.where());
    std::int64_t i = 0;
    for (const double p : several) values(i++) = detail::percentile_of(sorted, p);
    return values;
  }
}

/// Option of `searchsorted`: inserts after equal elements, as NumPy's side='right'.
struct right_t {};
inline constexpr right_t right{};

namespace detail {

/// Number of the n elements in memory that are less than x, or, for `Right`, not greater.
template <class T, class X, bool Right>
struct search_sorted {
  DSL_FN std::int64_t operator()(std::uint64_t address, std::int64_t n, std::int64_t step,
                                 X x) const {
    const T* const elements = reinterpret_cast<const T*>(address);
    std::int64_t low = 0;
    while (n > 0) {
      const std::int64_t half = n / 2;
      const value_t<dtype_v<T>> y = elements[(low + half) * step];
      if (Right ? !comes_before_it(x, y) : comes_before_it(y, x)) {
        low += half + 1;
        n -= half + 1;
      } else {
        n = half;
      }
    }
    return low;
  }

 private:
  // NaN comes after all numbers.
  template <class A, class B>
  DSL_FN static bool comes_before_it(A a, B b) {
    return math::exactly_less(a, b) || (a == a && b != b);
  }
};

template <bool Right, class T, class X>
auto search(const view<const T, 1>& sorted, const X& x) {
  require_undivided(sorted.owner(), "searchsorted");
  const view<const T, 0> first(sorted.owner(), sorted.origin(), {}, {});
  using wanted = value_t<trace_t<X>::type.type>;
  return vectorize(search_sorted<T, wanted, Right>{})(address_leaf<T, 0>{first}, sorted.size(),
                                                      sorted.strides()[0], x);
}

template <class A, class X, bool Right>
auto search_in(const A& sorted, const X& x) {
  constexpr bool lies = in_memory<A>;
  static_assert(lies, "dsl::searchsorted looks into memory: of an expression take dsl::eval(x)");
  if constexpr (!lies || !require_operand<X>()) {
    return refused{};
  } else {
    constexpr bool is_line = operand_t<A>::rank == 1,
                   has_order = kind_of(trace_t<operand_t<A>>::type.type) != kind::complex &&
                               kind_of(trace_t<operand_t<X>>::type.type) != kind::complex;
    static_assert(is_line && has_order,
                  "dsl::searchsorted looks for real numbers among real numbers of one dimension");
    if constexpr (is_line && has_order) return search<Right>(as_operand(sorted), as_operand(x));
    else return refused{};
  }
}

}  // namespace detail

/// The position at which each element of x would be inserted in `sorted`, before equal elements
/// (with dsl::right, after them): int64, of x's shape. `sorted` is an array or a view in rising
/// order. Any two dtypes are compared exactly: 2.5 is between the integers 2 and 3, and -1 before
/// every unsigned integer. The result is lazy, an operand like any other.
/// ```cpp
/// dsl::array<std::int64_t> bin = dsl::searchsorted(edges, x, dsl::right) - 1;
/// ```
template <class A, class X>
  requires detail::operands<A> && detail::any_operand<X>
auto searchsorted(const A& sorted, const X& x) {
  return detail::search_in<A, X, false>(sorted, x);
}
template <class A, class X>
  requires detail::operands<A> && detail::any_operand<X>
auto searchsorted(const A& sorted, const X& x, right_t) {
  return detail::search_in<A, X, true>(sorted, x);
}

}  // namespace dsl
