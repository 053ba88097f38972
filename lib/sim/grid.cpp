// The simulator's scheduling of threads, and the operations of its team.
#include "sim/grid_run.hpp"

#include <cstring>
#include <vector>

namespace dsl::detail {

namespace {

template <class F>
void each_bit(lane_bits bits, const F& f) {
  for (; bits != 0; bits &= bits - 1) f(std::countr_zero(bits));
}

}  // namespace

grid_run::grid_run(const simulated_launch& launch)
    : launch_(launch), order_(seed_of_environment()) {
  for (const simulated_range& each : launch.memory) {
    // Operands in one buffer are one region, and so are those of several buffers that overlap, as
    // foreign memory may.
    region all{each.begin, each.bytes, false, each.is_written, each.is_empty, {}};
    std::erase_if(memory_, [&](const region& r) {
      const std::uintptr_t begin = std::min(r.begin, all.begin),
                           end = std::max(r.begin + r.bytes, all.begin + all.bytes);
      if (r.begin != all.begin && end - begin >= r.bytes + all.bytes) return false;
      all = {begin, end - begin, false, r.is_written || all.is_written, r.is_empty && all.is_empty,
             {}};
      return true;
    });
    memory_.push_back(std::move(all));
  }
  for (region& r : memory_) {
    r.accesses = shadow(r.begin, r.bytes);
    r.touched.resize(launch.member_ends.size());
  }
  const int at_once = order_.is_seeded() ? 1 + order_.below(8) : 2;
  const std::int64_t clusters = launch.grid / launch.cluster;
  clusters_.resize(static_cast<std::size_t>(
      launch.cooperative ? clusters : std::min<std::int64_t>(clusters, at_once)));
  places_.resize(clusters_.size() * static_cast<std::size_t>(launch.cluster));
  for (block_run& b : places_) {
    const std::size_t place = static_cast<std::size_t>(&b - places_.data()),
                      size = static_cast<std::size_t>(launch.cluster);
    b.grid = this;
    b.cluster = &clusters_[place / size];
    if (place % size == 0) b.cluster->first_place = place;
    b.threads.resize(static_cast<std::size_t>(launch.block));
    b.warps.resize(static_cast<std::size_t>(warp_of(launch.block - 1) + 1));
    for (int i = 0; i < launch.block; ++i) {
      thread_run& t = b.threads[static_cast<std::size_t>(i)];
      t.blocks = launch.grid;
      t.members = std::max(1, static_cast<int>(launch.member_ends.size()));
      t.thread = i;
      t.threads = launch.block;
      t.home = &b;
      t.warp = &b.warps[static_cast<std::size_t>(warp_of(i))];
      const int lane = i % launch.warp_size;
      t.lane = lane_bits{1} << lane;
      t.warp->lanes |= t.lane;
      if (lane == 0) t.warp->first = &t;
    }
    static_cast<void>(
        shared_object(b.threads[0], nullptr, static_cast<std::size_t>(launch.shared_bytes)));
    for (thread_run& t : b.threads) t.shared = b.shared[0].memory.get();
  }
}

std::int64_t grid_run::next_cluster() {
  if (next_clusters_.empty()) {
    constexpr std::int64_t shuffled_together = 64;
    const std::int64_t end = std::min(launch_.grid / launch_.cluster, begun_ + shuffled_together);
    for (std::int64_t i = end; i-- > begun_;) next_clusters_.push_back(i);
    order_.shuffle(next_clusters_);
    begun_ = end;
  }
  const std::int64_t number = next_clusters_.back();
  next_clusters_.pop_back();
  return number;
}

void grid_run::begin(block_run& b, std::int64_t number) {
  const std::vector<std::int64_t>& ends = launch_.member_ends;
  const auto member =
      static_cast<int>(std::upper_bound(ends.begin(), ends.end(), number) - ends.begin());
  const std::int64_t first = member > 0 ? ends[static_cast<std::size_t>(member - 1)] : 0;
  b.number = number;
  b.arrived = b.ended = 0;
  b.clock = b.barrier = 0;
  b.seen.clear();
  b.seen_reads.clear();
  for (block_run::shared_variable& s : b.shared) std::memset(s.memory.get(), 0xff, s.where->bytes);
  for (thread_run& t : b.threads) {
    t.block = b.number;
    t.member = member;
    t.first_block = first;
    t.own_blocks = (ends.empty() ? launch_.grid : ends[static_cast<std::size_t>(member)]) - first;
    t.state = thread_state::ready;
    t.on = nullptr;
    t.who = moment::of(b.number, t.thread);
    t.polled = nullptr;
    t.groups = 0;
    t.turns = 0;
    t.copies.clear();
  }
  for (warp_run& w : b.warps) {
    w.ready = w.lanes;
    w.polling = w.at_barrier = w.at_exchange = w.at_turn = w.barrier = w.meeting = 0;
    w.given = 0;
    w.seen.assign(b.warps.size(), 0);
    w.seen_with_turn.assign(b.warps.size(), 0);
  }
}

void grid_run::run() {
  std::vector<cluster_run*> idle;
  for (cluster_run& c : clusters_) idle.push_back(&c);
  std::int64_t left = launch_.grid / launch_.cluster;
  for (;;) {
    for (; left > 0 && !idle.empty(); --left) {
      cluster_run& c = *idle.back();
      idle.pop_back();
      c.blocks_left = launch_.cluster;
      c.arrived = c.barriers = 0;
      const std::int64_t first = next_cluster() * launch_.cluster;
      for (int i = 0; i < launch_.cluster; ++i) {
        block_run& b = places_[c.first_place + static_cast<std::size_t>(i)];
        begin(b, first + i);
        running_.push_back(&b);
      }
    }
    if (running_.empty()) return;
    order_.shuffle(running_);
    bool moved = false;
    try {
      for (block_run* b : running_) moved = run_block(*b) || moved;
      if (!moved) report_endless_wait();
    } catch (...) {
      failure_ = std::current_exception();
    }
    if (failure_) {
      unwind();
      std::rethrow_exception(failure_);
    }
    std::erase_if(running_, [&](block_run* b) {
      const bool ended = b->ended == launch_.block;
      if (ended && --b->cluster->blocks_left == 0) idle.push_back(b->cluster);
      return ended;
    });
  }
}

// Runs each warp until it has to wait for others. Returns whether any warp ran.
bool grid_run::run_block(block_run& b) {
  std::vector<std::size_t> warps(b.warps.size());
  for (std::size_t i = 0; i < warps.size(); ++i) warps[i] = i;
  order_.shuffle(warps);
  bool moved = false;
  for (const std::size_t i : warps) {
    warp_run& w = b.warps[i];
    each_bit(w.polling, [&](int lane) {
      if (w.first[lane].published == published_) return;
      w.polling &= ~w.first[lane].lane;
      w.ready |= w.first[lane].lane;
    });
    while (thread_run* const t = w.take_ready()) {
      moved = true;
      enter(main_, t);
      if (failure_) std::rethrow_exception(failure_);
    }
  }
  if (!moved && !b.waits_for_others()) report_divergence(b);
  return moved;
}

// Runs one thread, and then those of its warp that have not begun, as long as none has to wait:
// they share a stack.
fiber& grid_run::run_threads(fiber& self) {
  for (thread_run* t = entering_;;) {
    t->on = &self;
    try {
      launch_.entry(launch_.of_member.empty()
                        ? launch_.arguments
                        : launch_.of_member[static_cast<std::size_t>(t->member)],
                    *t);
    } catch (const abandoned&) {
    } catch (...) {
      failure_ = std::current_exception();
    }
    t->state = thread_state::ended;
    t->on = nullptr;
    ++t->home->ended;
    if (failure_) return main_;
    thread_run* const next = t->warp->take_ready();
    if (next == nullptr) return main_;
    if (next->on != nullptr) return *next->on;
    t = next;
  }
}

void grid_run::unwind() {
  for (block_run* b : running_)
    for (thread_run& t : b->threads)
      if (t.on != nullptr) main_.go_to(*t.on);
}

// Operations of the team.

void grid_run::synchronize(thread_run& t) {
  block_run& b = *t.home;
  if (++b.arrived < launch_.block) return leave(t, thread_state::at_barrier);
  b.arrived = 0;
  b.barrier = ++b.clock;
  for (warp_run& w : b.warps) {
    w.barrier = w.meeting = b.barrier;
    w.ready = w.lanes;
  }
  t.warp->ready &= ~t.lane;
}

void grid_run::synchronize_warp(thread_run& t) {
  warp_run& w = *t.warp;
  w.at_barrier |= t.lane;
  if (w.at_barrier != w.lanes) return leave(t, thread_state::at_warp_barrier);
  w.at_barrier = 0;
  w.ready |= w.lanes & ~t.lane;
  w.barrier = w.meeting = ++t.home->clock;
}

// The last lane passes the turn: by then all lanes have done what precedes it.
void grid_run::pass_turn(thread_run& t, int warp) {
  synchronize_warp(t);
  block_run& b = *t.home;
  warp_run& to = b.warps[static_cast<std::size_t>(warp)];
  if (++to.given % static_cast<unsigned>(launch_.warp_size) != 0) return;
  const auto mine = static_cast<std::size_t>(warp_of(t.thread));
  for (std::size_t i = 0; i < b.warps.size(); ++i)
    to.seen_with_turn[i] = std::max(to.seen_with_turn[i], t.warp->seen[i]);
  to.seen_with_turn[mine] = t.warp->barrier;
  to.ready |= to.at_turn;
  to.at_turn = 0;
}

void grid_run::await_turn(thread_run& t) {
  warp_run& w = *t.warp;
  if (w.given < ++t.turns * static_cast<unsigned>(launch_.warp_size)) {
    w.at_turn |= t.lane;
    leave(t, thread_state::at_turn);
  }
  w.seen = w.seen_with_turn;
}

void grid_run::exchange(thread_run& t, void* to, const void* value, std::size_t bytes, int lane) {
  warp_run& w = *t.warp;
  t.given = value;
  t.wanted = to;
  t.given_bytes = bytes;
  t.wanted_lane = lane;
  w.at_exchange |= t.lane;
  if (w.at_exchange != w.lanes) return leave(t, thread_state::at_exchange);
  w.at_exchange = 0;
  w.meeting = ++t.home->clock;
  w.ready |= w.lanes & ~t.lane;
  each_bit(w.lanes, [&](int i) {
    const thread_run& each = w.first[i];
    const bool exists = each.wanted_lane >= 0 && each.wanted_lane < launch_.warp_size &&
                        (w.lanes >> each.wanted_lane & 1) != 0;
    const thread_run& giver = exists ? w.first[each.wanted_lane] : each;
    std::memcpy(each.wanted, giver.given, std::min(each.given_bytes, giver.given_bytes));
  });
}

unsigned grid_run::next_ticket(thread_run& t, unsigned* counter) {
  find(t, counter, sizeof *counter, alignof(unsigned));
  return (*counter)++;
}

bool grid_run::is_last(thread_run& t, unsigned* counter, unsigned count) {
  block_run& b = *t.home;
  synchronize(t);
  if (t.thread == 0) {
    find(t, counter, sizeof *counter, alignof(unsigned));
    std::vector<moment>& arrived = arrivals_[counter];
    arrived.push_back(now_of(t));
    for (const auto& [block, when] : b.seen)
      arrived.push_back({block << moment::thread_bits, when});
    b.was_last = ++*counter == count;
    if (b.was_last) {
      for (const moment& other : arrived) {
        std::uint32_t& seen = b.seen[other.block()];
        if (seen == 0 || !other.is_before(seen)) seen = other.when;
      }
      arrivals_.erase(counter);
      *counter = 0;
    }
  }
  synchronize(t);
  return b.was_last;
}

void* grid_run::in_block_of_cluster(thread_run& t, void* address, int block) {
  if (block < 0 || block >= launch_.cluster) report(t, "an access to a block outside its cluster");
  const auto offset = static_cast<unsigned char*>(address) - t.shared;
  return places_[t.home->cluster->first_place + static_cast<std::size_t>(block)].threads[0].shared +
         offset;
}

void grid_run::arrive_in_cluster(thread_run& t) {
  cluster_run& c = *t.home->cluster;
  t.cluster_barriers = c.barriers;
  if (++c.arrived < launch_.cluster * launch_.block) return;
  c.arrived = 0;
  ++c.barriers;
  for (int i = 0; i < launch_.cluster; ++i) {
    block_run& b = places_[c.first_place + static_cast<std::size_t>(i)];
    b.barrier = ++b.clock;
    for (warp_run& w : b.warps) w.barrier = w.meeting = b.barrier;
    for (thread_run& each : b.threads)
      if (each.state == thread_state::at_cluster_barrier) each.warp->ready |= each.lane;
  }
}

void grid_run::wait_for_cluster(thread_run& t) {
  if (t.home->cluster->barriers == t.cluster_barriers) leave(t, thread_state::at_cluster_barrier);
}

void* grid_run::shared_object(thread_run& t, const void* key, std::size_t bytes) {
  block_run& b = *t.home;
  for (const block_run::shared_variable& each : b.shared)
    if (each.key == key) return each.memory.get();
  auto memory = std::make_unique<unsigned char[]>(std::max<std::size_t>(bytes, 1));
  std::memset(memory.get(), 0xff, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.get());
  auto where =
      std::make_unique<region>(region{begin, bytes, true, true, true, shadow(begin, bytes)});
  b.shared.push_back(
      {key, std::move(memory), std::move(where)});  // emplace_back of an aggregate needs clang 16
  return b.shared.back().memory.get();
}

std::vector<touched_memory> simulate(const simulated_launch& launch) {
  grid_run run(launch);
  run.run();
  return run.touched();
}

void synchronize(simulated_thread& self) { grid_of(self).synchronize(run_of(self)); }
void synchronize_warp(simulated_thread& self) { grid_of(self).synchronize_warp(run_of(self)); }
void pass_turn(simulated_thread& self, int warp) { grid_of(self).pass_turn(run_of(self), warp); }
void await_turn(simulated_thread& self) { grid_of(self).await_turn(run_of(self)); }
void exchange(simulated_thread& self, void* to, const void* value, std::size_t bytes, int lane) {
  grid_of(self).exchange(run_of(self), to, value, bytes, lane);
}
unsigned next_ticket(simulated_thread& self, unsigned* counter) {
  return grid_of(self).next_ticket(run_of(self), counter);
}
bool is_last(simulated_thread& self, unsigned* counter, unsigned count) {
  return grid_of(self).is_last(run_of(self), counter, count);
}
void* in_block_of_cluster(simulated_thread& self, void* address, int block) {
  return grid_of(self).in_block_of_cluster(run_of(self), address, block);
}
void arrive_in_cluster(simulated_thread& self) { grid_of(self).arrive_in_cluster(run_of(self)); }
void wait_for_cluster(simulated_thread& self) { grid_of(self).wait_for_cluster(run_of(self)); }
void* shared_object(simulated_thread& self, const void* key, std::size_t bytes) {
  return grid_of(self).shared_object(run_of(self), key, bytes);
}

}  // namespace dsl::detail
