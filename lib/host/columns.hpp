// Operands as the host's loop takes them: columns of consecutive elements, for a block at a time.
#pragma once

#include <algorithm>
#include <cstring>

#include <dsl/exec/plan/plan.hpp>

#include "host/neighbours.hpp"
#include "host/transpose.hpp"
#include "host/working_memory.hpp"

namespace dsl::detail {

inline constexpr std::size_t column_bytes = host_block * 16;  // of the widest values
inline host_memory allocate_columns(std::size_t count) {
  return allocate_host_memory(column_bytes * count);
}

/// Elements to compute, of which `valid` exist: what the loop takes has no remainder.
inline int padded_block(int valid) { return std::max(64, (valid + 63) / 64 * 64); }

/// Of rows that are transposed so many columns at a time stay in a core's first-level cache.
inline constexpr int transposed_columns = 128;

/// Whether an operand's elements lie one behind the other, so that the loop can work on them where
/// they are.
inline bool is_direct(const operand& o, const operand_layout& w, const geometry& g) {
  std::int64_t step = 1;
  bool direct = o.kind == operand_kind::array;
  for (int d = g.rank - 1; d >= 0; --d) {
    direct = direct && (w.strides[d] == step || g.extents[d] == 1);
    step *= g.extents[d];
  }
  return direct;
}
inline unsigned char* direct_address(const operand& o, std::int64_t first) {
  return reinterpret_cast<unsigned char*>(o.word[0]) +
         static_cast<std::size_t>(first) * static_cast<std::size_t>(size_of(o.type));
}

/// Whether positions among the elements of a result follow each other as those lie in the index
/// space.
inline bool counts_on(const operand_layout& w, const geometry& g) {
  std::int64_t step = 1;
  bool counts = true;
  for (int d = g.rank - 1; d >= 0; --d)
    if ((g.kept >> d & 1) == 0) {
      counts = counts && (w.strides[d] == step || g.extents[d] == 1);
      step *= g.extents[d];
    }
  return counts;
}

/// Whether an operand is the same for all results.
inline bool is_one_row(const operand_layout& w, const geometry& g) {
  for (int d = 0; d < g.rank; ++d)
    if ((g.kept >> d & 1) != 0 && g.extents[d] > 1 && w.strides[d] != 0) return false;
  return true;
}

/// Whether an operand is at one place for all elements.
inline bool has_one_place(const operand_layout& w, const geometry& g) {
  for (int d = 0; d < g.rank; ++d)
    if (g.extents[d] > 1 && w.strides[d] != 0) return false;
  return true;
}

/// Whether an operand is the same for all elements.
inline bool is_the_same(const operand& o) {
  return o.kind == operand_kind::value || o.kind == operand_kind::device_scalar;
}

/// Whether the elements of one result can be worked on where they are, as many as one likes.
inline bool lie_in_a_row(const operand* operands, int count, const geometry& g,
                         const pass_view& pass) {
  if (pass.neighbours.nodes > 0) return false;
  for (int k = 0; k < count; ++k) {
    const operand& o = operands[k];
    const operand_layout& w = g.layouts[k];
    if (!is_direct(o, w, g) && !is_the_same(o) &&
        (o.kind != operand_kind::position || !counts_on(w, g)))
      return false;
  }
  return true;
}

class input_columns {
 public:
  input_columns(const operand* operands, int count, const geometry& space, const pass_view& pass)
      : operands_(operands),
        count_(count),
        space_(space),
        place_(space),
        columns_(allocate_columns(static_cast<std::size_t>(count + pass.neighbours.nodes))),
        many_(static_cast<std::size_t>(
            pass.neighbours.nodes > few_neighbours ? max_inputs + pass.neighbours.nodes : 0)),
        at_(many_.empty() ? few_ : many_.data()) {
    for (int i = 0; i < pass.elements.nodes && pass.neighbours.nodes > 0; ++i)
      if (is_placed(head{pass.elements.heads[i]}.code()))
        neighbours_.emplace_back(pass.elements, i, operands, space);
    for (const neighbour_column& n : neighbours_) {
      before_ = std::max(before_, n.along_row());
      after_ = std::max(after_, -n.along_row());
    }
    throughout_ = neighbours_.empty();
    for (int k = 0; k < count; ++k) {
      const operand& o = operands[k];
      if (o.kind == operand_kind::value) std::memcpy(column(k), o.word, sizeof o.word);
      at_[k] = o.kind == operand_kind::device_scalar ? reinterpret_cast<const void*>(o.word[0])
                                                     : column(k);
      direct_[k] = is_direct(o, space.layouts[k], space);
      throughout_ = throughout_ && (direct_[k] || is_the_same(o));
      counts_ = counts_ || o.kind == operand_kind::position;
      same_address_[k] = o.kind == operand_kind::address && has_one_place(space.layouts[k], space);
      if (same_address_[k])
        std::fill_n(reinterpret_cast<std::uint64_t*>(column(k)), host_block, o.word[0]);
      const auto size = static_cast<std::size_t>(size_of(o.type));
      widest_ = std::max(widest_, size);
      if (stays_in_row(k))
        longest_run_ = std::min(longest_run_, static_cast<std::int64_t>(column_bytes / size));
    }
  }

  const void* const* at() const { return at_; }

  /// Of a loop: the number of the step.
  void count_step(std::int64_t number) {
    for (int k = 0; k < count_; ++k)
      if (operands_[k].counts_steps) std::memcpy(column(k), &number, sizeof number);
  }
  /// Whether all operands can be worked on where they are, as many elements as one likes.
  bool is_direct_throughout() const { return throughout_; }
  void read_directly(std::int64_t first) {
    for (int k = 0; k < count_; ++k)
      if (direct_[k]) at_[k] = direct_address(operands_[k], first);
  }
  /// Whether there are positions.
  bool counts() const { return counts_; }
  /// Of operands that lie in a row: those of one result's elements, with positions that count on
  /// from the first one's.
  void read_in_a_row(std::int64_t first) {
    read_directly(first);
    if (!counts_) return;
    place_.move_to(first);
    for (int k = 0; k < count_; ++k)
      if (operands_[k].kind == operand_kind::position) {
        gather(column(k), operands_[k], space_, space_.layouts[k], place_, 1);
        at_[k] = column(k);
      }
  }

  /// Elements first .. first + valid of every operand.
  void read(std::int64_t first, int valid) {
    const int padded = padded_block(valid);
    place_.move_to(first);
    for (int k = 0; k < count_; ++k) {
      const operand& o = operands_[k];
      if (o.kind > operand_kind::position || o.kind == operand_kind::neighbour || valid == 0)
        continue;
      const unsigned char* at = same_address_[k] ? column(k) : nullptr;
      if (at == nullptr && valid == padded)
        at = direct_[k] ? direct_address(o, first)
                        : lies_at(o, space_, space_.layouts[k], place_, valid);
      if (at == nullptr)
        at = pack(k, o.type, valid, padded, [&](unsigned char* to) {
          gather(to, o, space_, space_.layouts[k], place_, valid);
        });
      at_[k] = at;
    }
    for (int j = 0; j < static_cast<int>(neighbours_.size()) && valid > 0; ++j) {
      const neighbour_column& neighbours = neighbours_[static_cast<std::size_t>(j)];
      const unsigned char* at = valid == padded ? neighbours.lies_at(place_, valid) : nullptr;
      if (at == nullptr)
        at = pack(count_ + j, neighbours.type(), valid, padded,
                  [&](unsigned char* to) { neighbours.gather(to, place_, valid); });
      at_[first_neighbour_column + j] = at;
    }
  }
  /// Transposes a piece of some rows, which lie one behind the other in the index space: elements
  /// `begin` to `begin + columns` of each. Element j of all rows is `padded` elements side by side,
  /// and rows beyond the last one are like it. The first piece of some rows comes first.
  void read_transposed(std::int64_t first, const row_piece& piece, int padded) {
    const std::size_t size =
                          static_cast<std::size_t>(
                              padded * std::min<std::int64_t>(piece.length, transposed_columns)) *
                          widest_,
                      packed_size =
                          throughout_
                              ? 0
                              : static_cast<std::size_t>(piece.rows * piece.length) * widest_;
    const std::size_t bytes = static_cast<std::size_t>(count_) * (size + packed_size);
    if (turned_.get_deleter().bytes < bytes) turned_ = allocate_host_memory(bytes);
    place_.move_to(first);
    for (int k = 0; k < count_; ++k) {
      const operand& o = operands_[k];
      if (o.kind > operand_kind::position || o.kind == operand_kind::neighbour) continue;
      unsigned char* const to = turned_.get() + static_cast<std::size_t>(k) * (size + packed_size);
      row_piece mine = piece;
      if (is_one_row(space_.layouts[k], space_)) mine.rows = 1;
      if (!direct_[k] && piece.begin == 0)
        gather(to + size, o, space_, space_.layouts[k], place_, mine.rows * mine.length);
      transpose(static_cast<std::size_t>(size_of(o.type)), to,
                direct_[k] ? direct_address(o, first) : to + size, mine, padded);
      at_[k] = to;
    }
  }
  /// Elements first .. first + count, which lie in one row: whether all operands can be worked on
  /// where they are, but for those that are the same throughout the row.
  bool read_in_place(std::int64_t first, std::int64_t count) {
    place_.move_to(first);
    for (int k = 0; k < count_; ++k) {
      const operand& o = operands_[k];
      if (is_the_same(o) || o.kind == operand_kind::step || o.kind == operand_kind::neighbour ||
          stays_in_row(k))
        continue;
      at_[k] = lies_at(o, space_, space_.layouts[k], place_, count);
      if (at_[k] == nullptr) return false;
    }
    for (std::size_t j = 0; j < neighbours_.size(); ++j) {
      const unsigned char* const at = neighbours_[j].lies_at(place_, count);
      if (at == nullptr) return false;
      at_[static_cast<std::size_t>(first_neighbour_column) + j] = at;
    }
    for (int k = 0; k < count_; ++k)
      if (stays_in_row(k)) {
        gather(column(k), operands_[k], space_, space_.layouts[k], place_, count);
        at_[k] = column(k);
      }
    return true;
  }
  /// How many elements of a row can be read in place at a time.
  std::int64_t longest_run() const { return longest_run_; }
  /// How far before and after a row's elements neighbours are read along it.
  std::int64_t before() const { return before_; }
  std::int64_t after() const { return after_; }
  /// Where the elements that were read last begin.
  const block_place& place() const { return place_; }

 private:
  static constexpr int few_neighbours = max_operands - first_neighbour_column;

  // Whether an array is the same throughout each row, as a column that is broadcast is.
  bool stays_in_row(int k) const {
    return operands_[k].kind == operand_kind::array && space_.rank > 0 &&
           space_.layouts[k].strides[space_.rank - 1] == 0;
  }

  // Elements that do not lie as the loop takes them. What follows the end repeats the last element,
  // so that no function sees what the formula would not.
  template <class Gather>
  const unsigned char* pack(int k, dtype type, int valid, int padded,
                            const Gather& gather_into) const {
    const auto size = static_cast<std::size_t>(size_of(type));
    gather_into(column(k));
    repeat_last(column(k) + size * static_cast<std::size_t>(valid), size, padded - valid);
    return column(k);
  }
  unsigned char* column(int k) const {
    return columns_.get() + column_bytes * static_cast<std::size_t>(k);
  }

  const operand* operands_;
  int count_;
  const geometry& space_;
  block_place place_;
  host_memory columns_;
  bool direct_[max_operands], same_address_[max_operands], throughout_ = true, counts_ = false;
  const void* few_[max_operands];
  std::vector<const void*> many_;
  const void** at_;
  std::vector<neighbour_column> neighbours_;
  std::int64_t before_ = 0, after_ = 0, longest_run_ = 1 << 20;
  std::size_t widest_ = 1;
  host_memory turned_;  // of each operand a piece that has been transposed, and what it was made of
                        // where that is packed
};

}  // namespace dsl::detail
