// The interface of a kind of devices (GPUs, the host, the simulator, processes) to what runs
// compiled code.
#pragma once

#include <memory>
#include <string>

#include <dsl/exec/run/run.hpp>

#include "exec/plan/layout.hpp"
#include "exec/run/calibration.hpp"

namespace dsl::detail {

class loop;
class row_chain;
struct by_key_code;
struct by_key_request;
struct compress_code;
struct loop_part;
struct loop_steps;
struct pair_sort_task;
struct scan_code;
struct scan_parameters;
struct scan_space;
struct scatter_task;
struct sort_task;

/// Ways to run a loop that a kind of devices supports, in addition to one kernel per step.
struct loop_support {
  /// All steps in one kernel.
  bool one_kernel;
  /// All steps in one kernel of a single block, which has all elements.
  bool one_block;
  /// A kernel of all steps may reduce, and may end on a condition.
  bool carries_scalars;
  /// Kernels are recorded once and launched together.
  bool graphs;
  /// Tuning numbers for plans of loops.
  loop_policy policy;
};

/// The partial results of a pass that reduces: for each group of results one from each block, of
/// one launch or of several. Those of a group are contiguous.
struct partial_results_layout {
  std::int64_t groups;
  std::int64_t count;  // Partial results of each group.
  std::size_t bytes;   // Bytes of one partial result.

  std::size_t all_bytes() const { return static_cast<std::size_t>(groups * count) * bytes; }
};

class kernel_graph;

/// The name of a strategy in errors and plans.
const char* name_of(strategy s);

/// Plans and runs compiled code on operands that have been laid out. One object for each kind of
/// devices.
class executor : public layout_services {
 public:
  static executor& of(const back_end& devices) { return static_cast<executor&>(devices.kernels()); }
  static executor& of(device where) { return of(back_end::of(where)); }

  void copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from,
                     const void* source, const mapping& elements, std::size_t size) const final;

  /// Describes the launch of a plan: "grid 12 x block 256, 4 lanes a thread".
  virtual std::string describe_launch(const plan& p) const = 0;
  /// For errors, if no file compiled a kernel for these devices: the device and the reason, "sim:
  /// its file ...".
  virtual std::string why_not_compiled(device where) const;

  /// Throws device_error on a mesh of processes, for any number of elements. For operations that
  /// need all elements in one process; `what` names the operation.
  virtual void require_one_process(const char* /*what*/, const pass_view* = nullptr,
                                   const operand* = nullptr) const {}

  /// Whether a pass has a linear path, for operands that form one contiguous dimension.
  virtual bool has_linear_path(const program_code&) const { return true; }
  /// Throws device_error if no file compiled the pass for these devices, or if its kernel cannot
  /// run with the launch numbers that the caller has fixed.
  virtual reduction_plan plan_pass(const prepared& pass) const = 0;
  /// As `prepared::run`.
  virtual void run_pass(const prepared& pass, const std::uint64_t* recorded, const bool* stop,
                        const stream& on) const = 0;

  // A reduction in two steps. Between them, partial results of several devices may be gathered, if
  // their passes have the same code and plan, each over its own elements.

  /// The layout of the partial results that the first step leaves.
  virtual partial_results_layout partials_of(const prepared& pass) const = 0;
  /// Queues the first step: reduces a pass's elements to partial results, stored from number
  /// `first` on in each group of `all`. `stop` as in `prepared::run`.
  virtual void reduce_to_partials(const prepared& pass, const partial_results_layout& all,
                                  void* memory, std::int64_t first, const bool* stop,
                                  const stream& on) const = 0;
  /// Queues the second step: combines partial results to a pass's results, each of `count`
  /// elements. `recorded` and `stop` as in `prepared::run`.
  virtual void finish_partials(const prepared& pass, const partial_results_layout& all,
                               void* memory, std::int64_t count, const std::uint64_t* recorded,
                               const bool* stop, const stream& on) const = 0;

  /// Whether a chain may run as one kernel.
  virtual bool runs_rows(const chain_code& code) const = 0;
  /// As `plan_pass`.
  virtual row_plan plan_rows(const row_chain& rows) const = 0;
  /// Queues all phases of a chain as one kernel.
  virtual void run_rows(const row_chain& rows, const stream& on) const = 0;

  virtual loop_support supports(const loop& of) const = 0;
  /// Whether all blocks of a kernel can be on the device at once, so that they may wait for each
  /// other.
  virtual bool is_cooperative(int /*index*/) const { return false; }
  /// The plan of a loop in one kernel.
  virtual loop_plan plan_loop(const loop& of, strategy how) const = 0;
  /// Queues steps of a loop as one kernel: all blocks, or those of `part` if it is not null.
  virtual void run_loop(const loop& of, const loop_plan& p, const loop_steps& steps,
                        const loop_part* part, const stream& on) const = 0;
  /// Makes a graph of kernels. Null if kernels cannot be recorded on the stream now.
  virtual std::unique_ptr<kernel_graph> make_graph(const stream&) const { return nullptr; }

  /// Measures the device's rates. Null if times of a device of this kind mean nothing.
  virtual std::unique_ptr<calibration> measure(int /*index*/) const { return nullptr; }

  virtual scan_plan plan_scan(const scan_code& code, const operand* operands,
                              const scan_space& s) const = 0;
  virtual void run_scan(const scan_code& code, const operand* operands, const scan_space& s,
                        const scan_parameters& parameters, const stream& on) const = 0;
  /// Plans a reduction by key of operands that `lay_out_in_order` laid out in row-major order; so
  /// must those of `run_by_key` and of selections be.
  virtual by_key_plan plan_by_key(const by_key_code& code, const operand* operands,
                                  const geometry& g, const by_key_request& request) const = 0;
  virtual void run_by_key(const by_key_code& code, const operand* operands, const geometry& g,
                          const by_key_request& request, const by_key_plan& p,
                          const stream& on) const = 0;
  /// Sorts and scatters run on the host, in its memory, unless a kind of devices overrides them.
  virtual void sort(const sort_task& task, const stream& on) const;
  virtual void sort(const pair_sort_task& task, const stream& on) const;
  virtual void scatter(const scatter_task& task, const stream& on) const;
  virtual plan plan_compress(const compress_code& code, const operand* operands,
                             const geometry& g) const = 0;
  virtual void run_compress(const compress_code& code, const operand* operands, const geometry& g,
                            const plan& p, const stream& on) const = 0;

 protected:
  ~executor() = default;
};

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

}  // namespace dsl::detail
