// Reductions of all elements, or of the elements along some axes.
#pragma once

#include <dsl/lang/moments.hpp>
#include <dsl/lang/variance.hpp>

namespace dsl {

/// Axes of an operand; negative ones count from the end. The result of `axis`.
template <int Count>
struct axes {
  int number[Count];
};

/// The axes that a reduction reduces: sum(m, axis(1)), sum(m, axis(0, -1)). Without it, all
/// elements are reduced to one value.
template <std::integral... K>
  requires(sizeof...(K) > 0)
constexpr axes<sizeof...(K)> axis(K... k) {
  return {{static_cast<int>(k)...}};
}

/// Option: the reduced axes stay, with extent 1: m - mean(m, axis(1), keep_dims).
struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

/// Option of var and std: they divide by the number of elements minus n.
struct ddof {
  constexpr explicit ddof(std::int64_t n) : value(n) {}
  std::int64_t value;
};

namespace detail {

template <class T> inline constexpr int axes_in = 0;
template <int N> inline constexpr int axes_in<axes<N>> = N;
template <class T>
concept reduction_option = axes_in<T> > 0 || std::same_as<T, keep_dims_t> || std::same_as<T, ddof>;

template <class... O> inline constexpr int axis_count = (0 + ... + axes_in<O>);
template <class... O> inline constexpr bool keeps_dims = (std::same_as<O, keep_dims_t> || ...);
template <class... O> inline constexpr bool has_ddof = (std::same_as<O, ddof> || ...);

template <class Function, class... Options, class... X>
constexpr auto reduce_symbols(const tuple<Options...>& options, const X&... x) {
  static_assert(axis_count<Options...> == 0 && !keeps_dims<Options...>,
                "inside a formula there are no axes: it does not know its arguments' shapes");
  graph* g = nullptr;
  const auto note = [&g](const auto& s) {
    if constexpr (is_symbol<std::remove_cvref_t<decltype(s)>>) g = s.owner;
  };
  (note(x), ...);
  tracer t{g};
  if constexpr (has_ddof<Options...>)
    return Function::trace(t, lift(g, x)..., lift(g, get<ddof>(options).value));
  else return Function::trace(t, lift(g, x)...);
}

template <class Function, class... Options, class... X>
auto reduce_arrays(const tuple<Options...>& options, const X&... x) {
  constexpr int operand_rank = broadcast_rank<operand_t<X>...>(), count = axis_count<Options...>;
  static_assert(count <= operand_rank, "more axes than the operand has");
  constexpr int rank = keeps_dims<Options...>               ? operand_rank
                       : count == 0 || count > operand_rank ? 0
                                                            : operand_rank - count;
  std::uint32_t axes = ~0u;
  if constexpr (count > 0) {
    const int* const numbers = get<dsl::axes<count>>(options).number;
    axes = bits_of_axes(numbers, count, operand_rank);
    if (axes == 0) {
      const expression<table_function<op::add>, operand_t<X>...> together{{}, {as_operand(x)...}};
      require_axes(numbers, count, known_shape_of(together).data(), operand_rank);
    }
  }
  const auto make = [&](const auto&... operand) {
    reduction<Function, rank, operand_t<std::remove_cvref_t<decltype(operand)>>...> made{
        {}, {as_operand(operand)...}, axes};
    require_scalars_fit<Function>(made.operands);
    return made;
  };
  if constexpr (has_ddof<Options...>) return make(x..., get<ddof>(options).value);
  else return make(x...);
}

template <class Function, class... Options, class... X>
constexpr auto reduce_by(const tuple<Options...>& options, const X&... x) {
  if constexpr ((std::same_as<X, refused> || ...) || !(require_operand<X>() && ...))
    return refused{};
  else if constexpr ((is_symbol<X> || ...)) return reduce_symbols<Function>(options, x...);
  else return reduce_arrays<Function>(options, x...);
}

template <class A, class... Options>
constexpr refused want_options() {
  constexpr bool are_options = (reduction_option<Options> && ...);
  if constexpr (!std::same_as<A, refused> && require_operand<A>())
    static_assert(
        are_options,
        "after its operand a reduction takes dsl::axis(k), dsl::keep_dims and dsl::ddof(n)");
  return {};
}

}  // namespace detail

// Each takes an array, a view or an expression, followed by axis(...) and keep_dims in any order.
// The result is lazy: an expression of rank 0, or of the dimensions that are left. Assigned to a
// dsl::scalar or an array, it is computed on the device without waiting; `value()` waits. Inside a
// formula given to `vectorize`, reductions take symbols; their results are further outputs, or are
// used to compute elements.
//
// The order in which elements are combined is fixed, so that a result is the same from run to run.
// Throws shape_error for axes that do not exist or are named twice.

#define DSL_REDUCTION_OF_ONE(name)                                                               \
  template <class A, detail::reduction_option... Options>                                        \
    requires detail::operands<A>                                                                 \
  constexpr auto name(const A& a, const Options&... options) {                                   \
    return detail::reduce_by<detail::name##_function>(detail::tuple<Options...>(options...), a); \
  }
#define DSL_REDUCTION(name)                                                        \
  DSL_REDUCTION_OF_ONE(name)                                                       \
  template <class A, class... Options>                                             \
    requires(!(detail::operands<A> && (detail::reduction_option<Options> && ...))) \
  constexpr refused name(const A&, const Options&...) {                            \
    return detail::want_options<A, Options...>();                                  \
  }

/// Sum and product: 0 and 1 if there are no elements. Integers and booleans widen to int64 or
/// uint64. sum<double>(x) converts the elements first.
/// ```cpp
/// dsl::scalar<double> s = dsl::sum(x * exp(-y));
/// dsl::array<float> rows = dsl::sum(m, dsl::axis(1));
/// ```
DSL_REDUCTION(sum)
DSL_REDUCTION(prod)
template <element T, class A, detail::reduction_option... Options>
  requires detail::operands<A>
constexpr auto sum(const A& a, const Options&... options) {
  return detail::reduce_by<detail::sum_as<dtype_v<T>>>(detail::tuple<Options...>(options...), a);
}
template <element T, class A, detail::reduction_option... Options>
  requires detail::operands<A>
constexpr auto prod(const A& a, const Options&... options) {
  return detail::reduce_by<detail::prod_as<dtype_v<T>>>(detail::tuple<Options...>(options...), a);
}

/// The least element, the greatest element, and their difference, in the operand's dtype. If an
/// element is NaN the result is NaN. Complex numbers are ordered by their real parts, then by their
/// imaginary parts. Throws shape_error if there are no elements.
DSL_REDUCTION_OF_ONE(min)
DSL_REDUCTION_OF_ONE(max)
DSL_REDUCTION(ptp)

/// Whether any element is not 0 (bool), whether all are (bool), and how many are (int64). NaN is
/// not 0.
DSL_REDUCTION(any)
DSL_REDUCTION(all)
DSL_REDUCTION(count_nonzero)

/// The mean: double for integers and booleans. NaN if there are no elements.
DSL_REDUCTION(mean)
/// The mean of abs(x - mean)^2, and its square root; real. ddof(n) after the operand divides by the
/// number of elements minus n.
DSL_REDUCTION(var)
DSL_REDUCTION(std)

/// The skewness m3 / m2^(3/2) and the excess kurtosis m4 / m2^2 - 3 of the moments m_k = mean((x -
/// mean(x))^k), as scipy.stats.skew and kurtosis; double for integers, in one pass. NaN if all
/// elements are equal, if one is NaN and if there are none. x is real.
/// ```cpp
/// dsl::tie(lopsided, tailed) = std::tuple{dsl::skew(returns), dsl::kurtosis(returns)};
/// dsl::array<double> of_columns = dsl::skew(m, dsl::axis(0));
/// ```
DSL_REDUCTION(skew)
DSL_REDUCTION(kurtosis)

/// The position of the least or the greatest element in row-major order, or along one axis: int64.
/// The first one of equal elements; NaN counts as the least and the greatest. Throws shape_error if
/// there are no elements.
DSL_REDUCTION(argmin)
DSL_REDUCTION(argmax)

/// The same, ignoring NaN. If only NaN or nothing is left: 0 for nansum, 1 for nanprod, NaN for
/// nanmin, nanmax, nanmean, nanvar and nanstd, -1 for the positions.
DSL_REDUCTION(nansum)
DSL_REDUCTION(nanprod)
DSL_REDUCTION(nanmin)
DSL_REDUCTION(nanmax)
DSL_REDUCTION(nanmean)
DSL_REDUCTION(nanvar)
DSL_REDUCTION(nanstd)
DSL_REDUCTION(nanargmin)
DSL_REDUCTION(nanargmax)
#undef DSL_REDUCTION
#undef DSL_REDUCTION_OF_ONE

/// The norm of order 1 (sum of magnitudes), 2 (Euclidean) or dsl::inf (greatest magnitude); real,
/// double for integers.
template <auto Order = 2, class A, detail::reduction_option... Options>
  requires detail::operands<A>
constexpr auto norm(const A& a, const Options&... options) {
  static_assert(Order == 1 || Order == 2 || Order == inf, "norms of order 1, 2 and dsl::inf");
  constexpr auto order = Order == 1   ? detail::norm_order::sum
                         : Order == 2 ? detail::norm_order::euclidean
                                      : detail::norm_order::greatest;
  return detail::reduce_by<detail::norm_function<order>>(detail::tuple<Options...>(options...), a);
}

namespace detail {

template <class A, class B>
constexpr bool are_vectors() {
  if constexpr (is_symbol<A> || is_symbol<B>) return true;
  else {
    constexpr bool both = operand_t<A>::rank <= 1 && operand_t<B>::rank <= 1;
    static_assert(both,
                  "dot is of vectors: vdot takes arrays as vectors, and a product of matrices is "
                  "cuBLAS's or BLAS's, of x.data()");
    return both;
  }
}

}  // namespace detail

/// sum(a * b) of one-dimensional operands of the same extent, in their common dtype: integers do
/// not widen. Operands are not broadcast: throws shape_error if their shapes differ.
template <class A, class B>
  requires detail::operands<A, B>
constexpr auto dot(const A& a, const B& b) {
  if constexpr (!detail::are_vectors<A, B>()) return refused{};
  else return detail::reduce_by<detail::dot_function<false>>(detail::tuple<>{}, a, b);
}
/// sum(conj(a) * b) of operands of any rank and one shape.
template <class A, class B>
  requires detail::operands<A, B>
constexpr auto vdot(const A& a, const B& b) {
  return detail::reduce_by<detail::dot_function<true>>(detail::tuple<>{}, a, b);
}

namespace detail {

template <class T>
constexpr void want_element() {
  constexpr bool is_element = element<T> || std::same_as<T, refused>;
  static_assert(is_element,
                "an operator joins elements of one dtype, and its first value is of that: what "
                "joins structs is several reductions, "
                "or scans, of their members");
}

template <class A>
constexpr weak_dtype traced_type() {
  if constexpr (is_symbol<A>) return A::type;
  else return trace_t<operand_t<A>>::type;
}

}  // namespace detail

/// A reduction with a user's operator; the result of `reduce`.
template <class Name, class F, class... Init>
struct reducer {
  detail::tuple<Init...> init;

  template <class A, detail::reduction_option... Options>
    requires detail::operands<A>
  constexpr auto operator()(const A& a, const Options&... options) const {
    if constexpr (std::same_as<A, refused>) return refused{};
    else if constexpr (!detail::is_stateless<F>)
      // The error has been reported; this has the shape and dtype of the result.
      return dsl::max(a, options...);
    else if constexpr (!detail::require_operator<F, dtype_with_init<A>(), false>())
      return dsl::max(a, options...);
    else return reduce(a, options...);
  }

 private:
  template <class A>
  static constexpr dtype dtype_with_init() {
    constexpr weak_dtype given[] = {detail::traced_type<A>(), {dtype_v<Init>, true}...};
    return promote(given, sizeof...(Init) + 1).type;
  }
  template <class A, class... Options>
  constexpr auto reduce(const A& a, const Options&... options) const {
    return detail::unpack(
        [&](const auto&... first) {
          return detail::reduce_by<detail::user_reduction<Name, F>>(
              detail::tuple<Options...>(options...), a, first...);
        },
        init);
  }
};

/// Makes a reduction of an associative and commutative operator of two elements.
///
/// F: a lambda with `auto` parameters, which is traced, or a functor with typed parameters and
/// DSL_FN operator(); without captures or members. init: combined with the elements once, before
/// them; it is the result if there are no elements.
///
/// Returns a function that is called like `sum`: with an array, a view or an expression, and then
/// axis(...) and keep_dims. Its result is lazy and has the operand's dtype, widened by an init of a
/// higher kind. Nothing runs and nothing waits before the assignment. The order of the elements is
/// fixed, so that results are the same from run to run, but it is not their order in memory: see
/// docs/reductions.md for operators that do not commute. `Name`, a type declared at namespace
/// scope, is the name of the reduction in explanations and errors. Throws shape_error if there are
/// no elements and no init, overflow_error if the dtype cannot hold an integer init.
/// ```cpp
/// const auto length = dsl::reduce([](auto a, auto b) { return hypot(a, b); }, 0.0);
/// dsl::scalar<double> of_all = length(x);
/// dsl::array<double> of_rows = length(m, dsl::axis(1));
/// ```
template <class Name = detail::unnamed, class F, element T>
constexpr reducer<Name, F, T> reduce(F, T init) {
  static_assert(detail::is_stateless<F>,
                "reduce takes an operator of two elements without captures or members");
  return {detail::tuple<T>(init)};
}
template <class Name = detail::unnamed, class F, class T>
  requires(!element<T>)
constexpr refused reduce(F, const T&) {
  detail::want_element<T>();
  return {};
}
template <class Name = detail::unnamed, class F>
constexpr reducer<Name, F> reduce(F) {
  static_assert(detail::is_stateless<F>,
                "reduce takes an operator of two elements without captures or members");
  return {};
}

}  // namespace dsl
