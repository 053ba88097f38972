// vectorize: ordinary functions as kernels.
#pragma once

#include <dsl/exec/run/run.hpp>
#include <dsl/lang/callable.hpp>
#include <dsl/lang/gather.hpp>
#include <dsl/lang/structure.hpp>

namespace dsl {

namespace detail {

/// A formula that is called once, at compile time, with symbols.
template <class Name, class F>
struct formula {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = tuple<>;
  template <class... S> static constexpr auto trace(tracer&, S... s) { return F{}(s...); }
};

template <class Name, class F> inline constexpr bool may_reduce<formula<Name, F>> = true;

/// A functor that is called for each element.
template <class Name, class F>
struct functor {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class... S> using call_type = call<F, S::type.type...>;
  template <class... S> using calls = tuple<call_type<S...>>;

  template <class... S> static constexpr auto trace(tracer& t, S... s) {
    return trace_call<call_type<S...>>(t, s...);
  }
  /// Called only where `condition` holds; elsewhere its results are zeros.
  template <class... S> static constexpr auto trace_where(tracer& t,
                                                          symbol<dtype::boolean> condition,
                                                          S... s) {
    return trace_call<call_type<S...>>(t, s..., condition);
  }

 private:
  template <class Call, class... S> static constexpr auto trace_call(tracer& t, S... s) {
    const int number = t.calls++;
    int position = 0, first = -1;
    const int ids[] = {s.id...};
    const dtype types[] = {S::type.type...};
    for (std::size_t i = 0; i < sizeof...(S); ++i) {
      const int id = t.g->add(op::argument, types[i], fields(ids[i], number, position++));
      if (first < 0) first = id;
    }
    const int made = t.g->add(op::call, dtype::boolean, fields(number, first, position));
    return results<Call>(t.g, made, number, std::make_index_sequence<Call::result_count>{});
  }
  template <class Call, std::size_t... K>
  static constexpr auto results(graph* g, int made, int number, std::index_sequence<K...>) {
    const auto all = tuple{result<Call::template result_dtype<static_cast<int>(K)>>(
        g, made, number, static_cast<int>(K))...};
    if constexpr (Call::results::many) return all;
    else return get<0>(all);
  }
  template <dtype D> static constexpr symbol<D> result(graph* g, int made, int number, int k) {
    return {g, g->add(op::result, D, fields(made, number, k))};
  }
};

template <class F> inline constexpr bool is_given_by_value =
    std::is_class_v<F> && std::is_trivially_copyable_v<F> && !is_closure<F>;

/// If F lacks DSL_FN, nvcc reports it here, with fewer lines of context than in a kernel.
template <class F, dtype... D>
constexpr void require_marked() {
  using result [[maybe_unused]] =
      decltype(call<F, D...>::call_operator_marked_DSL_FN(std::declval<argument_t<D>&>()...));
}

/// A word of a functor's object as an operand: passed to the kernel by value.
struct object_word {
  using lazy_expression = void;
  static constexpr int rank = 0;
  std::uint64_t bits;
};
template <> struct traced<object_word> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::value, dtype::uint64>(t); }
};
inline void add_leaves(const object_word& w, operand*& at) {
  operand& o = *at++;
  o.kind = operand_kind::value;
  o.type = dtype::uint64;
  o.word[0] = w.bits;
}

/// Whether it is an operand, or a struct that contains only operands.
template <class T>
constexpr bool require_argument() {
  if constexpr (structured<T>) return true;
  else return require_operand<T>();
}

template <class T> inline constexpr bool has_operands = any_operand<T>;
template <structured S> inline constexpr bool has_operands<S> =
    []<class... M>(std::type_identity<tuple<M...>>) {
      return (has_operands<M> && ...);
    }(std::type_identity<member_types_t<S>>{});
/// Whether it is a symbol, or a struct of symbols.
template <class T> inline constexpr bool is_symbolic = is_symbol<T>;
template <structured S> inline constexpr bool is_symbolic<S> =
    []<class... M>(std::type_identity<tuple<M...>>) {
      return (is_symbolic<M> && ...);
    }(std::type_identity<member_types_t<S>>{});

/// A function of a function checks its calls itself.
template <class F>
concept checks_calls = requires { typename F::primal; };
/// Whether F can be called for elements of dtypes D; if not, a compile-time error says why.
template <class F, dtype... D>
constexpr bool require_call() {
  if constexpr (checks_calls<F>) return F::template require_call<D...>();
  else return require_functor<F, D...>();
}
template <class F, class... T>
constexpr bool require_call_in_formula() {
  if constexpr (checks_calls<F> && (is_of_formula<T> && ...))
    return F::template require_call<decltype(lift(nullptr,
                                                  std::declval<const T&>()))::type.type...>();
  else return require_number<F, sizeof...(T)>();
}

/// Whether F takes these arguments once their C++ numbers are weak constants: F differentiates, and
/// needs a symbol for each argument.
template <class F, class... T>
inline constexpr bool takes_symbols_alone = []() {
  if constexpr ((is_of_formula<T> && ...))
    return is_callable<F, decltype(lift(nullptr, std::declval<const T&>()))...>;
  else return false;
}();
template <class F, class... T>
constexpr auto call_lifted(const T&... x) {
  graph* const g = owner_among(x...);
  return F{}(lift(g, x)...);
}

template <class R> inline constexpr bool is_result =
    lazy_operand<R> || element<R> || is_symbolic<R>;
template <class... R> inline constexpr bool is_result<tuple<R...>> = (is_result<R> && ...);
template <class... R> inline constexpr bool is_result<std::tuple<R...>> = (is_result<R> && ...);
template <class R>
constexpr bool require_results() {
  constexpr bool was_refused = std::same_as<R, refused>;
  static_assert(was_refused || is_result<R>,
                "a formula returns a value that it has computed, or a std::tuple of them");
  return is_result<R>;
}

}  // namespace detail

/// A function of elements that can be applied to arrays; the result of `vectorize`.
template <class Name, class F>
struct vectorized {
  /// Applied to arrays, scalars and expressions: an expression, or several if the function returns
  /// a std::tuple. Applied to symbols, inside another formula: the function's result.
  template <class... T> constexpr auto operator()(const T&... x) const {
    if constexpr ((std::same_as<T, refused> || ...)) {
      return refused{};  // the error has been reported
    } else if constexpr (!(detail::require_argument<T>() && ...)) {
      return refused{};
    } else if constexpr (!(detail::has_operands<T> && ...)) {
      constexpr bool are_operands = (detail::has_operands<T> && ...);
      static_assert(are_operands,
                    "the members of a struct that is an operand are arrays, views, scalars, C++ "
                    "scalars or structs of them");
      return refused{};
    } else if constexpr ((detail::is_symbolic<T> || ...)) {
      if constexpr (detail::is_callable<F, T...>) return F{}(x...);
      else if constexpr (detail::takes_symbols_alone<F, T...>) return detail::call_lifted<F>(x...);
      else if constexpr (!detail::require_call_in_formula<F, T...>()) return refused{};
      else return refuse_inside<T...>();
    } else if constexpr (detail::is_callable<F, detail::trace_t<detail::operand_t<T>>...>) {
      if constexpr (detail::require_results<decltype(F{}(
                        std::declval<detail::trace_t<detail::operand_t<T>>&>()...))>())
        return with_taken(detail::make_expression<detail::formula<Name, F>>(x...));
      else return refused{};
    } else if constexpr ((detail::structured<T> || ...)) {
      constexpr bool takes_elements = !(detail::structured<T> || ...);
      static_assert(
          takes_elements,
          "a struct is an argument of a formula, a lambda with auto parameters for all of them");
      return refused{};
    } else if constexpr (detail::require_call<
                             F, detail::trace_t<detail::operand_t<T>>::type.type...>()) {
      detail::require_marked<F, detail::trace_t<detail::operand_t<T>>::type.type...>();
      return detail::make_expression<detail::functor<Name, F>>(x...);
    } else {
      return refused{};
    }
  }

 private:
  template <class E>
  static constexpr auto with_taken(const E& e) {
    // In a requirement, so that nvcc reports nothing further if the formula has an error.
    if constexpr (requires { requires detail::inspected<E>().taken_count > 0; })
      return detail::with_taken_elements<detail::inspected<E>()>(e);
    else return e;
  }
  template <class... T>
  static constexpr refused refuse_inside() {
    static_assert(!(is_symbol<T> || ...),
                  "a functor that is called for each element cannot be called inside a traced "
                  "lambda: apply it to the arrays "
                  "outside and pass its result as an argument");
    return refused{};
  }
};

/// The same for a functor with members, which is called for each element. The object is passed to
/// the kernel by value.
template <class Name, class F>
  requires(!detail::is_stateless<F>)
struct vectorized<Name, F> {
  F object;

  template <class... T> constexpr auto operator()(const T&... x) const {
    if constexpr ((std::same_as<T, refused> || ...) || !detail::is_given_by_value<F>) {
      return refused{};  // the error has been reported
    } else if constexpr (!(detail::require_argument<T>() && ...)) {
      return refused{};
    } else if constexpr ((detail::is_symbolic<T> || ...)) {
      static_assert(!(detail::is_symbolic<T> || ...),
                    "a functor with members cannot be called inside a traced lambda: apply it to "
                    "the arrays outside and pass its "
                    "result as an argument");
      return refused{};
    } else if constexpr ((detail::structured<T> || ...)) {
      static_assert(
          !(detail::structured<T> || ...),
          "a struct is an argument of a formula, a lambda with auto parameters for all of them");
      return refused{};
    } else if constexpr (detail::require_call<
                             F, detail::trace_t<detail::operand_t<T>>::type.type...>()) {
      return with_words(std::make_index_sequence<detail::object_words<F>::count>{}, x...);
    } else {
      return refused{};
    }
  }

 private:
  template <std::size_t... W, class... T>
  auto with_words(std::index_sequence<W...>, const T&... x) const {
    const detail::object_words<F> words(object);
    return detail::make_expression<detail::functor<Name, detail::functor_object<F>>>(
        x..., detail::object_word{words.at[W]}...);
  }
};

/// Makes a function of elements a function of arrays. A lambda with `auto` parameters is traced: it
/// is called once, at compile time, with symbols, and becomes one fused kernel. A functor, a class
/// at namespace scope with typed parameters and DSL_FN operator(), is called for each element; it
/// may contain loops and branches, and takes complex numbers as dsl::complex. A function that
/// returns a std::tuple has several outputs. `Name`, a type declared at namespace scope, names the
/// kernel in profilers.
///
/// A lambda captures nothing: pass values as arguments. A functor may have members if it is
/// trivially copyable and has at most 256 bytes. The object is passed to the kernel by value, so
/// that other values of the members need no other kernel. A pointer among them must be readable by
/// the device.
///
/// The result is called with arrays, views, scalars, C++ scalars, expressions and structs of them.
/// It gives a lazy expression of their broadcast shape, with the dtypes that the function returns.
/// Nothing runs and nothing waits before the assignment.
/// ```cpp
/// const auto step = dsl::vectorize([](auto u, auto f, auto h) {
///   auto next = u + h * f;
///   return std::tuple{next, sqrt(dsl::mean(next * next)), dsl::argmax(abs(f))};
/// });
/// dsl::tie(u, rms, where) = step(u, f, h);
/// ```
template <class Name = detail::unnamed, class F>
constexpr vectorized<Name, F> vectorize([[maybe_unused]] F f) {
  if constexpr (detail::is_stateless<F>) {
    return {};
  } else {
    detail::require_members<F>();
    return {f};
  }
}

}  // namespace dsl
