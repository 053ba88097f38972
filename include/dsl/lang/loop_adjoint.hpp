// A time loop and its adjoint, step by step.
#pragma once

#include <memory>

#include <dsl/lang/checkpoints.hpp>
#include <dsl/lang/differentiated_variables.hpp>
#include <dsl/lang/kept_states.hpp>
#include <dsl/lang/step_adjoint.hpp>

namespace dsl::detail {

/// The expression of a loop's step: of the variables, and of the parameters in step k.
template <class F, class State, class Parameters>
auto step_of(const State& s, const Parameters& parameters, const value_leaf<std::int64_t>& k) {
  return unpack(
      [&](const auto&... v) {
        return unpack(
            [&](const auto&... p) {
              return vectorized<unnamed, F>{}(v..., at_step(as_operand(p), k)...);
            },
            parameters);
      },
      s);
}

/// Throws shape_error if a parameter with axes has another shape than the variables that have axes.
void require_parameter_shape(int number, const operand& parameter, const operand* variables,
                             int count);
/// Throws value_error if one of a parameter's leaves may have an element of a variable.
void require_apart(int number, const operand* leaves, int leaf_count, const operand* variables,
                   int count);

/// A loop and its adjoint. `history_weights`: if the loss reads the histories of the variables that
/// are scalars, an array for each of these, with the weight of its value after each step.
template <class F, class Variables, class Parameters, class HistoryWeights> class reversed_loop;
template <class F, class... V, class... P, class HistoryWeights>
class reversed_loop<F, tuple<V...>, tuple<P...>, HistoryWeights> {
 public:
  using state = tuple<V...>;

  /// `first`: the state before the first step.
  reversed_loop(state first, const tuple<const P&...>& parameters, std::int64_t first_step)
      : first_(std::move(first)), parameters_(parameters), first_step_(first_step) {}

  state weights;
  HistoryWeights history_weights;
  tuple<decltype(derivative_memory(std::declval<const P&>()))...> derivatives;

  /// Checks the parameters beside the caller's variables. Throws shape_error if one with a
  /// derivative for each element has another shape, value_error if one reads a variable.
  template <class... X>
  void require_parameters(const X&... variables) const {
    operand of[sizeof...(X)], *at = of;
    (add_leaves(as_operand(variables), at), ...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (require_parameter<I>(of), ...);
    }(std::index_sequence_for<P...>{});
  }

  /// Whether the adjoint of a step reads the state before it, so that states are kept.
  static constexpr bool reads_states() { return !backward::is_loop || backward::reads_state; }
  /// Runs the adjoint of all steps, with at most `places` states in memory.
  /// `turn(place)`: called once, when the state before the last step is at a place; not if
  /// no states are kept.
  template <class Turn>
  void run(std::int64_t steps, std::int64_t places, const Turn& turn) {
    if (steps == 0) return;
    if constexpr (!reads_states()) return adjoin_in_loop(0, 0, steps);
    kept_ = std::make_unique<kept_states<V...>>(first_, std::min(steps, places));
    move(first_, kept(0));
    keeps_in_loop_ =
        !is_mesh(get<0>(first_).where()) &&
        with_steps(references_to(spare()), [](const auto& of) { return of.can_keep_states(); });
    bool turned = false;
    reverse_steps(
        steps, places,
        [this](std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t n) {
          advance(from, to, first, n);
        },
        [&](std::int64_t at, std::int64_t first, std::int64_t n) {
          keep_each(at, first, n - 1);
          if (!turned) turn(at + n - 1);
          turned = true;
          adjoin(at, first, n);
        });
  }
  /// Checks the variables as `iterate` does.
  template <class... X>
  void require_variables(const tuple<X&...>& variables) const {
    with_steps(variables, [](const auto&) { return 0; });
  }
  /// Sets variables to the state after a step, from the one before it, at a place.
  template <class... X>
  void finish(std::int64_t at, std::int64_t step, const tuple<X&...>& to) {
    if (!keeps_in_loop_) return run_step(kept(at), to, step);
    move(kept(at), spare());
    run_loop_of_steps(step, 1, -1);
    move(spare(), to);
  }

 private:
  using numbers = std::index_sequence_for<V...>;
  using kept_state = typename kept_states<V...>::state;

  template <class From, class To>
  void run_step(const From& from, To&& to, std::int64_t step) const {
    const auto next = step_of<F>(from, parameters_, value_leaf<std::int64_t>{first_step_ + step});
    unpack([&](auto&... v) { dsl::tie(v...) = next; }, to);
  }
  // Calls use(loop) for the loop of the steps, which can keep its states.
  template <class... X, class Use>
  auto with_steps(const tuple<X&...>& variables, const Use& use) const {
    return unpack(
        [&](auto&... v) {
          return unpack(
              [&](const auto&... p) {
                return with_loop<true>(vectorized<unnamed, F>{}, dsl::state(v...), use, p...);
              },
              parameters_);
        },
        variables);
  }
  // Runs steps of the spare state as a loop, which keeps the states after them at the places from
  // `to` on; -1: at none.
  void run_loop_of_steps(std::int64_t first, std::int64_t steps, std::int64_t to) {
    operand places[sizeof...(V)], *at = places;
    if (to >= 0) unpack([&](const auto&... x) { (add_leaves(x, at), ...); }, kept(to));
    for (operand& o : places) {
      // The loop writes this many elements.
      o.extents[0] =
          steps * distance_of_states(element_count(o.extents, o.rank, 1), size_of(o.type));
      o.rank = 1;
    }
    const loop_schedule all = loop_schedule::of(steps, first_step_ + first, 1);
    with_steps(references_to(spare()),
               [&](auto&& of) { return of.run({all, 0, steps, places}, nullptr); });
  }

  // Runs `steps` steps from the state at place `from` to that at place `to`.
  //
  // A loop may add in another order than a statement. So that the bits do not depend on the number
  // of states that are kept, all steps that reduce are run alike; so are those whose statement is
  // another formula than a loop's (`element_at_step`).
  void advance(std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t steps) {
    constexpr bool differs =
        has_reductions<step_formula> || (has_element_at_step<operand_t<P>> || ...);
    if (keeps_in_loop_ || (steps > 1 && !differs)) {
      move(kept(from), spare());
      run_loop_of_steps(first, steps, -1);
      return move(spare(), kept(to));
    }
    kept_state &source = kept(from), &target = kept(to);
    for (std::int64_t k = 0; k < steps; ++k) {
      const bool to_target = (steps - k) % 2 != 0;
      if (k == 0 && to_target) run_step(source, target, first);
      else if (k == 0) run_step(source, spare(), first);
      else if (to_target) run_step(spare(), target, first + k);
      else run_step(target, spare(), first + k);
    }
  }
  // Runs steps from the state at a place, and keeps the states after them at the following places.
  void keep_each(std::int64_t at, std::int64_t first, std::int64_t steps) {
    if (steps > 0 && keeps_in_loop_) {
      move(kept(at), spare());
      return run_loop_of_steps(first, steps, at + 1);
    }
    for (std::int64_t k = 0; k < steps; ++k) run_step(kept(at + k), kept(at + k + 1), first + k);
  }
  // Runs the adjoint of `steps` steps, the first of number `first`. The states before them are at
  // the places from `at` on.
  void adjoin(std::int64_t at, std::int64_t first, std::int64_t steps) {
    if constexpr (backward::is_loop) {
      // On a mesh no two states lie side by side.
      const std::int64_t at_once = is_mesh(get<0>(first_).where()) ? 1 : steps;
      for (std::int64_t k = steps - at_once; k >= 0; k -= at_once)
        adjoin_in_loop(at + k, first + k, at_once);
    } else {
      for (std::int64_t k = steps - 1; k >= 0; --k) adjoin_step(kept(at + k), first + k);
    }
  }
  void adjoin_step(const kept_state& s, std::int64_t step) {
    auto so_far = own_derivatives();
    const auto all = adjoint_of_step(s, value_leaf<std::int64_t>{first_step_ + step},
                                     weights_after(step, numbers{}), so_far);
    state& before = spare();
    unpack([&](auto&... to) { dsl::tie(to...) = all; },
           concatenate(references_to(before), so_far, targets_of_taken(taken_)));
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (add_taken<takes::reads.at[K].axis>(weights_of_argument<takes::reads.at[K].argument>(before),
                                          get<K>(taken_)),
       ...);
    }(takes::numbers);
    std::swap(weights, before);
  }
  // The same as a loop. The steps are counted from the last one on.
  void adjoin_in_loop(std::int64_t at, std::int64_t first, std::int64_t steps) {
    const std::int64_t last = first + steps - 1;
    unpack(
        [&](auto&... variable) {
          unpack(
              [&](const auto&... operand) {
                iterate(steps, vectorized<unnamed, typename backward::step>{},
                        dsl::state(variable...), operand..., no_histories{});
              },
              operands_of_loop(at, steps, last));
        },
        concatenate(references_to(weights), own_derivatives()));
  }
  auto operands_of_loop(std::int64_t at, std::int64_t steps, std::int64_t last) {
    const auto states = [&]<std::size_t I>() {
      if constexpr (!backward::template reads<I>) return tuple<>{};
      else return tuple{kept_->template in_reverse<I>(at, steps)};
    };
    const auto histories = [&]<std::size_t I>() {
      if constexpr (!has_history<I>) return tuple<>{};
      else return tuple{take(history_weight<I>(), last - dsl::step)};
    };
    return concatenate(
        as_operands(first_),
        unpack(
            [&](const auto&... p) {
              return tuple{at_step(as_operand(p), (first_step_ + last) - dsl::step)...};
            },
            parameters_),
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          return concatenate(states.template operator()<I>()...,
                             histories.template operator()<I>()...);
        }(numbers{}));
  }
  static state like(const state& s) {
    return unpack([](const auto&... v) { return state{like_variable(v)...}; }, s);
  }
  template <class X>
  static X like_variable(const X& v) {
    if constexpr (X::rank == 0) return X(typename X::value_type{}, v.where());
    else return X(v.extents(), v.where());
  }
  template <class From, class To>
  static void move(const From& from, To& to) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((get<I>(to) = as_operand(get<I>(from))), ...);
    }(numbers{});
  }
  template <std::size_t I> static constexpr bool has_history =
      std::tuple_size_v<HistoryWeights> > 0 && is_scalar<std::tuple_element_t<I, state>>&&
                                               is_differentiated<std::tuple_element_t<I, state>>();
  template <std::size_t I> auto history_weight() const {
    return as_operand(get<count_before<is_scalar<V>...>(I)>(history_weights));
  }
  // The weights of the variables after a step.
  template <std::size_t... I>
  auto weights_after([[maybe_unused]] std::int64_t step, std::index_sequence<I...>) const {
    const auto one = [&]<std::size_t K>() {
      const auto of_last = as_operand(get<K>(weights));
      if constexpr (has_history<K>) return of_last + history_weight<K>()(step);
      else return of_last;
    };
    return tuple{one.template operator()<I>()...};
  }
  template <class S>
  static auto as_operands(const S& s) {
    return unpack([](const auto&... v) { return tuple{as_operand(v)...}; }, s);
  }
  static auto references_to(state& s) {
    return unpack([](auto&... v) { return tuple<V&...>(v...); }, s);
  }
  using step_formula =
      decltype(step_of<F>(std::declval<const state&>(), std::declval<const tuple<const P&...>&>(),
                          value_leaf<std::int64_t>{}));
  static constexpr std::uint64_t inputs = [] {
    std::uint64_t bits = 0, bit = 1;
    ((bits |= is_differentiated<V>() ? bit : 0, bit <<= 1), ...);
    ((bits |= is_differentiated<P>() ? bit : 0, bit <<= 1), ...);
    return bits;
  }();
  using takes = takes_of<step_formula, inputs>;
  static constexpr int rank = broadcast_rank<step_formula, V...>();

  // The expression of a step's adjoint, of the state before it and the weights after it.
  template <class S, class K, class Weights, class D>
  auto adjoint_of_step(const S& s, const K& k, const Weights& after, const D& so_far) const {
    return unpack(
        [&](const auto&... p) {
          return unpack(
              [](const auto&... x) {
                return vectorized<unnamed, step_adjoint<F, sizeof...(V), sizeof...(P), takes>>{}(
                    x...);
              },
              concatenate(as_operands(s), tuple{at_step(as_operand(p), k)...}, after,
                          as_operands(so_far)));
        },
        parameters_);
  }
  // A step's adjoint as the step of a loop.
  struct backward {
    using adjoint = decltype(std::declval<reversed_loop&>().adjoint_of_step(
        std::declval<const state&>(), value_leaf<std::int64_t>{},
        std::declval<reversed_loop&>().weights_after(0, numbers{}),
        std::declval<reversed_loop&>().own_derivatives()));
    static constexpr std::uint64_t of_state = reads_of_state<adjoint, sizeof...(V)>();
    template <std::size_t I> static constexpr bool reads = (of_state >> I & 1) != 0;
    static constexpr bool reads_state = of_state != 0;
    static constexpr std::uint64_t recorded = [] {
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return (std::uint64_t{0} | ... | (has_history<I> ? std::uint64_t{1} << I : 0));
      }(numbers{});
    }();
    using own = decltype(std::declval<reversed_loop&>().own_derivatives());
    using step = backward_step<F, sizeof...(V), std::tuple_size_v<own>, sizeof...(P), takes,
                               of_state, recorded>;
    static constexpr bool is_loop = [] {
      if constexpr (takes::reads.count > 0) return false;
      else {
        using variables = decltype(concatenate(std::declval<tuple<V&...>>(), std::declval<own>()));
        using operands = decltype(std::declval<reversed_loop&>().operands_of_loop(0, 0, 0));
        using formula = decltype(unpack(
            [](const auto&... x) { return vectorized<unnamed, step>{}(x...); },
            concatenate(as_operands(std::declval<variables>()), std::declval<operands>())));
        return is_step_of_loop<variables, formula>();
      }
    }();
  };

  // A parameter with a derivative that is not only a table of which elements are taken.
  template <std::size_t I> static constexpr bool is_own =
      ((inputs & ~takes::tables) >> (sizeof...(V) + I) & 1) != 0;
  template <std::size_t I>
  void require_parameter(const operand (&of)[sizeof...(V)]) const {
    constexpr int number = static_cast<int>(I), count = static_cast<int>(sizeof...(V));
    const auto& parameter = get<I>(parameters_);
    const leaves_of<operand_t<std::tuple_element_t<I, tuple<P...>>>> leaves(as_operand(parameter));
    require_apart(number, leaves.at, static_cast<int>(std::size(leaves.at)), of, count);
    if constexpr (is_own<I>) require_parameter_shape(number, leaves.at[0], of, count);
  }
  auto own_derivatives() {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return concatenate([&] {
        if constexpr (!is_own<I>) return tuple<>{};
        else return tuple<std::tuple_element_t<I, decltype(derivatives)>&>(get<I>(derivatives));
      }()...);
    }(std::index_sequence_for<P...>{});
  }
  template <int Argument>
  auto& weights_of_argument(state& before) {
    constexpr auto at = static_cast<std::size_t>(Argument);
    if constexpr (at < sizeof...(V)) return get<at>(before);
    else return get<at - sizeof...(V)>(derivatives);
  }
  state& spare() {
    if (!has_spare_) {
      spare_ = like(first_);
      has_spare_ = true;
    }
    return spare_;
  }
  kept_state& kept(std::int64_t place) { return (*kept_)[place]; }
  state first_;
  tuple<const P&...> parameters_;
  std::int64_t first_step_;
  std::unique_ptr<kept_states<V...>> kept_;
  state spare_;
  bool has_spare_ = false, keeps_in_loop_ = false;
  all_taken_weights<takes, rank> taken_;
};

}  // namespace dsl::detail
