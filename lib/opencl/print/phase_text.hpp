// A pass as a part of a kernel.
#pragma once

#include "opencl/print/accumulator_text.hpp"
#include "opencl/print/adjacent_text.hpp"

namespace dsl::detail::opencl {

/// A pass among those of a kernel.
struct phase {
  pass_view pass;
  input_places places;
  int first_target;         ///< The operand that is its first target.
  int first_reduction = 0;  ///< How many reductions the phases before it have.
};

/// The statements of a phase. Accumulators, and the functions that combine them, have the number of
/// their reduction in their names, counted over all phases of the kernel.
class phase_text {
 public:
  phase_text(const operand_texts& operands, const abilities& can, phase of);

  const std::vector<accumulated>& sums() const { return sums_; }
  /// The functions that combine accumulators.
  std::string rules() const;
  /// Computes the element at x0, x1, ...
  printed_program elements(const std::string& indent) const;
  /// Stores an element, and adds it to the accumulators.
  std::string take(const printed_program& element, const std::string& indent) const;
  /// Both.
  std::string element(const std::string& indent) const {
    const printed_program made = elements(indent);
    return made.text + take(made, indent);
  }
  /// The same for `lanes` adjacent elements.
  adjacent_text adjacent(int lanes) const;
  std::string adjacent_elements(const adjacent_text& all, const std::string& number,
                                const std::string& indent) const {
    return all.compute(number, indent,
                       [this](const printed_program& element, const std::string& inner) {
                         return combine(element, inner);
                       });
  }
  /// Computes the results from the accumulators.
  printed_program results(const std::string& indent) const;
  /// Stores the results at x0, x1, ...
  std::string store(const printed_program& results, const std::string& indent) const;
  /// Declares what the memory of targets holds: of those that are results, or elements. `spell`
  /// names each.
  std::string declare(const printed_program& from, bool results,
                      const std::function<std::string(int target)>& spell,
                      const std::string& indent) const;

 private:
  std::string combine(const printed_program& element, const std::string& indent) const;
  std::string store_targets(const printed_program& from, bool results,
                            const std::string& indent) const;

  const operand_texts& operands_;
  const abilities& can_;
  phase of_;
  std::vector<accumulated> sums_;
};

}  // namespace dsl::detail::opencl
