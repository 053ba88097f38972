// Operands as the host's loops read them: columns of consecutive elements, one block at a time.
#pragma once

#include <algorithm>
#include <cstring>

#include <dsl/exec/plan/plan.hpp>

#include "host/neighbours.hpp"
#include "host/transpose.hpp"
#include "host/working_memory.hpp"

namespace dsl::detail {

inline constexpr std::size_t column_bytes = host_block * 16;  // of the widest dtype
inline host_memory allocate_columns(std::size_t count) {
  return allocate_host_memory(column_bytes * count);
}

/// The number of elements to compute for `valid` elements: a multiple of 64, since the loops have
/// no remainder.
inline int padded_block(int valid) { return std::max(64, (valid + 63) / 64 * 64); }

/// Number of columns of rows that are transposed at a time, so that they stay in a core's
/// first-level cache.
inline constexpr int transposed_columns = 128;

/// Rows of a tile of blocks. A multiple of the elements of a vector, so that whole vectors along
/// these rows are read.
inline constexpr int tile_rows = 64;

/// Whether an operand is contiguous along the second dimension, in rising order along both.
inline bool is_tiled(const operand& o, const operand_layout& w, const geometry& g) {
  return o.kind == operand_kind::array && w.how == access::tiled && w.strides[g.rank - 2] == 1 &&
         w.strides[g.rank - 1] > 0;
}

/// Whether an operand's elements are contiguous, so that the loops can read them in place.
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

/// Whether positions among the elements of a result are consecutive in the order of the index
/// space.
inline bool has_consecutive_positions(const operand_layout& w, const geometry& g) {
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

/// Whether all elements of the index space are the same element of the operand.
inline bool is_one_element(const operand_layout& w, const geometry& g) {
  for (int d = 0; d < g.rank; ++d)
    if (g.extents[d] > 1 && w.strides[d] != 0) return false;
  return true;
}

/// Whether an operand is a single value.
inline bool is_single_value(const operand& o) {
  return o.kind == operand_kind::value || o.kind == operand_kind::device_scalar;
}

/// Whether any number of the elements of one result can be read in place.
inline bool can_read_result_in_place(const operand* operands, int count, const geometry& g,
                                     const pass_view& pass) {
  if (pass.neighbours.nodes > 0) return false;
  for (int k = 0; k < count; ++k) {
    const operand& o = operands[k];
    const operand_layout& w = g.layouts[k];
    if (!is_direct(o, w, g) && !is_single_value(o) &&
        (o.kind != operand_kind::position || !has_consecutive_positions(w, g)))
      return false;
  }
  return true;
}

class input_columns {
 public:
  input_columns(const operand* operands, int count, const geometry& space, const pass_view& pass)
      : each_step_(operands, operands + (differ_by_step(operands, count) ? count : 0)),
        operands_(each_step_.empty() ? operands : each_step_.data()),
        count_(count),
        space_(space),
        place_(space),
        columns_(allocate_columns(static_cast<std::size_t>(count + pass.neighbours.nodes))),
        many_(static_cast<std::size_t>(
            pass.neighbours.nodes > few_neighbours ? max_inputs + pass.neighbours.nodes : 0)),
        at_(many_.empty() ? few_ : many_.data()) {
    for (int i = 0; i < pass.elements.nodes && pass.neighbours.nodes > 0; ++i)
      if (is_placed(head{pass.elements.heads[i]}.code()))
        neighbours_.emplace_back(pass.elements, i, operands_, space);
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
      if (is_tiled(o, space.layouts[k], space)) tile_bytes_ += bytes_of_tile(k);
      throughout_ = throughout_ && (direct_[k] || is_single_value(o));
      counts_ = counts_ || o.kind == operand_kind::position;
      same_address_[k] = o.kind == operand_kind::address && is_one_element(space.layouts[k], space);
      if (same_address_[k])
        std::fill_n(reinterpret_cast<std::uint64_t*>(column(k)), host_block, o.word[0]);
      const auto size = static_cast<std::size_t>(size_of(o.type));
      widest_ = std::max(widest_, size);
      if (stays_in_row(k))
        longest_run_ = std::min(longest_run_, static_cast<std::int64_t>(column_bytes / size));
    }
  }

  const void* const* at() const { return at_; }

  /// In a loop: stores the number of the step, and moves to the step's elements.
  void count_step(std::int64_t number) {
    for (operand& o : each_step_) detail::count_step(o, number);
    for (int k = 0; k < count_; ++k)
      if (operands_[k].counts_steps) std::memcpy(column(k), &number, sizeof number);
  }
  /// Whether any number of elements of all operands can be read in place.
  bool is_direct_throughout() const { return throughout_; }
  void read_directly(std::int64_t first) {
    for (int k = 0; k < count_; ++k)
      if (direct_[k]) at_[k] = direct_address(operands_[k], first);
  }
  /// Whether there are positions.
  bool counts() const { return counts_; }
  /// For contiguous operands: sets the addresses of one result's elements, from `first` on. Of
  /// positions only the first is stored; the loop counts on from it.
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

  /// Reads elements first .. first + valid of every operand.
  void read(std::int64_t first, int valid) {
    const int padded = padded_block(valid);
    place_.move_to(first);
    for (int k = 0; k < count_; ++k) {
      const operand& o = operands_[k];
      if (o.kind > operand_kind::position || o.kind == operand_kind::neighbour || valid == 0)
        continue;
      const unsigned char* at = same_address_[k] ? column(k) : in_tile(k, first);
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
  /// Enters a tile of `rows` rows, of which the first has elements first .. first + valid: copies
  /// its elements of all operands that are contiguous along the second dimension, so that `read`
  /// finds them row by row. Reading them where they are, a row would load a cache line for each
  /// element, and lines of rows that are a power of two apart displace each other.
  void enter_tile(std::int64_t first, int valid, std::int64_t rows) {
    if (tile_bytes_ == 0) return;
    const int last = space_.rank - 1;
    if (tile_ == nullptr) tile_ = allocate_host_memory(tile_bytes_);
    tile_first_ = first;
    tile_padded_ = padded_block(valid);
    // Whole vectors alone, since what lies behind a row may not be the operand's.
    constexpr std::int64_t vector = 16;
    tile_rows_ = rows / vector * vector;
    place_.move_to(first);
    unsigned char* to = tile_.get();
    for (int k = 0; k < count_ && tile_rows_ > 0; ++k) {
      const operand& o = operands_[k];
      const operand_layout& w = space_.layouts[k];
      if (!is_tiled(o, w, space_)) continue;
      std::int64_t offset = 0;
      for (int d = 0; d <= last; ++d) offset += place_.at()[d] * w.strides[d];
      transpose(static_cast<std::size_t>(size_of(o.type)), to,
                reinterpret_cast<const unsigned char*>(o.word[0]) + offset * size_of(o.type),
                {valid, w.strides[last], 0, tile_rows_}, tile_padded_);
      to += bytes_of_tile(k);
    }
  }
  void leave_tile() { tile_rows_ = 0; }
  /// Transposes a piece of consecutive rows: elements `begin` to `begin + columns` of each. Element
  /// j of all rows becomes `padded` contiguous elements; those after the last row repeat it. The
  /// first piece of the rows must be read first.
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
    if (transposed_.get_deleter().bytes < bytes) transposed_ = allocate_host_memory(bytes);
    place_.move_to(first);
    for (int k = 0; k < count_; ++k) {
      const operand& o = operands_[k];
      if (o.kind > operand_kind::position || o.kind == operand_kind::neighbour) continue;
      unsigned char* const to =
          transposed_.get() + static_cast<std::size_t>(k) * (size + packed_size);
      row_piece mine = piece;
      if (is_one_row(space_.layouts[k], space_)) mine.rows = 1;
      if (!direct_[k] && piece.begin == 0)
        gather(to + size, o, space_, space_.layouts[k], place_, mine.rows * mine.length);
      transpose(static_cast<std::size_t>(size_of(o.type)), to,
                direct_[k] ? direct_address(o, first) : to + size, mine, padded);
      at_[k] = to;
    }
  }
  /// Reads elements first .. first + count of one row in place. False if an operand cannot be read
  /// in place; operands that are constant throughout the row need not be.
  bool read_in_place(std::int64_t first, std::int64_t count) {
    place_.move_to(first);
    for (int k = 0; k < count_; ++k) {
      const operand& o = operands_[k];
      if (is_single_value(o) || o.kind == operand_kind::step || o.kind == operand_kind::neighbour ||
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
  /// The largest number of elements of a row that can be read in place at a time.
  std::int64_t longest_run() const { return longest_run_; }
  /// The largest displacements, before and after, of neighbours along a row.
  std::int64_t before() const { return before_; }
  std::int64_t after() const { return after_; }
  /// The place of the first element that was read last.
  const block_place& place() const { return place_; }

 private:
  static constexpr int few_neighbours = max_operands - first_neighbour_column;

  // Whether an array is constant throughout each row, like a column that is broadcast.
  bool stays_in_row(int k) const {
    return operands_[k].kind == operand_kind::array && space_.rank > 0 &&
           space_.layouts[k].strides[space_.rank - 1] == 0;
  }

  // Packs elements that are not contiguous. Elements after the end repeat the last one, so that
  // functions only see arguments that occur in the formula.
  template <class Gather>
  const unsigned char* pack(int k, dtype type, int valid, int padded,
                            const Gather& gather_into) const {
    const auto size = static_cast<std::size_t>(size_of(type));
    gather_into(column(k));
    repeat_last(column(k) + size * static_cast<std::size_t>(valid), size, padded - valid);
    return column(k);
  }
  std::size_t bytes_of_tile(int k) const {
    return static_cast<std::size_t>(tile_rows * host_block * size_of(operands_[k].type));
  }
  // An operand's elements from `first` on, if they are in the tile; else null.
  const unsigned char* in_tile(int k, std::int64_t first) const {
    if (tile_rows_ == 0 || !is_tiled(operands_[k], space_.layouts[k], space_)) return nullptr;
    const std::int64_t inner = space_.extents[space_.rank - 1], from = first - tile_first_,
                       row = from / inner;
    if (row >= tile_rows_) return nullptr;
    const unsigned char* at = tile_.get();
    for (int other = 0; other < k; ++other)
      if (is_tiled(operands_[other], space_.layouts[other], space_)) at += bytes_of_tile(other);
    return at + (row * tile_padded_ + from % inner) * size_of(operands_[k].type);
  }
  unsigned char* column(int k) const {
    return columns_.get() + column_bytes * static_cast<std::size_t>(k);
  }

  static bool differ_by_step(const operand* all, int count) {
    return std::any_of(all, all + count, [](const operand& o) { return o.step_bytes != 0; });
  }

  std::vector<operand>
      each_step_;  // The operands, if some have elements of their own in each step.
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
  // For each operand a piece that has been transposed, and its source if that is packed.
  host_memory transposed_;
  // The elements of the entered tile, for each operand that is_tiled.
  host_memory tile_;
  std::size_t tile_bytes_ = 0;
  std::int64_t tile_first_ = 0, tile_rows_ = 0;
  int tile_padded_ = 0;
};

}  // namespace dsl::detail
