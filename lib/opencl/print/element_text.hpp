// The elements' program of a pass: its inputs, from memory and from positions.
#pragma once

#include <optional>

#include "opencl/print/operand_text.hpp"
#include "opencl/print/program_text.hpp"

namespace dsl::detail::opencl {

/// An element: its position, and its number among `lanes` adjacent ones, whose wide arrays are in
/// vectors; otherwise `lanes` is 0. `number` is the text of their vectors' place in arrays of
/// vectors: "[step]".
struct element_place {
  position_text at;
  int lane = 0, lanes = 0;
  std::string number{};
};

/// The names of an operand's vectors, and of those that a node reads beside it.
std::string vectors_of_operand(int k);
std::string vectors_of_neighbour(int node);

/// Where a neighbour is, and the condition that it exists; empty: it always does.
struct neighbour_place {
  position_text at;
  std::string exists;
};
/// Adds the statements that find it. Each step of the path moves the position along one dimension,
/// those along `without` left out. A step beyond the end of an axis whose boundary is zero leaves
/// the position where it was. `own` begins the names of positions.
constexpr int no_dimension = -2;
neighbour_place place_of_neighbour(const operand_texts& operands, const neighbour_path& path,
                                   const std::string& own, const position_text& from, int without,
                                   std::string& statements, const std::string& indent);
/// How many lanes a neighbour's vector is before the element's, if it is read in vectors: it is
/// less than a vector away along the last dimension. Then the neighbours of all but so many lanes
/// are in the vector that is moved along the other dimensions alone.
std::optional<int> lanes_to_neighbour(const operand_texts& operands, const neighbour_path& path,
                                      int lanes);

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

/// The text that reads a scalar by value or in device memory.
input_text scalar_text(const operand_texts& operands, op code, dtype type, int number);
/// The text that reads an element: "load_float32(m2, o2 + x0 * 4)".
std::string load_text(const operand_texts& operands, int k, const position_text& at, dtype type);
/// The statement that stores a value: "store_float32(m2, o2 + x0 * 4, v3);"
std::string store_text(const operand_texts& operands, int k, const position_text& at,
                       const value_text& value, const std::string& indent);

}  // namespace dsl::detail::opencl
