// Operations on whole arrays, which no formula's kernel contains: products of matrices, transforms.
#pragma once

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/expression_shape.hpp>
#include <dsl/lang/functions.hpp>
#include <dsl/lang/may_read.hpp>
#include <dsl/lang/tied_apart.hpp>

namespace dsl {

namespace detail {

/// An operation on whole arrays: evaluated when it is assigned, or before the statement of which it
/// is an operand. Its arguments are in memory when it runs: arrays and views as they lie,
/// expressions evaluated before. D is the result's dtype.
///
/// An Operation is a small value with
/// - `static constexpr dtype argument_types[]`: the dtypes that the arguments are converted to;
/// - `static bool takes(const operand& argument)`: whether it reads elements that lie like this. If
///   not, it gets a contiguous copy;
/// - `extents<Rank> shape(const extents<R>&... arguments) const`: the result's extents. Throws
///   shape_error;
/// - `void run(const operand& result, const operand* arguments) const`: queues the operation on the
///   current stream of the result's device. The result is contiguous and apart from the arguments.
///   Or `prepare`, with the same parameters, which does what may fail, and writes nothing: its
///   value has a function `run()`, which does the rest;
/// - `text describe(const operand* arguments) const`: one line for `explain`;
/// - `static constexpr bool in_place`, if it is there: whether the result may also be in the memory
///   of the only argument, if both have the same dtype and extents;
/// - `static bool writes(const operand& result)`, if it is there: whether it writes elements that
///   lie like this. Then the result need not be contiguous;
/// - `auto converted(const auto& argument) const`, if it is there: what it gets in place of an
///   argument that it does not take as it lies. By default that is the argument, of its dtype;
/// - `static bool takes_conjugates(const operand& argument)`, if it is there: whether it reads the
///   conjugates of elements that lie like this. Then `run` has a third parameter, a bit for each
///   argument of which it is to.
///
/// An operation may name a `statement` instead of `run` and `takes`: what evaluates whole
/// statements in which such operations stand, formulas and all. It has
/// - `static constexpr bool takes<Target, E>()`: whether it evaluates `target = e`. It does if e is
///   the operation;
/// - `static void assign(const launch& fixed, Target& target, const E& e)`;
/// - `static explanation explain(Target& target, const E& e)`;
/// - `static plan plan_of(const launch& fixed, Target& target, const E& e)`.
template <class Operation, dtype D, int Rank, class... Arguments>
struct array_operation {
  using lazy_expression = void;
  static constexpr int rank = Rank;
  Operation operation;
  tuple<Arguments...> arguments;
};

template <class Operation, dtype D, int Rank, class... Arguments>
inline constexpr bool is_materialized<array_operation<Operation, D, Rank, Arguments...>> = true;

template <class Operation, dtype D, int Rank, class... Arguments>
  requires requires { typename Operation::statement; }
struct statement_with<array_operation<Operation, D, Rank, Arguments...>> {
  using type = typename Operation::statement;
};

template <class Operation, dtype D, int Rank, class... Arguments>
struct traced<array_operation<Operation, D, Rank, Arguments...>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::load, D>(t, Rank); }
};

template <class Operation, dtype D, int Rank, class... Arguments>
dsl::extents<Rank> shape_of_values(const array_operation<Operation, D, Rank, Arguments...>& e) {
  return unpack([&e](const auto&... x) { return e.operation.shape(shape_of_expression(x)...); },
                e.arguments);
}
/// The operation as one leaf: its shape, and the device of its arguments.
template <class Operation, dtype D, int Rank, class... Arguments>
void add_leaves(const array_operation<Operation, D, Rank, Arguments...>& e, operand*& at) {
  constexpr int count = (0 + ... + leaf_count<Arguments>);
  operand all[count], *leaf = all;
  unpack([&leaf](const auto&... x) { (add_leaves(x, leaf), ...); }, e.arguments);
  set_shape_of_values(*at++, D, Rank, shape_of_values(e).data(), all, count);
}
template <class Operation, dtype D, int Rank, class... Arguments, class Map>
auto map_operands(const array_operation<Operation, D, Rank, Arguments...>& e, const Map& map) {
  return unpack(
      [&](const auto&... x) {
        return array_operation<Operation, D, Rank, decltype(map(x))...>{e.operation, {map(x)...}};
      },
      e.arguments);
}
template <class Operation, dtype D, int Rank, class... Arguments>
auto materialize(const array_operation<Operation, D, Rank, Arguments...>& e) {
  return array<element_t<D>, Rank>(e);
}
template <class Operation, dtype D, int Rank, class... Arguments>
auto memory_for_values(const array_operation<Operation, D, Rank, Arguments...>& e) {
  return array<element_t<D>, Rank>(shape_of_values(e), device_of(e));
}

/// The elements of an operand in memory.
template <class T, int Rank>
view<T, Rank> view_of_operand(const operand& o) {
  add_owner(*o.memory);
  return {buffer_ref(o.memory), reinterpret_cast<T*>(o.word[0]), first_of<Rank>(o.extents),
          first_of<Rank>(o.strides)};
}

template <class Operation>
concept conjugates = requires(const operand& o) { Operation::takes_conjugates(o); };

/// Whether an operation reads elements of dtype T as they lie: a view's, or their conjugates. If
/// so, sets `is` and `is_conjugated`.
template <class Operation, class T, class X>
bool reads_as_it_lies(const X& x, operand& is, bool& is_conjugated) {
  operand* at = &is;
  if constexpr (std::same_as<X, view<const T, X::rank>>) {
    add_leaves(x, at);
    return Operation::takes(is);
  } else if constexpr (conjugates<Operation> &&
                       std::same_as<X,
                                    expression<table_function<op::conj>, view<const T, X::rank>>>) {
    add_leaves(x, at);
    return is_conjugated = Operation::takes_conjugates(is);
  } else {
    return false;
  }
}

template <class Operation, class X>
concept converts = requires(const Operation& operation, const X& x) { operation.converted(x); };

/// An argument in memory: as it lies, if the operation takes it; anything else evaluated.
template <class Operation, dtype D, class X>
struct argument_in_memory {
  using T = element_t<D>;
  array<T, X::rank> made;
  operand is;
  bool is_conjugated = false;

  argument_in_memory(const Operation& operation, const X& x) {
    if (reads_as_it_lies<Operation, T>(x, is, is_conjugated)) return;
    if constexpr (converts<Operation, X>) made = operation.converted(x);
    else made = cast<T>(x);
    operand* at = &is;
    add_leaves(as_operand(made), at);
  }
};

/// The dtype of argument I. Not written where it is used: clang 14 takes no element of an array
/// there.
template <class Operation, std::size_t I> inline constexpr dtype argument_type =
    Operation::argument_types[I];

/// An operation that is ready to run.
template <class Operation>
struct ready_operation {
  const Operation& operation;
  const operand &result, *arguments;
  void run() const { operation.run(result, arguments); }
};
template <class Operation>
auto prepare(const Operation& operation, const operand& result, const operand* arguments) {
  if constexpr (requires { operation.prepare(result, arguments); })
    return operation.prepare(result, arguments);
  else return ready_operation<Operation>{operation, result, arguments};
}

/// Runs an operation, whose arguments are evaluated first.
template <class Operation, dtype D, int Rank, class... Arguments, std::size_t... I>
void run_into(const operand& result, const array_operation<Operation, D, Rank, Arguments...>& e,
              std::index_sequence<I...>) {
  const tuple<argument_in_memory<Operation, argument_type<Operation, I>, Arguments>...> made{
      argument_in_memory<Operation, argument_type<Operation, I>, Arguments>(
          e.operation, get<I>(e.arguments))...};
  const operand all[] = {result, get<I>(made).is...};
  const operand* const arguments = all + 1;
  const auto described = [&] { return e.operation.describe(arguments); };
  require_one_device(
      all, 1 + static_cast<int>(sizeof...(I)),
      [](const void* what) { return (*static_cast<decltype(&described)>(what))(); }, &described);
  if constexpr (conjugates<Operation>)
    e.operation.run(result, arguments, (0u | ... | (unsigned{get<I>(made).is_conjugated} << I)));
  else prepare(e.operation, result, arguments).run();
}

/// Runs an operation into memory that is apart from its arguments.
template <class Operation, dtype D, int Rank, class... Arguments>
void run_into(const view<element_t<D>, Rank>& result,
              const array_operation<Operation, D, Rank, Arguments...>& e) {
  operand to, *at = &to;
  add_leaves(as_operand(result), at);
  run_into(to, e, std::index_sequence_for<Arguments...>{});
}

/// Whether an operation writes elements that lie like the target's.
template <class Operation>
bool may_be_written(const operand& target) {
  if constexpr (requires { Operation::writes(target); }) return Operation::writes(target);
  else return is_packed_and_apart(target, nullptr, 0);
}

template <class T, int R, class Operation, dtype D, class... Arguments>
bool may_run_into(const view<T, R>& target,
                  const array_operation<Operation, D, R, Arguments...>& e) {
  constexpr int count = (0 + ... + leaf_count<Arguments>);
  operand to, all[count], *at = &to, *leaf = all;
  add_leaves(as_operand(target), at);
  unpack([&leaf](const auto&... x) { (add_leaves(x, leaf), ...); }, e.arguments);
  return target.extents() == shape_of_values(e) && may_be_written<Operation>(to) &&
         is_apart(to, all, count);
}

template <class Operation> inline constexpr bool runs_in_place = false;
template <class Operation>
  requires requires { Operation::in_place; }
inline constexpr bool runs_in_place<Operation> = Operation::in_place;

template <class T, int Rank>
view<T, Rank> as_mutable_view(array<T, Rank>& target) {
  return target.view();
}
template <class T, int Rank>
view<T, Rank> as_mutable_view(const view<T, Rank>& target) {
  return target;
}
template <class X, int Rank>
bool is_all_of(const view<X, Rank>& target, const view<const X, Rank>& x) {
  operand a, b, *at = &a, *other = &b;
  add_leaves(as_operand(target), at);
  add_leaves(x, other);
  return is_same_operand(a, b);
}

/// If the target's memory will do for the argument, evaluates it there, and the operation in its
/// place. What may fail of the operation is done before the target is written.
template <class Target, class Operation, dtype D, int Rank, class X>
bool assign_in_place(Target& target, const array_operation<Operation, D, Rank, X>& e) {
  using T = element_t<D>;
  const X& x = get<0>(e.arguments);
  const auto shape = shape_of_values(e);
  if (shape_of_expression(x) != shape) return false;
  constexpr bool is_in_memory = std::same_as<X, view<const T, Rank>>;
  const auto run = [&](auto& to, const operand& memory) {
    auto ready = prepare(e.operation, memory, &memory);
    if constexpr (!is_in_memory) {
      if constexpr (trace_t<X>::type.type == D) assign(to, x);
      else assign(to, cast<T>(x));
    }
    ready.run();
  };
  operand memory, *at = &memory;
  if constexpr (is_array<std::remove_cvref_t<Target>>) {
    if (!target.has_memory()) {
      if constexpr (is_in_memory) return false;
      array<T, Rank> made(shape, device_of(e));
      add_leaves(as_operand(made), at);
      run(made, memory);
      target = std::move(made);
      return true;
    }
  }
  view<T, Rank> to = as_mutable_view(target);
  add_leaves(as_operand(to), at);
  if (to.extents() != shape || !is_packed_and_apart(memory, nullptr, 0)) return false;
  if constexpr (is_in_memory) {
    if (!is_all_of(to, x)) return false;
  }
  run(to, memory);
  return true;
}

template <class Target, class Operation, dtype D, int Rank, class... Arguments>
void assign_operation(Target& target, const array_operation<Operation, D, Rank, Arguments...>& e) {
  using T = typename std::remove_cvref_t<Target>::value_type;
  const device_guard guard(home_of(e, as_operand(target)));
  if constexpr (runs_in_place<Operation> && std::same_as<T, element_t<D>>) {
    if (assign_in_place(target, e)) return;
  }
  if constexpr ((has_materialized<Arguments> || ...)) {
    assign_operation(target,
                     map_operands(e, [](const auto& x) { return materialize_operands(x); }));
  } else {
    if constexpr (std::same_as<T, element_t<D>>) {
      if constexpr (is_array<std::remove_cvref_t<Target>>) {
        if (!target.has_memory()) {
          array<T, Rank> made(shape_of_values(e), device_of(e));
          run_into(made.view(), e);
          target = std::move(made);
          return;
        }
      }
      if (const auto to = as_mutable_view(target); may_run_into(to, e)) return run_into(to, e);
    }
    assign(target, as_operand(materialize(e)));
  }
}

template <class Operation, dtype D, int Rank, class... Arguments, class... V>
inline constexpr bool may_read<array_operation<Operation, D, Rank, Arguments...>, V...> =
    (may_read<Arguments, V...> || ...);

}  // namespace detail

/// Evaluates an operation on whole arrays into an array or a view. Does not wait.
template <class Target, class Operation, dtype D, int Rank, class... Arguments>
void assign(Target&& target, const detail::array_operation<Operation, D, Rank, Arguments...>& e) {
  using target_type = std::remove_cvref_t<Target>;
  static_assert(target_type::rank >= Rank, "the target has fewer dimensions than the result");
  static_assert(detail::is_writable<std::remove_reference_t<Target>>,
                "the target is const: an array that is, or a view that only reads");
  using operation = detail::array_operation<Operation, D, Rank, Arguments...>;
  if constexpr (detail::runs_in_own_way<detail::tuple<target_type>, operation>)
    detail::statement_with<operation>::type::assign({}, target, e);
  else if constexpr (target_type::rank == Rank) detail::assign_operation(target, e);
  else assign(target, detail::as_operand(detail::materialize(e)));
}

/// Evaluates an operation on whole arrays now, into an array. Does not wait.
template <class Operation, dtype D, int Rank, class... Arguments>
auto eval(const detail::array_operation<Operation, D, Rank, Arguments...>& e) {
  return detail::materialize(e);
}

namespace detail {

/// Describes the statement that evaluates an argument, if there is one.
template <class Operation, dtype D, class X>
void explain_argument(const Operation& operation, const X& x, explanation& all) {
  operand is;
  bool is_conjugated = false;
  const auto add = [&]<class E>(const E& e) {
    array<element_t<trace_t<E>::type.type>, E::rank> values;
    all.append(explain(values, e));
  };
  if constexpr (converts<Operation, X> || requires { x.operands; } || is_materialized<X>) {
    if (reads_as_it_lies<Operation, element_t<D>>(x, is, is_conjugated)) return;
    if constexpr (converts<Operation, X>) add(operation.converted(x));
    else add(x);
  }
}
template <class Operation, dtype D, int Rank, class... Arguments, std::size_t... I>
explanation explain_operation(const array_operation<Operation, D, Rank, Arguments...>& e,
                              std::index_sequence<I...>) {
  explanation all;
  (explain_argument<Operation, argument_type<Operation, I>>(e.operation, get<I>(e.arguments), all),
   ...);
  operand of[sizeof...(I)];
  (set_shape_of_values(of[I], trace_t<Arguments>::type.type, Arguments::rank,
                       shape_of_expression(get<I>(e.arguments)).data(), nullptr, 0),
   ...);
  all.append(explanation::of_line(e.operation.describe(of)));
  return all;
}

}  // namespace detail

/// Describes the statements that evaluate the arguments, and the operation.
template <class Target, class Operation, dtype D, int Rank, class... Arguments>
explanation explain(Target& target,
                    const detail::array_operation<Operation, D, Rank, Arguments...>& e) {
  using operation = detail::array_operation<Operation, D, Rank, Arguments...>;
  if constexpr (detail::runs_in_own_way<detail::tuple<std::remove_cvref_t<Target>>, operation>)
    return detail::statement_with<operation>::type::explain(target, e);
  else return detail::explain_operation(e, std::index_sequence_for<Arguments...>{});
}

}  // namespace dsl
