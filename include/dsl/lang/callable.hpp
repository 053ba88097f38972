// Checks of functions that are applied to elements, and the error messages for unsuitable ones.
#pragma once

#include <type_traits>

#include <dsl/ir/complex_number.hpp>
#include <dsl/ir/symbol.hpp>

namespace dsl::detail {

/// A type's name as the compiler spells it, inside a sentence of the compiler. There is no other
/// way to recognize a closure.
template <class F>
constexpr const char* spelled() {
  return __PRETTY_FUNCTION__;
}

/// The rest of `text` after `part`, if it begins with `part`; otherwise null.
constexpr const char* after(const char* text, const char* part) {
  for (; *part != 0; ++text, ++part)
    if (*text != *part) return nullptr;
  return text;
}
/// The rest of `text` after the first occurrence of `part`; otherwise null.
constexpr const char* find_after(const char* text, const char* part) {
  for (; *text != 0; ++text)
    if (const char* const rest = after(text, part)) return rest;
  return nullptr;
}

/// Properties of a type, read from its name. GCC spells closures `f()::<lambda(auto:1, int)>`, with
/// nested ones after their enclosing ones, and nvcc `lambda [](auto, int)->auto`. clang gives only
/// their location, `(lambda at FILE:LINE:COLUMN)`. GCC spells the enclosing function before a local
/// class; nvcc does not, but reports local classes itself.
struct kind_of_class {
  const char* parameters = nullptr;  // of a closure, if its name contains them; otherwise null
  bool closure = false, local = false;
};
template <class F>
inline constexpr kind_of_class class_kind = [] {
  kind_of_class found;
  int depth = 0;  // nesting depth in template arguments
  for (const char* p = find_after(spelled<F>(), "F = "); p != nullptr && *p != 0; ++p) {
    if (depth == 0) {
      const char *const gcc = after(p, "<lambda("), *const nvcc = after(p, "lambda [](");
      if (gcc != nullptr || nvcc != nullptr) found.parameters = gcc != nullptr ? gcc : nvcc;
      found.closure =
          found.closure || found.parameters != nullptr || after(p, "(lambda at ") != nullptr;
      found.local = found.local || (*p == '(' && after(p, "(anonymous") == nullptr);
    }
    if (*p == '<') ++depth;
    if (*p == '>' && p[-1] != '-') --depth;
  }
  return found;
}();
template <class F> inline constexpr bool is_closure = class_kind<F>.closure;
template <class F> inline constexpr bool is_local = class_kind<F>.local;

template <class T> inline constexpr bool is_std_complex = false;
template <class T> inline constexpr bool is_std_complex<std::complex<T>> = true;

/// The parameters of a function call operator, if there is exactly one and it is no template.
template <class Member> struct parameters_of {
  static constexpr int count = -1;
  static constexpr bool std_complex = false;
};
template <class... P> struct parameter_list {
  static constexpr int count = sizeof...(P);
  static constexpr bool std_complex = (is_std_complex<std::remove_cvref_t<P>> || ...);
};
template <class R, class F, class... P> struct parameters_of<R (F::*)(P...)>
    : parameter_list<P...> {};
template <class R, class F, class... P> struct parameters_of<R (F::*)(P...) const>
    : parameter_list<P...> {};
template <class R, class F, class... P> struct parameters_of<R (F::*)(P...) noexcept>
    : parameter_list<P...> {};
template <class R, class F, class... P> struct parameters_of<R (F::*)(P...) const noexcept>
    : parameter_list<P...> {};
template <class F> struct call_operator { using type = void; };
template <class F>
  requires requires { &F::operator(); }
struct call_operator<F> {
  using type = decltype(&F::operator());
};
template <class F> using parameters = parameters_of<typename call_operator<F>::type>;

struct parameter_counts { int all, typed; };  // -1: unknown
template <class F>
constexpr parameter_counts count_parameters() {
  if constexpr (!is_closure<F>) return {parameters<F>::count, -1};
  parameter_counts n{0, 0};
  const char* from = class_kind<F>.parameters;
  if (from == nullptr) return {-1, -1};
  int depth = 0;
  for (const char* p = from; *p != 0; ++p) {
    const bool end = depth == 0 && (*p == ')' || *p == ',');
    if (*p == '.') return {-1, -1};
    if (*p == '(' || *p == '<') ++depth;
    if (*p == ')' || *p == '>') --depth;
    if (!end) continue;
    if (p != from) {
      const char* const is_auto = find_after(from, "auto");
      ++n.all;
      n.typed += is_auto == nullptr || is_auto > p ? 1 : 0;
    }
    if (*p == ')') break;
    from = p + 1;
  }
  return n;
}

// The argument types that a function is tested with. A lambda's auto parameters take symbols. Other
// functions may take numbers, to which a constant symbol does not convert.
template <class F, class T>
using tried_with =
    std::conditional_t<is_closure<F> && count_parameters<F>().typed <= 0, T&, const T&&>;
/// Whether a default-constructed F can be called with these types. std::is_invocable_v would add
/// five lines to each error message of the function.
template <class F, class... T>
inline constexpr bool is_callable =
    requires(F f, tried_with<F, T>... x) { f(static_cast<tried_with<F, T>>(x)...); };

template <class F> inline constexpr bool is_stateless =
    std::is_empty_v<F> && std::is_default_constructible_v<F>;

/// Whether F is a functor with members that can be passed to a kernel; if not, a compile-time error
/// says what is wrong with a function that has state.
template <class F>
constexpr bool require_members() {
  constexpr std::size_t most = 256;
  if constexpr (is_closure<F>) {
    static_assert(!is_closure<F>,
                  "a lambda given to dsl::vectorize captures nothing: pass arrays and values as "
                  "its arguments, dsl::vectorize(f)(x, a)");
    return false;
  } else if constexpr (!std::is_class_v<F>) {
    static_assert(std::is_class_v<F>,
                  "in the place of a function's address dsl::vectorize takes a lambda or a class "
                  "with DSL_FN operator()");
    return false;
  } else if constexpr (!std::is_trivially_copyable_v<F>) {
    static_assert(std::is_trivially_copyable_v<F>,
                  "a functor's members are copied to the device as they are: numbers, std::array "
                  "and pointers to the device's "
                  "memory, no std::vector and no dsl::array");
    return false;
  } else {
    static_assert(
        sizeof(F) <= most,
        "a functor's members are given to the kernel by value, and may take up 256 bytes");
    return sizeof(F) <= most;
  }
}

template <int Takes, int Given>
constexpr void require_arguments() {
  static_assert(
      Takes == Given,
      "the function takes another number of arguments (Takes) than it is called with (Given)");
}
template <class T> inline constexpr bool has_std_complex = is_std_complex<T>;
template <class... T> inline constexpr bool has_std_complex<std::tuple<T...>> =
    (is_std_complex<T> || ...);

template <class T> inline constexpr bool is_call_result = element<T>;
template <class... T> inline constexpr bool is_call_result<std::tuple<T...>> = (element<T> && ...);

/// Whether F takes this number of arguments, as far as that is known; if not, a compile-time error
/// says so.
template <class F, int Given>
constexpr bool require_number() {
  constexpr int takes = count_parameters<F>().all;
  if constexpr (takes >= 0) require_arguments<takes, Given>();
  return takes < 0 || takes == Given;
}

/// Whether F can be called for elements of dtypes D, with or without DSL_FN; if not, a compile-time
/// error says why.
template <class F, dtype... D>
constexpr bool require_functor() {
  if constexpr (!require_number<F, sizeof...(D)>()) {
    return false;
  } else if constexpr (is_closure<F> && count_parameters<F>().typed == 0) {
    // For an error inside a lambda: nvcc prints nothing when it meets the error again, GCC prints
    // the same text again.
    if constexpr (DSL_DETAIL_COMPILES_CUDA)
      static_cast<void>(sizeof(decltype(F{}(std::declval<symbol<D>&>()...))));
    else
      static_assert(!is_closure<F>,
                    "the lambda cannot be called with symbols: another error says why, or its "
                    "parameters are not plain auto");
    return false;
  } else if constexpr (is_closure<F>) {
    static_assert(!is_closure<F>,
                  "a lambda is traced and takes auto parameters: what has typed ones, or branches "
                  "on data, is a functor, a "
                  "class at namespace scope with DSL_FN operator()");
    return false;
  } else if constexpr (is_local<F>) {
    static_assert(
        !is_local<F>,
        "a functor is a class at namespace scope: nvcc takes none that is local to a function");
    return false;
  } else if constexpr (parameters<F>::std_complex) {
    static_assert(!parameters<F>::std_complex,
                  "a functor takes dsl::complex<T>, not std::complex<T>, whose arithmetic nvcc "
                  "compiles to nothing");
    return false;
  } else if constexpr (!is_callable<F, argument_t<D>...>) {
    static_assert(is_callable<F, argument_t<D>...>,
                  "the function cannot be called with these arguments' element types, of which a "
                  "complex one is dsl::complex<T>");
    return false;
  } else {
    using result = std::remove_cvref_t<std::invoke_result_t<F, argument_t<D>...>>;
    constexpr bool returns_std_complex = has_std_complex<result>,
                   returns_values = is_call_result<result>;
    static_assert(!returns_std_complex,
                  "a functor returns dsl::complex<T>, not std::complex<T>, whose arithmetic nvcc "
                  "compiles to nothing");
    static_assert(returns_values || returns_std_complex,
                  "a functor returns a number, a dsl::complex<T> or a std::tuple of these: in the "
                  "place of a struct its members");
    return returns_values && !returns_std_complex;
  }
}

template <class R>
constexpr weak_dtype dtype_of_result() {
  if constexpr (is_symbol<R>) return R::type;
  else return {dtype_v<R>, true};
}
/// Whether the result of an operator on two values of dtype D has dtype D, or, with MayBeNarrower,
/// one that can be assigned to D.
template <class R, dtype D, bool MayBeNarrower>
constexpr bool require_result() {
  constexpr bool is_value = is_symbol<R> || element<R>;
  static_assert(is_value, "an operator returns one value, of the dtype that it joins");
  if constexpr (is_value) {
    constexpr weak_dtype given = dtype_of_result<R>();
    constexpr bool fits = MayBeNarrower ? assignable(D, given) : given.type == D;
    constexpr bool is_real = require_real_value<D, given.type>();
    static_assert(
        fits || !is_real || MayBeNarrower,
        "the operator of a reduction gives another dtype than its operands have: use dsl::cast");
    static_assert(fits || !is_real || !MayBeNarrower,
                  "the operator's result is of a wider dtype than what it joins: use dsl::cast");
    return fits;
  } else {
    return false;
  }
}

/// Whether F is an operator on two values of dtype D, traced or a functor; if not, a compile-time
/// error says why.
template <class F, dtype D, bool MayBeNarrower>
constexpr bool require_operator() {
  if constexpr (is_callable<F, symbol<D>, symbol<D>>) {
    using result =
        std::remove_cvref_t<decltype(F{}(std::declval<symbol<D>&>(), std::declval<symbol<D>&>()))>;
    return require_result<result, D, MayBeNarrower>();
  } else if constexpr (require_functor<F, D, D>()) {
    return require_result<
        std::remove_cvref_t<std::invoke_result_t<F, argument_t<D>, argument_t<D>>>, D,
        MayBeNarrower>();
  } else {
    return false;
  }
}

}  // namespace dsl::detail
