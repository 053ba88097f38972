// Time loops.
#pragma once

#include <dsl/lang/assign.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl {

/// References to what a loop carries from step to step; what `state` returns.
template <class... S>
struct loop_state { std::tuple<S&...> variables; };

/// The variables that `iterate` feeds back: arrays, and scalars in device memory.
template <class... S>
loop_state<S...> state(S&... s) { return {std::tuple<S&...>(s...)}; }

namespace detail {

template <class S> struct history_of { using type = std::tuple<>; };
template <class T> struct history_of<scalar<T>> { using type = std::tuple<array<T, 1>>; };

template <class... S> using histories = decltype(std::tuple_cat(std::declval<typename history_of<S>::type>()...));

/// Calls visit(variable, its number, its history) for every scalar among the variables.
template <std::size_t Variable, std::size_t History, class Variables, class Histories, class Visit>
void visit_scalars(const Variables& variables, Histories& all, const Visit& visit) {
  if constexpr (Variable < std::tuple_size_v<Variables>) {
    constexpr bool recorded = is_scalar<std::remove_cvref_t<std::tuple_element_t<Variable, Variables>>>;
    if constexpr (recorded) visit(std::get<Variable>(variables), Variable, std::get<History>(all));
    visit_scalars<Variable + 1, History + recorded>(variables, all, visit);
  }
}

}  // namespace detail

/// Runs `variables = f(variables, parameters...)` for `steps` steps on the device, without waiting between them. Returns the
/// values of the scalar variables after each step, in device memory: an array of extent `steps` for one of them, a std::tuple of
/// arrays for several, an empty one for none. The variables hold the last step's values. Throws as assignment does, before the
/// first step.
template <class Name, class F, class... S, class... Parameters>
auto iterate(std::integral auto steps, const vectorized<Name, F>& f, const loop_state<S...>& s, const Parameters&... parameters) {
  static_assert(((detail::reductions_in<detail::operand_t<Parameters>> == 0) && ...),
                "a reduction among a loop's parameters is evaluated before it: give its value, dsl::eval(...)");
  auto ready = std::apply(
      [&](auto&... v) { return detail::prepare_assignment({}, s.variables, f(v..., parameters...)); }, s.variables);
  ready.require_in_place();
  const auto count = static_cast<std::int64_t>(steps);
  const device where = ready.where();
  const device_guard guard(where);
  detail::histories<S...> histories{};
  std::apply([&](auto&... h) { ((h = std::remove_reference_t<decltype(h)>(count)), ...); }, histories);

  // A reduction writes its result to the variable and to the history; another scalar is copied.
  std::uint64_t recorded[sizeof...(S)] = {};
  for (std::int64_t k = 0; k < count; ++k) {
    detail::visit_scalars<0, 0>(s.variables, histories, [&](auto&, std::size_t i, auto& history) {
      if (ready.is_reduction(i)) recorded[i] = reinterpret_cast<std::uintptr_t>(history.data() + k);
    });
    ready.run(recorded);
    detail::visit_scalars<0, 0>(s.variables, histories, [&](auto& variable, std::size_t i, auto& history) {
      if (!ready.is_reduction(i))
        detail::copy(history.view().owner(), history.data() + k, variable.view().owner(), variable.data(), sizeof(*variable.data()));
    });
  }
  if constexpr (std::tuple_size_v<detail::histories<S...>> == 1) return std::get<0>(std::move(histories));
  else return histories;
}

}  // namespace dsl
