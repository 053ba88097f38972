// Memory in which the blocks of a kernel exchange partial results. The kernels of a stream share
// the stream's memory, one after another. A launch that may run at the same time as others of its
// stream has memory of its own, which must be kept until the launch is queued. This is so if the
// stream is captured into a graph of the program's, and in the simulator, which several host
// threads may enter at once.
#pragma once

#include <mutex>

#include <dsl/exec/team/arguments.hpp>
#include <dsl/mem/buffer.hpp>

namespace dsl::detail {

/// Memory for blocks' partial results, and tickets that count the blocks of each group that have
/// stored theirs.
struct workspace {
  void* partials;
  // Tickets of max_tickets groups, zero between kernels. On a mesh, as many of the member's own
  // follow.
  unsigned* tickets;
  // Distance in words between the tickets of two members; 0 if there is only one.
  std::uint32_t ticket_step;
  buffer_ref own{};
  // For two launches: keeps other threads from launching between them.
  std::unique_lock<std::mutex> launch_lock{};
};
/// Scratch memory for `bytes` of partial results.
workspace scratch_of(const stream& on, std::size_t bytes);
/// The same, without tickets, for partial results that one launch leaves to the next. Kept until
/// both are queued.
workspace scratch_of_two_launches(const stream& on, std::size_t bytes);

/// Memory in which each member of a mesh has a copy for its own blocks, for several launches in
/// sequence. Kept until these are queued.
struct member_workspace {
  void* memory;  // The first member's copy.
  // Bytes from a copy to the next, and of all copies.
  std::size_t copy_bytes, all_bytes;
  buffer_ref own{};
  // Keeps other threads from launching between these launches.
  std::unique_lock<std::mutex> launch_lock{};
};
member_workspace scratch_of_members(const stream& on, std::size_t bytes);

/// Cells in which the blocks of one kernel exchange sums, on a mesh with a copy for each member.
/// `epoch` is the number of the kernel's first step; the cells hold none of the numbers from there
/// to the last step's.
struct exchange_cells {
  void* cells;
  // Bytes from a copy to the next, and of all copies.
  std::size_t copy_bytes, all_bytes;
  unsigned epoch;
  buffer_ref own{};
};
exchange_cells cells_of(const stream& on, std::size_t bytes, std::int64_t steps);

/// A few bytes of page-locked host memory, which a stream's device copies to without waiting. The
/// stream keeps them for later users: to lock pages takes long, and to unlock them waits for the
/// device.
class locked_bytes {
 public:
  static constexpr std::size_t size = 16;
  /// Uninitialised. Throws memory_error.
  explicit locked_bytes(const stream& on);
  /// Copies may still be queued: the next user's are queued behind them.
  ~locked_bytes();
  locked_bytes(const locked_bytes&) = delete;
  void* data() const { return data_; }

 private:
  const stream on_;
  void* data_;
};

}  // namespace dsl::detail
