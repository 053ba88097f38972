// Scans: each element becomes the reduction of all elements up to it.
#pragma once

#include <dsl/lang/reduce.hpp>
#include <dsl/lang/scan_gradient.hpp>
#include <dsl/lang/tied_apart.hpp>

namespace dsl {

/// Option of a scan: element i becomes the reduction of the elements before i, without element i.
struct exclusive_t {};
inline constexpr exclusive_t exclusive{};

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::scan, Explicit> = true;

template <class Option> inline constexpr bool is_axis = axes_in<Option> > 0;
template <class Option> inline constexpr bool is_exclusive = std::same_as<Option, exclusive_t>;

/// dsl::axis(k) and dsl::exclusive, each at most once, in any order.
template <class... Options>
concept scan_options = ((is_axis<Options> || is_exclusive<Options>) && ...) &&
                       (0 + ... + axes_in<Options>) <= 1 && (0 + ... + is_exclusive<Options>) <= 1;

template <class Operator, dtype R, class... Options, class X>
auto make_scan(const X& x, scan_request request, const Options&... options) {
  using operand_type = operand_t<X>;
  constexpr bool flat = !(is_axis<Options> || ...);
  request.axis = -1;
  [[maybe_unused]] const auto take = [&request](const auto& option) {
    if constexpr (is_axis<std::remove_cvref_t<decltype(option)>>) request.axis = option.number[0];
    else request.exclusive = true;
  };
  (take(options), ...);
  if constexpr (flat) {
    return scan_expression<Operator, computed_in(R), R, 1, operand_type>{as_operand(x), request};
  } else {
    static_assert(operand_type::rank > 0, "a scalar has no axes");
    const operand_type operand = as_operand(x);
    request.axis = axis_of(operand, request.axis, "scan");
    return scan_expression<Operator, computed_in(R), R, operand_type::rank, operand_type>{operand,
                                                                                          request};
  }
}

/// A scan request with an init, converted to dtype A.
template <dtype A, element T>
scan_request begin_with(const T& init) {
  scan_request request;
  if constexpr (kind_of(A) == kind::integer) require_range(operand_of(value_leaf<T>{init}), {A, A});
  request.has_init = true;
  request.init = to_literal(math::convert<value_t<A>>(to_value(init)));
  return request;
}

template <class X>
constexpr dtype dtype_of_elements() {
  if constexpr (is_symbol<X>) return X::type.type;
  else if constexpr (std::same_as<X, refused>) return dtype::boolean;
  else return trace_t<operand_t<X>>::type.type;
}
template <class X>
constexpr bool require_elements() {
  static_assert(!is_symbol<X>, "a scan is one of arrays: inside a formula there is one element");
  if constexpr (is_symbol<X> || std::same_as<X, refused>) return false;
  else return require_operand<X>();
}

template <op Code, class T, class X, class... Options>
auto cumulate_elements(const X& x, int identity, const Options&... options) {
  constexpr dtype R = [] {
    if constexpr (std::is_void_v<T>) return sum_dtype(dtype_of_elements<X>());
    else return dtype_v<T>;
  }();
  scan_request request = begin_with<computed_in(R)>(identity);
  request.has_init = false;  // the first element is itself, a negative zero too
  return make_scan<table_operator<Code>, R>(x, request, options...);
}
template <op Code, class T, class X, class... Options>
auto cumulate(const X& x, int identity, const Options&... options) {
  if constexpr (!require_elements<X>()) return refused{};
  else return cumulate_elements<Code, T>(x, identity, options...);
}

/// An operator and the value before the first element; the result of `scan`.
template <class F, class... Init>
struct scanner {
  tuple<Init...> init;

  template <class X, class... Options>
    requires operands<X> && scan_options<Options...>
  auto operator()(const X& x, const Options&... options) const {
    constexpr weak_dtype given[] = {{dtype_of_elements<X>()}, {dtype_v<Init>, true}...};
    constexpr dtype R = promote(given, sizeof...(Init) + 1).type;
    if constexpr (!is_stateless<F> || !require_elements<X>()) {
      return refused{};  // the error has been reported
    } else if constexpr (!require_operator<F, computed_in(R), true>()) {
      return refused{};
    } else if constexpr (sizeof...(Init) == 0) {
      static_assert(!(is_exclusive<Options> || ...),
                    "an exclusive scan needs a first value: dsl::scan(op, init)");
      return make_scan<F, R>(x, scan_request{}, options...);
    } else {
      return make_scan<F, R>(x, begin_with<computed_in(R)>(get<0>(init)), options...);
    }
  }
};

}  // namespace detail

// Scans of x, an array, a view or an expression. Options follow x. dsl::axis(k): each row along
// that axis is scanned separately, and the result has x's shape. Without it the result has rank 1
// and scans all elements in row-major order (NumPy's flattening). dsl::exclusive. Lazy: assign the
// result to an array or a view of its shape, whose dtype may be wider, or use dsl::eval; neither
// waits. The target may overlap x. Results are the same from run to run. Throws shape_error if
// there is no such axis.

/// The sum of the elements up to each element, np.cumsum: int64 or uint64 for integers and
/// booleans, otherwise x's dtype. 16-bit floating point numbers are summed in float. cumsum<T>(x):
/// summed in T. An exclusive one begins with 0.
/// ```cpp
/// dsl::array<std::int64_t, 2> table = dsl::cumsum(image, dsl::axis(0));    // int32 widens to
/// int64
/// ```
template <class T = void, class X, class... Options>
  requires detail::operands<X> && detail::scan_options<Options...> &&
           (element<T> || std::is_void_v<T>)
auto cumsum(const X& x, const Options&... options) {
  return detail::cumulate<op::add, T>(x, 0, options...);
}
/// The product of the elements up to each element, np.cumprod, with the dtypes of cumsum. An
/// exclusive one begins with 1.
template <class T = void, class X, class... Options>
  requires detail::operands<X> && detail::scan_options<Options...> &&
           (element<T> || std::is_void_v<T>)
auto cumprod(const X& x, const Options&... options) {
  return detail::cumulate<op::multiply, T>(x, 1, options...);
}

/// Makes a scan of an associative operator of two elements: element i of scan(op, init)(x) is
/// op(... op(op(init, x0), x1) ..., xi).
///
/// F: a lambda with `auto` parameters, traced as by vectorize, or a named functor with DSL_FN
/// operator(); without captures. It need not commute: its first operand is the earlier one. It gets
/// 16-bit floating point numbers as float. init: comes before each row's first element. Without
/// init a row begins with its own first element, and `exclusive` does not compile.
///
/// Returns a function that is called like `cumsum`, with x and then dsl::axis(k) and
/// dsl::exclusive; an exclusive scan begins with init, and element i includes the elements up to
/// x(i-1). Its result is lazy, as cumsum's; its dtype is x's, promoted with the weak scalar init.
/// Assigning it does not wait. Throws shape_error if there is no such axis or the target has
/// another shape, overflow_error if the dtype cannot hold an integer init.
/// ```cpp
/// // x(i) = a(i) x(i-1) + b(i): the pair (a, b) stands for the function x -> a x + b.
/// const auto compose = dsl::scan([](auto f, auto g) {
///   return real(g) * real(f) + 1i * (real(g) * imag(f) + imag(g));
/// });
/// dsl::array<std::complex<double>> functions = compose(a + 1i * b);
/// ```
template <class F, element T>
constexpr auto scan(F, const T& init) {
  static_assert(detail::is_stateless<F>,
                "a scan's operator is a function without captures or members");
  return detail::scanner<F, T>{{init}};
}
template <class F, class T>
  requires(!element<T>)
constexpr refused scan(F, const T&) {
  detail::want_element<T>();
  return {};
}
template <class F>
constexpr auto scan(F) {
  static_assert(detail::is_stateless<F>,
                "a scan's operator is a function without captures or members");
  return detail::scanner<F>{};
}

}  // namespace dsl
