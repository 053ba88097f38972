// The operands of a pass in the text of its kernels: parameters, arguments, and where an element
// is.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <dsl/exec/run/run.hpp>
#include <dsl/exec/run/work.hpp>

#include <dsl/ir/literal.hpp>
#include <dsl/ir/neighbour.hpp>

#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// A kernel's parameter and its argument. An address is two parameters.
struct parameter {
  std::string type, name;
  kernel_argument argument;
};
/// "value3"
inline std::string numbered(const char* name, int number) { return name + std::to_string(number); }

/// The beginning of a kernel, up to where all parameters can be read under their names:
/// "__kernel void f(__global uchar* m0, const long o0, const float b) {". Throws device_error if
/// the memory objects alone exceed what the device takes as parameters.
std::string begin_kernel(const std::string& name, const std::vector<parameter>& all,
                         const abilities& can);
/// A parameter by value.
parameter by_value(const char* type, std::string name, std::int64_t value);
/// The same, of a dtype, held as `stored_type`.
parameter by_literal(dtype type, std::string name, literal value);
parameter by_address(const std::string& number, std::uint64_t address, bool is_written);
/// The memory of partial results.
parameter scratch_parameter();
/// The length of a part of that memory, so that the next part is aligned.
inline std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }

/// Whether a position, or the distance of a step, does not fit into 29 bits: a position and a step,
/// or a position and the number of work-items, together are to fit into an int.
inline bool is_far(std::int64_t n) {
  constexpr std::int64_t most = std::int64_t{1} << 29;
  return n <= -most || n >= most;
}
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
  /// The type of positions in the index space and of numbers of elements: int where 29 bits
  /// suffice, for a GPU divides these faster, else long.
  const char* position_type() const { return is_narrow_ ? "int" : "long"; }
  /// A quotient of two positions, none of which is negative.
  std::string quotient(const std::string& of, const std::string& by) const {
    return is_narrow_ ? "(uint)" + of + " / (uint)" + by : of + " / " + by;
  }
  /// A parameter of that type.
  parameter by_position(std::string name, std::int64_t value) const;
  /// The statements that split a number among the dimensions whose bit in `among` is set (outermost
  /// first, row-major) into positions x0, x1, ...
  std::string positions(const std::string& number, std::uint32_t among,
                        const std::string& indent) const;
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
  /// A step of a neighbour's path: its dimension, or -1 where the operand has one element there;
  /// and an equivalent distance, less than a period of the boundary.
  struct step_place {
    int dimension;
    boundary beyond;
    std::int64_t distance;
  };
  step_place place_of(const neighbour_path& path, int step) const;
  /// The distance of a step that an operand gives.
  static std::string distance(int k) { return "d" + std::to_string(k); }
  /// The position of each dimension by its own name: "x0".
  position_text own_position() const;
  /// The distance between an operand's elements along a dimension; 0 where it is broadcast.
  std::int64_t stride(int k, int dimension) const;
  /// Whether the elements of an array along the last dimension are aligned vectors, of 16 bytes or
  /// of as many elements as the pass has lanes.
  bool is_wide(int k) const { return space().layouts[k].how == access::wide; }
  /// Whether a target is stored.
  bool is_stored(int target) const;
  /// Whether a target has a second address now (`pass_run::recorded`).
  bool is_recorded(int target) const;
  /// What the text takes from the operands, other than the programs, in a canonical spelling.
  const std::string& pattern() const { return pattern_; }

 private:
  void add_inputs(std::uint64_t read);
  void add_steps();
  void add_target(int target);
  void add_extents();
  void add_operand(int k, bool is_written);
  void add_strides(int k, std::int64_t unit);
  std::string sum_of_strides(int k, const position_text& at, std::int64_t unit) const;
  std::int64_t unit_of(int k) const;

  const bound_pass* pass_;  // Null for other work.
  work_record of_;
  bool is_narrow_ = false;
  std::vector<parameter> parameters_;
  std::string pattern_;
  std::array<std::string, max_operands> moved_;
};

}  // namespace dsl::detail::opencl
