// The elements' program of a pass: its inputs, from memory and from positions.
#pragma once

#include "opencl/print/operand_text.hpp"
#include "opencl/print/program_text.hpp"

namespace dsl::detail::opencl {

/// Where an input of a pass comes from: an operand of the kernel's work, or, if that is -1, a value
/// that the kernel knows.
struct input_place {
  int operand;
  std::string known;
};
using input_places = std::function<input_place(int input)>;
/// Of a pass with a kernel of its own.
input_place own_place(int input);

/// Prints a program of elements for the element at x0, x1, ... Neighbours are read where inputs
/// have their own places.
printed_program print_elements(const operand_texts& operands, const program_view& elements,
                               const input_places& places, const abilities& can,
                               const std::string& indent);
/// The same for the elements' program of a pass with a kernel of its own.
printed_program print_elements(const operand_texts& operands, const abilities& can,
                               const std::string& indent);
/// The text that reads a scalar by value or in device memory.
input_text scalar_text(const operand_texts& operands, op code, dtype type, int number);
/// The text that reads an element: "load_float32(m2, o2 + x0 * 4)".
std::string load_text(const operand_texts& operands, int k, const position_text& at, dtype type);
/// The statement that stores a value: "store_float32(m2, o2 + x0 * 4, v3);"
std::string store_text(const operand_texts& operands, int k, const position_text& at,
                       const value_text& value, const std::string& indent);

}  // namespace dsl::detail::opencl
