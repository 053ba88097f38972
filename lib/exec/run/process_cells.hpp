// Where the blocks of a kernel that several processes run together tell each other their sums.
#pragma once

#include "exec/run/scratch.hpp"
#include "exec/run/step_numbers.hpp"
#include "mem/processes.hpp"

namespace dsl::detail {

/// The cells of a mesh of processes, a copy in each one's memory, which its loops use one after
/// another.
class process_cells {
 public:
  explicit process_cells(const process_mesh& mesh) : mesh_(mesh) {}

  /// Whether kernels of the processes reach each other's memory. Asked by all of them: the first
  /// time they wait for each other.
  bool are_shared();
  /// For a kernel of so many steps, perhaps fewer, whose cells `layout` tells from those of others.
  /// Queued behind what the other processes do with the last kernel's, where this one's could come
  /// in between.
  exchange_cells take(std::size_t bytes, std::int64_t layout, std::int64_t steps,
                      bool may_end_early);

 private:
  void share(std::size_t bytes);

  const process_mesh& mesh_;
  bool is_known_ = false, ended_early_ = false;
  gpu_group::shared_memory memory_{};
  std::size_t bytes_ = 0;
  std::int64_t layout_ = 0;
  step_numbers numbers_;
};

}  // namespace dsl::detail
