// What a process has of a pass's operands.
#pragma once

#include <vector>

#include <dsl/exec/run/run.hpp>

#include "exec/run/divided.hpp"
#include "mem/processes.hpp"

namespace dsl::detail {

/// Whether one has other elements in each row of an index space of so many dimensions, along the
/// outermost.
inline bool varies_by_rows(const operand& o, int rank) {
  return rank > 0 && o.rank == rank && o.extents[0] != 1;
}

/// A bit for each axis that a pass's targets are reduced along.
std::uint32_t reduced_axes(const operand* targets, int count);

/// Operands on the process's own device, of its rows of the index space: those (along the outermost
/// axis) of which the first target that is divided has elements here, or where none is the first
/// input. What is the same for all rows, of a lower rank or of extent 1, is brought from where it
/// is.
class local_operands {
 public:
  /// `whole`: of all rows, in each process; inputs are brought, and targets are kept aside.
  /// `planned`: nothing is read or written. Throws device_error where elements of other processes
  /// are needed otherwise.
  local_operands(const process_mesh& mesh, const operand* all, int inputs, int count,
                 const geometry& g, const pass_view& pass, bool whole, bool planned = false);

  const operand* data() const { return operands_.data(); }
  /// Whether the rows are divided.
  bool are_divided() const { return !rows_.empty(); }
  const std::vector<index_range>& rows() const { return rows_; }
  index_range own_rows() const { return rows_[static_cast<std::size_t>(mesh_.rank())]; }
  /// Whether each process has some of them.
  bool all_have_rows() const;
  /// Whether all that a kernel over a process's rows reads and writes lies with each process, in
  /// arrays aligned to vectors.
  bool stand_alone(const operand* all, const geometry& g) const;
  /// Whether a target is kept aside.
  bool keeps_aside() const { return !copies_.empty(); }
  /// Moves what was kept aside to the targets.
  void store() const;

 private:
  struct late_copy { operand from, to; };
  void divide(const operand* all, int inputs, int count, const geometry& g);
  bool lies_at_home(const operand& o, bool by_rows) const;
  void localize(operand& o, bool is_target, const geometry& g, const pass_view& pass,
                const operand* all);
  void bring(operand& o);
  void keep_aside(operand& o, const pass_view& pass, const operand* all);

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
