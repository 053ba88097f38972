// Accumulators of several values: what a user's functions make of an element, of two accumulators
// and of the last one.
#pragma once

#include <dsl/lang/lower.hpp>
#include <dsl/lang/reduction_rules.hpp>

namespace dsl::detail {

/// A trivially copyable struct as words of one size: so kernels hold and exchange it.
template <class A>
struct accumulator_words {
  static constexpr std::size_t bytes = alignof(A) >= 8      ? 8
                                       : sizeof(A) % 4 == 0 ? 4
                                       : sizeof(A) % 2 == 0 ? 2
                                                            : 1;
  static constexpr std::size_t count = sizeof(A) / bytes;
  static constexpr dtype type = integer_dtype(bytes, false);
  template <std::size_t N> struct words { value_t<type> at[N]; };

  DSL_DETAIL_FN static constexpr auto of(const A& a) {
    return of(a, std::make_index_sequence<count>{});
  }
  template <class To, class... W>
  DSL_DETAIL_FN static constexpr To made_of(W... w) {
    return __builtin_bit_cast(To, words<sizeof...(W)>{{w...}});
  }

 private:
  template <std::size_t... K>
  DSL_DETAIL_FN static constexpr auto of(const A& a, std::index_sequence<K...>) {
    const auto all = __builtin_bit_cast(words<count>, a);
    return std::tuple{all.at[K]...};
  }
};

// A user's functors as functors of words.
template <class A, class Lift>
struct lift_to_words {
  template <class... X>
  DSL_DETAIL_FN auto operator()(X... x) const {
    return call_operator_marked_DSL_FN(x...);
  }
  template <class... X>
  DSL_DETAIL_FN static auto call_operator_marked_DSL_FN(X... x) {
    return accumulator_words<A>::of(Lift{}(x...));
  }
};
template <class A, class Op>
struct join_words {
  struct two { A first, second; };
  template <class... W>
  DSL_DETAIL_FN auto operator()(W... w) const {
    return call_operator_marked_DSL_FN(accumulator_words<A>::template made_of<two>(w...));
  }
  DSL_DETAIL_FN static auto call_operator_marked_DSL_FN(const two& both) {
    return accumulator_words<A>::of(Op{}(both.first, both.second));
  }
};
template <class A, class Finish>
struct finish_words {
  template <class... W>
  DSL_DETAIL_FN auto operator()(W... w) const {
    return call_operator_marked_DSL_FN(accumulator_words<A>::template made_of<A>(w...));
  }
  DSL_DETAIL_FN static auto call_operator_marked_DSL_FN(const A& a) { return Finish{}(a); }
};

template <std::size_t, dtype D> inline constexpr dtype same_dtype = D;
template <class F, dtype D, std::size_t... K>
call<F, same_dtype<K, D>...> call_with_equal(std::index_sequence<K...>);

/// The values of an accumulator A, a trivially copyable struct, and its functors, on symbols.
template <class A, class Op, class Lift, class Finish>
struct accumulator_functions {
  using words = accumulator_words<A>;
  static constexpr std::size_t size = words::count;
  template <std::size_t> static constexpr dtype type = words::type;
  template <class F, std::size_t N> using call_of =
      decltype(call_with_equal<F, words::type>(std::make_index_sequence<N>{}));
  using joins = call_of<join_words<A, Op>, 2 * size>;
  template <class... X> using calls = tuple<call<lift_to_words<A, Lift>, type_of<X>...>, joins,
                                            joins, call_of<finish_words<A, Finish>, size>>;

  /// The values of an accumulator on the host, as a std::tuple.
  static constexpr auto values_of(const A& a) { return words::of(a); }

  template <class... X>
  static constexpr auto lift(tracer& t, X... x) {
    return functor<unnamed, lift_to_words<A, Lift>>::trace(t, x...);
  }
  /// Called only where both accumulators exist, because a functor may trap or loop forever on other
  /// values.
  template <class T>
  static constexpr auto join(tracer& t, symbol<dtype::boolean> exist, const T& a, const T& b) {
    tracer mine{exist.owner, t.operands, t.calls};
    const auto joined = unpack(
        [&](const auto&... w) {
          return functor<unnamed, join_words<A, Op>>::trace_where(mine, exist, w...);
        },
        concatenate(a, b));
    t.calls = mine.calls;
    return joined;
  }
  template <class T>
  static constexpr auto finish(tracer& t, const T& a) {
    return unpack(
        [&t](const auto&... w) {
          return functor<unnamed, finish_words<A, Finish>>::trace(t, w...);
        },
        a);
  }
};

template <class T> struct symbol_of_number { using type = T; };
template <element T> struct symbol_of_number<T> { using type = symbol<dtype_v<T>>; };
template <class... T> inline constexpr std::size_t bytes_of_numbers = (0 + ... + sizeof(T));
template <class... T> inline constexpr std::size_t bytes_of_numbers<tuple<T...>> =
    bytes_of_numbers<T...>;
/// An accumulator of numbers, a std::tuple or a described template of a struct: its numbers, and
/// what lambdas are called with in its place.
template <class A> struct traced_accumulator {
  using numbers = decltype(as_tuple(std::declval<A>()));
  using symbols = typename mapped<A, symbol_of_number>::type;
  static constexpr std::size_t bytes = bytes_of_numbers<numbers>;
};
template <class... T> struct traced_accumulator<std::tuple<T...>> {
  using numbers = tuple<T...>;
  using symbols = std::tuple<symbol<dtype_v<T>>...>;
  static constexpr std::size_t bytes = bytes_of_numbers<T...>;
};
template <class T> inline constexpr bool is_traced_accumulator = false;
template <element... T> inline constexpr bool is_traced_accumulator<std::tuple<T...>> = true;
template <structured A> inline constexpr bool is_traced_accumulator<A> =
    !std::same_as<typename mapped<A, symbol_of_number>::type, A> &&
    []<class... M>(std::type_identity<tuple<M...>>) {
      return (element<M> && ...);
    }(std::type_identity<member_types_t<A>>{});

/// The same of a std::tuple or a described struct of numbers, and lambdas.
template <class A, class Op, class Lift, class Finish>
  requires is_traced_accumulator<A>
struct accumulator_functions<A, Op, Lift, Finish> {
  using numbers = typename traced_accumulator<A>::numbers;
  using symbols = typename traced_accumulator<A>::symbols;
  static constexpr std::size_t size = std::tuple_size_v<numbers>;
  template <std::size_t K> static constexpr dtype type = dtype_v<std::tuple_element_t<K, numbers>>;
  template <class... X> using calls = tuple<>;

  static constexpr auto values_of(const A& a) { return as_tuple(a); }

  template <class... X>
  static constexpr auto lift(tracer&, X... x) {
    return converted(owner_among(x...), Lift{}(x...), std::make_index_sequence<size>{});
  }
  template <class T>
  static constexpr auto join(tracer&, symbol<dtype::boolean> exist, const T& a, const T& b) {
    symbols first = together(a), second = together(b);
    return converted(exist.owner, Op{}(first, second), std::make_index_sequence<size>{});
  }
  template <class T>
  static constexpr auto finish(tracer&, const T& a) {
    symbols all = together(a);
    return Finish{}(all);
  }

 private:
  template <class T>
  static constexpr symbols together(const T& a) {
    return unpack([](const auto&... s) { return symbols{s...}; }, a);
  }
  template <class R, std::size_t... K>
  static constexpr auto converted(graph* g, const R& made, std::index_sequence<K...>) {
    const auto all = as_tuple(made);
    return tuple{convert_operand<type<K>, false>(detail::lift(g, get<K>(all)))...};
  }
};

/// A reduction of accumulators. As that of a user's operator it has no identity; instead a flag
/// says whether there has been an element. Its last operands are the values of the first
/// accumulator.
template <class Name, class Functions>
struct accumulation {
  static constexpr std::size_t size = Functions::size;

  // Public because clang before version 16 takes a use of it for one from outside the class.
  template <class All, std::size_t... X>
  static typename Functions::template calls<std::tuple_element_t<X, All>...> calls_with(
      std::index_sequence<X...>);

  template <class... S> using calls =
      decltype(calls_with<tuple<S...>>(std::make_index_sequence<sizeof...(S) - size>{}));

  template <class... S>
  static constexpr auto trace(tracer& t, S... all) {
    return trace(t, tuple<S...>{all...}, std::make_index_sequence<sizeof...(S) - size>{},
                 std::make_index_sequence<size>{});
  }

 private:
  template <class All, std::size_t... X, std::size_t... K>
  static constexpr auto trace(tracer& t, const All& all, std::index_sequence<X...>,
                              std::index_sequence<K...>) {
    const auto lifted = Functions::lift(t, get<X>(all)...);
    const auto combine = [&t](const auto& x, const auto& y) {
      const auto has_x = is_set(get<size>(x)), has_y = is_set(get<size>(y));
      const tuple a{get<K>(x)...}, b{get<K>(y)...};
      const auto joined = Functions::join(t, both(has_x, has_y), a, b);
      return tuple{choose(has_x, choose(has_y, get<K>(joined), get<K>(a)), get<K>(b))...,
                   get<size>(x) | get<size>(y)};
    };
    constexpr dtype flag = flag_dtype(Functions::template type<0>);
    const auto reduced = reduce_together(
        false, combine, tuple{value_t<Functions::template type<K>>{}..., value_t<flag>{}},
        get<K>(lifted)..., set_flag<Functions::template type<0>>(get<0>(lifted).owner));
    const auto any = is_set(get<size>(reduced));
    const tuple first{
        convert_operand<Functions::template type<K>, false>(get<sizeof...(X) + K>(all))...};
    const auto joined = Functions::join(t, any, first, tuple{get<K>(reduced)...});
    const auto result = Functions::finish(t, tuple{choose(any, get<K>(joined), get<K>(first))...});
    // In explanations it stands before its operand, or before the first of several values made.
    graph& g = *any.owner;
    int of = -1;
    if constexpr (sizeof...(X) == 1) of = get<0>(all).id;
    else ((of = of < 0 && g[get<K>(lifted).id].code != op::constant ? get<K>(lifted).id : of), ...);
    if (of >= 0) unpack([&](const auto&... r) { (name(g, r, of), ...); }, as_tuple(result));
    return result;
  }
  template <class R>
  static constexpr void name(graph& g, const R& result, int of) {
    const packed_name given = name_of_reduction<Name>();
    if constexpr (is_symbol<R>) g.name(result_name{result.id, of, -1, given});
  }
};

}  // namespace dsl::detail
