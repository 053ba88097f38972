// The rule of each reduction on symbols: how the partial results of two sets of elements become the
// result of both.
#pragma once

#include <dsl/lang/functions.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl {

/// Infinity, as np.inf: a C++ scalar in formulas, and the order of the maximum norm,
/// norm<dsl::inf>(x).
inline constexpr double inf = detail::math::infinity<double>;

namespace detail {

/// Reduces several values together. `combine` makes one tuple of symbols of two; `identity` is its
/// neutral element.
template <class Combine, class... Identity, dtype... D, bool... W, std::size_t... K>
constexpr auto reduce_together(std::index_sequence<K...>, bool needs_elements,
                               const Combine& combine, const tuple<Identity...>& identity,
                               symbol<D, W>... s) {
  reduction_rule rule;
  rule.needs_elements = needs_elements;
  graph& c = rule.combine;
  constexpr std::uint64_t count = sizeof...(D);
  const tuple<symbol<D>...> a{symbol<D>{&c, c.add(op::value, D, {K})}...},
      b{symbol<D>{&c, c.add(op::value, D, {count + K})}...};
  const tuple<symbol<D>...> both = combine(a, b);
  (c.outputs.push_back(get<K>(both).id), ...);
  (rule.identity.push_back(to_literal(static_cast<value_t<D>>(get<K>(identity)))), ...);
  graph* g = nullptr;
  sequence<int> values;
  ((g = s.owner, values.push_back(s.id)), ...);
  const int number = g->add_reduction(std::move(rule), std::move(values));
  return tuple<symbol<D>...>{
      symbol<D>{g, g->add(op::reduced, D, fields(number, static_cast<int>(K)))}...};
}
template <class Combine, class... Identity, dtype... D, bool... W>
constexpr auto reduce_together(bool needs_elements, const Combine& combine,
                               const tuple<Identity...>& identity, symbol<D, W>... s) {
  return reduce_together(std::make_index_sequence<sizeof...(D)>{}, needs_elements, combine,
                         identity, s...);
}
/// Reduces with a row of the op table.
template <op Code, class V, dtype D, bool W>
constexpr symbol<D> reduce_by(symbol<D, W> s, V identity, bool needs_elements = false) {
  const auto combine = [](const auto& a, const auto& b) {
    return tuple{convert_symbol<D, false>(apply<Code>(get<0>(a), get<0>(b)))};
  };
  return get<0>(reduce_together(needs_elements, combine, tuple{identity}, s));
}

/// Gives the result of a reduction of `of` its name, for explanations and errors. `ddof` is the
/// node of its argument ddof, or -1.
template <dtype R, class S>
constexpr symbol<R> named(const packed_name& name, symbol<R> result, const S& of, int ddof = -1) {
  result.owner->name({result.id, of.id, ddof, name});
  return result;
}

/// Number of elements that are reduced to one value.
constexpr symbol<dtype::int64> count_of(graph* g) { return {g, count_elements(*g, g->space)}; }
constexpr symbol<dtype::int64> position_of(graph* g) {
  return {g, g->add(op::index, dtype::int64, fields(position_in(g->space)))};
}

/// NumPy's accumulator dtype for sums and products: integers and booleans widen to 64 bits.
constexpr dtype sum_dtype(dtype type) {
  if (kind_of(type) == kind::boolean) return dtype::int64;
  if (kind_of(type) == kind::integer) return info(type).is_signed ? dtype::int64 : dtype::uint64;
  return type;
}
/// The dtype of a mean's result (mean_dtype), and of its accumulator (mean_accumulator).
constexpr dtype mean_dtype(dtype type) {
  return kind_of(type) <= kind::integer ? dtype::float64 : type;
}
constexpr dtype mean_accumulator(dtype type) { return computed_in(mean_dtype(type)); }

template <dtype D, class S> constexpr symbol<D> as(S s) { return convert_symbol<D, false>(s); }
template <class S> constexpr auto is_nan(S s) { return apply<op::isnan>(s); }
template <class A, class B> constexpr auto both(A a, B b) { return apply<op::logical_and>(a, b); }
template <class A, class B> constexpr auto either(A a, B b) { return apply<op::logical_or>(a, b); }
template <class A> constexpr auto negation(A a) { return apply<op::logical_not>(a); }
template <class C, class A, class B> constexpr auto choose(C condition, A a, B b) {
  return apply<op::where>(condition, a, b);
}
template <class S> inline constexpr dtype type_of = S::type.type;
template <class S> inline constexpr bool may_be_nan = kind_of(type_of<S>) >= kind::real;

/// The value that comes after (`Last`) or before every other value.
template <dtype D, bool Last>
constexpr value_t<D> extreme() {
  using V = value_t<D>;
  if constexpr (is_complex<V>) return {extreme<real_of(D), Last>(), extreme<real_of(D), Last>()};
  else if constexpr (std::same_as<V, bool>) return Last;
  else if constexpr (std::floating_point<V>) return Last ? math::infinity<V> : -math::infinity<V>;
  else if constexpr (std::is_signed_v<V>)
    return static_cast<V>((std::uint64_t{1} << (8 * sizeof(V) - 1)) - (Last ? 1 : 0));
  else return static_cast<V>(Last ? ~std::uint64_t{0} : 0);
}

/// a < b; complex numbers by their real parts, then by their imaginary parts, as NumPy.
template <class S>
constexpr symbol<dtype::boolean> is_less(S a, S b) {
  if constexpr (kind_of(type_of<S>) == kind::complex) {
    const auto ra = apply<op::real>(a), rb = apply<op::real>(b);
    return either(
        apply<op::less>(ra, rb),
        both(apply<op::equal>(ra, rb), apply<op::less>(apply<op::imag>(a), apply<op::imag>(b))));
  } else {
    return apply<op::less>(a, b);
  }
}
template <bool Max, class S> constexpr auto comes_before(S a, S b) {
  return Max ? is_less(b, a) : is_less(a, b);
}

// The reductions: `trace` makes the symbol of the result from a tracer and the symbol of an
// element.

template <dtype D>
struct sum_as {
  template <class... S> using calls = tuple<>;
  template <class S> static constexpr auto trace(tracer&, S s) {
    return named("sum", reduce_by<op::add>(as<D>(s), value_t<D>{}), s);
  }
};
template <dtype D>
struct prod_as {
  template <class... S> using calls = tuple<>;
  template <class S> static constexpr auto trace(tracer&, S s) {
    return named("prod", reduce_by<op::multiply>(as<D>(s), math::convert<value_t<D>>(1)), s);
  }
};

struct without_calls { template <class...> using calls = tuple<>; };

struct sum_function : without_calls {
  template <class S> static constexpr auto trace(tracer& t, S s) {
    return sum_as<sum_dtype(type_of<S>)>::trace(t, s);
  }
};
struct prod_function : without_calls {
  template <class S> static constexpr auto trace(tracer& t, S s) {
    return prod_as<sum_dtype(type_of<S>)>::trace(t, s);
  }
};

/// The element, or `instead` if it is NaN.
template <class S>
constexpr auto without_nan(S s, int instead) {
  if constexpr (may_be_nan<S>)
    return choose(is_nan(s),
                  constant<type_of<S>>(s.owner, math::convert<value_t<type_of<S>>>(instead)), s);
  else return s;
}
struct nansum_function : without_calls {
  template <class S> static constexpr auto trace(tracer& t, S s) {
    return named("nansum", sum_function::trace(t, without_nan(s, 0)), s);
  }
};
struct nanprod_function : without_calls {
  template <class S> static constexpr auto trace(tracer& t, S s) {
    return named("nanprod", prod_function::trace(t, without_nan(s, 1)), s);
  }
};

template <bool Max, bool IgnoreNan>
struct extremum : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    constexpr const char* name = IgnoreNan ? (Max ? "nanmax" : "nanmin") : (Max ? "max" : "min");
    return named(name, reduce(s), s);
  }

 private:
  template <class S> static constexpr auto reduce(S s) {
    constexpr dtype D = type_of<S>;
    if constexpr (kind_of(D) == kind::complex) {
      const auto combine = [](const auto& x, const auto& y) {
        const auto a = get<0>(x), b = get<0>(y);
        const auto better = comes_before<Max>(b, a);
        if constexpr (IgnoreNan)
          return tuple{choose(either(is_nan(a), both(negation(is_nan(b)), better)), b, a)};
        else return tuple{choose(both(negation(is_nan(a)), either(is_nan(b), better)), b, a)};
      };
      using R = math::real_type<value_t<D>>;
      const value_t<D> identity =
          IgnoreNan ? value_t<D>{math::quiet_nan<R>, math::quiet_nan<R>} : extreme<D, !Max>();
      return get<0>(reduce_together(true, combine, tuple{identity}, as<D>(s)));
    } else {
      constexpr op code = IgnoreNan ? (Max ? op::fmax : op::fmin) : (Max ? op::max : op::min);
      value_t<D> identity = extreme<D, !Max>();
      if constexpr (IgnoreNan && may_be_nan<S>) identity = math::quiet_nan<value_t<D>>;
      return reduce_by<code>(as<D>(s), identity, true);
    }
  }
};
using min_function = extremum<false, false>;
using max_function = extremum<true, false>;
using nanmin_function = extremum<false, true>;
using nanmax_function = extremum<true, true>;

struct ptp_function : without_calls {
  template <class S> static constexpr auto trace(tracer& t, S s) {
    return apply<op::subtract>(max_function::trace(t, s), min_function::trace(t, s));
  }
};

struct any_function : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    return named("any", reduce_by<op::logical_or>(as<dtype::boolean>(s), false), s);
  }
};
struct all_function : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    return named("all", reduce_by<op::logical_and>(as<dtype::boolean>(s), true), s);
  }
};
struct count_nonzero_function : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    return named("count_nonzero",
                 reduce_by<op::add>(as<dtype::int64>(as<dtype::boolean>(s)), std::int64_t{0}), s);
  }
};

template <bool IgnoreNan>
struct mean_of : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    constexpr dtype C = mean_accumulator(type_of<S>);
    auto n = count_of(s.owner);
    auto total = reduce_by<op::add>(as<C>(s), value_t<C>{});
    if constexpr (IgnoreNan && may_be_nan<S>) {
      n = reduce_by<op::add>(as<dtype::int64>(negation(is_nan(s))), std::int64_t{0});
      total = reduce_by<op::add>(as<C>(without_nan(s, 0)), value_t<C>{});
    }
    return named(IgnoreNan ? "nanmean" : "mean",
                 as<mean_dtype(type_of<S>)>(apply<op::divide>(total, as<real_of(C)>(n))), s);
  }
};
using mean_function = mean_of<false>;
using nanmean_function = mean_of<true>;

enum class norm_order { sum, euclidean, greatest };

template <norm_order Order>
struct norm_function : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    constexpr const char* name = Order == norm_order::sum         ? "norm<1>"
                                 : Order == norm_order::euclidean ? "norm"
                                                                  : "norm<inf>";
    return named(name, reduce(s), s);
  }

 private:
  template <class S> static constexpr auto reduce(S s) {
    constexpr dtype C = mean_accumulator(type_of<S>), R = real_of(C),
                    Result = real_of(mean_dtype(type_of<S>));
    const auto x = as<C>(s);
    if constexpr (Order == norm_order::sum)
      return as<Result>(reduce_by<op::add>(as<R>(apply<op::abs>(x)), value_t<R>(0)));
    else if constexpr (Order == norm_order::euclidean)
      return as<Result>(
          apply<op::sqrt>(reduce_by<op::add>(as<R>(apply<op::abs2>(x)), value_t<R>(0))));
    else return as<Result>(reduce_by<op::max>(as<R>(apply<op::abs>(x)), value_t<R>(0), true));
  }
};

template <bool Conjugate>
struct dot_function : without_calls {
  static constexpr const char* same_elements = Conjugate ? "vdot" : "dot";
  template <class A, class B> static constexpr auto trace(tracer& t, A a, B b) {
    const auto product = [&] {
      if constexpr (Conjugate && kind_of(type_of<A>) == kind::complex)
        return apply<op::multiply>(apply<op::conj>(a), b);
      else return apply<op::multiply>(a, b);
    }();
    constexpr dtype D = type_of<std::remove_cvref_t<decltype(product)>>;
    return sum_as<D>::trace(t, product);
  }
};

/// The position of an extremum: the first of equal ones; a NaN comes before all numbers. If NaN is
/// ignored and nothing else is there, -1.
template <bool Max, bool IgnoreNan>
struct extremum_position : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    constexpr const char* name =
        IgnoreNan ? (Max ? "nanargmax" : "nanargmin") : (Max ? "argmax" : "argmin");
    return named(name, reduce(s), s);
  }

 private:
  template <class S> static constexpr symbol<dtype::int64> reduce(S s) {
    constexpr dtype D = type_of<S>;
    constexpr std::int64_t none = 0x7fffffffffffffff;
    constexpr bool ignores = IgnoreNan && may_be_nan<S>;
    auto value = as<D>(s);
    auto position = position_of(s.owner);
    if constexpr (ignores) {
      const auto nan = is_nan(value);
      position = choose(nan, constant<dtype::int64>(s.owner, none), position);
      value = choose(nan, constant<D>(s.owner, extreme<D, !Max>()), value);
    }
    const auto combine = [](const auto& x, const auto& y) {
      const auto [a, i] = x;
      const auto [b, k] = y;
      auto before = comes_before<Max>(b, a), equal = as<dtype::boolean>(apply<op::equal>(a, b));
      if constexpr (may_be_nan<S> && !ignores) {
        // Comparisons with NaN are false, so `before` is negated: it is true if b is NaN and a is
        // not.
        const auto a_is_nan = is_nan(a), b_is_nan = is_nan(b);
        if constexpr (kind_of(D) == kind::complex) before = either(before, b_is_nan);
        else before = negation(apply<Max ? op::less_equal : op::greater_equal>(b, a));
        before = both(before, negation(a_is_nan));
        equal = either(equal, both(a_is_nan, b_is_nan));
      }
      const auto take = either(before, both(equal, apply<op::less>(k, i)));
      return tuple{choose(take, b, a), choose(take, k, i)};
    };
    const auto first =
        get<1>(reduce_together(true, combine, tuple{extreme<D, !Max>(), none}, value, position));
    if constexpr (!ignores) return first;
    else
      return choose(apply<op::equal>(first, constant<dtype::int64>(s.owner, none)),
                    constant<dtype::int64>(s.owner, -1), first);
  }
};
using argmin_function = extremum_position<false, false>;
using argmax_function = extremum_position<true, false>;
using nanargmin_function = extremum_position<false, true>;
using nanargmax_function = extremum_position<true, true>;

/// The name of a type without its namespaces and template arguments. It is part of a pass, so that
/// all compilers of a file must find the same name: nvcc's front end and g++ spell unnamed
/// namespaces and template arguments differently.
template <class Name>
constexpr packed_name name_of_type() {
  const char* begin = find_after(spelled<Name>(), "F = ");
  int depth = 0;  // of brackets
  for (const char* at = begin; *at != 0 && (depth > 0 || (*at != ']' && *at != ';')); ++at) {
    if (*at == '<' || *at == '(' || *at == '{') ++depth;
    if (*at == '>' || *at == ')' || *at == '}') --depth;
    if (depth == 0 && *at == ':') begin = at + 1;
  }
  const char* end = begin;
  while (*end == '_' || (*end >= '0' && *end <= '9') || (*end >= 'A' && *end <= 'Z') ||
         (*end >= 'a' && *end <= 'z'))
    ++end;
  return {begin, static_cast<int>(end - begin)};
}

/// The dtype of the flag that says whether there has been an element, beside a value of dtype D. It
/// is as wide as the value, so that compilers vectorise the host's loops over both (2^24 floats: 3
/// ms instead of 40).
constexpr dtype flag_dtype(dtype D) {
  return integer_dtype(static_cast<std::size_t>(size_of(real_of(computed_in(D)))), false);
}
template <dtype D> constexpr auto set_flag(graph* g) {
  return constant<flag_dtype(D)>(g, value_t<flag_dtype(D)>(1));
}
template <class S> constexpr auto is_set(S flag) { return as<dtype::boolean>(flag); }

/// The name of a user's reduction.
template <class Name>
constexpr packed_name name_of_reduction() {
  if constexpr (std::is_same_v<Name, unnamed>) return "reduce";
  else return name_of_type<Name>();
}

/// A reduction with a user's operator. It has no identity; instead a flag says whether there has
/// been an element.
template <class Name, class F>
struct user_reduction {
  template <class S> static constexpr bool is_traced =
      is_callable<F, symbol<type_of<S>>, symbol<type_of<S>>>;
  // The dtype in which elements are reduced: an init may be of a higher kind.
  template <class S, class Init> static constexpr dtype state_with =
      promote(S::type, Init::type).type;

  template <class S, dtype D> struct calls_with { using type = tuple<call<F, D, D>>; };
  template <class S, dtype D>
    requires is_traced<S>
  struct calls_with<S, D> {
    using type = tuple<>;
  };
  template <class... S> struct calls_for;
  template <class S> struct calls_for<S> { using type = typename calls_with<S, type_of<S>>::type; };
  template <class S, class Init> struct calls_for<S, Init> {
    using once = typename calls_with<S, state_with<S, Init>>::type;
    using type = decltype(concatenate(std::declval<once>(), std::declval<once>()));
  };
  template <class... S> using calls = typename calls_for<S...>::type;

  template <class S> static constexpr auto trace(tracer& t, S s) {
    return named(name_of_reduction<Name>(), reduce<type_of<S>>(t, s, true).first, s);
  }
  template <class S, class Init> static constexpr auto trace(tracer& t, S s, Init init) {
    constexpr dtype D = state_with<S, Init>;
    const auto all = reduce<D>(t, s, false);
    const auto first = convert_operand<D, false>(init);
    const auto made = choose(all.second, operate(t, first, all.first, all.second), first);
    return named(name_of_reduction<Name>(), made, s);
  }

 private:
  // Applies the operator if both operands exist. A functor is called only then, because it may trap
  // or loop forever on other values.
  template <dtype D>
  static constexpr symbol<D> operate(tracer& t, symbol<D> a, symbol<D> b,
                                     symbol<dtype::boolean> exist) {
    const auto result = [&] {
      if constexpr (is_callable<F, symbol<D>, symbol<D>>) {
        return F{}(a, b);
      } else {
        tracer mine{a.owner, t.operands, t.calls};
        const auto r = functor<unnamed, F>::trace_where(mine, exist, a, b);
        t.calls = mine.calls;
        return r;
      }
    }();
    return as<D>(result);
  }
  template <dtype D, class S>
  static constexpr auto reduce(tracer& t, S s, bool needs_elements) {
    const auto combine = [&t](const auto& x, const auto& y) {
      const auto [a, flag_a] = x;
      const auto [b, flag_b] = y;
      const auto has_a = is_set(flag_a), has_b = is_set(flag_b);
      return tuple{choose(has_a, choose(has_b, operate(t, a, b, both(has_a, has_b)), a), b),
                   flag_a | flag_b};
    };
    const auto [value, any] =
        reduce_together(needs_elements, combine, tuple{value_t<D>{}, value_t<flag_dtype(D)>{}},
                        as<D>(s), set_flag<D>(s.owner));
    return std::pair{value, is_set(any)};
  }
};

}  // namespace detail
}  // namespace dsl
