// Expressions and their targets at run time: the operands of one pass, or of several.
#pragma once

#include <dsl/exec/rows/chain.hpp>
#include <dsl/lang/assignable.hpp>
#include <dsl/lang/counts.hpp>
#include <dsl/lang/materialized.hpp>
#include <dsl/lang/repeated.hpp>
#include <dsl/lang/targets.hpp>

namespace dsl {

namespace detail {

#if defined(__CUDACC__)
inline const bool kernels_registered =
    compiles_cuda &&
    register_kernels();  // in the user's files; the library's own kernels do not count
#endif

// The kernel name of the first expression that has one. Deduced, for the reason given at
// `code_for`.
inline std::type_identity<unnamed> kernel_name() { return {}; }
template <class E, class... Rest>
auto kernel_name(const E&, const Rest&... rest) {
  return kernel_name(rest...);
}
template <template <class, class> class Function, class Name, class F, class... Operands,
          class... Rest>
  requires(!std::same_as<Name, unnamed>)
std::type_identity<Name> kernel_name(const expression<Function<Name, F>, Operands...>&,
                                     const Rest&...) {
  return {};
}
template <class F, int R, class E, class... Rest>
auto kernel_name(const reduction<F, R, E>& e, const Rest&... rest) {
  return kernel_name(get<0>(e.operands), rest...);
}

// nvcc prints a kernel's template arguments again in its own code, and cannot print a closure type.
// So they are deduced from values here, never named through the expression type.
template <int Inputs, bool HasPlanes = false, class Name, std::uint64_t Key, class... Calls>
const program_code& code_for(std::type_identity<Name>, pass<Key, Calls...>) {
  if constexpr (std::is_same_v<Name, unnamed> && Inputs == 1 &&
                only_moves(pass<Key, Calls...>::view())) {
    static const program_code moves = code_of_move(pass<Key, Calls...>::view());
    return moves;
  } else {
    return code_of<Name, pass<Key, Calls...>, Inputs, HasPlanes>();
  }
}

// Whether a formula returns integers that come from C++ scalars, for a target of another integer
// dtype: where(mask, 300, 400).
template <class Output>
constexpr bool narrows_scalars(target_type to) {
  if constexpr (is_symbol<Output>)
    return Output::type.weak && kind_of(to.type) == kind::integer &&
           kind_of(Output::type.type) == kind::integer && Output::type.type != to.type;
  else return false;
}
template <target_type... T, class... Output>
constexpr bool narrows_scalars(target_types<T...>, std::type_identity<tuple<Output...>>) {
  return (narrows_scalars<Output>(T) || ...);
}

/// For each leaf that is a C++ integer, the range it must be in.
template <class Assignment, int Leaves>
struct leaf_ranges {
  integer_range at[Leaves];

  constexpr leaf_ranges() {
    const graph g = Assignment::run();
    for (int i = 0; i < g.scalars.size(); ++i) at[i] = g.scalars[i];
  }
};

template <class E> reduction_axes reduction_axes_of(const E&) { return {E::rank, ~0u}; }
template <class F, int R, class... Operands>
reduction_axes reduction_axes_of(const reduction<F, R, Operands...>& e) {
  return {broadcast_rank<Operands...>(), e.axes};
}
// A formula of one reduction and scalars.
template <class F, class... Operands>
  requires((reductions_in<Operands> + ... + 0) > 0)
reduction_axes reduction_axes_of(const expression<F, Operands...>& e) {
  reduction_axes found{};
  unpack(
      [&found](const auto&... x) {
        ((found =
              reductions_in<std::remove_cvref_t<decltype(x)>> > 0 ? reduction_axes_of(x) : found),
         ...);
      },
      e.operands);
  return found;
}

/// The leaves of all expressions, one expression after another, and their index spaces; room for
/// `Counts` operands after the leaves.
template <int Counts, class... E>
struct leaves_of_expressions {
  static_assert(!(has_materialized<E> || ...),
                "scans and operations on whole arrays are evaluated before the statement");
  static constexpr int leaves = (0 + ... + leaf_count<E>), count = sizeof...(E),
                       space_count = (0 + ... + detail::space_count<E>);
  explicit leaves_of_expressions(const E&... e) {
    operand* at = all;
    reduced_space* space = spaces;
    int k = 0, leaf = 0;
    ((ranges[k++] = {static_cast<int>(at - all), leaf_count<E>}, add_leaves(e, at),
      add_spaces(e, space, leaf)),
     ...);
  }
  operand all[leaves + Counts];
  operand_range ranges[count];
  reduced_space spaces[space_count + 1];
};

/// Throws overflow_error if a leaf is a C++ integer outside the range of the dtype that the
/// expressions convert it to.
template <class Targets, class... E>
void require_leaves_fit([[maybe_unused]] const operand* leaves) {
  if constexpr (narrows_scalars(Targets{}, std::type_identity<outputs_of<E...>>{})) {
    constexpr int count = (0 + ... + leaf_count<E>);
    constexpr leaf_ranges<assignment<Targets, E...>, count> ranges;
    for (int i = 0; i < count; ++i) require_range(leaves[i], ranges.at[i]);
  }
}

/// Gives memory to targets that have none, for a pass on these operands. `reduced`: for each
/// target, the axes that are reduced. Independent of the formula, so that it is compiled once for
/// several formulas.
template <class... Targets>
DSL_DETAIL_SMALL void give_memory(const operand* all, int leaves, const pass_view& pass,
                                  const std::uint32_t* reduced, bound_target<Targets>&... to) {
  const device_guard of_targets(home_of(as_operand(to.target)...)),
      of_operands(home_of_operands(all, leaves));
  geometry g;
  lay_out(g, all, leaves, 0, 1, pass);
  (to.give_memory(g, *reduced++, pass, all), ...);
}

/// Expressions and their targets as one pass: its operands, before layout.
template <class TargetTuple, class... E> class assigned;
template <class... Targets, class... E>
class assigned<tuple<Targets&...>, E...> {
  static_assert(!(has_materialized<E> || ...),
                "scans and operations on whole arrays are evaluated before the statement");

 public:
  using types = types_of_targets<Targets...>;

 private:
  static_assert(
      lowered<types, E...>::is_one_pass,
      "this takes more than one kernel: evaluate the reductions in it first, with dsl::eval");
  static constexpr int leaves = (0 + ... + leaf_count<E>), targets = sizeof...(Targets),
                       expressions = sizeof...(E);

 public:
  using pass = typename lowered<types, E...>::one_pass::spelled;

 private:
  static constexpr int counts = count_operands(pass::view(), leaves),
                       before_positions = leaves + counts;

 public:
  static constexpr int inputs =
      inputs_of_kernel<before_positions +
                       (counts_positions(pass::elements::view(), before_positions) ? 1 : 0)>();

 private:
  using bound = tuple<bound_target<Targets>&...>;
  using target_numbers = std::index_sequence_for<Targets...>;
  static constexpr int expression_of(int target) { return detail::expression_of<E...>(target); }

 public:
  assigned(const bound& to, const E&... e) : axes_{reduction_axes_of(e)...} {
    operand* at = all_;
    (add_leaves(e, at), ...);
    if constexpr ((reductions_in<E> + ... + 0) > 0) {
      reduced_space spaces[(0 + ... + space_count<E>)], *space = spaces;
      int leaf = 0;
      (add_spaces(e, space, leaf), ...);
      check_shapes(spaces, static_cast<int>(space - spaces), all_);
    }
    if constexpr (expressions > 1 && pass::view().reduces_beside_arrays())
      check_one_space(target_numbers{});
    count_elements(e...);
    if (inputs > before_positions) all_[before_positions] = position_operand();
    require_leaves_fit<types, E...>(all_);
    give_memory_to(to, target_numbers{});
    at = all_ + inputs;
    add_targets(to, at, target_numbers{});
  }

  static const program_code& code(const E&... e) {
    return code_for<inputs, ((E::rank > 1) || ...)>(kernel_name(e...), pass{});
  }
  /// Inputs, then targets.
  operand* operands() { return all_; }
  /// Sets the operands that are numbers of elements, from the shapes of the leaves.
  void count_elements(const E&... e) {
    add_space_operands_of<typename lowered<types, E...>::trace, counts>(all_, e...);
  }

 private:
  template <std::size_t... I>
  void check_one_space(std::index_sequence<I...>) const {
    operand_range ranges[expressions];
    reduction_axes results[targets];
    int range = 0, first = 0, result = 0;
    ((ranges[range++] = {first, leaf_count<E>}, first += leaf_count<E>), ...);
    ((pass::is_result(static_cast<int>(I))
          ? void(results[result++] = axes_[expression_of(static_cast<int>(I))])
          : void()),
     ...);
    require_one_space(all_, ranges, expressions, results, result, pass::view());
  }
  template <std::size_t... I>
  void give_memory_to(const bound& to, std::index_sequence<I...>) {
    if (!(get<I>(to).needs_memory() || ...)) return;
    const std::uint32_t reduced[] = {(pass::is_result(static_cast<int>(I))
                                          ? axes_[expression_of(static_cast<int>(I))].axes
                                          : 0)...};
    give_memory(all_, leaves, pass::view(), reduced, get<I>(to)...);
  }
  template <std::size_t... I>
  void add_targets(const bound& to, operand*& at, std::index_sequence<I...>) {
    (add_target<static_cast<int>(I), Targets>(get<I>(to), at), ...);
  }
  template <int I, class Target>
  void add_target(bound_target<Target>& target, operand*& at) {
    operand* const mine = at;
    add_leaves(as_operand(target.elements()), at);
    if constexpr (pass::is_result(I)) align_with_axes(*mine, axes_[expression_of(I)]);
    else
      // A scalar target of an elementwise expression is an array of rank 0.
      mine->kind = operand_kind::array;
  }

  operand all_[inputs + targets];
  reduction_axes axes_[expressions];
};

// The codes of a statement's passes: of a single pass, or of a chain.
template <class Name, class Pass, int... Input>
std::array<const program_code*, 1> codes_for(std::type_identity<Name> name,
                                             pass_chain<chain_phase<Pass, Input...>>) {
  // Not initialised with braces: nvcc writes an extra pair around one value.
  std::array<const program_code*, 1> one{};
  one[0] = &code_for<inputs_of_kernel<static_cast<int>(sizeof...(Input))>()>(name, Pass{});
  return one;
}
template <class Name, class... Phase>
std::array<const program_code*, sizeof...(Phase)> codes_for(std::type_identity<Name>,
                                                            pass_chain<Phase...>) {
  static_assert(((inputs_of_kernel<Phase::inputs>() == Phase::inputs) && ...));
  const chain_code& chain = code_of_chain<Name, pass_chain<Phase...>>();
  std::array<const program_code*, sizeof...(Phase)> codes;
  for (std::size_t i = 0; i != sizeof...(Phase); ++i) codes[i] = chain.phase + i;
  return codes;
}

/// A statement of several passes, with its leaves.
template <class Scheduled, class... E>
class assigned_in_passes {
  static constexpr int leaves_of_trace = Scheduled::plan.leaves,
                       leaves_of_all = (0 + ... + leaf_count<E>),
                       counts =
                           leaves_of_trace > leaves_of_all ? leaves_of_trace - leaves_of_all : 0;

 public:
  assigned_in_passes(int targets, const E&... e)
      : leaves_(e...),
        codes_(codes_for(kernel_name(e...), typename Scheduled::chain{})),
        passes({Scheduled::view, codes_.data(), leaves_.all, leaves_.spaces, leaves_.space_count,
                leaves_.ranges, leaves_.count, targets}) {
    add_space_operands<typename Scheduled::trace, counts, E...>(leaves_.all, leaves_.spaces);
  }

  const operand* leaves() const { return leaves_.all; }

 private:
  leaves_of_expressions<counts, E...> leaves_;
  std::array<const program_code*, static_cast<std::size_t>(Scheduled::passes)> codes_;

 public:
  evaluation passes;
};

/// Calls use(passes) for expressions that take several passes, bound to their targets.
template <class... Targets, class... E, class Use, std::size_t... I>
auto with_passes(tuple<bound_target<Targets>...>& to, std::index_sequence<I...>, const Use& use,
                 const E&... e) {
  using types = types_of_targets<Targets...>;
  const device_guard of_targets(home_of(as_operand(get<I>(to).target)...)),
      of_operands(home_of(e...));
  assigned_in_passes<typename lowered<types, E...>::several, E...> all(sizeof...(Targets), e...);
  require_leaves_fit<types, E...>(all.leaves());
  const auto bind = [&all](auto& target, int number) {
    if (target.needs_memory()) {
      const evaluation::source from = all.passes.source_of(number);
      target.give_memory(from.space, from.reduced, *from.pass, from.inputs);
    }
    operand o, *at = &o;
    add_leaves(as_operand(target.elements()), at);
    all.passes.bind(number, o);
  };
  (bind(get<I>(to), static_cast<int>(I)), ...);
  return use(all.passes);
}

}  // namespace detail
}  // namespace dsl
