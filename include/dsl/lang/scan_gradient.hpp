// The weights of a scan's elements, for weights of its values.
//
// With y(i) = op(y(i-1), x(i)) and weights w of y, the weight of all that y(i) changes is
// s(i) = w(i) + s(i+1) d1(i+1), and that of x(i) is s(i) d2(i), where d1 and d2 are the operator's
// derivatives with respect to its operands. That is a scan from the end.
#pragma once

#include <dsl/lang/derivative.hpp>
#include <dsl/lang/functions.hpp>
#include <dsl/lang/gradient_sweep.hpp>
#include <dsl/lang/scan_expression.hpp>
#include <dsl/lang/shift.hpp>

#include <complex>

namespace dsl::detail {

template <class Operator, dtype A, dtype R, int Rank, class Operand, class... V>
inline constexpr bool may_read<scan_expression<Operator, A, R, Rank, Operand>, V...> =
    may_have_derivative(R) && may_read<Operand, V...>;

template <class Operator>
inline constexpr bool is_cumsum = std::same_as<Operator, table_operator<op::add>>;
template <class Operator, dtype A, dtype R, int Rank, class Operand, class... V>
inline constexpr bool scans_have_derivatives<scan_expression<Operator, A, R, Rank, Operand>, V...> =
    !may_read<scan_expression<Operator, A, R, Rank, Operand>, V...> ||
    ((is_cumsum<Operator> || kind_of(R) == kind::real) && scans_have_derivatives<Operand, V...>);

/// Elements in memory in reverse order along an axis.
template <class T, int R>
view<T, R> from_the_end(const view<T, R>& x, int axis) {
  return x.template remap<R>("flip", [axis](const mapping& m) { return flip(m, axis); });
}
/// A scan of elements in memory that begins at the end of each row.
template <class Operator, dtype D, class T, int Rank>
array<T, Rank> scan_from_the_end(const array<T, Rank>& x, const scan_request& request, int axis) {
  array<T, Rank> result(x.extents(), x.where());
  const view<const T, Rank> reversed = from_the_end(as_operand(x), axis);
  assign(
      from_the_end(result.view(), axis),
      scan_expression<Operator, computed_in(D), D, Rank, view<const T, Rank>>{reversed, request});
  return result;
}

/// Not 1i: nvcc does not find that literal from inside a template of another namespace.
inline constexpr std::complex<double> imaginary_unit{0, 1};

/// The functions x -> real(f) x + imag(f), one after the other.
struct compose_linear {
  template <class F, class G>
  constexpr auto operator()(const F& f, const G& g) const {
    return real(g) * real(f) + imaginary_unit * (real(g) * imag(f) + imag(g));
  }
};

/// A weight in the dtype of what it belongs to: of a real value the real part.
template <dtype D, class Weight>
auto weight_as(const Weight& w) {
  if constexpr (kind_of(trace_t<Weight>::type.type) == kind::complex && kind_of(D) == kind::real)
    return cast<element_t<D>>(real(w));
  else return cast<element_t<D>>(w);
}

/// The weights of the elements for the weights w of the values of a scan of real numbers, along an
/// axis.
template <class Operator, dtype A, dtype R, int Rank, class Operand>
array<element_t<A>, Rank> weights_through(const scan_expression<Operator, A, R, Rank, Operand>& e,
                                          const array<element_t<A>, Rank>& w, int axis, device on) {
  using T = element_t<A>;
  array<T, Rank> x(w.extents(), on), d1(w.extents(), on), d2(w.extents(), on);
  const auto shape = shape_of_expression(e.operand);
  assign(view<T, Operand::rank>(x.view().owner(), x.data(), shape, row_major(shape)),
         cast<T>(e.operand));
  scan_request request = e.request;
  request.exclusive = true;
  const array<T, Rank> before =
      scan_expression<Operator, A, A, Rank, view<const T, Rank>>{as_operand(x), request};
  dsl::tie(d1, d2) = grad<0, 1>(Operator{})(before, x);
  // Without a first value y(0) = x(0).
  if (!request.has_init) d2 = where(index(x, axis) == 0, T{1}, d2);
  const std::int64_t later = e.request.exclusive ? -1 : 0;
  const array<std::complex<T>, Rank> maps =
      shift(d1, -1, boundary::zero, axis) + imaginary_unit * shift(w, later, boundary::zero, axis);
  request.exclusive = request.has_init = false;
  const auto s = scan_from_the_end<compose_linear, dtype_v<std::complex<T>>>(maps, request, axis);
  return imag(s) * d2;
}

/// The weights of the elements of a scan's operand, for weights of the scan's values.
template <class Operator, dtype A, dtype R, int Rank, class Operand, class Weight>
auto weight_of_scanned(const scan_expression<Operator, A, R, Rank, Operand>& e,
                       const Weight& weight, device on) {
  constexpr dtype D = is_cumsum<Operator> ? R : A;
  const int axis = e.request.axis < 0 ? 0 : e.request.axis;
  array<element_t<D>, Rank> w(shape_of_scan(e), on);
  assign(w, weight_as<D>(weight));
  if constexpr (is_cumsum<Operator>) w = scan_from_the_end<Operator, D>(w, e.request, axis);
  else w = weights_through(e, w, axis, on);
  using T = element_t<trace_t<Operand>::type.type>;
  const array<T, Rank> of_elements = weight_as<dtype_v<T>>(as_operand(w));
  const auto shape = shape_of_expression(e.operand);
  return view<const T, Operand::rank>(of_elements.view().owner(), of_elements.data(), shape,
                                      row_major(shape));
}

}  // namespace dsl::detail
