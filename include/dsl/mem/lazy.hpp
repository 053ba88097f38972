// Expressions, as arrays, views and scalars see them: all that mem needs of lang, which lies above
// it and defines it.
#pragma once

namespace dsl::detail {

/// A lazily evaluated expression.
template <class E>
concept lazy = requires { typename E::lazy_expression; };

/// Whether an expression is one value. lang specialises it for formulas that reduce their array
/// arguments.
template <class E> inline constexpr bool is_one_value = E::rank == 0;

// lang/assign.hpp defines these functions. They return `auto`, so that a file without that header
// gets an error of the compiler where it calls them, not one of the linker.

/// Evaluates an expression, a view or a C++ scalar into the elements of a target. Does not wait.
template <class Target, class Source> auto evaluate_into(Target&& target, const Source& source);
/// An expression's values, as an array or a scalar. Does not wait.
template <lazy E> auto evaluate(const E& expression);
/// The device of an expression's operands.
template <lazy E> auto device_of_operands(const E& expression);

}  // namespace dsl::detail
