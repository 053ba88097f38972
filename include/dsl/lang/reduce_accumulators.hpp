// reduce of several values: an accumulator is made of each element, joined with others, and
// finished.
#pragma once

#include <dsl/lang/accumulator.hpp>
#include <dsl/lang/reduce.hpp>

namespace dsl {

namespace detail {

/// Gives the accumulator itself: its values.
struct unfinished {
  template <class A> constexpr A operator()(A a) const { return a; }
};

template <class A>
constexpr bool is_accumulator() {
  constexpr std::size_t most = 64;
  if constexpr (is_traced_accumulator<A>)
    return traced_accumulator<A>::bytes > 0 && traced_accumulator<A>::bytes <= most;
  else
    return std::is_class_v<A> && !element<A> && !is_tuple<A> && std::is_trivially_copyable_v<A> &&
           sizeof(A) <= most;
}
template <class A>
constexpr bool require_accumulator() {
  static_assert(is_accumulator<A>(),
                "an accumulator is a std::tuple or a described struct of numbers, or a trivially "
                "copyable struct, of up to 64 bytes");
  return is_accumulator<A>();
}
template <class... F>
constexpr bool require_stateless() {
  constexpr bool are_stateless = (is_stateless<F> && ...);
  static_assert(are_stateless, "reduce takes functions without captures or members");
  return are_stateless;
}

template <class F, class... X> struct result_of_call { using type = void; };
template <class F, class... X>
  requires is_callable<F, X...>
struct result_of_call<F, X...> {
  using type = std::remove_cvref_t<decltype(F{}(std::declval<tried_with<F, X>>()...))>;
};
template <class F, class... X> using result_of = typename result_of_call<F, X...>::type;

/// Whether functors make, join and finish structs A of elements of dtypes X; if not, a compile-time
/// error says why.
template <class A, class Op, class Lift, class Finish, dtype... X>
constexpr bool require_functors() {
  constexpr bool are_classes = !is_closure<Op> && !is_closure<Lift> && !is_closure<Finish>;
  static_assert(are_classes,
                "an accumulator that is a struct is made, joined and finished by functors, classes "
                "with DSL_FN operator(); lambdas take a std::tuple of numbers, or a described "
                "struct");
  if constexpr (!are_classes) {
    return false;
  } else {
    constexpr bool are_global = !is_local<Op> && !is_local<Lift> && !is_local<Finish>;
    static_assert(
        are_global,
        "a functor is a class at namespace scope: nvcc takes none that is local to a function");
    constexpr bool lifts = std::same_as<result_of<Lift, argument_t<X>...>, A>,
                   joins = std::same_as<result_of<Op, A, A>, A>,
                   finishes = is_call_result<result_of<Finish, A>>;
    static_assert(
        lifts, "lift takes an element of each operand, and makes an accumulator: of init's type");
    static_assert(joins, "op takes two accumulators, and makes one of the same type");
    static_assert(finishes,
                  "finish takes an accumulator, and makes a number, a dsl::complex<T> or a "
                  "std::tuple of these");
    return are_global && lifts && joins && finishes;
  }
}

/// Whether the values of a traced accumulator may become those of A.
template <class R, class A>
constexpr bool makes_accumulator() {
  if constexpr (!is_result<R>) return false;
  else
    return fits_accumulator(std::type_identity<decltype(as_tuple(std::declval<R>()))>{},
                            std::type_identity<typename traced_accumulator<A>::numbers>{});
}
template <class... R, class... T>
constexpr bool fits_accumulator(std::type_identity<tuple<R...>>, std::type_identity<tuple<T...>>) {
  if constexpr (sizeof...(R) != sizeof...(T)) return false;
  else return (assignable(dtype_v<T>, dtype_of_result<R>()) && ...);
}
/// The same for lambdas, and numbers A.
template <class A, class Op, class Lift, class Finish, class... X>
constexpr bool require_lambdas() {
  using symbols = typename traced_accumulator<A>::symbols;
  constexpr bool are_traced =
      is_callable<Lift, X...> && is_callable<Op, symbols, symbols> && is_callable<Finish, symbols>;
  static_assert(are_traced,
                "an accumulator of numbers is made, joined and finished by lambdas: lift takes an "
                "auto for each operand, op two accumulators, finish one; functors take a struct");
  if constexpr (!are_traced) {
    return false;
  } else {
    constexpr bool lifts = makes_accumulator<result_of<Lift, X...>, A>(),
                   joins = makes_accumulator<result_of<Op, symbols, symbols>, A>();
    static_assert(lifts,
                  "lift returns as many values as init has, of no wider dtypes: dsl::cast them, or "
                  "give init numbers of wider types");
    static_assert(joins,
                  "op returns as many values as init has, of no wider dtypes: dsl::cast them, or "
                  "give init numbers of wider types");
    return lifts && joins && require_results<result_of<Finish, symbols>>();
  }
}

/// The symbol of an operand.
template <class X> struct operand_symbol_of : std::type_identity<trace_t<operand_t<X>>> {};
template <dtype D, bool W> struct operand_symbol_of<symbol<D, W>>
    : std::type_identity<symbol<D, W>> {};
template <class X> using operand_symbol_t = typename operand_symbol_of<X>::type;

/// Whether operands come first, and then axes and keep_dims alone.
template <class... T>
constexpr bool require_operands_and_options() {
  constexpr bool is_option[] = {(axes_in<T> > 0 || std::same_as<T, keep_dims_t>)..., true};
  constexpr bool are_in_order = [&] {
    std::size_t first = 0;
    while (!is_option[first]) ++first;
    bool all = first > 0;
    for (std::size_t i = first; i < sizeof...(T); ++i) all = all && is_option[i];
    return all;
  }();
  static_assert(are_in_order,
                "after its operands a reduction takes dsl::axis(k) and dsl::keep_dims");
  return are_in_order;
}

}  // namespace detail

/// A reduction by accumulators; the result of `reduce` with a function that makes one of an
/// element.
template <class Name, class A, class Op, class Lift, class Finish>
struct accumulator_reducer {
  A init;

  template <class... T>
  constexpr auto operator()(const T&... all) const {
    if constexpr ((std::same_as<T, refused> || ...)) {
      return refused{};
    } else if constexpr (!detail::require_operands_and_options<T...>()) {
      return refused{};
    } else {
      constexpr std::size_t options =
          (std::size_t{0} + ... + (detail::reduction_option<T> ? 1u : 0u));
      return reduce(detail::references(all...), std::make_index_sequence<sizeof...(T) - options>{},
                    std::make_index_sequence<options>{});
    }
  }

 private:
  using functions = detail::accumulator_functions<A, Op, Lift, Finish>;

  template <class... X>
  static constexpr bool require_call() {
    if constexpr (!(detail::require_operand<X>() && ...)) {
      return false;
    } else if constexpr (detail::is_traced_accumulator<A>) {
      return detail::require_lambdas<A, Op, Lift, Finish, detail::operand_symbol_t<X>...>();
    } else if constexpr ((is_symbol<X> || ...)) {
      static_assert(!(is_symbol<X> || ...),
                    "a functor that is called for each element cannot be called inside a traced "
                    "lambda: reduce the arrays outside, or by lambdas");
      return false;
    } else {
      return detail::require_functors<A, Op, Lift, Finish,
                                      detail::operand_symbol_t<X>::type.type...>();
    }
  }
  template <class... T, std::size_t... X, std::size_t... O>
  constexpr auto reduce(const detail::tuple<const T&...>& all, std::index_sequence<X...>,
                        std::index_sequence<O...>) const {
    using types = detail::tuple<T...>;
    if constexpr (!require_call<std::tuple_element_t<X, types>...>()) {
      return refused{};
    } else {
      const detail::tuple<std::tuple_element_t<sizeof...(X) + O, types>...> options{
          detail::get<sizeof...(X) + O>(all)...};
      return detail::unpack(
          [&](const auto&... first) {
            return detail::reduce_by<detail::accumulation<Name, functions>>(
                options, detail::get<X>(all)..., first...);
          },
          functions::values_of(init));
    }
  }
};

/// Makes a reduction of several values. Of each element `lift` makes an accumulator, `op` joins
/// two, and `finish` makes of the last one the result.
///
/// init: the first accumulator, which is joined with the others once, before them; without elements
/// `finish` gets it. Either a std::tuple of C++ numbers or a struct of them that is an operand
/// (dsl/hana.hpp): op, lift and finish are then lambdas with `auto` parameters, traced,
/// called with such a tuple or struct of symbols; results are converted to the types of init's
/// numbers, which may not be narrower. Or a trivially copyable struct: op, lift and finish are then
/// functors, classes at namespace scope with DSL_FN operator(). An accumulator has at most 64
/// bytes. The functions have no captures and no members.
///
/// Returns a function that is called with one or several operands, arrays, views, expressions and
/// C++ scalars, which broadcast together, and then axis(...) and keep_dims: `lift` gets an element
/// of each. Its result is lazy, of the dtype that `finish` returns; where that is a std::tuple (or
/// where there is no `finish`, of lambdas), there are several, for dsl::tie. Nothing runs and
/// nothing waits before the assignment.
///
/// The operator must be associative and commutative up to rounding. The order in which accumulators
/// are joined is fixed, so that results are the same from run to run; it is that of `reduce(op)`
/// (docs/reductions.md). Elements are read once, at the speed of a sum. `Name` as in `reduce(op)`.
/// Throws shape_error if operands do not broadcast, or for axes that do not exist or are named
/// twice.
/// ```cpp
/// const auto log_sum_exp = dsl::reduce(
///     [](auto a, auto b) {
///       auto [most, sum] = a;
///       auto [other, more] = b;
///       auto both = max(most, other);
///       return std::tuple{both, sum * exp(most - both) + more * exp(other - both)};
///     },
///     std::tuple{-1e30f, 0.0f}, [](auto x) { return std::tuple{x, 1}; },
///     [](auto a) { return std::get<0>(a) + log(std::get<1>(a)); });
/// dsl::array<float> of_rows = log_sum_exp(m, dsl::axis(1));
/// ```
template <class Name = detail::unnamed, class Op, class A, class Lift,
          class Finish = detail::unfinished>
constexpr auto reduce(Op, const A& init, Lift, Finish = {}) {
  if constexpr (!detail::require_accumulator<A>() || !detail::require_stateless<Op, Lift, Finish>())
    return refused{};
  else return accumulator_reducer<Name, A, Op, Lift, Finish>{init};
}

}  // namespace dsl
