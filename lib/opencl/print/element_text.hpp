// The elements' program of a pass: its inputs, from memory and from positions.
#pragma once

#include "opencl/print/operand_text.hpp"
#include "opencl/print/program_text.hpp"

namespace dsl::detail::opencl {

/// An element: its position, and its number among `lanes` adjacent ones, whose wide arrays are in
/// `array_vectors`; otherwise `lanes` is 0.
struct element_place {
  position_text at;
  int lane = 0, lanes = 0;
};

/// Where an input of a pass comes from: an operand of the kernel's work, or, if that is -1, a value
/// that the kernel knows.
struct input_place {
  int operand;
  std::string known;
};
using input_places = std::function<input_place(int input)>;
/// Of a pass with a kernel of its own.
input_place own_place(int input);

/// Prints a program of elements for an element. Neighbours are read where inputs have their own
/// places.
printed_program print_elements(const operand_texts& operands, const program_view& elements,
                               const input_places& places, const abilities& can,
                               const std::string& indent, const element_place& here);
/// The same for the elements' program of a pass with a kernel of its own.
inline printed_program print_elements(const operand_texts& operands, const abilities& can,
                                      const std::string& indent, const element_place& here) {
  return print_elements(operands, operands.view().elements, own_place, can, indent, here);
}
/// At x0, x1, ...
inline printed_program print_elements(const operand_texts& operands, const abilities& can,
                                      const std::string& indent) {
  return print_elements(operands, can, indent, {operands.own_position()});
}

/// Adjacent elements of an array as vectors in OpenCL C, which have 16 bytes, or fewer in all.
struct array_vectors {
  array_vectors(dtype type, int elements);
  /// The name of a vector of operand k: "p0_1".
  static std::string name(int k, int number);
  /// The value of an element of operand k.
  std::string element(int k, int lane) const;
  /// The vector of values, `lanes` of them.
  std::string of_values(const std::vector<std::string>& values) const;

  int count, lanes;  ///< Vectors, and elements of each.
  std::string type;  ///< "float4"

 private:
  dtype of_;
};

/// The text that reads a scalar by value or in device memory.
input_text scalar_text(const operand_texts& operands, op code, dtype type, int number);
/// The text that reads an element: "load_float32(m2, o2 + x0 * 4)".
std::string load_text(const operand_texts& operands, int k, const position_text& at, dtype type);
/// The statement that stores a value: "store_float32(m2, o2 + x0 * 4, v3);"
std::string store_text(const operand_texts& operands, int k, const position_text& at,
                       const value_text& value, const std::string& indent);

}  // namespace dsl::detail::opencl
