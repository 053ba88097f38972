// The operands of a pass in the text of its kernels: parameters, arguments, and where an element
// is.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <dsl/exec/run/run.hpp>
#include <dsl/exec/run/work.hpp>

#include <dsl/ir/literal.hpp>

#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// A kernel's parameter and its argument. An address is two parameters.
struct parameter {
  std::string type, name;
  kernel_argument argument;
};
/// "value3"
inline std::string numbered(const char* name, int number) { return name + std::to_string(number); }

/// "__global uchar* m0, long o0, const float b"
std::string parameter_list(const std::vector<parameter>& all);
/// A parameter by value.
parameter by_value(const char* type, std::string name, std::int64_t value);
/// The same, of a dtype, held as `stored_type`.
parameter by_literal(dtype type, std::string name, literal value);
parameter by_address(const std::string& number, std::uint64_t address, bool is_written);
/// The memory of partial results.
parameter scratch_parameter();
/// The length of a part of that memory, so that the next part is aligned.
inline std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }

/// The inputs that a pass reads, a bit each.
std::uint64_t inputs_read(const pass_view& pass);

/// The text of an element's position along each dimension of the index space, outermost first.
using position_text = std::vector<std::string>;

class operand_texts {
 public:
  explicit operand_texts(const bound_pass& pass);
  /// Of other work. `has_targets`: whether each of its elements has a place in the targets.
  operand_texts(const work& of, bool has_targets);
  /// Of several passes that are one work: `read` has a bit for each input that one of them reads.
  operand_texts(const work_record& of, std::uint64_t read);

  /// The pass, if the work is one.
  const bound_pass& pass() const { return *pass_; }
  const pass_view& view() const { return of_.pass; }
  int inputs() const { return of_.inputs; }
  const operand& at(int k) const { return of_.operands[k]; }
  const geometry& space() const { return of_.space; }
  /// Extents, and what each operand needs.
  const std::vector<parameter>& parameters() const { return parameters_; }
  /// The name of a scalar by value, or of an array's element: "a".
  static std::string name(int k);
  /// The place of an element in bytes from the beginning of the operand's memory: "o0 + x0 * 4".
  std::string offset(int k, const position_text& at) const;
  /// Adds to the offsets of an operand's elements: " + step * by0".
  void move(int k, std::string by) { moved_[static_cast<std::size_t>(k)] = std::move(by); }
  /// The value of a computed position (operand_kind::index).
  std::string index(int k, const position_text& at) const;
  /// The distance of a step that an operand gives.
  static std::string distance(int k) { return "d" + std::to_string(k); }
  /// The position of each dimension by its own name: "x0".
  position_text own_position() const;
  /// Whether a target is stored.
  bool is_stored(int target) const;
  /// Whether a target has a second address now (`pass_run::recorded`).
  bool is_recorded(int target) const;
  /// What the text takes from the operands, other than the programs, in a canonical spelling.
  const std::string& pattern() const { return pattern_; }

 private:
  void add_inputs(std::uint64_t read);
  void add_target(int target);
  void add_extents();
  void add_operand(int k, bool is_written);
  void add_strides(int k, std::int64_t unit);
  std::string sum_of_strides(int k, const position_text& at, std::int64_t unit) const;
  std::int64_t unit_of(int k) const;
  std::int64_t stride(int k, int dimension) const;

  const bound_pass* pass_;  // Null for other work.
  work_record of_;
  std::vector<parameter> parameters_;
  std::string pattern_;
  std::array<std::string, max_operands> moved_;
};

}  // namespace dsl::detail::opencl
