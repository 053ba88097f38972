// Kernels and their formulas as text, for errors, plans and explanations.
#pragma once

#include <dsl/exec/plan/operand.hpp>

#include "exec/plan/words.hpp"
#include "mem/text.hpp"

namespace dsl {
struct row_plan;
}  // namespace dsl

namespace dsl::detail {

/// "exp(a) + 2 * b": the first output as a formula with operands a, b, ..., cut after about `limit`
/// characters. Equal arrays have one letter. Scalars by value are spelled out where the operands
/// are given, and so are values that earlier passes leave.
std::string spell_pass(const pass_view& p, const operand* operands = nullptr,
                       std::size_t limit = 160);
/// "rk4_step" from what `spelled_name` gives; empty for null.
std::string name_of_kernel(const char* pretty);
/// "kernel rk4_step"; "a kernel" for null.
std::string spell_kernel(const char* pretty);
/// "axis(0, 2)" of the axes that are reduced; empty where all are.
std::string spell_axes(std::uint32_t reduced, int rank);

/// Letters for operands, in order.
class operand_names {
 public:
  operand_names() = default;
  operand_names(const operand* all, int count) { add(all, count); }
  /// Further ones, of a statement's next pass.
  void add(const operand* all, int count);
  /// "b", "b.position"; "x30" beyond the alphabet.
  std::string of(const operand& o) const;
  /// The one with a number, of a formula whose operands are not known.
  static std::string letter(std::uint64_t number);

 private:
  struct named {
    operand of;
    std::uint64_t letter;
  };
  std::vector<named> all_;
  std::uint64_t next_ = 0;
};

/// Spells the nodes of a pass in the formula's own notation.
class formula_speller {
 public:
  formula_speller(const pass_view& p, const operand* operands, const operand_names& names,
                  std::size_t limit)
      : own_(p), pass_(&own_), operands_(operands), names_(&names), limit_(limit) {}
  virtual ~formula_speller() = default;

  void target(int i);
  /// What an earlier pass leaves.
  void value(const value_source& source, int outer = 0);
  /// Of a reduction the axes, a bit for each, of so many.
  void reduced_along(std::uint32_t axes, int rank) { axes_ = spell_axes(axes, rank); }
  /// The node of the elements or of the results that a target is.
  int node_of_target(int i) const;
  void node(bool of_results, int node, int outer = 0);
  /// One operation on its operands, whatever `shortcut` has for the node itself.
  void operation(bool of_results, int node, int outer = 0);
  std::string take();

  const worded_pass& words() const { return *pass_; }
  /// Whether a node is written where it is used: an operand, a number.
  bool is_leaf(bool of_results, int node) const;

 protected:
  /// What stands in a node's place, or nothing.
  virtual std::string shortcut(bool /*of_results*/, int /*node*/) const { return {}; }
  std::string text_;

 private:
  const indexed_program& program(bool of_results) const {
    return of_results ? pass_->results() : pass_->elements();
  }
  void reduction(const reduction_word& word);
  void operand_of(op code, dtype type, std::uint64_t number, int outer);
  void step(const path_step& s, const operand* of);
  void neighbour(const indexed_program& p, int node, int outer);
  void number(double v, bool is_float);
  void complex_number(double re, double im, bool is_float);
  void literal_of(dtype type, std::uint64_t bits, std::uint64_t second = 0);

  worded_pass own_;
  const worded_pass* pass_;
  const operand* operands_;
  const operand_names* names_;
  std::size_t limit_;
  std::string axes_;  // of the value that is spelled
};

/// "8192 rows of 8192 elements on chip: 512 threads a row, 4 vectors of 4 a thread in shared
/// memory".
std::string spell_rows(const row_plan& p);

}  // namespace dsl::detail
