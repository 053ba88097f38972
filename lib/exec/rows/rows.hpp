// Phases of a chain that run as one kernel because they work on the same rows.
#pragma once

#include <optional>
#include <vector>

#include <dsl/exec/rows/chain.hpp>

namespace dsl::detail {

/// Passes of a statement that form one chain over one index space. A row is the elements that are
/// reduced to one result.
class row_chain : public planned_work<row_plan> {
 public:
  /// The chain that begins with the first of `count` passes. None if they form no chain, or if the
  /// phases must run one after another: if shapes, axes or operands differ, if a phase writes
  /// memory that another row reads, or if a row does not fit. Results that only phases of the chain
  /// read are not stored, unless a later pass or a copy in `later` reads them. Throws as
  /// `bound_pass::make_plan`.
  static std::optional<row_chain> of(const bound_pass* passes, int count,
                                     const std::vector<late_copy>& later);

  work_record record() const override {
    return {phases_[count() - 1].code().pass.view, space_, operands_.data(), leaves(),
            operand_count() - leaves()};
  }
  bool is_empty() const override { return false; }
  profiled_work profile() const override;
  void run_on(const grid_executor& devices, const stream& on) const override;

  const chain_code& code() const { return *code_; }
  const bound_pass* phases() const { return phases_; }
  int count() const { return code_->phases; }
  device where() const { return space_.where; }
  /// The chain's leaves, followed by the targets of all phases: results of the index space, or
  /// elements.
  const operand* operands() const { return operands_.data(); }
  int leaves() const { return code_->leaves; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  /// The index space of all operands. Its last dimension is the reduced one.
  const geometry& space() const { return space_; }
  /// Whether the reduced dimension is also the innermost in memory (rows are contiguous, not
  /// columns).
  bool lies_along_rows() const { return lies_along_rows_; }
  const launch& fixed() const { return phases_[count() - 1].fixed(); }
  bool is_stored(int operand) const {
    return !operands_[static_cast<std::size_t>(operand)].discarded;
  }

  /// Replaces C++ scalars among the leaves. The plan stays.
  void replace(const changed_scalar* changed, int count) {
    replace_scalars(operands_.data(), leaves(), changed, count);
  }
  /// Forgets the memory of results that are not stored.
  void forget_discarded();

  /// The reduced axes, a bit each.
  std::uint32_t reduced() const { return reduced_; }

 private:
  row_chain(const chain_code& code, const bound_pass* phases)
      : planned_work(work_kind::rows), code_(&code), phases_(phases) {}
  row_plan plan_for(const grid_executor& devices) const override;
  bool bind();
  bool lay_out();
  cost cost_per_element() const;
  bool reads_own_row(const operand& read, const operand& left, const geometry& reader) const;

  const chain_code* code_;
  const bound_pass* phases_;
  std::vector<operand> operands_;
  geometry space_;
  bool lies_along_rows_ = false;
  std::uint32_t reduced_ = 0;
};

}  // namespace dsl::detail
