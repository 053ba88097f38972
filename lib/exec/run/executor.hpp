// The interface of a kind of devices (GPUs, the host, the simulator, processes) to what runs
// compiled code.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <dsl/exec/run/run.hpp>

#include "exec/plan/layout.hpp"
#include "exec/run/calibration.hpp"

namespace dsl::detail {

class loop;
struct library_task;

/// Ways to run a loop that a kind of devices supports, in addition to one kernel per step.
struct loop_support {
  /// All steps in one kernel.
  bool one_kernel;
  /// All steps in one kernel of a single block, which has all elements.
  bool one_block;
  /// A kernel of all steps may reduce, and may end on a condition.
  bool carries_scalars;
  /// All blocks of a kernel can be on the device at once, so that they may wait for each other.
  bool cooperative;
  /// Kernels are recorded once and launched together.
  bool graphs;
  /// Tuning numbers for plans of loops.
  loop_policy policy;
};

class kernel_graph;
class statement_graph;

/// The name of a strategy in errors and plans.
const char* name_of(strategy s);

/// Plans and runs work whose operands have been laid out. One object for each kind of devices.
class executor : public layout_services {
 public:
  static executor& of(const back_end& devices) { return static_cast<executor&>(devices.kernels()); }
  static executor& of(device where) { return of(back_end::of(where)); }

  /// Plans work (`work::plan_once`).
  virtual void plan(const work& w) const = 0;
  /// Queues work that is not empty. Plans it first if its launch needs a plan and it has none.
  virtual void run(const work& w, const stream& on) const = 0;
  /// Queues a task that the device takes.
  virtual void run(const library_task& task, const stream& on) const = 0;
  /// Whether the device has code for a task: if not, it is done in another way.
  virtual bool takes(const library_task&, device) const { return true; }

  virtual loop_support supports(const loop& of) const = 0;
  /// Makes a graph of kernels. Null if kernels cannot be recorded on the stream now.
  virtual std::unique_ptr<kernel_graph> make_graph(const stream&) const { return nullptr; }
  /// Makes a graph of a statement's work. Null if these devices have none.
  virtual std::unique_ptr<statement_graph> make_statement_graph(int /*index*/) const {
    return nullptr;
  }

  /// Describes the launch of a plan: "grid 12 x block 256, 4 lanes a thread".
  virtual std::string describe_launch(const dsl::plan& p) const = 0;
  /// For errors, if no file compiled a kernel for these devices: the device and the reason, "sim:
  /// its file ...".
  virtual std::string why_not_compiled(device where) const;

  /// Measures the device's rates. Null if times of a device of this kind mean nothing.
  virtual std::unique_ptr<calibration> measure(int /*index*/) const { return nullptr; }

  /// Whether rows that one launch does need no memory for values that it discards.
  virtual bool keeps_values_on_chip() const { return false; }

  void copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from,
                     const void* source, const mapping& elements, std::size_t size) const final;

 protected:
  ~executor() = default;
};

/// Throws device_error on a mesh of processes, for any number of elements. For operations that need
/// all elements in one process; `operation` names it, and the pass and operands, if they are not
/// null, its formula.
void require_one_process(device where, const char* operation, const pass_view* pass = nullptr,
                         const operand* operands = nullptr);

/// Throws device_error for a kernel that no file of the program compiled for a device. The error
/// names the kernel and its formula.
[[noreturn]] void throw_not_compiled(device where, const char* name, const pass_view& pass,
                                     const operand* operands);

/// The compiled code, if it is not null; otherwise as `throw_not_compiled`.
template <class Code>
const Code& compiled_for(device where, const Code* code, const char* name, const pass_view& pass,
                         const operand* operands) {
  if (code == nullptr) throw_not_compiled(where, name, pass, operands);
  return *code;
}

/// A sequence of kernels that is recorded and launched together, any number of times, each time
/// with new parameters.
class kernel_graph {
 public:
  kernel_graph() = default;
  kernel_graph(const kernel_graph&) = delete;
  virtual ~kernel_graph() = default;

  /// Calls record() and queues the kernels that it launches. The first call makes the graph; later
  /// ones, which must launch the same kernels in the same number, only replace their parameters.
  template <class Record>
  void run(const Record& record) {
    begin();
    try {
      record();
    } catch (...) {
      end();
      throw;
    }
    end();
    launch();
  }

 private:
  virtual void begin() = 0;
  virtual void end() noexcept = 0;
  virtual void launch() = 0;
};

/// The work of a statement, which is recorded once and launched any number of times: kernels, calls
/// of libraries and memory of the pool that they work in.
class statement_graph {
 public:
  statement_graph() = default;
  statement_graph(const statement_graph&) = delete;
  virtual ~statement_graph() = default;
  /// Calls `queue`, and records what it queues on the stream instead of running it. False if it
  /// cannot be recorded: then nothing has been queued.
  virtual bool record(const stream& on, const std::function<void()>& queue) = 0;
  virtual void launch(const stream& on) = 0;
};

}  // namespace dsl::detail
