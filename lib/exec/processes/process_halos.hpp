// Neighbours along the axis that is divided among processes.
#pragma once

#include <optional>

#include "exec/processes/processes.hpp"

namespace dsl::detail {

/// Rows before and behind an element's row that a pass reads.
struct row_reach {
  std::int64_t before = 0, behind = 0;
  bool wraps = false;  // Whether rows beyond one end are those at the other end.

  bool is_none() const { return before == 0 && behind == 0; }
};
/// None if a pass reads more than neighbours of arrays, or uses different boundaries at the ends of
/// the rows.
std::optional<row_reach> reach_of(const bound_pass& pass);

/// The first and the last rows of a process, whose neighbours are rows of other processes. The
/// kernel over the process's own rows computes them wrongly. They are computed a second time,
/// together with the rows around them, and overwritten.
class edge_rows {
 public:
  /// Whether each process has enough rows, and rows follow each other in the order of the
  /// processes.
  static bool are_enough(const local_operands& mine, const row_reach& reach);

  /// Copies the rows, and exchanges the surrounding rows with the previous and the next process.
  edge_rows(const process_mesh& mesh, const bound_pass& pass, const local_operands& mine,
            const row_reach& reach);
  /// Computes and stores the rows.
  void run() const {
    run(first_);
    run(last_);
  }

 private:
  // Rows at the border between two processes: `rows` rows, of which the process's own ones begin at
  // its row `first` and are copied to row `place`. The others come from the other process.
  struct edge {
    bool is_inner;  // There is another process on that side.
    std::int64_t rows, first, place;
    // Rows to store, and the process's row from which they are stored.
    std::int64_t results, stored;
    // The pass's operands, and the arrays among its inputs, each once.
    std::vector<operand> operands{}, read{};
    std::vector<buffer_ref> memory{};
  };
  std::int64_t inner() const { return reach_.before + reach_.behind; }
  void fill(edge& e);
  void exchange();
  void run(const edge& e) const;

  const process_mesh& mesh_;
  const bound_pass& pass_;
  const operand* const own_;
  const row_reach reach_;
  edge first_, last_;
};

}  // namespace dsl::detail
