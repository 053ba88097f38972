// Neighbour reads of a program, packed into columns for the host's loops.
#pragma once

#include <vector>

#include <dsl/exec/stencil/neighbours.hpp>

#include "host/strided.hpp"

namespace dsl::detail {

/// The column of one node: neighbours, whether they exist, or positions.
class neighbour_column {
 public:
  neighbour_column(const program_view& p, int node, const operand* operands, const geometry& g);

  dtype type() const { return type_; }
  /// The displacement to the left along a row, if the neighbour is one step away.
  std::int64_t along_row() const { return inner_.empty() ? 0 : inner_[0].distance; }
  /// The address of `count` elements of the column from a place on, if they are contiguous;
  /// otherwise null.
  unsigned char* lies_at(const block_place& place, std::int64_t count) const;
  void gather(unsigned char* column, const block_place& place, std::int64_t count) const;

 private:
  using steps = std::vector<dimension_step>;
  // The source of a row of elements: its offset from the row, and whether it exists.
  struct source {
    std::int64_t offset;
    bool exists;
  };
  bool in_ranges() const { return (base_ == op::load || code_ == op::inside) && inner_.size() < 2; }
  std::int64_t rest_of_row(const block_place& place) const {
    return space_.extents[last_] - place.at()[last_];
  }
  source source_of_row(const std::int64_t* at) const;
  // The same for the row in which a block begins, from the beginning of that row; remembered for
  // the other blocks of the row.
  const source& source_of_row_of(const block_place& place) const;
  // If the operand is one line from a dimension on, as pixels with their colours are, a step along
  // that dimension moves all later elements equally. Returns how many elements from a place on can
  // then be read contiguously, and their address; 0 if none.
  std::int64_t length_of_line(const block_place& place, std::int64_t count,
                              unsigned char*& at) const;
  void gather_rows(unsigned char* column, const block_place& place, std::int64_t count) const;
  // `row` is the offset of the row in bytes; `offset` that of the first element, and `at` its
  // place.
  void gather_ranges(unsigned char* column, std::int64_t row, std::int64_t x,
                     std::int64_t count) const;
  void gather_each(unsigned char* to, std::int64_t offset, const std::int64_t* at,
                   std::int64_t count) const;

  op code_, base_;
  dtype type_;
  const operand& operand_;
  const operand_layout& layout_;
  const geometry& space_;
  int last_,        // the innermost dimension
      coordinate_;  // of a position: its dimension
  steps outer_,     // along other dimensions
      inner_;       // along the innermost one
  // The dimension from which on the operand is one line, if that dimension has the only step;
  // otherwise -1.
  int line_ = -1;
  mutable std::int64_t known_row_ = -1;
  mutable source known_source_{};
};

}  // namespace dsl::detail
