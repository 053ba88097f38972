// Scans as expressions: their trace, their evaluation, and how they stand in other expressions.
#pragma once

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/scan/scan.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/expression_shape.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl {

namespace detail {

/// A scan, evaluated when it is assigned, or before the statement of which it is an operand. A is
/// the accumulator's dtype, R the result's.
template <class Operator, dtype A, dtype R, int Rank, class Operand>
struct scan_expression {
  using lazy_expression = void;
  static constexpr int rank = Rank;
  Operand operand;
  scan_request request;
};

template <class Operator, dtype A, dtype R, int Rank, class Operand>
inline constexpr bool is_materialized<scan_expression<Operator, A, R, Rank, Operand>> = true;

template <class Operator, dtype A, dtype R, int Rank, class Operand>
struct traced<scan_expression<Operator, A, R, Rank, Operand>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::load, R>(t, Rank); }
};

/// The extents of a scan's values.
template <class Operator, dtype A, dtype R, int Rank, class Operand>
dsl::extents<Rank> shape_of_scan(const scan_expression<Operator, A, R, Rank, Operand>& e) {
  const auto shape = shape_of_expression(e.operand);
  if constexpr (Rank == Operand::rank) return shape;
  else return {element_count(shape.data(), Operand::rank, 1)};
}
/// The scan as one leaf: its shape and the device of its operand. It has no address, because its
/// values take its place before a kernel reads them.
template <class Operator, dtype A, dtype R, int Rank, class Operand>
void add_leaves(const scan_expression<Operator, A, R, Rank, Operand>& e, operand*& at) {
  const leaves_of<Operand> leaves(e.operand);
  set_shape_of_values(*at++, R, Rank, shape_of_scan(e).data(), leaves.at, leaf_count<Operand>);
}
/// The same scan of the operand that `map` gives for its own.
template <class Operator, dtype A, dtype R, int Rank, class Operand, class Map>
auto map_operands(const scan_expression<Operator, A, R, Rank, Operand>& e, const Map& map) {
  return scan_expression<Operator, A, R, Rank, decltype(map(e.operand))>{map(e.operand), e.request};
}
template <class Operator, dtype A, dtype R, int Rank, class Operand>
auto materialize(const scan_expression<Operator, A, R, Rank, Operand>& e) {
  return array<element_t<R>, Rank>(e);
}
/// Memory for the values of a scan on its device.
template <class Operator, dtype A, dtype R, int Rank, class Operand>
auto memory_for_values(const scan_expression<Operator, A, R, Rank, Operand>& e) {
  return array<element_t<R>, Rank>(shape_of_scan(e), device_of(e));
}

/// A row of the op table as an operator.
template <op Code>
struct table_operator {
  template <class A, class B>
    requires(is_symbol<A> && is_symbol<B>)
  constexpr auto operator()(A a, B b) const {
    return apply<Code>(a, b);
  }
};

template <class F, dtype D> inline constexpr bool is_traceable =
    is_callable<F, symbol<D>, symbol<D>>;

/// The operator's graph: op::value 0 is its first operand, op::value 1 its second.
template <class F, dtype D>
struct operator_trace {
  static constexpr graph run() {
    graph g;
    tracer t{&g};
    const symbol<D> first = operand_symbol<op::value, D>(t),
                    second = operand_symbol<op::value, D>(t);
    const auto joined = [&] {
      if constexpr (is_traceable<F, D>) {
        return lift(&g, F{}(first, second));
      } else {
        return functor<unnamed, F>::trace(t, first, second);
      }
    }();
    g.outputs.push_back(convert_symbol<D, false>(joined).id);
    return g;
  }
};
template <class F, dtype D>
constexpr auto operator_program() {
  if constexpr (is_traceable<F, D>) return program_of<operator_trace<F, D>>{};
  else return program_of<operator_trace<F, D>, call<F, D, D>>{};
}

/// The graph of the elements, in the accumulator's dtype.
template <class Operand, dtype A>
struct element_trace {
  static constexpr graph run() {
    graph g;
    tracer t{&g};
    const auto element = traced<Operand>::run(t);
    static_assert(
        kind_of(A) == kind::complex || kind_of(decltype(element)::type.type) != kind::complex,
        "a complex number has no real value: take real(x), imag(x) or abs(x)");
    g.outputs.push_back(convert_symbol<A, false>(element).id);
    g.operands = t.operands;
    make_space_operands(g);
    return g;
  }
};
template <class Calls, class Operand, dtype A> struct element_pass;
template <class... Calls, class Operand, dtype A>
struct element_pass<tuple<Calls...>, Operand, A> {
  using one_pass = compile<element_trace<Operand, A>, Calls...>;
  using several = scheduled<element_trace<Operand, A>, Calls...>;
  static constexpr bool reduces = [] {
    if constexpr (one_pass::is_one_pass) return one_pass::spelled::reductions::count > 0;
    else return false;
  }();
};

// Deduced, not named, for the reason given at `code_for`.
template <dtype Target, int Inputs, std::uint64_t Elements, class... OfElements, std::uint64_t Key,
          class... Calls>
const scan_code& scan_code_for(pass<Elements, OfElements...>, program<Key, Calls...>) {
  return scan_code_of<
      scan_program<pass<Elements, OfElements...>, program<Key, Calls...>, Target, Inputs>>();
}

/// Calls use(scan, operands) for a scan of the elements of a pass. The pass's inputs are the first
/// elements of `all`, which has room for the target after them.
template <int Inputs, class Target, class Operator, dtype A, dtype R, int Rank, class Operand,
          class Pass, class Use>
void with_scan(Target& target, const scan_expression<Operator, A, R, Rank, Operand>&, operand* all,
               Pass elements, const Use& use) {
  using T = typename std::remove_cvref_t<Target>::value_type;
  constexpr bool flat = Rank != Operand::rank || Rank == 1;
  const scan_code& code =
      scan_code_for<dtype_v<T>, Inputs>(elements, operator_program<Operator, A>());
  geometry g;
  lay_out(g, all, Inputs, 0, 1, code.view);
  const auto use_for = [&](const auto& to) {
    operand* at = all + Inputs;
    add_leaves(as_operand(to), at);
    fit_scan_target(all[Inputs], g.shape, g.shape_rank, flat);
    use(code, all);
  };
  if constexpr (is_array<std::remove_cvref_t<Target>>) {
    if (!target.has_memory()) {
      dsl::extents<Rank> sizes{g.elements};
      if constexpr (!flat) sizes = first_of<Rank>(g.shape);
      array<T, Rank> made(sizes, g.where);
      use_for(made);
      target = std::move(made);
      return;
    }
  }
  use_for(target);
}

/// The same for an operand that is computed by one pass.
template <class Target, class Operator, dtype A, dtype R, int Rank, class Operand, class Use>
void with_scan_of_one_pass(Target& target, const scan_expression<Operator, A, R, Rank, Operand>& e,
                           const Use& use) {
  using pass_type =
      typename element_pass<typename calls_of<Operand>::type, Operand, A>::one_pass::spelled;
  constexpr int leaves = leaf_count<Operand>, counts = count_operands(pass_type::view(), leaves),
                inputs = inputs_of_kernel<leaves + counts>();
  operand all[inputs + 1], *at = all;
  add_leaves(e.operand, at);
  add_space_operands_of<element_trace<Operand, A>, counts>(all, e.operand);
  with_scan<inputs>(target, e, all, pass_type{}, use);
}

/// Evaluates a scan, after the reductions and scans inside its operand.
template <class Target, class Operator, dtype A, dtype R, int Rank, class Operand>
void assign_scan(Target& target, const scan_expression<Operator, A, R, Rank, Operand>& e) {
  using compiled = element_pass<typename calls_of<Operand>::type, Operand, A>;
  const auto run = [&e](const scan_code& code, const operand* all) {
    run_scan(code, all, e.request);
  };
  if constexpr (has_materialized<Operand>) {
    const device_guard guard(home_of(e.operand, as_operand(target)));
    assign_scan(target, map_operands(e, [](const auto& x) { return materialize_operands(x); }));
  } else if constexpr (compiled::one_pass::is_one_pass && compiled::reduces) {
    static_assert(result_rank<Operand> > 0,
                  "a formula with reductions gives one value, not the elements of a scan");
    if constexpr (result_rank<Operand> > 0) {
      const device_guard guard(home_of(e.operand, as_operand(target)));
      const auto values = eval(e.operand);
      assign_scan(target, scan_expression<Operator, A, R, Rank, operand_t<decltype(values)>>{
                              as_operand(values), e.request});
    }
  } else if constexpr (compiled::one_pass::is_one_pass) {
    with_scan_of_one_pass(target, e, run);
  } else {
    using scheduled = typename compiled::several;
    constexpr int last = scheduled::passes - 1,
                  inputs = inputs_of_kernel<scheduled::plan.pass[last].inputs>();
    const device_guard guard(home_of(e.operand, as_operand(target)));
    assigned_in_passes<scheduled, Operand> before(0, e.operand);
    operand all[inputs + 1];
    for (int i = 0; i < inputs; ++i) all[i] = before.passes.last_inputs()[i];
    before.passes.assign_all_but_last();
    with_scan<inputs>(target, e, all, typename scheduled::template pass<last>{}, run);
  }
}

}  // namespace detail

/// Evaluates a scan into an array or a view of its shape. One pass over memory; two for a scan
/// along an axis if there are few columns. Reductions inside its operand are evaluated first. Does
/// not wait.
template <class Target, class Operator, dtype A, dtype R, int Rank, class Operand>
void assign(Target&& target, const detail::scan_expression<Operator, A, R, Rank, Operand>& e) {
  using target_type = std::remove_cvref_t<Target>;
  static_assert(target_type::rank == Rank,
                "a scan has the rank of its operand, or 1 where no axis is given");
  static_assert(detail::is_writable<std::remove_reference_t<Target>>,
                "the target is const: an array that is, or a view that only reads");
  constexpr dtype to = dtype_v<typename target_type::value_type>;
  constexpr bool is_real = detail::require_real_value<to, R>(),
                 is_wide_enough = assignable(to, {R});
  static_assert(
      is_wide_enough || !is_real,
      "the target's dtype is narrower than the scan's: use cumsum<T>(x), or dsl::cast on x");
  detail::assign_scan(target, e);
}

namespace detail {

/// Calls use(code, operands) for a scan without running it, and returns the result.
template <class Result, class Target, class Operator, dtype A, dtype R, int Rank, class Operand,
          class Use>
Result of_scan(Target& target, const scan_expression<Operator, A, R, Rank, Operand>& e,
               const Use& use) {
  using compiled = element_pass<typename calls_of<Operand>::type, Operand, A>;
  constexpr bool is_one_kernel =
      compiled::one_pass::is_one_pass && !compiled::reduces && !has_materialized<Operand>;
  static_assert(is_one_kernel,
                "plan_of and explain take a scan of one kernel: dsl::eval the reductions and scans "
                "inside first");
  Result made;
  if constexpr (is_one_kernel) {
    const auto make = [&](const scan_code& code, const operand* all) { made = use(code, all); };
    const auto with = [&](auto& into) { with_scan_of_one_pass(into, e, make); };
    std::conditional_t<is_array<Target>, Target, int> fresh{};
    if constexpr (is_array<Target>) with(target.has_memory() ? target : fresh);
    else with(target);
  }
  return made;
}

}  // namespace detail

/// How a scan would run: tiles or chunks, grid, registers, cost. Runs nothing. Throws as the
/// assignment would.
template <class Target, class Operator, dtype A, dtype R, int Rank, class Operand>
scan_plan plan_of(Target& target, const detail::scan_expression<Operator, A, R, Rank, Operand>& e) {
  return detail::of_scan<scan_plan>(
      target, e, [&e](const detail::scan_code& code, const detail::operand* all) {
        return detail::plan_scan(code, all, e.request);
      });
}
/// Describes what a scan would do, like `explain` of other assignments.
template <class Target, class Operator, dtype A, dtype R, int Rank, class Operand>
explanation explain(Target& target,
                    const detail::scan_expression<Operator, A, R, Rank, Operand>& e) {
  return detail::of_scan<explanation>(
      target, e, [&e](const detail::scan_code& code, const detail::operand* all) {
        return detail::explain_scan(code, all, e.request);
      });
}

/// Evaluates a scan now, into an array. Does not wait.
template <class Operator, dtype A, dtype R, int Rank, class Operand>
auto eval(const detail::scan_expression<Operator, A, R, Rank, Operand>& e) {
  return array<element_t<R>, Rank>(e);
}

}  // namespace dsl
