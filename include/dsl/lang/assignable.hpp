// Checks of the types on both sides of an assignment, before code is compiled for them.
#pragma once

#include <dsl/lang/lower.hpp>
#include <dsl/lang/targets.hpp>

namespace dsl::detail {

/// The number of operands of a pass; an error if a kernel does not take that many.
template <int Inputs>
constexpr int inputs_of_kernel() {
  static_assert(Inputs <= max_inputs,
                "an expression takes at most 64 operands, and each use of an array or of a number "
                "is one: make it a function of "
                "its arrays, dsl::vectorize");
  return Inputs <= max_inputs ? Inputs : max_inputs;
}

/// The expression that an output belongs to.
template <class... E>
constexpr int expression_of(int output) {
  const int outputs[] = {static_cast<int>(std::tuple_size_v<outputs_of<E>>)...};
  int e = 0;
  for (int end = outputs[0]; end <= output; end += outputs[++e]) {}
  return e;
}

/// Whether the targets take the outputs' dtypes as they are, or after a cast.
struct dtype_fit { bool as_they_are = true, by_casts = true; };
template <class... E, class... Targets, std::size_t... I>
constexpr dtype_fit fit_of_dtypes(std::type_identity<tuple<Targets&...>>,
                                  std::index_sequence<I...>) {
  dtype_fit all;
  const auto add = [&all]<class Output>(dtype to, std::type_identity<Output>) {
    if constexpr (is_symbol<Output>) {  // a formula may return a constant
      all.as_they_are = all.as_they_are && assignable(to, Output::type);
      all.by_casts = all.by_casts && may_cast(to, Output::type.type);
    }
  };
  (add(dtype_v<typename Targets::value_type>,
       std::type_identity<std::tuple_element_t<I, outputs_of<E...>>>{}),
   ...);
  return all;
}

/// The ranks of an expression's outputs: of elementwise outputs, and of results of reductions.
template <class E> struct output_ranks {
  static constexpr int of_elements(int) { return E::rank; }
  static constexpr int of_values = reductions_in<E> > 0 ? E::rank : 0;
};
/// The index of an output within its expression.
template <class... E>
constexpr int number_in_expression(int output) {
  const int outputs[] = {static_cast<int>(std::tuple_size_v<outputs_of<E>>)...};
  for (int e = 0; output >= outputs[e]; ++e) output -= outputs[e];
  return output;
}

/// Whether the ranks of reduced and of elementwise outputs fit their targets.
struct fit { bool reductions = true, elements = true; };
template <class Lowered, class... E, class... Targets, std::size_t... I>
constexpr fit fit_of(std::type_identity<tuple<Targets&...>>, std::index_sequence<I...>) {
  fit all;
  const auto add = [&all]<class Target, class Source>(int output) {
    if (Lowered::type::is_reduced(output))
      all.reductions = all.reductions && Target::rank == output_ranks<Source>::of_values;
    else
      all.elements = all.elements &&
                     (Target::rank == 0 || Target::rank >= output_ranks<Source>::of_elements(
                                                               number_in_expression<E...>(output)));
  };
  (add.template
   operator()<Targets,
              std::tuple_element_t<static_cast<std::size_t>(expression_of<E...>(I)), tuple<E...>>>(
       static_cast<int>(I)),
   ...);
  return all;
}

/// Expressions lowered for targets. Lowering them takes long and assumes valid expressions, so it
/// waits until `type` is used.
template <class Targets, class... E> struct lowered_for;
template <class... Targets, class... E>
struct lowered_for<tuple<Targets&...>, E...> {
  using type = lowered<types_of_targets<Targets...>, E...>;
  static constexpr bool takes = (takes_possible<E> && ...);
};

/// Whether expressions may be assigned to targets; if not, a compile-time error says why. `Lowered`
/// is their `lowered_for`, or that of a statement whose first outputs are theirs.
template <class... E, class... Targets, class Lowered = lowered_for<tuple<Targets&...>, E...>>
constexpr bool may_assign(std::type_identity<tuple<Targets&...>>,
                          std::type_identity<Lowered> = {}) {
  constexpr bool writable = (is_writable<Targets> && ...),
                 as_many = sizeof...(Targets) == std::tuple_size_v<outputs_of<E...>>;
  static_assert(writable, "the target is const: an array that is, or a view that only reads");
  static_assert(as_many, "as many targets as the right side has values");
  constexpr bool traceable = (can_be_traced<E> && ...);
  if constexpr (!traceable) {
    constexpr bool makes_numbers = (can_be_traced_with_numbers<E> && ...);
    static_assert(!makes_numbers,
                  "a symbol is no C++ number: in a formula what holds one is auto, and a function "
                  "that takes numbers is given to "
                  "dsl::vectorize itself, as a functor with DSL_FN operator()");
    static_assert(makes_numbers,
                  "a formula calls or reads what the compiler does not evaluate: a function that "
                  "takes numbers is given to "
                  "dsl::vectorize itself, as a functor with DSL_FN operator(); for std::sqrt(2.0) "
                  "write sqrt(dsl::constant(2.0)); a "
                  "variable is an argument");
  }
  constexpr bool literals = (literals_fit<E> && ...);
  static_assert(literals,
                "an integer literal is outside the dtype of the array beside it (as NumPy's "
                "OverflowError): dsl::cast the array "
                "to a wider one");
  constexpr bool axes = (axes_exist<E> && ...);
  static_assert(
      axes,
      "dsl::shift, dsl::take and dsl::index: there is no such axis of what a formula reads, "
      "before it is broadcast");
  constexpr bool takes = Lowered::takes;
  static_assert(takes,
                "dsl::take inside a formula reads no values of neighbours, of dsl::index or of "
                "functors: assign them to an array, an argument that it reads. In a loop, without "
                "an axis, it reads those of variables' neighbours");
  if constexpr (writable && as_many && traceable && literals && axes && takes) {
    constexpr dtype_fit dtypes = fit_of_dtypes<E...>(std::type_identity<tuple<Targets&...>>{},
                                                     std::index_sequence_for<Targets...>{});
    static_assert(dtypes.by_casts,
                  "a complex number has no real value: take real(x), imag(x) or abs(x)");
    static_assert(dtypes.as_they_are || !dtypes.by_casts,
                  "the target's dtype is narrower than the expression's: use dsl::cast");
    if constexpr (dtypes.as_they_are) {
      constexpr fit fits = fit_of<Lowered, E...>(std::type_identity<tuple<Targets&...>>{},
                                                 std::index_sequence_for<Targets...>{});
      static_assert(fits.reductions,
                    "a reduction is one value: assign it to a dsl::scalar; along axes, to an array "
                    "of as many dimensions as are left");
      static_assert(fits.elements, "the expression has more dimensions than its target");
      return fits.reductions && fits.elements;
    } else {
      return false;
    }
  } else {
    return false;
  }
}

}  // namespace dsl::detail
