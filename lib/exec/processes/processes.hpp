// A process's part of the operands of a pass.
#pragma once

#include <vector>

#include <dsl/exec/run/run.hpp>

#include "exec/run/divided.hpp"
#include "mem/processes.hpp"

namespace dsl::detail {

/// Whether an operand has other elements in each row, along the outermost axis, of an index space
/// with `rank` dimensions.
inline bool varies_by_rows(const operand& o, int rank) {
  return rank > 0 && o.rank == rank && o.extents[0] != 1;
}

/// The axes along which a pass's targets are reduced, a bit each.
std::uint32_t reduced_axes(const operand* targets, int count);

/// The operands on the process's own device, for its rows of the index space along the outermost
/// axis. The first divided target decides which rows these are; if there is none, the first divided
/// input. Operands that are the same for all rows, of a lower rank or of extent 1, are gathered
/// from where they are.
class local_operands {
 public:
  /// `whole`: each process computes all rows; inputs are gathered, and targets are redirected.
  /// `planned`: for planning alone, nothing is read or written. Throws device_error if elements of
  /// other processes are needed in another way.
  local_operands(const process_mesh& mesh, const operand* all, int inputs, int count,
                 const geometry& g, const pass_view& pass, bool whole, bool planned = false);

  const operand* data() const { return operands_.data(); }
  /// Whether the rows are divided among the processes.
  bool are_divided() const { return !rows_.empty(); }
  const std::vector<index_range>& rows() const { return rows_; }
  index_range own_rows() const { return rows_[static_cast<std::size_t>(mesh_.rank())]; }
  /// Whether each process has at least one row.
  bool all_have_rows() const;
  /// Whether each process has all that a kernel over its rows reads and writes, in arrays aligned
  /// to vectors.
  bool are_self_contained(const operand* all, const geometry& g) const;
  /// Whether a target is redirected to a temporary.
  bool redirects() const { return !copies_.empty(); }
  /// Copies the temporaries to their targets.
  void store() const;

 private:
  struct late_copy { operand from, to; };
  void divide(const operand* all, int inputs, int count, const geometry& g);
  bool is_local(const operand& o, bool by_rows) const;
  void localize(operand& o, bool is_target, const geometry& g, const pass_view& pass,
                const operand* all);
  void gather(operand& o);
  void redirect(operand& o, const pass_view& pass, const operand* all);

  const process_mesh& mesh_;
  bool whole_;
  const bool planned_;
  const int pass_inputs_;
  std::vector<index_range> rows_;
  std::vector<operand> operands_;
  std::vector<buffer_ref> memory_;
  std::vector<late_copy> copies_;
};

}  // namespace dsl::detail
