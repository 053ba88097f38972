// The interface that every kernel is written against: a memory, which performs a thread's accesses,
// and a team, through which a thread works with the others of its grid.
//
// A kernel is one function over both, DSL_DETAIL_KERNEL_FN void run_...(const Arguments&, Memory,
// Team). Each entry point is one line: a __global__ function passes device_memory and device_team
// (cuda_memory.hpp, cuda_team.hpp), which use the hardware; the simulator's passes simulated_memory
// and simulated_team (sim_team.hpp), with which the same function runs on the CPU, one fiber per
// thread, and every access and every wait is checked. So that shared memory is checked too, it is
// accessed through the memory as well. Exchanged values are trivially copyable.
#pragma once

#include <concepts>
#include <cstdint>

#include <dsl/exec/team/block_range.hpp>
#include <dsl/exec/team/tagged.hpp>

namespace dsl::detail {

template <class M>
concept kernel_memory = requires(const M m, float* address, const float* from, quad* to) {
  /// Whether a formula is compiled once and called, rather than inlined at each use.
  { M::calls_formula } -> std::convertible_to<bool>;
  /// Whether shared memory that nobody wrote may be loaded if the value is then not used.
  { M::may_load_unwritten } -> std::convertible_to<bool>;

  /// The block's dynamic shared memory, aligned to 16 bytes.
  { m.shared() } -> std::same_as<unsigned char*>;
  /// Loads a value of the given type from global or shared memory.
  { m.template load<float>(from) } -> std::same_as<float>;
  /// The same from global memory; the line should leave the caches first. A hint.
  { m.template load_streaming<float>(from) } -> std::same_as<float>;
  m.store(address, 1.f);
  /// Stores to global memory; a value of 16 bytes is one access.
  m.store_whole(to, *to);
  /// As `store`. With true the line should stay in the L2 cache, with false it should leave first.
  /// A hint, which only values of a multiple of 16 bytes take.
  m.store_streaming(to, *to, true);

  /// Starts a copy of one value from global to shared memory, in this thread's open copy group.
  m.copy_async(address, from);
  /// The same for 16 bytes, through the L1 cache: for data that neighbouring blocks also read.
  m.copy_async_through_l1(to, static_cast<const quad*>(to));
  /// As `copy_async` with the hint of `store_streaming`.
  m.copy_async(to, static_cast<const quad*>(to), true);
  /// Closes the copy group.
  m.commit_copies();
  /// Waits until at most N of this thread's copy groups are pending. The block's other threads see
  /// the copied data after the next barrier.
  m.template wait_for_copies<0>();
};

/// A ticket counter in a member's own memory. `count`: the member's blocks that take tickets there;
/// 0: none. `members`: the members that have such blocks.
struct member_tickets { unsigned *counter, count, members; };

/// In shared memory: counts the bytes that blocks of the cluster have sent to this block.
struct cluster_inbox { std::uint64_t word; };

template <class T>
concept kernel_team = requires(const T t, float value, float* address, unsigned* counter,
                               tagged<float>* to, tagged<float>& v, quad* cell, unsigned& tries) {
  /// The thread's number in its block, and the block's thread count.
  { t.thread() } -> std::same_as<int>;
  { t.threads() } -> std::same_as<int>;
  /// The threads of a warp, a power of two, and a type with a bit for each.
  { T::warp_size } -> std::convertible_to<int>;
  requires sizeof(typename T::lane_mask) * 8 == T::warp_size;
  /// The thread's number in its warp, and the warp's number in the block.
  { t.lane() } -> std::same_as<int>;
  { t.warp() } -> std::same_as<int>;
  /// The block's number in the grid, and the grid's block count.
  { t.block() } -> std::same_as<std::int64_t>;
  { t.blocks() } -> std::same_as<std::int64_t>;

  /// On a mesh, where several GPUs share the grid: this GPU's number, the number of GPUs, and which
  /// blocks this GPU has.
  { t.member() } -> std::same_as<int>;
  { t.members() } -> std::same_as<int>;
  { t.first_block() } -> std::same_as<std::int64_t>;
  { t.own_blocks() } -> std::same_as<std::int64_t>;

  /// A barrier of all threads of the block: accesses before it are visible after it.
  t.synchronize();
  /// The same for the threads of a warp.
  t.synchronize_warp();
  /// `pass_turn` gives a turn to one of the block's first 15 warps; `await_turn` waits for a turn
  /// given to this warp. The receiver sees everything that the giver did before, and everything
  /// that the giver saw from earlier turns. All lanes of a warp call both; a turn is awaited before
  /// another one is given.
  t.pass_turn(0);
  t.await_turn();

  /// The value of another lane of the warp; the lane number is taken modulo `warp_size`. All lanes
  /// call it, as they do the next two. These order a lane's reads before other lanes' writes, and
  /// nothing else.
  { t.from_lane(value, 0) } -> std::same_as<float>;
  /// The value of the lane `step` further up, or down; the lane's own value where there is none.
  { t.shift_down(value, 1) } -> std::same_as<float>;
  { t.shift_up(value, 1) } -> std::same_as<float>;
  /// Bit masks of lanes: those that passed the same number, and those that passed true. All lanes
  /// call them; they order nothing.
  { t.match(1u) } -> std::same_as<typename T::lane_mask>;
  { t.ballot(true) } -> std::same_as<typename T::lane_mask>;

  /// The number of earlier calls for this counter. Called by one thread.
  { t.next_ticket(counter) } -> std::same_as<unsigned>;
  /// Whether this block is the last of `count` blocks to call it. The last block sees everything
  /// that the others wrote before, and the counter is 0 again. On a mesh a member's blocks may
  /// first count in the member's own memory, and its last block then counts for all of them. Called
  /// by all threads of a block; a barrier.
  { t.is_last(counter, 1u, member_tickets{}) } -> std::same_as<bool>;

  /// Writes a tagged value that other blocks poll; with true, also blocks of other GPUs. Called by
  /// one thread.
  t.publish(to, v, true);
  /// Reads once a tagged value that another block may be writing; with true, maybe a block of
  /// another GPU.
  t.poll(v, to, true);
  /// Publishes this block's progress: whoever reads the number sees what the block wrote before its
  /// last barrier, and may overwrite what the block read before it. Called by one thread.
  t.release(cell, 1u);
  /// The number last released to this cell.
  { t.acquire(static_cast<const quad*>(cell)) } -> std::same_as<unsigned>;
  /// Called after each failed try of a thread that waits for a block, in a step. True: give up,
  /// because that block belongs to another GPU and has not arrived within the time limit; the host
  /// is then told. `tries` is 0 before the first try; afterwards it belongs to the team.
  { t.gives_up(tries, std::int64_t{}, 1u) } -> std::same_as<bool>;
  /// The two halves of a barrier of all threads of a cluster's blocks: the second waits until all
  /// have called the first. Before this barrier another block may not have started, and nothing may
  /// be sent to it. It does not make writes visible.
  t.arrive_in_cluster();
  t.wait_for_cluster();
  /// Initializes an inbox, before the cluster's first barrier. Called by one thread.
  t.open(static_cast<cluster_inbox*>(nullptr));
  /// Writes a value to the shared memory of another block, given by its number in the cluster, at
  /// the same offset as `to` in this block's, and reports its arrival to that block's inbox.
  t.send(address, value, static_cast<cluster_inbox*>(nullptr), 0);
  /// Waits until `bytes` bytes have arrived in an inbox that was awaited `times` times before. All
  /// threads of the block call it, and see the data.
  t.receive(static_cast<cluster_inbox*>(nullptr), 4u, 0u);
  /// Waits for the stream's previous kernel, if this one may have started before its end. All
  /// threads call it before they read what that kernel writes.
  t.wait_for_earlier_launch();
  /// Atomic operations on the block's shared memory; each returns the old value.
  { t.atomic_add(counter, 1u) } -> std::same_as<unsigned>;
  { t.atomic_exchange(counter, 1u) } -> std::same_as<unsigned>;
  /// Reports a key outside [0, groups): the simulator throws, a GPU ignores it.
  t.refuse_key(std::int64_t{}, std::int64_t{});
  /// Yields the hardware for about the given number of nanoseconds.
  t.pause(1u);

  /// An array of N objects of a type in the block's static shared memory. The first type tells it
  /// from other arrays.
  { t.template shared<T, float, 32>() } -> std::same_as<float*>;
};

// For a mask with a bit for each lane: the number of lanes, and the lowest lane.
DSL_DETAIL_FN int count_bits(unsigned bits) {
#if DSL_DETAIL_ON_DEVICE
  return __popc(bits);
#else
  return __builtin_popcount(bits);
#endif
}
DSL_DETAIL_FN int count_bits(std::uint64_t bits) {
  return count_bits(static_cast<unsigned>(bits)) + count_bits(static_cast<unsigned>(bits >> 32));
}
DSL_DETAIL_FN int lowest_bit(unsigned bits) {
#if DSL_DETAIL_ON_DEVICE
  return __ffs(static_cast<int>(bits)) - 1;
#else
  return __builtin_ctz(bits);
#endif
}
DSL_DETAIL_FN int lowest_bit(std::uint64_t bits) {
  const auto low = static_cast<unsigned>(bits);
  return low != 0 ? lowest_bit(low) : 32 + lowest_bit(static_cast<unsigned>(bits >> 32));
}

}  // namespace dsl::detail
