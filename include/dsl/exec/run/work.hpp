// Work: the record of a launch, and the plan that it is launched with.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <dsl/exec/plan/operand.hpp>

namespace dsl {

class stream;

namespace detail {

class grid_executor;
struct profiled_work;

/// What happens to the elements that a pass computes.
enum class work_kind : std::uint8_t {
  pass,       // Stored, or reduced: over everything or along axes (`bound_pass`).
  rows,       // Reduced and used again: several passes in one launch (`row_chain`).
  loop,       // Fed back: several steps in one launch (`loop_launch`).
  scan,       // Accumulated in order (`scan_work`).
  by_key,     // Reduced in groups that keys name (`by_key_work`).
  selection,  // Stored where a condition holds, one after another (`selection_work`).
  ensemble,   // Each a loop of its own (`ensemble_work`).
  transform,  // Transformed along rows, between formulas: for blocks of threads alone.
};

/// The data that all kinds of work have. `operands`: the inputs, then the targets.
struct work_record {
  const pass_view& pass;
  const geometry& space;
  const operand* operands;
  int inputs, targets;
};

/// Work that a device plans and runs. A kind of work is a class with these functions; the kinds of
/// devices that do not run blocks of threads (the host, processes) choose by `kind`.
class work {
 public:
  work_kind kind() const { return kind_; }
  virtual work_record record() const = 0;
  device where() const { return record().space.where; }
  /// Whether there is nothing to do.
  virtual bool is_empty() const = 0;
  /// Name, formula and cost, for profilers.
  virtual profiled_work profile() const = 0;

  /// Makes the plan, unless there is one. Throws device_error if no file compiled the work for its
  /// device, or if its kernel cannot run with the launch numbers that the call has fixed.
  virtual void plan_once() const = 0;
  /// Makes the plan for blocks of threads.
  virtual void plan_on(const grid_executor& devices) const = 0;
  /// Queues the kernels. Plans first if there is no plan.
  virtual void run_on(const grid_executor& devices, const stream& on) const = 0;

 protected:
  explicit work(work_kind kind) : kind_(kind) {}
  work(const work&) = default;
  work& operator=(const work&) = default;
  ~work() = default;

 private:
  work_kind kind_;
};

/// Has the executor of the work's device plan it.
void plan_work(const work& w);

/// Work with its own type of plan, made once, when it is first needed: all launches of the work
/// have the same one.
template <class Plan, class Base = work>
class planned_work : public Base {
 public:
  const Plan& plan() const {
    plan_once();
    return *plan_;
  }
  void set_plan(Plan made) const { plan_ = std::move(made); }
  void plan_once() const final {
    if (!plan_) plan_work(*this);
  }
  void plan_on(const grid_executor& devices) const final { plan_ = plan_for(devices); }

 protected:
  using Base::Base;
  planned_work(const planned_work&) = default;
  planned_work& operator=(const planned_work&) = default;
  ~planned_work() = default;
  void forget_plan() { plan_.reset(); }
  virtual Plan plan_for(const grid_executor& devices) const = 0;

 private:
  mutable std::optional<Plan> plan_;
};

}  // namespace detail
}  // namespace dsl
