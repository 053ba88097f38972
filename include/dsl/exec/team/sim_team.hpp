// A kernel's memory and team in the simulator: each thread of the grid is a fiber, and every
// interaction with other threads goes through the library, which checks it.
#pragma once

#include <dsl/exec/team/team.hpp>

#include <type_traits>

// The threads of a simulated warp, 32 or 64. `device_properties::warp_size` says so to the plans,
// and a test that compiles its kernels for 64 sets both.
#if !defined(DSL_DETAIL_SIM_WARP_SIZE)
#define DSL_DETAIL_SIM_WARP_SIZE 32
#endif

namespace dsl::detail {

/// A thread of a kernel in the simulator.
struct simulated_thread {
  std::int64_t block, blocks;
  int thread, threads;
  // The mesh member that runs the block, and the number of members.
  int member, members;
  std::int64_t first_block, own_blocks;  // The member's blocks.
  unsigned char* shared;                 // The block's dynamic shared memory.
};

// These functions throw memory_error, naming the kernel, the expression, the block and the thread,
// if a kernel does something that a GPU does not allow or whose result depends on timing. A thread
// that has to wait is suspended and another one runs.

/// Checks a read or write of `bytes` bytes before it happens.
DSL_FN void check_read(simulated_thread& self, const void* address, std::size_t bytes,
                       std::size_t alignment);
DSL_FN void check_write(simulated_thread& self, const void* address, std::size_t bytes,
                        std::size_t alignment);
/// The bytes arrive when the thread waits for them.
DSL_FN void start_copy(simulated_thread& self, void* to, const void* from, std::size_t bytes,
                       std::size_t alignment);
DSL_FN void commit_copies(simulated_thread& self);
DSL_FN void wait_for_copies(simulated_thread& self, int pending);
DSL_FN void synchronize(simulated_thread& self);
DSL_FN void synchronize_warp(simulated_thread& self);
DSL_FN void pass_turn(simulated_thread& self, int warp);
DSL_FN void await_turn(simulated_thread& self);
/// Gives each lane of a warp the value of the lane it names; its own where there is none.
DSL_FN void exchange(simulated_thread& self, void* to, const void* value, std::size_t bytes,
                     int lane);
DSL_FN unsigned next_ticket(simulated_thread& self, unsigned* counter);
/// Checks an atomic operation: it does not race with other threads' atomic operations.
DSL_FN void check_atomic(simulated_thread& self, const void* address, std::size_t bytes);
[[noreturn]] DSL_FN void refuse_key(simulated_thread& self, std::int64_t key, std::int64_t groups);
DSL_FN bool is_last(simulated_thread& self, unsigned* counter, unsigned count);
DSL_FN void* in_block_of_cluster(simulated_thread& self, void* address, int block);
DSL_FN void arrive_in_cluster(simulated_thread& self);
DSL_FN void wait_for_cluster(simulated_thread& self);
DSL_FN void publish(simulated_thread& self, quad* to, const quad* words, int count, bool to_mesh);
DSL_FN void poll(simulated_thread& self, quad* words, const quad* from, int count, bool of_mesh);
DSL_FN void release(simulated_thread& self, quad* to, unsigned number);
DSL_FN unsigned acquire(simulated_thread& self, const quad* from);
/// A kernel's object in the block's static shared memory, identified by its key.
DSL_FN void* shared_object(simulated_thread& self, const void* key, std::size_t bytes);

struct simulated_memory {
  static constexpr bool calls_formula = true, may_load_unwritten = false;
  static constexpr int compute_capability = 0;
  simulated_thread* self;

  DSL_DETAIL_FN unsigned char* shared() const { return self->shared; }
  template <class T> DSL_DETAIL_FN T load(const void* address) const {
    check_read(*self, address, sizeof(T), alignof(T));
    return *static_cast<const T*>(address);
  }
  template <class T> DSL_DETAIL_FN T load_streaming(const void* address) const {
    return load<T>(address);
  }
  template <class T> DSL_DETAIL_FN void store(T* address, const T& value) const {
    check_write(*self, address, sizeof(T), alignof(T));
    *address = value;
  }
  template <class T> DSL_DETAIL_FN void copy_async(T* to, const T* from, bool = false) const {
    start_copy(*self, to, from, sizeof(T), alignof(T));
  }
  template <class T> DSL_DETAIL_FN void copy_async_through_l1(T* to, const T* from) const {
    copy_async(to, from);
  }
  DSL_DETAIL_FN void commit_copies() const { detail::commit_copies(*self); }
  template <int Pending> DSL_DETAIL_FN void wait_for_copies() const {
    detail::wait_for_copies(*self, Pending);
  }
  template <class T> DSL_DETAIL_FN void store_whole(T* address, const T& value) const {
    store(address, value);
  }
  template <class T> DSL_DETAIL_FN void store_streaming(T* to, const T& value, bool) const {
    store(to, value);
  }
};

/// Tells one kernel's shared objects from another's.
template <class Tag, class T, int N> inline constexpr char shared_object_key = 0;

template <int WarpSize> struct simulated_team_of {
  static constexpr int warp_size = WarpSize;
  using lane_mask = std::conditional_t<WarpSize == 64, std::uint64_t, std::uint32_t>;
  simulated_thread* self;

  DSL_DETAIL_FN int thread() const { return self->thread; }
  DSL_DETAIL_FN int threads() const { return self->threads; }
  DSL_DETAIL_FN int lane() const { return self->thread % warp_size; }
  DSL_DETAIL_FN int warp() const { return self->thread / warp_size; }
  DSL_DETAIL_FN std::int64_t block() const { return self->block; }
  DSL_DETAIL_FN std::int64_t blocks() const { return self->blocks; }

  DSL_DETAIL_FN int member() const { return self->member; }
  DSL_DETAIL_FN int members() const { return self->members; }
  DSL_DETAIL_FN std::int64_t first_block() const { return self->first_block; }
  DSL_DETAIL_FN std::int64_t own_blocks() const { return self->own_blocks; }

  DSL_DETAIL_FN void synchronize() const { detail::synchronize(*self); }
  DSL_DETAIL_FN void synchronize_warp() const { detail::synchronize_warp(*self); }
  DSL_DETAIL_FN void pass_turn(int warp) const { detail::pass_turn(*self, warp); }
  DSL_DETAIL_FN void await_turn() const { detail::await_turn(*self); }

  template <class T> DSL_DETAIL_FN T from_lane(const T& value, int lane) const {
    T result;
    exchange(*self, &result, &value, sizeof(T), lane & (warp_size - 1));
    return result;
  }
  template <class T> DSL_DETAIL_FN T shift_down(const T& value, int step) const {
    return from(value, lane() + step);
  }
  template <class T> DSL_DETAIL_FN T shift_up(const T& value, int step) const {
    return from(value, lane() - step);
  }

  DSL_DETAIL_FN lane_mask match(unsigned number) const {
    const auto all = of_warp(number);
    lane_mask same = 0;
    for (int lane = 0; lane < warp_size; ++lane)
      same |= lane_mask{all.lane[lane] == number} << lane;
    return same;
  }
  DSL_DETAIL_FN lane_mask ballot(bool mine) const {
    lane_mask bits = lane_mask{mine} << lane();
    for (int step = 1; step < warp_size; step *= 2) bits |= from_lane(bits, lane() ^ step);
    return bits;
  }

  DSL_DETAIL_FN unsigned atomic_add(unsigned* at, unsigned value) const {
    check_atomic(*self, at, sizeof *at);
    const unsigned before = *at;
    *at += value;
    return before;
  }
  DSL_DETAIL_FN unsigned atomic_exchange(unsigned* at, unsigned value) const {
    check_atomic(*self, at, sizeof *at);
    const unsigned before = *at;
    *at = value;
    return before;
  }

  DSL_DETAIL_FN void refuse_key(std::int64_t key, std::int64_t groups) const {
    detail::refuse_key(*self, key, groups);
  }

  DSL_DETAIL_FN unsigned next_ticket(unsigned* counter) const {
    return detail::next_ticket(*self, counter);
  }
  DSL_DETAIL_FN bool is_last(unsigned* counter, unsigned count,
                             const member_tickets& own = {}) const {
    if (own.count == 0) return detail::is_last(*self, counter, count);
    return detail::is_last(*self, own.counter, own.count) &&
           detail::is_last(*self, counter, own.members);
  }

  template <class T> DSL_DETAIL_FN void publish(tagged<T>* to, const tagged<T>& v,
                                                bool to_mesh = false) const {
    detail::publish(*self, to->word, v.word, tagged<T>::words, to_mesh);
  }
  template <class T> DSL_DETAIL_FN void poll(tagged<T>& v, const tagged<T>* from,
                                             bool of_mesh = false) const {
    detail::poll(*self, v.word, from->word, tagged<T>::words, of_mesh);
  }
  DSL_DETAIL_FN void release(quad* to, unsigned number) const {
    detail::release(*self, to, number);
  }
  DSL_DETAIL_FN unsigned acquire(const quad* from) const { return detail::acquire(*self, from); }
  DSL_DETAIL_FN bool gives_up(unsigned&, std::int64_t, unsigned) const { return false; }
  template <class T> DSL_DETAIL_FN T* in_block_of_cluster(T* address, int block) const {
    return static_cast<T*>(detail::in_block_of_cluster(*self, address, block));
  }
  DSL_DETAIL_FN void arrive_in_cluster() const { detail::arrive_in_cluster(*self); }
  DSL_DETAIL_FN void wait_for_cluster() const { detail::wait_for_cluster(*self); }
  DSL_DETAIL_FN void open(cluster_inbox*) const {}
  template <class T> DSL_DETAIL_FN void send(T* to, const T& value, cluster_inbox*,
                                             int block) const {
    simulated_memory{self}.store(in_block_of_cluster(to, block), value);
  }
  DSL_DETAIL_FN void receive(cluster_inbox*, unsigned, unsigned) const {
    arrive_in_cluster();
    wait_for_cluster();
  }
  DSL_DETAIL_FN void wait_for_earlier_launch() const {}
  DSL_DETAIL_FN void pause(unsigned) const {}

  template <class Tag, class T, int N> DSL_DETAIL_FN T* shared() const {
#if DSL_DETAIL_ON_DEVICE
    return nullptr;  // Device code cannot take the key's address.
#else
    return static_cast<T*>(shared_object(*self, &shared_object_key<Tag, T, N>, N * sizeof(T)));
#endif
  }

 private:
  // The numbers of all lanes: each exchange doubles the lanes that a lane knows.
  struct lane_numbers { unsigned lane[warp_size]; };
  DSL_DETAIL_FN lane_numbers of_warp(unsigned number) const {
    lane_numbers known{};
    known.lane[lane()] = number;
    for (int step = 1; step < warp_size; step *= 2) {
      const lane_numbers other = from_lane(known, lane() ^ step);
      const int first = (lane() ^ step) & ~(step - 1);
      for (int i = first; i < first + step; ++i) known.lane[i] = other.lane[i];
    }
    return known;
  }
  template <class T> DSL_DETAIL_FN T from(const T& value, int lane) const {
    T result;
    exchange(*self, &result, &value, sizeof(T), lane);
    return result;
  }
};

using simulated_team = simulated_team_of<DSL_DETAIL_SIM_WARP_SIZE>;

static_assert(kernel_memory<simulated_memory> && kernel_team<simulated_team>);

/// A kernel's entry point in the simulator.
using simulated_entry = void (*)(const void* arguments, simulated_thread& self);

}  // namespace dsl::detail
