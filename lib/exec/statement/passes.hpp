// The passes of a statement, bound to its operands.
#pragma once

#include <dsl/exec/statement/evaluation.hpp>

#include <deque>
#include <vector>

#include "exec/statement/statement.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

/// A pass over one index space.
struct pass_of_space {
  struct output {
    // Number of the reduced space; number of the value to store, or -1.
    int space = 0, value = -1;
    std::vector<int> targets{};
    bool needs_elements = false;
  };
  // Number of the scheduled pass; number of the index space, or 0 for elements or several spaces.
  int number, space;
  std::vector<operand> inputs;
  // For each input whether it is bound; one that is not has no elements yet.
  std::vector<bool> is_bound;
  std::vector<output> outputs;
};

class evaluation::passes {
 public:
  explicit passes(const parts& of);
  source source_of(int target) const;
  void bind(int target, const operand& elements);
  statement first(std::size_t count, const launch& fixed) const;
  std::size_t size() const { return passes_.size(); }
  /// Releases all memory unless one of these operands uses it. Returns whether it did.
  bool release_unused(const operand* of, int count);
  const operand* last_inputs() const { return passes_.back().inputs.data(); }

 private:
  struct place {
    const pass_of_space* pass;
    std::size_t output;
  };
  operand operand_of(const bound_input& input) const;
  pass_of_space bind_inputs(int number, const pass_use& use, const pass_use& places) const;
  void check_shapes(const pass_of_space& of, const pass_use& use) const;
  void add_use(int number, int use, std::size_t first);
  bool is_joined(const pass_of_space& made, const pass_use& use, const pass_use& places,
                 std::size_t first);
  bool are_one(const pass_of_space& a, const pass_of_space& b) const;
  static void join(pass_of_space& to, const pass_of_space& more);
  operand any_operand_at(int number, int place) const;
  void bind_stand_ins(pass_of_space& to);
  void add_outputs(pass_of_space& of, const pass_use& use, const pass_use& places);
  void give_memory_to_values(pass_of_space& of);
  int leaf_of(int input) const;
  place place_of(int target) const;
  operand result_operand(const pass_of_space& of, std::size_t output,
                         const operand& elements) const;
  void add_copies(const pass_of_space& p, statement& to) const;

  const schedule_view& plan_;
  const program_code* const* codes_;
  const operand* leaves_;
  const reduced_space* spaces_;
  const operand_range* expressions_;
  int expression_count_;
  std::vector<pass_of_space> passes_;
  std::vector<operand> values_, targets_;
  // For each value, the equal one that has memory.
  std::vector<int> stored_as_;
  std::deque<value_source> sources_;
  std::vector<buffer_ref> memory_;
};

}  // namespace dsl::detail
