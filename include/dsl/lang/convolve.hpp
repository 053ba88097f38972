// Convolutions.
#pragma once

#include <dsl/exec/tasks/convolve.hpp>
#include <dsl/lang/sliding_window.hpp>

namespace dsl {

/// Which elements of a convolution are the result, as NumPy's modes of the same names: all; as many
/// as the longer operand has, from the middle; those for which no element is missing.
enum class convolve_mode { full, same, valid };

namespace detail {

template <class X, class Taps>
constexpr bool may_be_convolved() {
  if constexpr (!require_operand<X>() || !require_operand<Taps>()) {
    return false;
  } else {
    constexpr bool are_lines = operand_t<X>::rank == 1 && operand_t<Taps>::rank == 1;
    static_assert(are_lines, "a convolution is of two operands of one dimension: dsl::ravel(x)");
    return are_lines;
  }
}

/// Contiguous elements of a dtype.
template <dtype D, class X>
view<const element_t<D>, 1> elements_as(const X& x) {
  using T = element_t<D>;
  if constexpr (in_memory<X>) {
    const auto given = elements_in_memory(x);
    if constexpr (std::same_as<decltype(given), const view<const T, 1>>) {
      require_memory(given.owner(), "convolve");
      if (given.is_contiguous()) return given;
    }
  }
  return array<T, 1>(cast<T>(x)).view();
}

template <class T>
array<T, 1> convolve_elements(const view<const T, 1>& longer, const view<const T, 1>& shorter,
                              convolve_mode mode) {
  const device where = longer.owner().where();
  const std::int64_t n = longer.size(), m = shorter.size();
  require_convolution(where, dtype_v<T>, n, m);
  const std::int64_t first = mode == convolve_mode::full   ? 0
                             : mode == convolve_mode::same ? (m - 1) / 2
                                                           : m - 1,
                     count = mode == convolve_mode::full   ? n + m - 1
                             : mode == convolve_mode::same ? n
                                                           : n - m + 1;
  array<T, 1> result(dsl::extents<1>{count}, where);
  run_convolution(operand_in_memory(longer), operand_in_memory(shorter), first,
                  operand_in_memory(result.view()));
  return result;
}

}  // namespace detail

/// The convolution of x with taps, np.convolve: the sum over j of taps(j) x(i - j), of the elements
/// that there are. x and taps: arrays, views or expressions of one dimension; which one is longer
/// does not matter. The result has their common dtype (integers do not widen) and n + m - 1
/// elements, max(n, m) for convolve_mode::same, or max(n, m) - min(n, m) + 1 for
/// convolve_mode::valid. 16-bit floating point numbers are summed in float. The sums are computed
/// one by one, n m multiply-adds: for more than some thousand taps a Fourier transform takes fewer.
/// The work is queued at the call, which does not wait; the result is an array. Throws shape_error
/// if an operand has no elements, device_error on OpenCL's devices.
/// ```cpp
/// const auto taps = dsl::to_device(std::vector<float>{0.25f, 0.5f, 0.25f});
/// dsl::array<float> smooth = dsl::convolve(x, taps, dsl::convolve_mode::same);
/// ```
template <class X, class Taps>
  requires detail::operands<X, Taps>
auto convolve(const X& x, const Taps& taps, convolve_mode mode = convolve_mode::full) {
  if constexpr (!detail::may_be_convolved<X, Taps>()) {
    return refused{};
  } else {
    constexpr dtype D = promote(detail::trace_t<detail::operand_t<X>>::type,
                                detail::trace_t<detail::operand_t<Taps>>::type)
                            .type;
    const auto elements = detail::elements_as<D>(x), weights = detail::elements_as<D>(taps);
    if (elements.size() < weights.size()) return detail::convolve_elements(weights, elements, mode);
    return detail::convolve_elements(elements, weights, mode);
  }
}

}  // namespace dsl
