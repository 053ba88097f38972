// One launch in the simulator.
#pragma once

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/fiber.hpp"
#include "sim/grid.hpp"
#include "sim/order.hpp"
#include "sim/shadow.hpp"

namespace dsl::detail {

using lane_bits = std::uint64_t;

struct region {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool is_shared = false, is_written = true, is_empty = true;
  shadow accesses;
  std::vector<touched_bytes> touched{};  // by each member of a mesh

  bool holds(std::uintptr_t at, std::size_t count) const {
    return at - begin < bytes && count <= bytes - (at - begin);
  }
};

enum class thread_state : std::uint8_t {
  ready,
  at_barrier,
  at_warp_barrier,
  at_exchange,
  at_turn,
  at_cluster_barrier,
  polling,
  ended
};

struct block_run;
struct cluster_run;
struct warp_run;
class grid_run;

struct pending_copy {
  void* to;
  const void* from;
  std::size_t bytes;
  region* where;
  std::size_t alignment;
  int group;
};

struct thread_run : simulated_thread {
  block_run* home;
  warp_run* warp;
  fiber* on;  // its fiber, from its beginning to its end
  lane_bits lane;
  std::uint32_t who;
  thread_state state;
  std::uint64_t turns;  // turns it has had
  // Its part in an exchange of the warp: the lane it reads from, the value it gives, and where to
  // store the result.
  int wanted_lane;
  const void* given;
  void* wanted;
  std::size_t given_bytes;
  // The last cell that it polled, and the number of values published by then.
  const void* polled;
  std::uint64_t published;
  int polls, polls_again;
  int groups;            // groups of copies that it has committed
  int cluster_barriers;  // number of cluster barriers before its last one
  std::vector<pending_copy> copies;
};

struct warp_run {
  thread_run* first;
  lane_bits lanes, ready, polling, at_barrier, at_exchange;
  // The times of its lanes' last common barrier, and of their last exchange or barrier. After the
  // latter, a lane may write what another has read before.
  std::uint32_t barrier, meeting;
  // Number of lanes that have passed a turn to it, and its lanes that wait for a turn.
  std::uint64_t given;
  lane_bits at_turn;
  // For each other warp, the time up to which its work is visible here since the block's last
  // barrier, and the same after the next turn.
  std::vector<std::uint32_t> seen, seen_with_turn;

  thread_run* take_ready() {
    if (ready == 0) return nullptr;
    const int next = std::countr_zero(ready);
    ready &= ready - 1;
    return first + next;
  }
};

struct cluster_run {
  std::size_t first_place;
  int blocks_left;  // that have not ended
  int arrived;      // threads since the last barrier
  int barriers;
};

/// A slot in which one block after another runs.
struct block_run {
  grid_run* grid;
  std::int64_t number;
  std::vector<thread_run> threads;
  std::vector<warp_run> warps;
  int arrived, ended;
  cluster_run* cluster;
  bool was_last;
  std::uint32_t clock, barrier;  // the current time, and that of the last barrier
  // For each other block, the time up to which all its work is visible here, and the time up to
  // which this block may write what the other has read.
  std::unordered_map<std::uint32_t, std::uint32_t> seen, seen_reads;

  struct shared_variable {
    const void* key;
    std::unique_ptr<unsigned char[]> memory;
    std::unique_ptr<region> where;
  };
  std::vector<shared_variable> shared;  // the dynamic shared memory first

  // Whether work of another block may end its wait.
  bool waits_for_others() const {
    return std::any_of(threads.begin(), threads.end(), [](const thread_run& t) {
      return t.state == thread_state::polling || t.state == thread_state::at_cluster_barrier;
    });
  }
};

inline moment now_of(const thread_run& t) { return {t.who, t.home->clock}; }

/// Thrown to unwind the stacks of threads that had not ended when something failed.
struct abandoned {};

class grid_run {
 public:
  explicit grid_run(const simulated_launch& launch);
  void run();
  std::vector<touched_memory> touched() const;

  void check(thread_run& t, const void* address, std::size_t bytes, std::size_t alignment,
             bool writes);
  void check_atomic(thread_run& t, const void* address, std::size_t bytes);
  void start_copy(thread_run& t, void* to, const void* from, std::size_t bytes,
                  std::size_t alignment);
  void wait_for_copies(thread_run& t, int pending);
  void synchronize(thread_run& t);
  void synchronize_warp(thread_run& t);
  void pass_turn(thread_run& t, int warp);
  void await_turn(thread_run& t);
  void exchange(thread_run& t, void* to, const void* value, std::size_t bytes, int lane);
  unsigned next_ticket(thread_run& t, unsigned* counter);
  bool is_last(thread_run& t, unsigned* counter, unsigned count);
  void* in_block_of_cluster(thread_run& t, void* address, int block);
  void arrive_in_cluster(thread_run& t);
  void wait_for_cluster(thread_run& t);
  void publish(thread_run& t, quad* to, const quad* words, int count, bool to_mesh);
  void poll(thread_run& t, quad* words, const quad* from, int count, bool of_mesh);
  void release(thread_run& t, quad* to, unsigned number);
  unsigned acquire(thread_run& t, const quad* from);
  void* shared_object(thread_run& t, const void* key, std::size_t bytes);
  [[noreturn]] void report(const thread_run& t, const std::string& what) const;

 private:
  // Scheduling.
  void begin(block_run& b, std::int64_t number);
  bool run_block(block_run& b);
  [[gnu::always_inline]] void leave(thread_run& t, thread_state why);
  [[gnu::always_inline]] void enter(fiber& from, thread_run* next);
  static fiber& run_threads(void* grid, fiber& self) {
    return static_cast<grid_run*>(grid)->run_threads(self);
  }
  fiber& run_threads(fiber& self);
  void unwind();
  void wait_to_poll(thread_run& t, const quad* from);
  void note_publication(thread_run& t, const quad* at, bool to_mesh);
  std::int64_t next_cluster();

  // Checking.
  region& find(thread_run& t, const void* address, std::size_t bytes, std::size_t alignment);
  thread_run& owner_of(thread_run& t, const void* address);
  void note_read(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes,
                 std::size_t alignment);
  void note_write(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes,
                  std::size_t alignment, bool pending);
  bool is_before(moment past, const thread_run& t, bool read_then_write) const;
  [[noreturn]] void report_race(const thread_run& t, bool writes, moment other, bool other_writes,
                                const region& r, std::size_t bytes) const;
  void report_divergence(const block_run& b) const;
  void report_endless_wait() const;

  int warp_of(int thread) const { return thread / launch_.warp_size; }

  const simulated_launch& launch_;
  drawn_order order_;
  std::vector<region> memory_;
  std::size_t recent_ = 0;  // index of the region last accessed outside shared memory
  std::vector<block_run> places_;
  std::vector<cluster_run> clusters_;  // of as many slots each
  std::vector<block_run*> running_;
  std::int64_t begun_ = 0;
  std::vector<std::int64_t> next_clusters_;
  fiber_pool& pool_ = fiber_pool::of_this_thread();
  fiber main_{pool_};
  thread_run* entering_ = nullptr;
  std::exception_ptr failure_;
  struct publication {
    moment when;
    int member;
    bool to_mesh;
  };
  std::unordered_map<const void*, publication> publications_;
  std::unordered_map<const void*, std::vector<moment>> arrivals_;
  std::uint64_t published_ = 0;
};

inline thread_run& run_of(simulated_thread& self) { return static_cast<thread_run&>(self); }
inline grid_run& grid_of(simulated_thread& self) { return *run_of(self).home->grid; }

inline void grid_run::enter(fiber& from, thread_run* next) {
  if (next == nullptr) return from.go_to(main_);
  if (next->on != nullptr) {
    if (const warp_run& w = *next->warp; w.ready != 0)
      if (const fiber* after = w.first[std::countr_zero(w.ready)].on; after != nullptr)
        after->prefetch();
    return from.go_to(*next->on);
  }
  entering_ = next;
  from.go_to(pool_.take(&run_threads, this));
}

inline void grid_run::leave(thread_run& t, thread_state why) {
  t.state = why;
  enter(*t.on, t.warp->take_ready());
  if (failure_) throw abandoned{};
  t.state = thread_state::ready;
}

}  // namespace dsl::detail
