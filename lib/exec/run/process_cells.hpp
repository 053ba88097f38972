// Cells through which the blocks of one kernel, run by several processes, exchange sums.
#pragma once

#include "exec/run/scratch.hpp"
#include "exec/run/step_numbers.hpp"
#include "mem/processes.hpp"

namespace dsl::detail {

/// The cells of a mesh of processes, with a copy in each process's memory. Its loops use them one
/// after another.
class process_cells {
 public:
  explicit process_cells(const process_mesh& mesh) : mesh_(mesh) {}

  /// Whether kernels of the processes reach each other's memory. All processes must call this; the
  /// first time, they wait for each other.
  bool are_shared();
  /// Cells for a kernel of up to `steps` steps. `layout` identifies the cells' layout. Where this
  /// kernel could overtake another process's last one, it is queued behind all of them.
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
