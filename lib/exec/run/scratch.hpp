// Memory in which the blocks of a kernel tell each other what they have computed. A stream's
// kernels use the stream's own, one after another. A launch that others of the stream may run
// beside has memory of its own, to be kept until it is queued: where the stream is captured into a
// graph of the program's, and in the simulator, which several host threads may enter at once.
#pragma once

#include <mutex>

#include <dsl/exec/team/arguments.hpp>
#include <dsl/mem/buffer.hpp>

namespace dsl::detail {

/// Where blocks leave partial results, and how many of a group have done so.
struct workspace {
  void* partials;
  unsigned* tickets;  // max_tickets of them, zero between kernels; behind them as many of the
                      // member's own
  std::uint32_t ticket_step;  // from a member's to the next one's; 0: there is one
  buffer_ref own{};
  std::unique_lock<std::mutex> queues{};  // for two launches: no other thread's come between them
};
/// For `bytes` of partial results.
workspace scratch_of(const stream& on, std::size_t bytes);
/// The same, without tickets, for what one launch leaves to the next one, until both are queued.
workspace scratch_of_two_launches(const stream& on, std::size_t bytes);

/// Memory of each member of a mesh, for what its blocks tell each other in one launch after
/// another, until these are queued.
struct member_workspace {
  void* memory;                       // the first member's
  std::size_t copy_bytes, all_bytes;  // from a copy to the next; of all of them
  buffer_ref own{};
  std::unique_lock<std::mutex> queues{};  // no other thread's launches come between them
};
member_workspace scratch_of_members(const stream& on, std::size_t bytes);

/// Where the blocks of one kernel tell each other their sums, on a mesh a copy for each member, and
/// the number that stands for their first step: none of the numbers that the next `steps` ones take
/// is there.
struct exchange_cells {
  void* cells;
  std::size_t copy_bytes, all_bytes;  // from a copy to the next; of all of them
  unsigned epoch;
  buffer_ref own{};
};
exchange_cells cells_of(const stream& on, std::size_t bytes, std::int64_t steps);

}  // namespace dsl::detail
