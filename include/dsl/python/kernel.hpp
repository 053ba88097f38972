// Formulas as Python functions: each call is one assignment.
#pragma once

#include <dsl/ir/origin.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/vectorize.hpp>
#include <dsl/python/call.hpp>

namespace dsl::python::detail {

/// A result as the target of an assignment. If the caller gave no array for it, one is made once
/// its shape is known.
template <class T, int R>
struct result {
  using value_type = T;
  static constexpr int rank = R;
  call* of;
  int number;

  const elements& memory() const { return of->results[number]; }
  dsl::view<T, R> view() const {
    return memory().owner ? memory().template as<T, R>() : dsl::view<T, R>();
  }
};
template <class T, int R>
dsl::view<const T, R> as_operand(const result<T, R>& r) {
  return r.view();
}

/// Whether operands are assigned together with others. Scans are not; they are evaluated first.
template <class E> inline constexpr bool joins_others = true;
template <dsl::detail::lazy E> inline constexpr bool joins_others<E> = false;
template <class T, int R> inline constexpr bool joins_others<view<T, R>> = true;
template <class F, class... X> inline constexpr bool joins_others<expression<F, X...>> = true;
template <class F, int R, class... X> inline constexpr bool joins_others<reduction<F, R, X...>> =
    true;

/// A formula's return value as operands: an expression or an array, or several in a std::tuple.
template <class X>
auto as_operands(const X& x) {
  if constexpr (dsl::detail::is_tuple<X>)
    return dsl::detail::unpack(
        [](const auto&... each) { return dsl::detail::concatenate(as_operands(each)...); }, x);
  else if constexpr (joins_others<X>)
    return dsl::detail::tuple<dsl::detail::operand_t<X>>(dsl::detail::as_operand(x));
  else return as_operands(eval(x));
}

/// The ranks of an expression's outputs; 0 for results of reductions inside a formula.
template <class E>
constexpr auto ranks_of_outputs() {
  using outputs = dsl::detail::outputs_of<E>;
  std::array<int, std::tuple_size_v<outputs>> ranks{};
  for (int& rank : ranks) rank = E::rank;
  if constexpr (E::rank > 0 && dsl::detail::reductions_in<E> == 0 &&
                dsl::detail::has_reductions<E>) {
    dsl::detail::graph g;
    dsl::detail::tracer t{&g};
    const auto all = dsl::detail::as_tuple(dsl::detail::traced<E>::run(t));
    const dsl::detail::node_origins origins(g);
    std::size_t k = 0;
    dsl::detail::unpack(
        [&](const auto&... output) {
          ((ranks[k] = origins.are_values(dsl::detail::sequence<int>(1, output.id)) ? 0 : E::rank,
            ++k),
           ...);
        },
        all);
  }
  return ranks;
}

template <class Outputs> struct element_types;
template <class... Output>
struct element_types<dsl::detail::tuple<Output...>> {
  static_assert((is_symbol<Output> && ...),
                "a formula in a Python module returns what it has computed, no constants");
  static constexpr dtype values[] = {Output::type.type...};
};

/// The results of some expressions.
template <class... E>
struct results_of {
  using outputs = dsl::detail::outputs_of<E...>;
  static constexpr std::size_t count = std::tuple_size_v<outputs>;
  static_assert(count <= max_results, "a function of a Python module has at most 64 results");

  static constexpr std::array<int, count> ranks = [] {
    std::array<int, count> all{};
    std::size_t k = 0;
    const auto add = [&](const auto& of_one) {
      for (const int rank : of_one) all[k++] = rank;
    };
    (add(ranks_of_outputs<E>()), ...);
    return all;
  }();
  template <std::size_t I> using target =
      result<element_t<element_types<outputs>::values[I]>, ranks[I]>;

  /// The results as parameters. If any argument has any rank, results take the rank of the
  /// arguments.
  static std::vector<parameter> list(bool of_any_rank) {
    std::vector<parameter> all;
    for (std::size_t k = 0; k != count; ++k)
      all.push_back({ranks[k] == 0 ? parameter_kind::single : parameter_kind::array,
                     element_types<outputs>::values[k],
                     of_any_rank && ranks[k] > 0 ? parameter::of_any_rank : ranks[k]});
    return all;
  }
  static constexpr bool are_of_arguments_rank() {
    for (const int rank : ranks)
      if (rank != 0 && rank != max_rank) return false;
    return true;
  }
  static void evaluate(call& c, const E&... e) {
    evaluate(c, std::make_index_sequence<count>{}, e...);
  }

 private:
  template <std::size_t... I>
  static void evaluate(call& c, std::index_sequence<I...>, const E&... e) {
    dsl::detail::tuple<target<I>...> targets{target<I>{&c, static_cast<int>(I)}...};
    dsl::detail::assign_all({}, dsl::detail::references(dsl::detail::get<I>(targets)...), e...);
  }
};
template <class Operands> struct results_of_operands;
template <class... E> struct results_of_operands<dsl::detail::tuple<E...>> : results_of<E...> {};

template <class F, class... P>
struct kernel_function {
  template <std::size_t... I>
  static auto operands(const argument* arguments, const F& f, std::index_sequence<I...>) {
    return as_operands(f(parameter_of<P>::operand(arguments[I])...));
  }
  using results = results_of_operands<decltype(operands(nullptr, std::declval<const F&>(),
                                                        std::index_sequence_for<P...>{}))>;

  static constexpr bool has_any_rank = (parameter_of<P>::value.has_any_rank() || ...);
  static_assert(!has_any_rank || results::are_of_arguments_rank(),
                "an axis of an array of any rank: a formula with dsl::any_rank computes element by "
                "element, or reduces all elements");
  static std::vector<parameter> list() { return results::list(has_any_rank); }

  static void run(call& c, const void* function) {
    const auto all =
        operands(c.arguments, *static_cast<const F*>(function), std::index_sequence_for<P...>{});
    dsl::detail::unpack([&c](const auto&... e) { results::evaluate(c, e...); }, all);
  }
};

}  // namespace dsl::python::detail

namespace dsl::detail {

template <class T, int R>
struct bound_target<python::detail::result<T, R>> {
  python::detail::result<T, R>& target;
  bool imagined = false;

  bool needs_memory() const { return !target.memory().owner; }
  void give_memory(const geometry& g, std::uint32_t reduced, const pass_view& pass,
                   const operand* all) {
    if (!needs_memory()) return;
    dsl::extents<R> sizes{};
    if constexpr (R > 0) shape_target(sizes.data(), R, g, reduced, pass, all);
    element_count(sizes.data(), R, sizeof(T));  // throws
    target.of->make_result(target.number, R, sizes.data());
  }
  view<T, R> elements() const { return target.view(); }
  static void adopt() {}
};

}  // namespace dsl::detail
