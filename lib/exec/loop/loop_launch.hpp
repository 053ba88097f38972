// Steps of a loop as one kernel.
#pragma once

#include <dsl/exec/loop/loop.hpp>

#include "exec/run/scratch.hpp"

namespace dsl::detail {

/// Whether a strategy runs all steps in one kernel.
inline bool is_one_kernel(strategy s) { return s >= strategy::elementwise; }

/// One process's part of a kernel that several processes launch together.
struct loop_part {
  block_range range;     // The part's blocks.
  exchange_cells cells;  // Cells for the exchange of sums; each process has a copy.
  std::int64_t count;    // Elements of each result over all processes.
};

/// Bytes that the blocks of a loop's kernel need to exchange their accumulators.
std::size_t bytes_of_sums(const loop& of, std::int64_t blocks);

/// How many times they do so in some steps.
std::int64_t exchanges_in(const loop& of, std::int64_t steps);

/// Steps of a loop in one launch, by one of the strategies with one kernel. The loop and its steps
/// must outlive this object.
class loop_launch final : public planned_work<loop_plan> {
 public:
  /// Without steps, to be planned only.
  loop_launch(const loop& of, strategy how)
      : planned_work(work_kind::loop), loop_(&of), how_(how) {}
  /// The steps, or one process's part of them.
  loop_launch(const loop& of, const loop_plan& p, const loop_steps& steps,
              const loop_part* part = nullptr)
      : planned_work(work_kind::loop), loop_(&of), how_(p.loop), steps_(&steps), part_(part) {
    set_plan(p);
  }

  work_record record() const override { return loop_->record(); }
  bool is_empty() const override { return loop_->is_empty(); }
  profiled_work profile() const override;
  void run_on(const grid_executor& devices, const stream& on) const override;

  const loop& of() const { return *loop_; }
  strategy how() const { return how_; }
  const loop_steps& steps() const { return *steps_; }
  const loop_part* part() const { return part_; }

 private:
  loop_plan plan_for(const grid_executor& devices) const override;

  const loop* loop_;
  strategy how_;
  const loop_steps* steps_ = nullptr;
  const loop_part* part_ = nullptr;
};

}  // namespace dsl::detail
