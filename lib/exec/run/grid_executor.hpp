// Kernels on a grid of blocks of threads. GPUs and the simulator share this code.
#pragma once

#include <vector>

#include "exec/run/executor.hpp"

namespace dsl::detail {

/// The entry point of a kernel, and its description for errors.
struct kernel_entry {
  const void* function;
  // As in entry_points and in program_code.
  const char *architectures, *name;
  const pass_view& pass;
};

class kernel_parameters;

/// Memory that a kernel may read and write, in addition to its operands'.
struct memory_range {
  const void* begin;
  std::size_t bytes;
  bool is_empty;  // Whether it has no contents before this kernel writes it.
};

/// Memory that is set to zero before a kernel begins; on a mesh, the same part of each member's
/// copy.
struct zeroed_memory {
  void* begin = nullptr;
  // Bytes to set to zero, and bytes from a member's copy to the next.
  std::size_t bytes = 0, copy_bytes = 0;
};

/// Sets those parameters of a kernel that differ between the members of a mesh.
class member_parameters {
 public:
  /// Sets the parameters of a member that runs `blocks` blocks from number `first` on.
  virtual void fill(kernel_parameters& given, int member, std::int64_t first,
                    std::int64_t blocks) const = 0;

 protected:
  ~member_parameters() = default;
};

/// A launch of a kernel, and its description for errors.
struct kernel_launch : kernel_entry {
  std::int64_t grid;
  int block, shared_bytes;
  // The beginning of the kernel's only parameter. Launching fills it in.
  block_range* range;
  const operand* operands;
  // Numbers of inputs and of outputs among the operands.
  int inputs, outputs;
  std::int64_t elements;
  // Whether all blocks must be on the device at once.
  bool cooperative = false;
  // Further memory that the kernel uses: `other_count` ranges.
  const memory_range* others = nullptr;
  int other_count = 0;
  // The operands of the pass, if `operands` are those of several passes; else null.
  const operand* own_operands = nullptr;
  // Number of consecutive blocks that form a cluster.
  int cluster = 1;
  // Number of a loop's first step, for errors.
  std::int64_t first_step = 0;
  // On a mesh: whether blocks wait for the totals of other members' tiles.
  bool looks_back = false;
  // The kernel's parameters, some of which `of_members` sets for each member of a mesh; or null.
  kernel_parameters* parameters = nullptr;
  const member_parameters* of_members = nullptr;
  // The end of each member's blocks, or null if the launch is divided by `shares_of`.
  const std::vector<std::int64_t>* member_ends = nullptr;
  // Number of consecutive blocks that must run on the same member.
  int blocks_together = 1;
  // Elements of a block, if blocks take a map's arrays in the order of their elements; else 0.
  std::int64_t elements_a_block = 0;
  zeroed_memory zeroed{};
  // If several processes share a grid: this launch's `grid` blocks of it. Else null.
  const block_range* part = nullptr;

  const operand* operands_of_pass() const {
    return own_operands != nullptr ? own_operands : operands;
  }
};

/// Devices that run kernels on a grid of blocks of threads: GPUs and the simulator. Work plans its
/// grid and fills in its kernels' parameters (`work::plan_on`, `work::run_on`); the device launches
/// them.
class grid_executor : public executor {
 public:
  constexpr grid_executor(kernel_target target, bool has_graphs)
      : target_(target), has_graphs_(has_graphs) {}

  /// Properties of a compiled kernel; zeros if they are unknown.
  virtual kernel_attributes attributes(const kernel_entry& kernel, int block, int index) const = 0;
  /// Whether all blocks of a kernel can be on the device at once, so that they may wait for each
  /// other.
  virtual bool is_cooperative(int index) const = 0;
  /// Queues a kernel, or adds it to the graph that the calling thread records. Errors name the
  /// kernel, the expression and the sizes.
  virtual void launch_kernel(const kernel_launch& k, const stream& on) const = 0;

  /// The entry of a table for these devices.
  template <class Code>
  const Code& compiled(const Code (&table)[kernel_targets]) const {
    return table[static_cast<int>(target_)];
  }

  void order_reduced(geometry& g, const operand* operands, int inputs, int count,
                     const pass_view& pass) const final;
  bool has_linear_path(const kernel_choice& kernels) const final { return kernels.linear; }
  bool takes_leads() const final { return true; }
  void plan(const work& w) const final { w.plan_on(*this); }
  using executor::run;
  void run(const work& w, const stream& on) const final { w.run_on(*this, on); }
  bool keeps_values_on_chip() const final { return true; }
  loop_support supports(const loop& of) const final;
  std::string describe_launch(const dsl::plan& p) const final;

 protected:
  ~grid_executor() = default;

 private:
  kernel_target target_;
  bool has_graphs_;
};

}  // namespace dsl::detail
