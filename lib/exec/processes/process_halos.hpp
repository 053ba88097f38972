// Neighbours along the axis that is divided among processes.
#pragma once

#include <optional>

#include "exec/processes/processes.hpp"

namespace dsl::detail {

/// How many rows before an element's and behind it a pass reads.
struct row_reach {
  std::int64_t before = 0, behind = 0;
  bool wraps = false;  // the first row's are at the end

  bool is_none() const { return before == 0 && behind == 0; }
};
/// None where a pass asks for more than elements some rows away of arrays, or takes the ends in
/// several ways.
std::optional<row_reach> reach_of(const prepared& pass);

/// The first and the last rows of a process, of which neighbours are other processes' rows. What a
/// kernel over the process's own rows makes of these is wrong: they are computed a second time,
/// each with the rows around them, and stored over that.
class edge_rows {
 public:
  /// Whether each process has enough rows, behind those of the process before.
  static bool are_enough(const local_operands& mine, const row_reach& reach);

  /// Copies the rows, and exchanges with the processes before and behind what lies around them.
  edge_rows(const process_mesh& mesh, const prepared& pass, const local_operands& mine,
            const row_reach& reach);
  /// Computes them.
  void run() const {
    run(first_);
    run(last_);
  }

 private:
  // Rows on the border of two processes: those from `first` of its own that a process needs, which
  // come to lie from `place` on, and the other's.
  struct edge {
    bool is_inner;  // there is another process
    std::int64_t rows, first, place;
    std::int64_t results, stored;  // how many are stored, and from where of the process's own
    std::vector<operand> operands{}, read{};  // the pass's; the arrays among its inputs, each once
    std::vector<buffer_ref> memory{};
  };
  std::int64_t inner() const { return reach_.before + reach_.behind; }
  void fill(edge& e);
  void exchange();
  void run(const edge& e) const;

  const process_mesh& mesh_;
  const prepared& pass_;
  const operand* const own_;
  const row_reach reach_;
  edge first_, last_;
};

}  // namespace dsl::detail
