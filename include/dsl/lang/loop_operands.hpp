// The step of a loop at run time: its code and its operands.
#pragma once

#include <dsl/exec/loop/loop.hpp>
#include <dsl/lang/loop_step.hpp>

namespace dsl::detail {

/// The phases of a step but the last one, and the last one.
template <class Last, class... Earlier> struct phase_list {};
template <template <int> class Phase, class Numbers> struct phases_of;
template <template <int> class Phase, int... P>
struct phases_of<Phase, std::integer_sequence<int, P...>> {
  using type = phase_list<Phase<static_cast<int>(sizeof...(P))>, Phase<P>...>;
};
// Deduced for the reason given at `code_for`. `Reusing...`: the phases that reuse values, the last
// one first.
template <int Inputs, int Arguments, int States, int Stop, std::uint64_t StepArrays, int FirstValue,
          class Name, std::uint64_t Last, std::uint64_t... Earlier, std::uint64_t Alone,
          std::uint64_t... Reusing, class... Calls>
const loop_code& loop_code_for(std::type_identity<Name>,
                               phase_list<pass<Last, Calls...>, pass<Earlier, Calls...>...>,
                               pass<Alone, Calls...>, phase_list<pass<Reusing, Calls...>...>) {
  return loop_code_of<Name, Inputs, Arguments, States, Stop, StepArrays, pass<Last, Calls...>,
                      pass<Alone, Calls...>>(
      earlier_phases<FirstValue, pass<Earlier, Calls...>...>{},
      earlier_phases<FirstValue, pass<Reusing, Calls...>...>{});
}

/// Makes a loop's variables its first operands. A formula that only takes elements of one has left
/// its shape out.
template <class... S>
operand* bind_variables(const tuple<S&...>& variables, operand* operands) {
  operand* at = operands;
  unpack([&at](const auto&... v) { (add_leaves(as_operand(v), at), ...); }, variables);
  return operands;
}

/// The operands of a step that takes several phases: the step's leaves, numbers of elements, the
/// phases' values, the
/// positions of elements if a phase reads them, and the targets.
template <class Phases, class Step, class... Targets>
class operands_of_phases {
  static constexpr int leaves = leaf_count<Step>, targets = sizeof...(Targets),
                       counts = Phases::first_value - leaves,
                       before_positions = Phases::first_value + Phases::values + Phases::addresses;
  template <std::size_t... P>
  static constexpr bool count_positions(std::index_sequence<P...>) {
    return (counts_positions(Phases::template phase<static_cast<int>(P)>::elements::view(),
                             before_positions) ||
            ...);
  }
  static constexpr bool has_positions =
      count_positions(std::make_index_sequence<static_cast<std::size_t>(Phases::earlier) + 1>{});

 public:
  static constexpr int inputs = inputs_of_kernel<before_positions + (has_positions ? 1 : 0)>();

  template <class... S>
  operands_of_phases(const tuple<S&...>& variables, tuple<bound_target<Targets>&...> to,
                     const Step& step, device where) {
    operand* at = all_;
    add_leaves(step, at);
    bind_variables(variables, all_);
    require_leaves_fit<types_of_targets<Targets...>, Step>(all_);
    add_space_operands_of<typename lowered<types_of_targets<Targets...>, Step>::trace, counts>(
        all_, step);
    at += counts;
    add_values(at, where);
    if (has_positions) *at++ = position_operand();
    at = all_ + inputs;
    add_targets(to, at, std::index_sequence_for<Targets...>{});
  }
  const operand* data() const { return all_; }
  const std::vector<buffer_ref>& values() const { return values_; }

 private:
  // Values are computed before anything reads them. Arrays have the shape of the first variable
  // that is one.
  void add_values(operand*& at, device where) {
    constexpr std::size_t apart = 16;
    const operand* like = all_;
    while (like->kind != operand_kind::array && like != all_ + leaves - 1) ++like;
    values_.push_back(
        buffer_ref::allocate_briefly(apart * static_cast<std::size_t>(Phases::values), where));
    operand* const first = at;
    for (int k = 0; k < Phases::values; ++k) {
      operand& o = *at++;
      o.type = Phases::type_of_value(k);
      if (Phases::is_array(k)) {
        o.kind = operand_kind::array;
        o.rank = like->rank;
        std::int64_t stride = 1;
        for (int d = o.rank - 1; d >= 0; stride *= o.extents[d--]) {
          o.extents[d] = like->extents[d];
          o.strides[d] = stride;
        }
        values_.push_back(buffer_ref::allocate(o.extents, o.rank,
                                               static_cast<std::size_t>(size_of(o.type)), where));
        o.memory = values_.back().get();
        o.word[0] = reinterpret_cast<std::uintptr_t>(values_.back().data());
      } else {
        o.kind = operand_kind::device_scalar;
        o.memory = values_[0].get();
        o.word[0] = reinterpret_cast<std::uintptr_t>(values_[0].data()) +
                    apart * static_cast<std::uint64_t>(k);
      }
    }
    for (int a = 0; a < Phases::addresses; ++a) {
      const operand& of = first[Phases::value_of_address(a)];
      operand& o = *at++;
      o.kind = operand_kind::address;
      o.type = dtype::uint64;
      o.size = size_of(of.type);
      o.memory = of.memory;
      o.word[0] = of.word[0];
    }
  }
  template <std::size_t... I>
  void add_targets(tuple<bound_target<Targets>&...>& to, operand*& at, std::index_sequence<I...>) {
    const auto add = [&](auto& target, bool is_result) {
      operand* const mine = at;
      add_leaves(as_operand(target.elements()), at);
      if (is_result) align_with_axes(*mine, {Step::rank, ~0u});
      else mine->kind = operand_kind::array;
    };
    (add(get<I>(to), last_phase<Phases>::is_result(static_cast<int>(I))), ...);
  }

  operand all_[inputs + targets];
  std::vector<buffer_ref> values_;
};

/// `Stops`: a condition, the last output but one, ends the loop. `Keeps`: the kernel can keep the
/// state after each step.
template <int Arguments, bool Stops, bool Keeps = false, class... S, class... Extra, class Step>
DSL_DETAIL_RARE loop bind_loop(const tuple<S&...>& variables, tuple<Extra...>& extra,
                               const Step& step, const launch& fixed, strategy how) {
  constexpr int states = sizeof...(S), targets = states + static_cast<int>(sizeof...(Extra)),
                stop = Stops   ? targets - 2
                       : Keeps ? keeps_states
                               : never_ends;
  const tuple<S&..., Extra&...> all =
      concatenate(variables, unpack([](auto&... b) { return references(b...); }, extra));
  auto to = bind_targets(all);
  using step_lowered = lowered<types_of_targets<S..., Extra...>, Step>;
  constexpr std::uint64_t arrays = step_arrays_in<Step>;
  if constexpr (step_lowered::is_one_pass) {
    using assignment = assigned<tuple<S&..., Extra&...>, Step>;
    using pass = typename assignment::pass;
    assignment operands(all_targets(to), step);
    bind_variables(variables, operands.operands());
    operands.count_elements(step);
    return {loop_code_for<assignment::inputs, Arguments, states, stop, arrays, assignment::inputs>(
                kernel_name(step), phase_list<pass>{}, pass{}, phase_list<pass>{}),
            operands.operands(), fixed, how};
  } else {
    using phases = typename step_lowered::in_phases;
    const operands_of_phases<phases, Step, S..., Extra...> operands(variables, all_targets(to),
                                                                    step, device::current());
    using numbers = std::make_integer_sequence<int, phases::earlier>;
    using listed = phases_of<phases::template phase, numbers>;
    using reused = typename step_lowered::in_reusing_phases;
    using reusing =
        std::conditional_t<reused::is_possible, phases_of<reused::template phase, numbers>, listed>;
    const loop_code& code =
        loop_code_for<operands.inputs, Arguments, states, stop, arrays, phases::first_value>(
            kernel_name(step), typename listed::type{}, last_phase_alone<phases>{},
            typename reusing::type{});
    return {code, operands.data(), fixed, how, operands.values()};
  }
}

}  // namespace dsl::detail
