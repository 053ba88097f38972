// What every kernel is written against: a memory, which does its accesses, and a team, which is
// what the threads of a grid do together.
//
// A kernel is one function over both, DSL_DETAIL_KERNEL_FN void run_...(const Arguments&, Memory,
// Team). Its entry points are a line each: a __global__ function passes device_memory and
// device_team (cuda_team.hpp), which are the hardware's; one for the simulator passes
// simulated_memory and simulated_team (sim_team.hpp), with which the same function runs on the CPU,
// a fiber a thread, every access and every wait checked. So accesses to shared memory go through
// the memory as well. What is exchanged is trivially copyable.
#pragma once

#include <concepts>
#include <cstdint>

#include <dsl/exec/team/block_range.hpp>
#include <dsl/exec/team/tagged.hpp>

namespace dsl::detail {

template <class M>
concept kernel_memory = requires(const M m, float* address, const float* from, quad* to) {
  /// Whether a formula is compiled once and called, rather than inlined where it is used.
  { M::calls_formula } -> std::convertible_to<bool>;
  /// Whether a load of shared memory that nobody wrote does no harm where its value is not used.
  { M::may_load_unwritten } -> std::convertible_to<bool>;

  /// The address of the block's dynamic shared memory, aligned to 16 bytes.
  { m.shared() } -> std::same_as<unsigned char*>;
  /// The value of that type at an address in global or shared memory.
  { m.template load<float>(from) } -> std::same_as<float>;
  m.store(address, 1.f);
  /// The same to global memory, in one access where it is of 16 bytes.
  m.store_whole(to, *to);
  /// As `store`; what is written is to stay in the L2 cache, or to leave it to others. A hint, kept
  /// for multiples of 16 bytes.
  m.store_streaming(to, *to, true);

  /// Starts a copy of one value from global to shared memory, in this thread's open group of
  /// copies.
  m.copy_async(address, from);
  /// The same of 16 bytes, through the first-level cache, for what neighbouring blocks read as
  /// well.
  m.copy_async_through_l1(to, static_cast<const quad*>(to));
  /// As `copy_async` with the hint of `store_streaming`.
  m.copy_async(to, static_cast<const quad*>(to), true);
  /// Closes the group.
  m.commit_copies();
  /// Waits for all of this thread's groups but so many of the last. Other threads of the block see
  /// what was copied after the next barrier.
  m.template wait_for_copies<0>();
};

/// A counter in a member's own memory; how many of its blocks count there, 0: none; how many
/// members have blocks that do.
struct member_tickets { unsigned *counter, count, members; };

/// Counts what blocks of a cluster have sent to this one. In shared memory.
struct cluster_inbox { std::uint64_t word; };

template <class T>
concept kernel_team = requires(const T t, float value, float* address, unsigned* counter,
                               tagged<float>* to, tagged<float>& v, quad* cell, unsigned& tries) {
  /// This thread's number in its block, and how many there are.
  { t.thread() } -> std::same_as<int>;
  { t.threads() } -> std::same_as<int>;
  /// Its number in its warp of 32 threads, and the warp's in the block.
  { t.lane() } -> std::same_as<int>;
  { t.warp() } -> std::same_as<int>;
  /// The block's number in the grid, and how many there are.
  { t.block() } -> std::same_as<std::int64_t>;
  { t.blocks() } -> std::same_as<std::int64_t>;

  /// Where several GPUs share the grid: the number of this one, and how many there are; which
  /// blocks it has.
  { t.member() } -> std::same_as<int>;
  { t.members() } -> std::same_as<int>;
  { t.first_block() } -> std::same_as<std::int64_t>;
  { t.own_blocks() } -> std::same_as<std::int64_t>;

  /// Waits for all threads of the block, which all call it: a barrier. What was accessed before
  /// comes before what is accessed after.
  t.synchronize();
  /// The same for the threads of a warp.
  t.synchronize_warp();
  /// Gives a turn to a warp of the block, one of the first 15, and waits for one that is given to
  /// this warp, which then sees what the giver did before, and those who gave the turn to it. All
  /// lanes of a warp call them; each turn is waited for, before another one is given.
  t.pass_turn(0);
  t.await_turn();

  /// The value of another lane of the warp, its number modulo 32. All lanes of a warp call it; so
  /// of the next two. They order a lane's reads before other lanes' writes, and nothing else.
  { t.from_lane(value, 0) } -> std::same_as<float>;
  /// The value of the lane so many further, or before; the lane's own where there is none.
  { t.shift_down(value, 1) } -> std::same_as<float>;
  { t.shift_up(value, 1) } -> std::same_as<float>;
  /// The lanes of a warp that gave the same number, a bit for each, and those that gave true. All
  /// lanes call them; they order nothing.
  { t.match(1u) } -> std::same_as<unsigned>;
  { t.ballot(true) } -> std::same_as<unsigned>;

  /// How many have called it before. For one thread.
  { t.next_ticket(counter) } -> std::same_as<unsigned>;
  /// Whether this block is the last of so many that call it: then it sees what the others wrote
  /// before, and the counter is 0 again. Of a mesh each member's blocks may count at home first,
  /// and its last one for all of them. For all threads of a block; a barrier.
  { t.is_last(counter, 1u, member_tickets{}) } -> std::same_as<bool>;

  /// Writes a tagged value that other blocks poll; with true, those of other GPUs too. For one
  /// thread.
  t.publish(to, v, true);
  /// Reads a tagged value once, which another block may be writing; with true, one of another GPU
  /// too.
  t.poll(v, to, true);
  /// Says to other blocks how far this one has come: whoever sees the number sees what the block
  /// wrote before its last barrier, and may write what it read before. For one thread.
  t.release(cell, 1u);
  /// The number that another block has said last.
  { t.acquire(static_cast<const quad*>(cell)) } -> std::same_as<unsigned>;
  /// Asked after each try of a thread that waits for a block, in a step: whether to give up, since
  /// that is another GPU's and has not come for too long. Then the host is told. The first number
  /// is 0 before the first try, and the team's from then on.
  { t.gives_up(tries, std::int64_t{}, 1u) } -> std::same_as<bool>;
  /// A barrier of all threads of a cluster's blocks, in two halves: the second waits for all to
  /// have called the first. Before it another block may not have begun, and nothing is to be sent
  /// to it. What was written is not made visible.
  t.arrive_in_cluster();
  t.wait_for_cluster();
  /// Makes an inbox, before the cluster's first barrier. For one thread.
  t.open(static_cast<cluster_inbox*>(nullptr));
  /// Writes a value to another block's shared memory, by its number in the cluster, at the place
  /// that corresponds to one in this block's, and to the inbox there that it has come.
  t.send(address, value, static_cast<cluster_inbox*>(nullptr), 0);
  /// Waits until so many bytes have come to an inbox, after it has been waited for so many times.
  /// All threads of the block call it, and see what was sent.
  t.receive(static_cast<cluster_inbox*>(nullptr), 4u, 0u);
  /// Waits for the kernel that the stream was given before this one, if this one may have begun
  /// beside it; all threads, before they read what it writes.
  t.wait_for_earlier_launch();
  /// Atomic operations on the block's shared memory; each gives what was there before.
  { t.atomic_add(counter, 1u) } -> std::same_as<unsigned>;
  { t.atomic_exchange(counter, 1u) } -> std::same_as<unsigned>;
  /// Says that a key is not among so many groups, where someone can be told: in the simulator it
  /// throws.
  t.refuse_key(std::int64_t{}, std::int64_t{});
  /// Leaves the hardware to others for about so many nanoseconds.
  t.pause(1u);

  /// So many objects of a type in the block's shared memory, the kernel's own; the first type tells
  /// them from others.
  { t.template shared<T, float, 32>() } -> std::same_as<float*>;
};

// Lanes, a bit for each: how many, and which is the first.
DSL_DETAIL_FN int count_bits(unsigned bits) {
#if DSL_DETAIL_ON_DEVICE
  return __popc(bits);
#else
  return __builtin_popcount(bits);
#endif
}
DSL_DETAIL_FN int lowest_bit(unsigned bits) {
#if DSL_DETAIL_ON_DEVICE
  return __ffs(static_cast<int>(bits)) - 1;
#else
  return __builtin_ctz(bits);
#endif
}

}  // namespace dsl::detail
