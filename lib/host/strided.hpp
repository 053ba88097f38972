// Operands that are not contiguous: packed into columns for the host's loops, and unpacked.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// The place in an index space at which a block of elements begins.
class block_place {
 public:
  explicit block_place(const geometry& g) : space_(g) {}
  void move_to(std::int64_t first);
  std::int64_t first() const { return first_; }
  const std::int64_t* at() const { return at_; }
  /// A number that all blocks of a row share.
  std::int64_t row() const { return row_; }

 private:
  const geometry& space_;
  std::int64_t first_ = 0, row_ = 0, at_[max_rank] = {};
};

/// The address of `count` elements of an operand from a place on, if they are contiguous; otherwise
/// null.
unsigned char* lies_at(const operand& o, const geometry& g, const operand_layout& w,
                       const block_place& place, std::int64_t count);

/// Packs `count` elements of an operand from a place on, or their positions, into a column.
void gather(unsigned char* column, const operand& o, const geometry& g, const operand_layout& w,
            const block_place& place, std::int64_t count);
/// Writes a column to an operand's elements.
void scatter(const unsigned char* column, const operand& o, const geometry& g,
             const operand_layout& w, const block_place& place, std::int64_t count);
/// Writes `count` copies of the element before `to`, which has `size` bytes.
void repeat_last(unsigned char* to, std::size_t size, std::int64_t count);

}  // namespace dsl::detail
