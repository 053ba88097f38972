// What every kernel is written against: a memory, which does its accesses, and a team, which is what the threads of a grid do together.
//
// A kernel is one function, `template <..., class Memory, class Team> DSL_DETAIL_KERNEL_FN void run_xxx(const Arguments&, Memory, Team)`.
// Its entry points are a line each: a `__global__` function passes `device_memory` and `device_team` (cuda_team.hpp), which are the
// hardware's; `simulated_entry` passes `simulated_memory` and `simulated_team` (sim_team.hpp), with which the same function runs on the CPU, a
// fiber a thread, every access and every wait checked. So accesses to shared memory go through the memory as well.
//
// The memory:
//   shared()                            The address of the block's dynamic shared memory, aligned to 16 bytes.
//   load<T>(address)                    The value of type T at an address in global or shared memory.
//   store(address, value)               Writes it.
//   copy_async(to, from)                Starts a copy of one T from global to shared memory, in this thread's open group of copies.
//   copy_async(to, from, l2_resident)   The same of 16 bytes, which are to stay in the L2 cache, or to leave it to others.
//   commit_copies()                     Closes the group.
//   wait_for_copies<Pending>()          Waits for all of this thread's groups but the last `Pending`. Other threads of the block see what
//                                       was copied after the next `synchronize`.
//   store_streaming(to, value, l2_resident)   As `store`, with the same hint.
//   calls_formula                       Whether a formula is compiled once and called, rather than inlined where it is used.
//   may_load_unwritten                  Whether a load of shared memory that nobody wrote does no harm where its value is not used: a branch
//                                       less.
//
// The team:
//   thread(), threads()                 This thread's number, and the number of threads, of the block.
//   lane(), warp()                      This thread's number in its warp of 32 threads, and the warp's in the block.
//   block(), blocks()                   The block's, of the grid.
//   synchronize()                       Waits for all threads of the block, which all call it.
//   synchronize_warp()                  The same for the 32 threads of a warp.
//   from_lane(value, lane)              The value of another lane of the warp, its number modulo 32. All lanes of a warp call it; so of the
//                                       next two. None of the three orders accesses to memory.
//   shift_down(value, step)             The value of the lane `step` further; the lane's own where there is none.
//   shift_up(value, step)               The value of the lane `step` before; the lane's own where there is none.
//   next_ticket(counter)                How many have called it before; for one thread.
//   is_last(counter, count)             Whether this block is the last of `count` that call it: then it sees what the others wrote before,
//                                       and the counter is 0 again. For all threads of a block.
//   publish(to, tagged)                 Writes a tagged value that other blocks poll; for one thread.
//   poll(tagged, from)                  Reads a tagged value once, which another block may be writing.
//   pause(nanoseconds)                  Leaves the hardware to others for about as long.
//   shared<Tag, T, N>()                 N objects of type T in the block's shared memory, the kernel's own; `Tag` tells them from others.
//
// T is trivially copyable.
#pragma once

#include <dsl/exec/tagged.hpp>

#include <concepts>
#include <cstdint>

namespace dsl::detail {

template <class M>
concept kernel_memory = requires(const M m, float* address, const float* from, quad* to) {
  { M::calls_formula } -> std::convertible_to<bool>;
  { M::may_load_unwritten } -> std::convertible_to<bool>;
  { m.shared() } -> std::same_as<unsigned char*>;
  { m.template load<float>(from) } -> std::same_as<float>;
  m.store(address, 1.f);
  m.copy_async(address, from);
  m.copy_async(to, static_cast<const quad*>(to), true);
  m.store_streaming(to, *to, true);
  m.commit_copies();
  m.template wait_for_copies<0>();
};

template <class T>
concept kernel_team = requires(const T t, float value, unsigned* counter, tagged<float>* to, tagged<float>& v) {
  { t.thread() } -> std::same_as<int>;
  { t.threads() } -> std::same_as<int>;
  { t.lane() } -> std::same_as<int>;
  { t.warp() } -> std::same_as<int>;
  { t.block() } -> std::same_as<std::int64_t>;
  { t.blocks() } -> std::same_as<std::int64_t>;
  t.synchronize();
  t.synchronize_warp();
  { t.from_lane(value, 0) } -> std::same_as<float>;
  { t.shift_down(value, 1) } -> std::same_as<float>;
  { t.shift_up(value, 1) } -> std::same_as<float>;
  { t.next_ticket(counter) } -> std::same_as<unsigned>;
  { t.is_last(counter, 1u) } -> std::same_as<bool>;
  t.publish(to, v);
  t.poll(v, to);
  t.pause(1u);
  { t.template shared<T, float, 32>() } -> std::same_as<float*>;
};

}  // namespace dsl::detail
