// Spells kernels and their formulas for errors, plans and explanations.
#pragma once

#include <dsl/exec/plan/operand.hpp>

#include "exec/plan/reduction_names.hpp"
#include "mem/text.hpp"

namespace dsl {
struct row_plan;
}  // namespace dsl

namespace dsl::detail {

/// An output as a formula, such as "exp(a) + 2 * b", cut after about `limit` characters.
/// Equal arrays have the same letter. If operands are given, host scalars are written as their
/// values, and results of earlier passes as their formulas.
std::string spell_pass(const pass_view& p, const operand* operands = nullptr, int output = 0,
                       std::size_t limit = 160);
/// The kernel's name, such as "rk4_step", from the text that `spelled_name` gives; empty for null.
std::string name_of_kernel(const char* pretty);
/// "kernel rk4_step"; "a kernel" for null.
std::string spell_kernel(const char* pretty);
/// The reduced axes as "axis(0, 2)"; empty if all are reduced.
std::string spell_axes(std::uint32_t reduced, int rank);

/// Gives operands letters, in the order in which they are added.
class operand_names {
 public:
  operand_names() = default;
  operand_names(const operand* all, int count) { add(all, count); }
  /// Adds the operands of a statement's next pass.
  void add(const operand* all, int count);
  /// "b", or "b.position" for a member of a struct; "x30" after the 26 letters.
  std::string of(const operand& o) const;
  /// The letter of operand `number` of a formula whose operands are unknown.
  static std::string letter(std::uint64_t number);

 private:
  struct named {
    operand of;
    std::uint64_t letter;
  };
  std::vector<named> all_;
  std::uint64_t next_ = 0;
};

/// Spells the nodes of a pass in the notation of the formulas.
class formula_speller {
 public:
  formula_speller(const pass_view& p, const operand* operands, const operand_names& names,
                  std::size_t limit)
      : own_(p), pass_(&own_), operands_(operands), names_(&names), limit_(limit) {}
  virtual ~formula_speller() = default;

  void target(int i);
  /// Spells the result of an earlier pass as its formula.
  void value(const value_source& source, int outer = 0);
  /// Sets the axes that reductions of this pass reduce: a bit each, of `rank` axes.
  void reduced_along(std::uint32_t axes, int rank) { axes_ = spell_axes(axes, rank); }
  /// The node, of the elements' or the results' program, that target i stores.
  int node_of_target(int i) const;
  void node(bool of_results, int node, int outer = 0);
  /// Spells the operation of a node, without asking `shortcut` about the node itself.
  void operation(bool of_results, int node, int outer = 0);
  std::string take();

  const named_pass& named() const { return *pass_; }
  /// Whether a node is an operand or a number, which is written where it is used.
  bool is_leaf(bool of_results, int node) const;

 protected:
  /// A text to write in a node's place; empty for none.
  virtual std::string shortcut(bool /*of_results*/, int /*node*/) const { return {}; }
  std::string text_;

 private:
  const indexed_program& program(bool of_results) const {
    return of_results ? pass_->results() : pass_->elements();
  }
  void reduction(const named_reduction& r);
  void operand_of(op code, dtype type, std::uint64_t number, int outer);
  void step(const path_step& s, const operand* of);
  void neighbour(const indexed_program& p, int node, int outer);
  void number(double v, bool is_float);
  void complex_number(double re, double im, bool is_float);
  void literal_of(dtype type, std::uint64_t bits, std::uint64_t second = 0);

  named_pass own_;
  const named_pass* pass_;
  const operand* operands_;
  const operand_names* names_;
  std::size_t limit_;
  std::string axes_;  // Reduced axes of the value that is being spelled.
};

/// Describes a row plan: "8192 rows of 8192 elements on chip: 512 threads a row, 4 vectors of 4 a
/// thread in shared memory".
std::string spell_rows(const row_plan& p);

}  // namespace dsl::detail
