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

/// The convolution of two operands of a dtype.
template <dtype D>
struct convolution {
  static constexpr dtype argument_types[] = {D, D};
  convolve_mode mode;

  static bool takes(const operand& x) { return is_packed_and_apart(x, nullptr, 0); }
  dsl::extents<1> shape(const dsl::extents<1>& x, const dsl::extents<1>& taps) const {
    const std::int64_t n = x[0] > taps[0] ? x[0] : taps[0], m = x[0] > taps[0] ? taps[0] : x[0];
    if (mode == convolve_mode::full) return {n + m - 1};
    return {mode == convolve_mode::same ? n : n - m + 1};
  }
  void run(const operand& result, const operand* of) const {
    const bool in_order = of[0].extents[0] >= of[1].extents[0];
    const operand &longer = of[in_order ? 0 : 1], &shorter = of[in_order ? 1 : 0];
    const std::int64_t m = shorter.extents[0];
    run_convolution(longer, shorter,
                    mode == convolve_mode::full   ? 0
                    : mode == convolve_mode::same ? (m - 1) / 2
                                                  : m - 1,
                    result);
  }
  text describe(const operand* of) const {
    return describe_convolution(of[0].extents[0], of[1].extents[0]);
  }
};

}  // namespace detail

/// The convolution of x with taps, np.convolve: the sum over j of taps(j) x(i - j), of the elements
/// that there are. x and taps: arrays, views or expressions of one dimension; which one is longer
/// does not matter. The result has their common dtype (integers do not widen) and n + m - 1
/// elements, max(n, m) for convolve_mode::same, or max(n, m) - min(n, m) + 1 for
/// convolve_mode::valid. 16-bit floating point numbers are summed in float. The sums are computed
/// one by one, n m multiply-adds: for more than some thousand taps a Fourier transform takes fewer.
/// The result is an operand like any other; the formula around it is a kernel beside it. Does not
/// wait. Throws shape_error if an operand has no elements, device_error on OpenCL's devices.
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
    using A = detail::operand_t<X>;
    using B = detail::operand_t<Taps>;
    const detail::array_operation<detail::convolution<D>, D, 1, A, B> product{
        {mode}, {detail::as_operand(x), detail::as_operand(taps)}};
    detail::require_convolution(detail::home_of(product), D,
                                detail::shape_of_expression(detail::get<0>(product.arguments))[0],
                                detail::shape_of_expression(detail::get<1>(product.arguments))[0]);
    return product;
  }
}

}  // namespace dsl
