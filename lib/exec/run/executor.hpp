// How the kernels of a kind of devices run: the seam's upper half.
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

/// The ways in which a kind of devices can run a loop, besides a kernel a step.
struct loop_support {
  bool one_kernel;       ///< all steps in one kernel
  bool one_block;        ///< one block of this kernel may have all elements
  bool carries_scalars;  ///< this kernel may reduce, and end on a condition
  bool graphs;           ///< kernels recorded once and launched together
  loop_policy policy;    ///< the numbers that loops are planned with
};

/// The layout of a pass's partial results. Each block of a launch, or of several launches, leaves
/// one for every group of results; those of a group are consecutive.
struct partial_results_layout {
  std::int64_t groups;
  std::int64_t count;  // Partial results of each group.
  std::size_t bytes;   // Of one partial result.

  std::size_t all_bytes() const { return static_cast<std::size_t>(groups * count) * bytes; }
};

class kernel_graph;

/// The name of a strategy in errors and plans.
const char* name_of(strategy s);

/// Plans and queues compiled kernels on operands that have been laid out. One object for each kind
/// of devices.
class executor : public layout_services {
 public:
  static executor& of(const back_end& devices) { return static_cast<executor&>(devices.kernels()); }
  static executor& of(device where) { return of(back_end::of(where)); }

  void copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from,
                     const void* source, const mapping& elements, std::size_t size) const final;

  /// The launch of a plan as text: "grid 12 x block 256, 4 lanes a thread".
  virtual std::string describe_launch(const plan& p) const = 0;
  /// The reason why a kernel cannot run here if no file compiled it for these devices: "sim: its
  /// file ...".
  virtual std::string why_not_compiled(device where) const;

  /// Throws device_error on a mesh of processes, even for no elements: for operations that need all
  /// elements in one process.
  virtual void require_one_process(const char* /*what*/, const pass_view* = nullptr,
                                   const operand* = nullptr) const {}

  /// Whether a pass has a kernel for one contiguous dimension.
  virtual bool has_linear_path(const program_code&) const { return true; }
  /// Throws device_error if no file compiled the pass for these devices, or if its kernel cannot
  /// have the grid or block that the launch fixes.
  virtual reduction_plan plan_pass(const prepared& pass) const = 0;
  /// As `prepared::run`.
  virtual void run_pass(const prepared& pass, const std::uint64_t* recorded, const bool* stop,
                        const stream& on) const = 0;

  // A reduction in two steps. Between them the partial results of several devices may be joined, if
  // their passes have the same code and plan; each device reduces its own elements.

  /// The layout of the first step's partial results.
  virtual partial_results_layout partials_of(const prepared& pass) const = 0;
  /// Queues the reduction of a pass's elements to partial results, which are written from number
  /// `first` on in each group of `all`. `stop`: as for `prepared::run`.
  virtual void reduce_to_partials(const prepared& pass, const partial_results_layout& all,
                                  void* memory, std::int64_t first, const bool* stop,
                                  const stream& on) const = 0;
  /// Queues the computation of a pass's results from partial results; each result reduces `count`
  /// elements. `recorded` and `stop`: as for `prepared::run`.
  virtual void finish_partials(const prepared& pass, const partial_results_layout& all,
                               void* memory, std::int64_t count, const std::uint64_t* recorded,
                               const bool* stop, const stream& on) const = 0;

  /// Whether a chain may run in one launch.
  virtual bool runs_rows(const chain_code& code) const = 0;
  /// As `plan_pass`.
  virtual row_plan plan_rows(const row_chain& rows) const = 0;
  /// Queues all phases.
  virtual void run_rows(const row_chain& rows, const stream& on) const = 0;

  virtual loop_support supports(const loop& of) const = 0;
  /// Whether all blocks of a kernel can be on the device at once, and wait for each other.
  virtual bool is_cooperative(int /*index*/) const { return false; }
  /// The plan of a loop in one kernel.
  virtual loop_plan plan_loop(const loop& of, strategy how) const = 0;
  /// Queues steps in one kernel, or the part of it that this process runs.
  virtual void run_loop(const loop& of, const loop_plan& p, const loop_steps& steps,
                        const loop_part* part, const stream& on) const = 0;
  /// Null if kernels cannot be recorded on that stream now.
  virtual std::unique_ptr<kernel_graph> make_graph(const stream&) const { return nullptr; }

  /// Measures the device; null if it has no meaningful times.
  virtual std::unique_ptr<calibration> measure(int /*index*/) const { return nullptr; }

  virtual scan_plan plan_scan(const scan_code& code, const operand* operands,
                              const scan_space& s) const = 0;
  virtual void run_scan(const scan_code& code, const operand* operands, const scan_space& s,
                        const scan_parameters& parameters, const stream& on) const = 0;
  /// The operands of reductions by key and of selections are laid out in row-major order.
  virtual by_key_plan plan_by_key(const by_key_code& code, const operand* operands,
                                  const geometry& g, const by_key_request& request) const = 0;
  virtual void run_by_key(const by_key_code& code, const operand* operands, const geometry& g,
                          const by_key_request& request, const by_key_plan& p,
                          const stream& on) const = 0;
  /// On the host's memory by default.
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

/// Throws device_error that names the kernel and its formula, which no file of the program compiled
/// for a device.
[[noreturn]] void throw_not_compiled(device where, const char* name, const pass_view& pass,
                                     const operand* operands);

template <class Code>
const Code& compiled_for(device where, const Code* code, const char* name, const pass_view& pass,
                         const operand* operands) {
  if (code == nullptr) throw_not_compiled(where, name, pass, operands);
  return *code;
}

/// Kernels one behind the other that are launched together, as often as wanted, with other
/// parameters each time.
class kernel_graph {
 public:
  kernel_graph() = default;
  kernel_graph(const kernel_graph&) = delete;
  virtual ~kernel_graph() = default;

  /// Records the launches of `record` as the graph and queues it. Later calls update the kernels'
  /// parameters: `record` must then launch the same kernels in the same order.
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
