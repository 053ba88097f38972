// What a program reads beside its elements, packed into columns for the host's loop.
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
  /// How far to the left along a row it is, where that is one step.
  std::int64_t along_row() const { return inner_.empty() ? 0 : inner_[0].distance; }
  /// The address of the column's elements, `count` of them from a place on, if they lie side by
  /// side; else null.
  unsigned char* lies_at(const block_place& place, std::int64_t count) const;
  void gather(unsigned char* column, const block_place& place, std::int64_t count) const;

 private:
  using steps = std::vector<dimension_step>;
  // Where a row of elements is read: how far from it, and whether anywhere.
  struct source {
    std::int64_t offset;
    bool exists;
  };
  bool in_ranges() const { return (base_ == op::load || code_ == op::inside) && inner_.size() < 2; }
  std::int64_t rest_of_row(const block_place& place) const {
    return space_.extents[last_] - place.at()[last_];
  }
  source source_of_row(const std::int64_t* at) const;
  // The same of the row in which a block begins, which its other blocks ask for as well: where that
  // row begins.
  const source& source_of_row_of(const block_place& place) const;
  // Where a step along one dimension is one along all that lies behind it, as with the colours of
  // pixels: how many elements from a place on are read side by side, and where. 0: none.
  std::int64_t length_of_line(const block_place& place, std::int64_t count,
                              unsigned char*& at) const;
  void gather_rows(unsigned char* column, const block_place& place, std::int64_t count) const;
  // `row` is where the row lies, in bytes; `offset` the first element, `at` its place.
  void gather_ranges(unsigned char* column, std::int64_t row, std::int64_t x,
                     std::int64_t count) const;
  void gather_each(unsigned char* to, std::int64_t offset, const std::int64_t* at,
                   std::int64_t count) const;

  op code_, base_;
  dtype type_;
  const operand& operand_;
  const operand_layout& layout_;
  const geometry& space_;
  int last_, coordinate_;  // the innermost dimension; that whose position it is
  steps outer_, inner_;    // along the innermost dimension
  int line_ =
      -1;  // the dimension from which on the operand is one line, if that is where the only step is
  mutable std::int64_t known_row_ = -1;
  mutable source known_source_{};
};

}  // namespace dsl::detail
