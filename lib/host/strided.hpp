// Operands that do not lie one behind the other: packed into columns for the host's loop, and
// unpacked.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Where in an index space a block of elements begins.
class block_place {
 public:
  explicit block_place(const geometry& g) : space_(g) {}
  void move_to(std::int64_t first);
  std::int64_t first() const { return first_; }
  const std::int64_t* at() const { return at_; }
  /// A number that the blocks of a row have in common.
  std::int64_t row() const { return row_; }

 private:
  const geometry& space_;
  std::int64_t first_ = 0, row_ = 0, at_[max_rank] = {};
};

/// The address of an operand's elements, `count` of them from a place on, if they lie side by side;
/// else null.
unsigned char* lies_at(const operand& o, const geometry& g, const operand_layout& w,
                       const block_place& place, std::int64_t count);

/// Packs `count` elements of an operand from a place on, or positions among them, into a column.
void gather(unsigned char* column, const operand& o, const geometry& g, const operand_layout& w,
            const block_place& place, std::int64_t count);
/// Writes a column to an operand's elements.
void scatter(const unsigned char* column, const operand& o, const geometry& g,
             const operand_layout& w, const block_place& place, std::int64_t count);
/// Repeats the element before `to`, which has `size` bytes.
void repeat_last(unsigned char* to, std::size_t size, std::int64_t count);

}  // namespace dsl::detail
