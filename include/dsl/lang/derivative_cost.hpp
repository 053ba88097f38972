// The operations of a derivative beside those of the formula that it is of.
#pragma once

#include <dsl/ir/cost.hpp>
#include <dsl/lang/derivative.hpp>

namespace dsl::detail {

/// The nominal operations of an expression for each element, in reductions as well.
template <class E>
constexpr int flops_of_expression() {
  graph g;
  tracer t{&g};
  sequence<int> roots, numbers;
  const auto add = [&roots](const auto& o) {
    if constexpr (is_symbol<std::remove_cvref_t<decltype(o)>>) roots.push_back(o.id);
  };
  unpack([&add](const auto&... o) { (add(o), ...); }, as_tuple(traced<E>::run(t)));
  for (int i = 0; i < g.reduction_count(); ++i) {
    numbers.push_back(i);
    for (const int value : g.reduction_at(i).values) roots.push_back(value);
  }
  frozen_programs f;
  freeze(g, roots, numbers, f);
  return flops_of({f.heads.begin(), f.payloads.begin(), f.heads.size(), nullptr, 0});
}

/// The formula whose derivative an expression is; `exists` is false for other expressions.
template <class E> struct primal_of { static constexpr bool exists = false; };
template <class Name, class D, class... X>
  requires requires { typename D::primal; }
struct primal_of<expression<formula<Name, D>, X...>> {
  static constexpr bool exists = true;

 private:
  template <std::size_t... I>
  static auto call(std::index_sequence<I...>)
      -> expression<formula<Name, typename D::primal>, std::tuple_element_t<I, tuple<X...>>...>;

 public:
  using type =
      decltype(call(std::make_index_sequence<D::template primal_arguments<trace_t<X>...>()>{}));
};

/// The explanation of E with a line that compares its operations.
template <class E>
explanation with_primal(explanation of) {
  if constexpr (primal_of<E>::exists) {
    constexpr int mine = flops_of_expression<E>(),
                  primal = flops_of_expression<typename primal_of<E>::type>();
    of.compare_operations(mine, primal);
  }
  return of;
}

}  // namespace dsl::detail
