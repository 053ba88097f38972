// Statements whose elements are numbered in order: scans, reductions by key, selections.
#pragma once

#include <vector>

#include <dsl/exec/explain/explanation.hpp>

#include "exec/run/work.hpp"
#include "exec/scan/scan_space.hpp"

namespace dsl::detail {

/// Work that is a statement of its own, over an index space whose dimensions are in row-major order
/// or in the order of a scan.
class ordered_work : public work {
 public:
  work_record record() const final {
    return {*pass_, ordered_.space, operands_.data(), inputs_, targets_};
  }
  const geometry& space() const { return ordered_.space; }
  const scan_space& ordered() const { return ordered_; }
  /// Inputs, then targets.
  const operand* operands() const { return operands_.data(); }
  const operand& target(int k) const { return operands_[static_cast<std::size_t>(inputs_ + k)]; }

  /// Evaluates the statement as if all inputs were read before the first write: a target that
  /// shares memory with them is written to a temporary first. Explains, plans and queues it.
  void assign();
  virtual explanation explain() const = 0;

 protected:
  /// `code` is the compiled code, by which explanations tell statements apart.
  ordered_work(work_kind kind, const void* code, const pass_view& pass, const operand* operands,
               int inputs, int targets)
      : work(kind),
        code_(code),
        pass_(&pass),
        operands_(operands, operands + inputs + targets),
        inputs_(inputs),
        targets_(targets) {}
  ordered_work(const ordered_work&) = delete;
  ~ordered_work() = default;

  /// Lays out and checks everything. Throws shape_error and device_error.
  virtual void lay_out() = 0;
  /// Whether a write to a target may change what is read later.
  virtual bool must_redirect(int target) const = 0;
  /// Whether a target keeps some of its elements.
  virtual bool keeps_elements() const { return false; }

  /// Throws device_error if a target is on another device than the index space.
  void require_one_device() const;

  scan_space ordered_;

 private:
  const void* code_;
  const pass_view* pass_;
  std::vector<operand> operands_;
  int inputs_, targets_;
};

}  // namespace dsl::detail
