// Loops whose steps are statements on whole arrays: products, systems and transforms, and formulas
// around them.
#pragma once

#include <dsl/exec/loop/repeated_statement.hpp>
#include <dsl/lang/iterate.hpp>

namespace dsl {

/// A step of `iterate` on whole arrays; the result of `statement`.
template <class F>
struct statement_step {
  F of_arrays;
};

/// Makes a step of `iterate` of a function of whole arrays: it is called with views of the loop's
/// variables, and then with the parameters, and returns the expression that is assigned to the
/// variable, or a std::tuple of an expression for each. It may use everything that a statement may:
/// products, systems, transforms, reductions, parts of arrays. It may capture. It is called for one
/// or for more of the steps, and must return the same formula each time.
/// ```cpp
/// const auto commutator = dsl::statement([](auto rho, auto hamiltonian, double dt) {
///   return rho - 1i * dt * (dsl::matmul(hamiltonian, rho) - dsl::matmul(rho, hamiltonian));
/// });
/// ```
template <class F>
statement_step<F> statement(F f) {
  return {std::move(f)};
}

namespace detail {

template <std::integral Steps, class F, class... S, class... Arguments>
inline constexpr bool begins_a_loop<Steps, statement_step<F>, loop_state<S...>, Arguments...> =
    true;

// How a step gets its variables and parameters: arrays as views, C++ numbers as they are.
template <class T>
auto argument_of_statement(const T& x) {
  if constexpr (element<T> || structured<T>) return x;
  else return as_operand(x);
}

template <class T> inline constexpr bool is_option_of_statements =
    std::same_as<T, every> || is_sample<T>;
template <class... S, class... Arguments>
constexpr bool may_repeat_statement(std::type_identity<tuple<S...>>,
                                    std::type_identity<tuple<Arguments...>>) {
  constexpr bool are_arrays = (!structured<S> && ...);
  static_assert(are_arrays,
                "a loop of statements carries arrays, views and scalars in device memory: give "
                "the members of a struct, dsl::state(p.x, p.v)");
  constexpr bool are_known =
      ((!is_loop_option<Arguments> || is_option_of_statements<Arguments>) && ...);
  static_assert(are_known,
                "a loop of statements takes dsl::every and dsl::record of elements among its "
                "options; what ends it, or watches it, is a C++ loop of shorter ones");
  constexpr bool has_no_step = (!counts_steps_in<Arguments> && ...);
  static_assert(has_no_step,
                "a loop of statements has no dsl::step: carry a dsl::scalar, which a step "
                "increases");
  return are_arrays && are_known && has_no_step;
}

template <class F, class... S, class... Parameters>
void run_statement(const statement_step<F>& f, const tuple<S&...>& variables,
                   const tuple<const Parameters&...>& parameters) {
  unpack(
      [&](auto&... v) {
        const auto result = unpack(
            [&](const auto&... p) {
              return f.of_arrays(argument_of_statement(v)..., argument_of_statement(p)...);
            },
            parameters);
        if constexpr (sizeof...(S) == 1 && lazy<std::remove_const_t<decltype(result)>>)
          (evaluate_into(v, result), ...);
        else dsl::tie(v...) = result;
      },
      variables);
}

}  // namespace detail

/// Runs `variables = f(variables, parameters...)` for `steps` steps, each of them a statement on
/// whole arrays: the first, and then what `dsl::statement` is given says how. All right sides are
/// complete before the first variable is written. arguments: parameters, which f gets behind the
/// variables, and the options every(m) and record(elements) in any order.
///
/// On a GPU a step is recorded into a CUDA graph, with the calls of libraries in it, and launched
/// for each other step: nothing is allocated, and the formula is not evaluated by the host again. A
/// step whose libraries cannot be recorded is run as a statement each time, as on other devices.
///
/// Returns histories as `iterate` of a formula: for each scalar among the variables, then for each
/// recorded part. Does not wait. Throws as an assignment of the step would, before the first one
/// if the error is in the shapes, and shape_error if `steps` is negative.
template <class F, class... S, class... Arguments>
auto iterate(std::integral auto steps, const statement_step<F>& f, const loop_state<S...>& s,
             const Arguments&... arguments) {
  using namespace detail;
  if constexpr (!may_repeat_statement(std::type_identity<tuple<S...>>{},
                                      std::type_identity<tuple<Arguments...>>{})) {
    return refused{};
  } else {
    const loop_schedule plan = loop_schedule::of(static_cast<std::int64_t>(steps), 0,
                                                 option_or(every(1), arguments...).steps);
    const device where = as_operand(get<0>(s.variables)).where();
    const device_guard guard(where);
    const auto parameters = filter(only_parameters{}, arguments...);
    const auto samples = filter(only_samples{}, arguments...);
    const auto scalars = unpack(
        [](auto&... v) {
          return concatenate([](auto& x) {
            if constexpr (is_scalar<std::remove_cvref_t<decltype(x)>>)
              return tuple<decltype(as_operand(x))>(as_operand(x));
            else return tuple<>{};
          }(v)...);
        },
        s.variables);
    auto histories = concatenate(
        new_histories(std::type_identity<scalar_histories<S...>>{}, plan.records()),
        unpack(
            [&](const auto&... x) {
              return tuple<decltype(history_of_sample(x))...>{new_history(x, plan.records())...};
            },
            samples));
    constexpr std::size_t of_scalars = std::tuple_size_v<std::remove_const_t<decltype(scalars)>>,
                          of_samples = std::tuple_size_v<std::remove_const_t<decltype(samples)>>;
    const auto record = [&](std::int64_t done) {
      if (done % plan.every != 0) return;
      const std::int64_t row = done / plan.every - 1;
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((get<I>(histories)(row) = get<I>(scalars)), ...);
      }(std::make_index_sequence<of_scalars>{});
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((get<of_scalars + I>(histories)(row) = get<I>(samples).of), ...);
      }(std::make_index_sequence<of_samples>{});
    };
    repeat_statement(plan.steps, where, [&] { run_statement(f, s.variables, parameters); }, record);
    return as_result(std::move(histories));
  }
}

}  // namespace dsl
