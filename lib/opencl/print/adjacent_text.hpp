// Adjacent elements along the last dimension, which a work-item computes at once: their arrays are
// read and written in vectors of 16 bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opencl/print/array_vectors.hpp"
#include "opencl/print/element_text.hpp"

namespace dsl::detail::opencl {

/// An output of an elements' program that is stored.
struct stored_output {
  int output, operand;
  dtype type;
};

class adjacent_text {
 public:
  adjacent_text(const operand_texts& operands, const abilities& can, const program_view& elements,
                input_places places, std::vector<stored_output> stored, int lanes)
      : operands_(operands),
        can_(can),
        elements_(elements),
        places_(std::move(places)),
        stored_(std::move(stored)),
        lanes_(lanes) {}

  /// Whether the elements of each vector are side by side in all arrays, or one address.
  bool is_possible() const;
  bool stores() const { return !stored_.empty(); }
  /// What the text depends on beside the kinds of operands: how near neighbours are.
  std::string pattern() const;

  /// A bit for each operand whose own elements are read in vectors.
  std::uint64_t arrays() const;
  /// Vectors that are read: the name of all of one array, and where they are at x0, x1, ...
  struct vectors_read {
    std::string name;
    int operand;
    array_vectors all;
    std::string statements, offset;
  };
  std::vector<vectors_read> reads(const std::string& indent) const;
  /// Declares and reads them.
  std::string read(const std::string& indent) const;
  /// The statements that read vectors, each assigned to its name and `number`, which `begin`
  /// begins: "const float4 p0_0".
  static std::string read(const vectors_read& vectors, const char* begin, const std::string& number,
                          const std::string& indent);

  /// Computes the elements from their vectors, and stores them. `use` adds what else an element
  /// takes part in. `number`: see `element_place`.
  using use_of_element =
      std::function<std::string(const printed_program& element, const std::string& indent)>;
  std::string compute(const std::string& number, const std::string& indent,
                      const use_of_element& use) const;

 private:
  const operand_texts& operands_;
  const abilities& can_;
  program_view elements_;
  input_places places_;
  std::vector<stored_output> stored_;
  int lanes_;
};

}  // namespace dsl::detail::opencl
