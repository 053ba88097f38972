// Kernels on a grid of blocks of threads: what a GPU and the simulator share.
#pragma once

#include <vector>

#include "exec/run/executor.hpp"

namespace dsl::detail {

/// An entry point, and what errors say of it.
struct kernel_entry {
  const void* function;
  const char *architectures, *name;  // as entry_points' and program_code's
  const pass_view& pass;
};

class kernel_parameters;

/// Memory that a kernel may read and write, beside its operands'.
struct memory_range {
  const void* begin;
  std::size_t bytes;
  bool is_empty;  // until this kernel writes it
};

/// Memory that is zero when a kernel begins; of a mesh the same part of each member's copy.
struct zeroed_memory {
  void* begin = nullptr;
  std::size_t bytes = 0, copy_bytes = 0;
};

/// What of a kernel's parameters each member of a mesh has its own of.
class member_parameters {
 public:
  /// For a member that has so many blocks from `first` on.
  virtual void fill(kernel_parameters& given, int member, std::int64_t first,
                    std::int64_t blocks) const = 0;

 protected:
  ~member_parameters() = default;
};

/// What is launched, and what an error says of it.
struct kernel_launch : kernel_entry {
  std::int64_t grid;
  int block, shared_bytes;
  block_range* range;  // the kernel's one parameter, which begins with it; filled in here
  const operand* operands;
  int inputs, outputs;  // of the operands
  std::int64_t elements;
  bool cooperative = false;              // all blocks at once on the device
  const memory_range* others = nullptr;  // `other_count` of them
  int other_count = 0;
  const operand* own_operands = nullptr;  // the pass's, where `operands` are those of several
  int cluster = 1;                        // so many blocks one behind the other are a cluster
  std::int64_t first_step = 0;            // of a loop, as errors count them
  bool looks_back = false;  // of a mesh: blocks wait for what those of other members' tiles come to
  bool waits_itself = false;  // for the launch before it, which may still run when its blocks begin
  kernel_parameters* parameters =
      nullptr;  // of which a mesh's members have some of their own, or null
  const member_parameters* of_members = nullptr;
  const std::vector<std::int64_t>* member_ends =
      nullptr;              // of a mesh's members: where their blocks end, if that is known
  int blocks_together = 1;  // so many blocks one behind the other are one member's
  std::int64_t elements_a_block =
      0;  // of arrays in the order of their elements, which block after block takes; else 0
  zeroed_memory zeroed{};
  const block_range* part =
      nullptr;  // of a grid of several processes: the launch's blocks, `grid` of them

  const operand* operands_of_pass() const {
    return own_operands != nullptr ? own_operands : operands;
  }
};

/// Plans grids, fills kernels' parameters, and gives them memory for what their blocks tell each
/// other.
class grid_executor : public executor {
 public:
  constexpr grid_executor(kernel_target target, bool has_graphs)
      : target_(target), has_graphs_(has_graphs) {}

  /// What is known of a compiled kernel; zeros where nothing is.
  virtual kernel_attributes attributes(const kernel_entry& kernel, int block, int index) const = 0;
  /// Queues a kernel, or adds it to the graph that the calling thread records. Throws an error that
  /// names the kernel, the expression and the sizes.
  virtual void launch_kernel(const kernel_launch& k, const stream& on) const = 0;

  void order_reduced(geometry& g, const operand* operands, int inputs, int count,
                     const pass_view& pass) const override;
  std::string describe_launch(const plan& p) const override;
  bool has_linear_path(const program_code& code) const override;
  reduction_plan plan_pass(const prepared& pass) const override;
  void run_pass(const prepared& pass, const std::uint64_t* recorded, const bool* stop,
                const stream& on) const override;

  bool runs_rows(const chain_code& code) const override;
  row_plan plan_rows(const row_chain& rows) const override;
  void run_rows(const row_chain& rows, const stream& on) const override;

  partial_results_layout partials_of(const prepared& pass) const override;
  void reduce_to_partials(const prepared& pass, const partial_results_layout& all, void* memory,
                          std::int64_t first, const bool* stop, const stream& on) const override;
  void finish_partials(const prepared& pass, const partial_results_layout& all, void* memory,
                       std::int64_t count, const std::uint64_t* recorded, const bool* stop,
                       const stream& on) const override;

  loop_support supports(const loop& of) const override;
  loop_plan plan_loop(const loop& of, strategy how) const override;
  void run_loop(const loop& of, const loop_plan& p, const loop_steps& steps, const loop_part* part,
                const stream& on) const override;
  scan_plan plan_scan(const scan_code& code, const operand* operands,
                      const scan_space& s) const override;
  void run_scan(const scan_code& code, const operand* operands, const scan_space& s,
                const scan_parameters& parameters, const stream& on) const override;
  by_key_plan plan_by_key(const by_key_code& code, const operand* operands, const geometry& g,
                          const by_key_request& request) const override;
  void run_by_key(const by_key_code& code, const operand* operands, const geometry& g,
                  const by_key_request& request, const by_key_plan& p,
                  const stream& on) const override;
  plan plan_compress(const compress_code& code, const operand* operands,
                     const geometry& g) const override;
  void run_compress(const compress_code& code, const operand* operands, const geometry& g,
                    const plan& p, const stream& on) const override;

 protected:
  ~grid_executor() = default;
  /// What a table has for these devices.
  template <class Code>
  const Code& compiled(const Code (&table)[kernel_targets]) const {
    return table[static_cast<int>(target_)];
  }

 private:
  kernel_entry entry_of(const loop& of) const;
  void launch_pass(const prepared& pass, const reduction_plan& p, kernel_parameters& given,
                   const memory_range* others, int other_count, const stream& on) const;
  void launch_finish(const prepared& pass, const reduction_plan& p, const reduction_schedule& left,
                     const std::uint64_t* recorded, const memory_range* others, int other_count,
                     const stream& on) const;

  kernel_target target_;
  bool has_graphs_;
};

}  // namespace dsl::detail
