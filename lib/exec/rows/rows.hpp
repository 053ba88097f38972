// Phases of a chain that run together, for they work on the same rows.
#pragma once

#include <optional>
#include <vector>

#include <dsl/exec/rows/chain.hpp>

namespace dsl::detail {

/// Passes of a statement that are the phases of one chain over one index space. A row is what is
/// reduced together.
class row_chain {
 public:
  /// Those that begin with the first of `count` passes; none where they are no chain, or its phases
  /// must run one after another: where shapes, axes or operands differ, what one phase writes lies
  /// in what another row reads, or a row finds no room. What is left for the phases alone is not
  /// stored, unless a later pass or one of `later` reads it. Throws as `prepared::make_plan`.
  static std::optional<row_chain> of(const prepared* passes, int count,
                                     const std::vector<late_copy>& later);

  const chain_code& code() const { return *code_; }
  const prepared* phases() const { return phases_; }
  int count() const { return code_->phases; }
  device where() const { return space_.where; }
  /// The chain's leaves, and then the targets of all phases: results of the index space, or
  /// elements.
  const operand* operands() const { return operands_.data(); }
  int leaves() const { return code_->leaves; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  /// Of all operands. What is reduced is its last dimension.
  const geometry& space() const { return space_; }
  /// Whether it is the innermost in memory as well: rows, not columns.
  bool lies_along_rows() const { return lies_along_rows_; }
  const launch& fixed() const { return phases_[count() - 1].fixed(); }
  bool is_stored(int operand) const {
    return !operands_[static_cast<std::size_t>(operand)].discarded;
  }

  /// A bit for each axis that is reduced.
  std::uint32_t reduced() const { return reduced_; }
  const row_plan& plan() const { return plan_; }
  void run() const;

 private:
  row_chain(const chain_code& code, const prepared* phases) : code_(&code), phases_(phases) {}
  bool bind();
  bool lay_out();
  void make_plan();
  bool has_row_of(const operand& read, const operand& left, const geometry& reader) const;

  const chain_code* code_;
  const prepared* phases_;
  std::vector<operand> operands_;
  geometry space_;
  bool lies_along_rows_ = false;
  std::uint32_t reduced_ = 0;
  row_plan plan_;
};

}  // namespace dsl::detail
