// Reductions by key: one result for the elements of each group.
#pragma once

#include <dsl/exec/by_key/bins.hpp>
#include <dsl/exec/by_key/by_key.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/evaluated_reductions.hpp>
#include <dsl/lang/position.hpp>
#include <dsl/lang/reduce.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl {

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::by_key, Explicit> = true;

/// Takes the place of the values if elements are only counted.
struct no_values { static constexpr int rank = 0; };
template <> inline constexpr int leaf_count<no_values> = 0;
inline void add_leaves(const no_values&, operand*&) {}

/// A reduction by key that is evaluated when it is assigned. `Function` reduces symbols.
template <class Function, class Keys, class Values>
struct by_key_expression {
  using lazy_expression = void;
  static constexpr int rank = 1;
  Keys keys;
  Values values;
  by_key_request request;
};
template <class Function, class Keys, class Values>
inline constexpr bool stands_alone<by_key_expression<Function, Keys, Values>> = true;
template <class Function, class Keys, class Values>
inline constexpr bool is_by_key<by_key_expression<Function, Keys, Values>> = true;

template <class Function, class Keys, class Values>
inline constexpr bool has_materialized<by_key_expression<Function, Keys, Values>> =
    has_materialized<Keys> || has_materialized<Values>;

template <class Function, class Keys, class Values>
struct traced<by_key_expression<Function, Keys, Values>> {
  static_assert(Keys::rank < 0,
                "a reduction by key is no operand of a formula: evaluate it first, dsl::eval(...)");
  static constexpr symbol<dtype::float64> run(tracer& t) { return {t.g, 0}; }
};

struct count_of_group : without_calls {
  static constexpr auto trace(tracer& t) {
    return reduce_by<op::add>(constant<dtype::int64>(t.g, 1), std::int64_t{0});
  }
};
/// A formula of the elements of a group.
template <class F>
struct formula_of_group : without_calls {
  template <class S> static constexpr auto trace(tracer& t, S s) { return lift(t.g, F{}(s)); }
};

/// Traces a reduction by key: one value for each group.
template <class E> struct by_key_of;
template <class Function, class Keys, class Values>
struct by_key_of<by_key_expression<Function, Keys, Values>> {
  using keys = Keys;
  static constexpr auto trace(tracer& t) {
    t.g->open_space(t.operands, true, 0);
    const auto result = [&t] {
      if constexpr (std::same_as<Values, no_values>) return Function::trace(t);
      else return Function::trace(t, traced<Values>::run(t));
    }();
    t.g->close_space(t.operands);
    return result;
  }
  static constexpr dtype result = decltype(trace(std::declval<tracer&>()))::type.type;
  using calls_of_values = typename calls_of<Values>::type;
};

/// The graph of the keys, of the reductions of each group, and of further reductions of all
/// elements. `To`: the dtypes of the results.
template <class Groups, class All, dtype... To> struct by_key_trace;
template <class First, class... Groups, class... All, dtype... To>
struct by_key_trace<tuple<First, Groups...>, tuple<All...>, To...> {
  static constexpr graph run() {
    graph g;
    g.counts_groups = true;
    tracer t{&g};
    const auto key = traced<typename by_key_of<First>::keys>::run(t);
    // Wider keys would take more bytes than are read, and leave fewer elements per thread.
    constexpr dtype type = decltype(key)::type.type,
                    as_key =
                        size_of(type) < 4 || type == dtype::int32 ? dtype::int32 : dtype::int64;
    g.outputs.push_back(convert_symbol<as_key, false>(position_symbol(key)).id);
    add(t, std::index_sequence_for<First, Groups...>{}, std::index_sequence_for<All...>{});
    g.operands = t.operands;
    return g;
  }

 private:
  static constexpr dtype type_at(std::size_t i) {
    constexpr dtype types[] = {To...};
    return types[i];
  }
  template <std::size_t I, class Result>
  static constexpr void add_result(graph& g, const Result& r) {
    g.scalar_outputs |= 1u << g.outputs.size();
    g.outputs.push_back(convert_symbol<type_at(I), false>(r).id);
  }
  template <std::size_t... G, std::size_t... A>
  static constexpr void add(tracer& t, std::index_sequence<G...>, std::index_sequence<A...>) {
    const tuple<decltype(by_key_of<First>::trace(t)), decltype(by_key_of<Groups>::trace(t))...>
        groups{by_key_of<First>::trace(t), by_key_of<Groups>::trace(t)...};
    const tuple<trace_t<All>...> all{traced<All>::run(t)...};
    (add_result<G>(*t.g, get<G>(groups)), ...);
    (add_result<sizeof...(G) + A>(*t.g, get<A>(all)), ...);
  }
};

/// Number of leaves of the keys (counted once) and of the values.
template <class First, class... Groups>
inline constexpr int leaves_of_groups =
    leaf_count<typename by_key_of<First>::keys> + leaf_count<decltype(First::values)> +
    (0 + ... + leaf_count<decltype(Groups::values)>);

template <class Trace, class... Calls>
compile<Trace, Calls...> compiled_with(std::type_identity<tuple<Calls...>>);

inline no_values evaluate_reductions(const no_values&) { return {}; }

template <class Groups, class All, class... Targets> struct pass_by_key;
/// Reductions by the same keys, and reductions of all elements, as one pass. The targets are in the
/// order of the expressions.
template <class First, class... Groups, class... All, class... Targets>
struct pass_by_key<tuple<First, Groups...>, tuple<All...>, Targets...> {
  using first = by_key_of<First>;
  using trace = by_key_trace<tuple<First, Groups...>, tuple<All...>,
                             dtype_v<typename std::remove_cvref_t<Targets>::value_type>...>;
  using calls = decltype(concatenate(std::declval<typename calls_of<typename first::keys>::type>(),
                                     std::declval<typename first::calls_of_values>(),
                                     std::declval<typename by_key_of<Groups>::calls_of_values>()...,
                                     std::declval<typename calls_of<All>::type>()...));
  using compiled = decltype(compiled_with<trace>(std::type_identity<calls>{}));
  static constexpr bool is_one_pass =
      compiled::is_one_pass && !(has_materialized<First> || ... || has_materialized<Groups>) &&
      !(has_materialized<All> || ...);

  /// Calls use(code, operands, request). Targets without memory get memory, and keep it if
  /// `adopts`.
  template <class Use>
  static void with(const tuple<Targets&...>& targets, const tuple<First, Groups...>& groups,
                   const tuple<All...>& all, bool adopts, const Use& use) {
    using pass_type = typename compiled::spelled;
    constexpr int group_count = 1 + static_cast<int>(sizeof...(Groups));
    constexpr int leaves = leaves_of_groups<First, Groups...> + (0 + ... + leaf_count<All>),
                  inputs = inputs_of_kernel<
                      leaves + (counts_positions(pass_type::elements::view(), leaves) ? 1 : 0)>();
    operand operands[inputs + sizeof...(Targets)], *at = operands;
    add_leaves(get<0>(groups).keys, at);
    unpack([&at](const auto&... e) { (add_leaves(e.values, at), ...); }, groups);
    unpack([&at](const auto&... e) { (add_leaves(e, at), ...); }, all);
    if (inputs > leaves) operands[leaves] = position_operand();
    const by_key_request request = get<0>(groups).request;
    const device where = home_of_operands(operands, leaves);
    auto to = bind_targets(targets);
    at = operands + inputs;
    unpack(
        [&](auto&... t) {
          (give_elements(t, request.groups, where), ...);
          (add_leaves(as_operand(t.elements()), at), ...);
        },
        to);
    use(by_key_code_for<inputs, group_count>(pass_type{}), operands, request);
    if (adopts) unpack([](auto&... t) { (t.adopt(), ...); }, to);
  }
};

/// A `use` that queues the reduction.
inline constexpr auto run_keyed = [](const by_key_code& code, const operand* operands,
                                     const by_key_request& request) {
  run_by_key(code, operands, request);
};

/// Calls use(code, operands, request) for one reduction by key. Reductions and scans inside its
/// keys and values are evaluated before.
template <class Target, class Function, class Keys, class Values, class Use>
void with_keyed(Target& target, const by_key_expression<Function, Keys, Values>& e, bool adopts,
                const Use& use) {
  using pass = pass_by_key<tuple<by_key_expression<Function, Keys, Values>>, tuple<>, Target>;
  if constexpr (pass::is_one_pass) {
    pass::with(tuple<Target&>{target}, tuple{e}, tuple<>{}, adopts, use);
  } else {
    const auto keys = evaluate_reductions(e.keys);
    const auto values = evaluate_reductions(e.values);
    with_keyed(target,
               by_key_expression<Function, std::remove_const_t<decltype(keys)>,
                                 std::remove_const_t<decltype(values)>>{keys, values, e.request},
               adopts, use);
  }
}

template <class Keys>
constexpr bool require_keys() {
  if constexpr (!require_operand<Keys>()) {
    return false;
  } else {
    constexpr bool are_integers = kind_of(trace_t<operand_t<Keys>>::type.type) <= kind::integer;
    static_assert(are_integers, "keys are integers, from 0 on: cast<std::int32_t>(floor(x))");
    return are_integers;
  }
}

/// Whether a formula gives one value for the elements of a group.
template <class F, class Values>
constexpr bool require_one_value() {
  constexpr bool is_one = !is_tuple<decltype(F{}(std::declval<trace_t<operand_t<Values>>&>()))>;
  static_assert(is_one,
                "the formula of reduce_by gives one value for a group: several are as many "
                "reductions by key, in one dsl::tie");
  return is_one;
}

template <class Function, class Keys, class Values>
auto make_by_key(const Keys& keys, const Values& values, std::int64_t groups,
                 bool ignores_others = false) {
  element_count(&groups, 1, 1);  // throws
  return by_key_expression<Function, Keys, Values>{keys, values, {groups, ignores_others}};
}

}  // namespace detail

// Reductions by key. Keys and values are arrays, views or expressions that broadcast together. The
// key of an element, an integer from 0 to groups - 1, is the group that the element belongs to. The
// result has one element for each group, in the order of the keys. It is lazy: assign it to an
// array or a view of `groups` elements, or use dsl::eval; neither waits. On a device, results are
// the same in every run. A key outside 0 ... groups - 1 is a memory_error in the simulator;
// elsewhere its element is ignored. Throws shape_error if shapes do not broadcast or `groups` is
// negative.

/// Sum by key, pandas' groupby(keys).sum(): 0 for a group without elements. Integers and booleans
/// widen to int64 or uint64.
/// ```cpp
/// dsl::array<float> sums = dsl::sum_by(keys, 2 * values, 4);
/// ```
template <class Keys, class Values>
  requires detail::operands<Keys> && detail::any_operand<Values>
auto sum_by(const Keys& keys, const Values& values, std::int64_t groups) {
  if constexpr (!detail::require_keys<Keys>() || !detail::require_operand<Values>())
    return refused{};
  else
    return detail::make_by_key<detail::sum_function>(detail::as_operand(keys),
                                                     detail::as_operand(values), groups);
}

/// Reduces each group by any formula. f takes the elements of a group and returns one value,
/// computed from the library's reductions, including dsl::reduce (of lambdas, not of functors). A
/// group without elements gives the reduction's result for no elements: the greatest value of the
/// dtype for min, the least for max (infinities for floating point). The positions of argmin and
/// argmax are positions among all elements.
///
/// f: a lambda with one `auto` parameter and no captures, traced as by vectorize.
/// ```cpp
/// dsl::array<double> means =
///     dsl::reduce_by(keys, values, 4, [](auto x) { return dsl::mean(dsl::cast<double>(x)); });
/// ```
template <class Keys, class Values, class F>
  requires detail::operands<Keys> && detail::any_operand<Values>
auto reduce_by(const Keys& keys, const Values& values, std::int64_t groups, F) {
  static_assert(detail::is_stateless<F>,
                "reduce_by takes a function of a group's elements without captures");
  if constexpr (!detail::is_stateless<F> || !detail::require_keys<Keys>() ||
                !detail::require_operand<Values>())
    return refused{};
  else if constexpr (!detail::require_one_value<F, Values>()) return refused{};
  else
    return detail::make_by_key<detail::formula_of_group<F>>(detail::as_operand(keys),
                                                            detail::as_operand(values), groups);
}

/// Number of elements with each key: int64. As np.bincount(keys, minlength=groups), except that the
/// result always has `groups` elements.
template <class Keys>
  requires detail::operands<Keys>
auto bincount(const Keys& keys, std::int64_t groups) {
  if constexpr (!detail::require_keys<Keys>()) return refused{};
  else
    return detail::make_by_key<detail::count_of_group>(detail::as_operand(keys),
                                                       detail::no_values{}, groups);
}

namespace detail {

constexpr dtype dtype_of_edges(dtype x) { return kind_of(x) <= kind::integer ? dtype::float64 : x; }

/// The number of the bin that an element is in, or -1. The edges are NumPy's: low + i (high - low)
/// / bins, computed in double and converted to x's dtype.
struct bin_of {
  template <class X, class Low, class High, class Apart, class Lift, class Scale, class Bins>
  constexpr auto operator()(const X& x, const Low& low, const High& high, const Apart& apart,
                            const Lift& lift, const Scale& scale, const Bins& bins) const {
    constexpr dtype D = dtype_of_edges(type_of<X>);
    static_assert(kind_of(D) != kind::complex, "a histogram is of real numbers");
    const auto value = as<D>(x);
    const auto edge = [&](const auto& i) {
      // `where` keeps the compiler from fusing the product and the sum.
      const auto at = as<D>(where(i < bins, as<dtype::float64>(i) * apart, 0.0) + low);
      return where(i < bins, at, as<D>(high));
    };
    const auto distance = as<dtype::float64>(value) - low;
    const auto place = [&] {
      if constexpr (D == dtype::float64) return distance * lift * scale;
      else return distance * scale;  // In the other dtypes `lift` is 1.
    }();
    const auto guess = as<dtype::int32>(place);
    const auto inside = max(min(guess, bins - 1), 0);
    const auto lower = where(value < edge(inside), inside - 1, inside);
    const auto bin = where((value >= edge(lower + 1)) & (lower != bins - 1), lower + 1, lower);
    return where((value >= as<D>(low)) & (value <= as<D>(high)), bin, -1);
  }
};

}  // namespace detail

/// Number of elements of x in each of `bins` intervals of equal width from low to high: int64,
/// np.histogram(x, bins, (low, high))[0]. An interval includes its lower end; only the last one
/// includes its upper end. Values outside, and NaN, are not counted. If low and high are equal,
/// both are moved out by 0.5. x is real. Throws value_error in the cases where NumPy does: unless 0
/// < bins < 2^31; if low is greater than high; if an end or high - low is not finite; if x's dtype
/// (double for integers) has too few numbers between them for the edges.
template <class X, element Low, element High>
  requires detail::operands<X>
auto histogram(const X& x, std::int64_t bins, Low low, High high) {
  if constexpr (!detail::require_operand<X>()) {
    return refused{};
  } else {
    constexpr dtype edges =
        detail::dtype_of_edges(detail::trace_t<detail::operand_t<X>>::type.type);
    const detail::bin_range r =
        detail::make_bins(bins, static_cast<double>(low), static_cast<double>(high), edges);
    const auto keys =
        vectorize(detail::bin_of{})(x, r.low, r.high, r.apart, r.lift, r.scale, r.count);
    return detail::make_by_key<detail::count_of_group>(keys, detail::no_values{}, bins, true);
  }
}

/// Evaluates a reduction by key into an array or a view with one element for each group. Reductions
/// inside its keys and values are evaluated before. Does not wait.
template <class Target, class Function, class Keys, class Values>
void assign(Target&& target, const detail::by_key_expression<Function, Keys, Values>& e) {
  using target_type = std::remove_cvref_t<Target>;
  constexpr bool is_line = target_type::rank == 1,
                 is_writable = detail::is_writable<std::remove_reference_t<Target>>;
  static_assert(is_line, "a reduction by key has one dimension, its groups'");
  static_assert(is_writable, "the target is const: an array that is, or a view that only reads");
  constexpr dtype to = dtype_v<typename target_type::value_type>,
                  from =
                      detail::by_key_of<detail::by_key_expression<Function, Keys, Values>>::result;
  constexpr bool is_real = detail::require_real_value<to, from>(),
                 is_wide_enough = assignable(to, {from});
  static_assert(
      is_wide_enough || !is_real,
      "the target's dtype is narrower than the expression's: use dsl::cast on the values");
  if constexpr (is_line && is_writable && is_wide_enough)
    detail::with_keyed(target, e, true, detail::run_keyed);
}

/// Explains how a reduction by key would run, as `explain` of other assignments. Runs only the
/// reductions inside its keys and values.
template <class Target, class Function, class Keys, class Values>
explanation explain(Target& target, const detail::by_key_expression<Function, Keys, Values>& e) {
  explanation made;
  detail::with_keyed(target, e, false,
                     [&made](const auto&... of) { made = detail::explain_by_key(of...); });
  return made;
}

/// Evaluates a reduction by key now, into an array. Does not wait.
template <class Function, class Keys, class Values>
auto eval(const detail::by_key_expression<Function, Keys, Values>& e) {
  return array<
      element_t<detail::by_key_of<detail::by_key_expression<Function, Keys, Values>>::result>, 1>(
      e);
}

}  // namespace dsl
