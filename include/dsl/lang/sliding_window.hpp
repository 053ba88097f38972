// Windows of adjacent elements, and reductions of each window.
#pragma once

#include <dsl/exec/tasks/rolling.hpp>
#include <dsl/lang/array_operation.hpp>
#include <dsl/lang/gather.hpp>
#include <dsl/lang/reduce.hpp>
#include <dsl/lang/shape.hpp>

namespace dsl {

/// All windows of n adjacent elements; the result of `sliding_window`. An operand like a view that
/// only reads; its last axis is within a window.
template <element T, int Rank>
class sliding_windows {
 public:
  using value_type = T;
  static constexpr int rank = Rank;

  sliding_windows(const dsl::view<const T, Rank>& all, int axis) : all_(all), axis_(axis) {}

  const dsl::view<const T, Rank>& view() const { return all_; }
  operator dsl::view<const T, Rank>() const { return all_; }
  const dsl::extents<Rank>& extents() const { return all_.extents(); }
  std::int64_t extent(int axis) const { return all_.extent(axis); }
  template <class... I>
  auto operator()(const I&... chosen) const {
    return all_(chosen...);
  }
  /// The windows one after another. Waits.
  std::vector<T> copy_to_host() const { return eval(all_).copy_to_host(); }

  /// The axis along which the windows' elements are adjacent, and the elements.
  int axis() const { return axis_; }
  dsl::view<const T, Rank - 1> elements() const {
    dsl::extents<Rank - 1> sizes{}, strides{};
    for (std::size_t d = 0; d != sizes.size(); ++d) {
      sizes[d] = all_.extents()[d];
      strides[d] = all_.strides()[d];
    }
    sizes[static_cast<std::size_t>(axis_)] += all_.extent(Rank - 1) - 1;
    return {all_.owner(), all_.origin(), sizes, strides};
  }

 private:
  dsl::view<const T, Rank> all_;
  int axis_;
};

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::window, Explicit> = true;

template <class X>
constexpr bool may_be_windowed() {
  if constexpr (!require_operand<X>()) {
    return false;
  } else {
    constexpr bool has_axes = operand_t<X>::rank > 0 && operand_t<X>::rank < max_rank;
    static_assert(has_axes, "windows are of an operand of 1 to 7 dimensions");
    return has_axes;
  }
}

/// An operand's elements in memory: an expression is evaluated.
template <class X>
auto elements_in_memory(const X& x) {
  if constexpr (is_array<X>) return view<const typename X::value_type, X::rank>(x.view());
  else if constexpr (in_memory<X>) return view<const typename X::value_type, X::rank>(x);
  else return elements_in_memory(eval(x));
}

template <class T, int R>
sliding_windows<T, R + 1> windows_of(const view<const T, R>& x, std::int64_t n, int axis) {
  return {
      x.template remap<R + 1>("sliding_window",
                              [&](const mapping& m) { return detail::sliding_window(m, axis, n); }),
      axis_of(x.mapping(), axis, "sliding_window")};
}

/// x with an axis as its last one, and x whose last axis becomes another one. The other axes keep
/// their order.
template <class T, int R>
view<T, R> axis_to_end(const view<T, R>& x, int axis) {
  return x.template remap<R>("sliding_window", [axis](const mapping& m) {
    int order[R];
    for (int d = 0; d < R; ++d) order[d] = d < axis ? d : d + 1 < R ? d + 1 : axis;
    return permute(m, order, R);
  });
}
template <class T, int R>
view<T, R> axis_from_end(const view<T, R>& x, int axis) {
  return x.template remap<R>("sliding_window", [axis](const mapping& m) {
    int order[R];
    for (int d = 0; d < R; ++d) order[d] = d < axis ? d : d == axis ? R - 1 : d - 1;
    return permute(m, order, R);
  });
}

/// The reduction of windows of `Rank` dimensions along one of these. Reduction: that of any
/// operand.
template <rolling_function Function, class Reduction, dtype D, class T, int Rank, class... Options>
struct window_reduction {
  static constexpr dtype argument_types[] = {dtype_v<T>};
  static constexpr int elements_rank = Rank - 1,
                       result_rank = keeps_dims<Options...> ? Rank : Rank - 1;
  std::int64_t window;
  int axis;     // along which the elements of a window are adjacent
  int reduced;  // Rank - 1: the elements of each window
  tuple<Options...> options;

  static bool takes(const operand&) { return true; }
  dsl::extents<result_rank> shape(const dsl::extents<elements_rank>& elements) const {
    dsl::extents<result_rank> left{};
    for (int d = 0, at = 0; d != Rank; ++d) {
      const bool is_last = d == Rank - 1;
      const std::int64_t windows = is_last     ? window
                                   : d == axis ? elements[static_cast<std::size_t>(d)] - window + 1
                                               : elements[static_cast<std::size_t>(d)];
      if (d != reduced) left[static_cast<std::size_t>(at++)] = windows;
      else if (result_rank == Rank) left[static_cast<std::size_t>(at++)] = 1;
    }
    return left;
  }
  void run(const operand& result, const operand* x) const {
    const auto elements = view_of_operand<const T, elements_rank>(*x);
    if (reduced == Rank - 1 && has_rolling(elements.where(), dtype_v<T>, Function, window))
      return roll(result, elements);
    assign(view_of_operand<element_t<D>, result_rank>(result),
           reduce_by<Reduction>(options, windows_of(elements, window, axis).view()));
  }
  text describe(const operand* x) const {
    return describe_rolling(Function, window, axis, *x, reduced != Rank - 1);
  }

 private:
  void roll(const operand& result, const view<const T, elements_rank>& elements) const {
    std::int64_t free = 0;
    if constexpr (has_ddof<Options...>) free = get<ddof>(options).value;
    const auto rows = axis_to_end(elements, axis);
    if (!rows.is_contiguous()) {
      const array<T, elements_rank> copy(rows);
      return roll_rows(result, copy.view(), free);
    }
    roll_rows(result, rows, free);
  }
  void roll_rows(const operand& result, const view<const T, elements_rank>& rows,
                 std::int64_t free) const {
    if (axis == elements_rank - 1)
      return run_rolling(Function, operand_in_memory(rows), window, free, result);
    dsl::extents<elements_rank> sizes = rows.extents();
    sizes.back() -= window - 1;
    const array<element_t<D>, elements_rank> reduced_rows(sizes, rows.where());
    run_rolling(Function, operand_in_memory(rows), window, free,
                operand_in_memory(reduced_rows.view()));
    assign(view_of_operand<element_t<D>, elements_rank>(result),
           axis_from_end(reduced_rows.view(), axis));
  }
};

/// Reductions of windows read these once or more often, as they are needed; of complex numbers, and
/// with an option that is not theirs, each window.
template <rolling_function Function, class Reduction, dtype D, class T, int Rank, class... Options>
auto reduce_windows(const sliding_windows<T, Rank>& w, const Options&... options) {
  constexpr bool is_spread = Function == rolling_function::var || Function == rolling_function::std;
  const tuple<Options...> given(options...);
  if constexpr (kind_of(dtype_v<T>) == kind::complex || has_ddof<Options...> > is_spread) {
    return reduce_by<Reduction>(given, w.view());
  } else {
    const int* const axis = get<axes<1>>(given).number;
    require_axes(axis, 1, w.extents().data(), Rank);
    using operation = window_reduction<Function, Reduction, D, T, Rank, Options...>;
    return array_operation<operation, D, operation::result_rank, view<const T, Rank - 1>>{
        {w.extent(Rank - 1), w.axis(), *axis < 0 ? *axis + Rank : *axis, given}, {w.elements()}};
  }
}

}  // namespace detail

/// All windows of n adjacent elements along an axis, by default the last one: NumPy's
/// sliding_window_view. Element (..., i, ..., k) is x(..., i + k, ...): that axis has n - 1 fewer
/// elements, and a last axis of n elements is added. x: an array, a view or an expression of 1 to 7
/// dimensions; the windows are views of its memory, and an expression is evaluated first. n may be
/// any number that is known at run time. Does not wait. Throws shape_error unless 1 <= n <= the
/// axis's extent, or if there is no such axis.
/// ```cpp
/// const auto of_week = dsl::sliding_window(price, 7);
/// dsl::array<float> smooth = mean(of_week, dsl::axis(-1));
/// dsl::array<float> rise = of_week(dsl::slice(), 6) - of_week(dsl::slice(), 0);
/// ```
template <class X>
  requires detail::operands<X>
auto sliding_window(const X& x, std::int64_t n, axes<1> along = axis(-1)) {
  if constexpr (!detail::may_be_windowed<X>()) return refused{};
  else return detail::windows_of(detail::elements_in_memory(x), n, along.number[0]);
}

#define DSL_OF_WINDOWS(name, result)                                                       \
  template <element T, int Rank, detail::reduction_option... Options>                      \
    requires(detail::axis_count<Options...> == 1)                                          \
  auto name(const sliding_windows<T, Rank>& w, const Options&... options) {                \
    return detail::reduce_windows<detail::rolling_function::name, detail::name##_function, \
                                  result>(w, options...);                                  \
  }

// Reductions of each window: sum(dsl::sliding_window(x, n), dsl::axis(-1)). x is read about once,
// however long the windows are: up to 4,096 elements on a GPU with enough shared memory, any number
// on the host. Other axes, longer windows and OpenCL's devices take the reduction of any operand,
// which reads each window. The result is an operand like any other, of x's shape with n - 1 fewer
// elements along the axis; the formula around it is a kernel beside it. Does not wait. The dtypes
// are those of other reductions. A NaN or an infinity concerns only the windows that have
// it; the rounding error depends on n alone. Elements that are not contiguous along the axis are
// copied first.

/// The sum and the mean of each window.
DSL_OF_WINDOWS(sum, detail::sum_dtype(dtype_v<T>))
DSL_OF_WINDOWS(mean, detail::mean_dtype(dtype_v<T>))
/// The least and the greatest element of each window; NaN if one is NaN.
DSL_OF_WINDOWS(min, dtype_v<T>)
DSL_OF_WINDOWS(max, dtype_v<T>)
/// The variance and the standard deviation of each window, from sums of the differences from one of
/// its elements, so that a large common offset costs no digits; dsl::ddof(n) as elsewhere.
DSL_OF_WINDOWS(var, detail::mean_dtype(dtype_v<T>))
DSL_OF_WINDOWS(std, detail::mean_dtype(dtype_v<T>))
#undef DSL_OF_WINDOWS

}  // namespace dsl
