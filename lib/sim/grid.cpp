#include "sim/grid.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/text.hpp"
#include "sim/fiber.hpp"
#include "sim/shadow.hpp"

namespace dsl::detail {

namespace {

constexpr int warp_size = 32;

std::uint64_t seed_of_environment() {
  const char* const value = std::getenv("DSL_SIM_SEED");
  if (value == nullptr || *value == 0) return 0;
  const std::string_view text = value;
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    raise<device_error>("DSL_SIM_SEED is \"" + std::string(text) + "\", which is no number from 0 to 18446744073709551615");
  return seed;
}

/// Numbers in an order that a seed chooses; of seed 0 in their own.
class drawn_order {
 public:
  explicit drawn_order(std::uint64_t seed) : seeded_(seed != 0), state_(seed) {}
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool is_seeded() const { return seeded_; }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); seeded_ && i > 1; --i) std::swap(all[i - 1], all[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }

 private:
  // Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014.
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  bool seeded_;
  std::uint64_t state_;
};

struct region {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool is_shared = false, is_written = true, is_empty = true;
  shadow accesses;

  bool holds(std::uintptr_t at, std::size_t count) const { return at - begin < bytes && count <= bytes - (at - begin); }
};

enum class thread_state : std::uint8_t { ready, at_barrier, at_warp_barrier, at_exchange, polling, ended };

struct block_run;
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
  fiber* on;           // where it has begun and not ended
  std::uint32_t lane;  // a bit
  std::uint32_t who;
  thread_state state;
  // What it gives to its warp, and wants of it.
  int wanted_lane;
  const void* given;
  void* wanted;
  std::size_t given_bytes;
  // The last cell that it polled, and how many had been published by then.
  const void* polled;
  std::uint64_t published;
  int polls, polls_again;
  int groups;  // of copies that it has closed
  std::vector<pending_copy> copies;
};

struct warp_run {
  thread_run* first;
  std::uint32_t lanes, ready, polling, at_barrier, at_exchange;  // bits
  // When its lanes last were at a barrier together, and when they last exchanged values or were: what a lane has read by then another
  // may write.
  std::uint32_t barrier, meeting;

  thread_run* take_ready() {
    if (ready == 0) return nullptr;
    const int next = std::countr_zero(ready);
    ready &= ready - 1;
    return first + next;
  }
};

/// A place where one block after another runs.
struct block_run {
  grid_run* grid;
  std::int64_t number;
  std::vector<thread_run> threads;
  std::vector<warp_run> warps;
  int arrived, ended;
  bool was_last;
  std::uint32_t clock, barrier;  // the time, and that of the last barrier
  // How far it has seen what other blocks did: all of it, and so far that it may write what they read.
  std::unordered_map<std::uint32_t, std::uint32_t> seen, seen_reads;

  struct shared_thing {
    const void* key;
    std::unique_ptr<unsigned char[]> memory;
    std::unique_ptr<region> where;
  };
  std::vector<shared_thing> shared;  // first the dynamic one

  bool has_polling() const {
    return std::any_of(warps.begin(), warps.end(), [](const warp_run& w) { return w.polling != 0; });
  }
};

moment now_of(const thread_run& t) { return {t.who, t.home->clock}; }

/// Unwinds the stacks of what had not ended when something failed.
struct abandoned {};

class grid_run {
 public:
  explicit grid_run(const simulated_launch& launch);
  void run();

  void check(thread_run& t, const void* address, std::size_t bytes, std::size_t alignment, bool writes);
  void start_copy(thread_run& t, void* to, const void* from, std::size_t bytes, std::size_t alignment);
  void wait_for_copies(thread_run& t, int pending);
  void synchronize(thread_run& t);
  void synchronize_warp(thread_run& t);
  void exchange(thread_run& t, void* to, const void* value, std::size_t bytes, int lane);
  unsigned next_ticket(thread_run& t, unsigned* counter);
  bool is_last(thread_run& t, unsigned* counter, unsigned count);
  void publish(thread_run& t, quad* to, const quad* words, int count);
  void poll(thread_run& t, quad* words, const quad* from, int count);
  void* shared_object(thread_run& t, const void* key, std::size_t bytes);

 private:
  // Scheduling.
  void begin(block_run& b);
  bool run_block(block_run& b);
  [[gnu::always_inline]] void leave(thread_run& t, thread_state why);
  [[gnu::always_inline]] void enter(fiber& from, thread_run* next);
  static fiber& run_threads(void* grid, fiber& self) { return static_cast<grid_run*>(grid)->run_threads(self); }
  fiber& run_threads(fiber& self);
  void unwind();
  std::int64_t next_block();

  // Checking.
  region& find(thread_run& t, const void* address, std::size_t bytes, std::size_t alignment);
  void note_read(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes, std::size_t alignment);
  void note_write(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes, std::size_t alignment, bool pending);
  bool is_before(moment past, const thread_run& t, bool read_then_write) const;
  [[noreturn]] void report(const thread_run& t, const std::string& what) const;
  [[noreturn]] void report_race(const thread_run& t, bool writes, moment other, bool other_writes, const region& r, std::size_t bytes) const;
  void report_divergence(const block_run& b) const;
  void report_endless_wait() const;

  const simulated_launch& launch_;
  drawn_order order_;
  std::vector<region> memory_;
  std::vector<block_run> places_;
  std::vector<block_run*> running_;
  std::int64_t begun_ = 0;
  std::vector<std::int64_t> next_blocks_;
  fiber_pool& pool_ = fiber_pool::of_this_thread();
  fiber main_{pool_};
  thread_run* entering_ = nullptr;
  std::exception_ptr failure_;
  std::unordered_map<const void*, moment> publishers_;
  std::unordered_map<const void*, std::vector<moment>> arrivals_;
  std::uint64_t published_ = 0;
};

template <class F>
void each_bit(std::uint32_t bits, const F& f) {
  for (; bits != 0; bits &= bits - 1) f(std::countr_zero(bits));
}

grid_run::grid_run(const simulated_launch& launch) : launch_(launch), order_(seed_of_environment()) {
  for (const simulated_range& each : launch.memory) {
    const auto same = std::find_if(memory_.begin(), memory_.end(), [&](const region& r) { return r.begin == each.begin; });
    if (same != memory_.end()) {
      same->is_written = same->is_written || each.is_written;
      continue;
    }
    memory_.push_back({each.begin, each.bytes, false, each.is_written, each.is_empty, shadow(each.begin, each.bytes)});
  }
  const int at_once = order_.is_seeded() ? 1 + order_.below(8) : 2;
  const std::int64_t places = launch.cooperative ? launch.grid : std::min<std::int64_t>(launch.grid, at_once);
  places_.resize(static_cast<std::size_t>(places));
  const auto warps = static_cast<std::size_t>((launch.block + warp_size - 1) / warp_size);
  for (block_run& b : places_) {
    b.grid = this;
    b.threads.resize(static_cast<std::size_t>(launch.block));
    b.warps.resize(warps);
    for (int i = 0; i < launch.block; ++i) {
      thread_run& t = b.threads[static_cast<std::size_t>(i)];
      t.blocks = launch.grid, t.thread = i, t.threads = launch.block;
      t.home = &b, t.warp = &b.warps[static_cast<std::size_t>(i / warp_size)], t.lane = 1u << i % warp_size;
    }
    for (std::size_t i = 0; i < warps; ++i) {
      const int lanes = launch.block - static_cast<int>(i) * warp_size;
      b.warps[i].first = &b.threads[i * warp_size], b.warps[i].lanes = lanes >= warp_size ? ~0u : (1u << lanes) - 1;
    }
    static_cast<void>(shared_object(b.threads[0], nullptr, static_cast<std::size_t>(launch.shared_bytes)));
    for (thread_run& t : b.threads) t.shared = b.shared[0].memory.get();
  }
}

std::int64_t grid_run::next_block() {
  if (next_blocks_.empty()) {
    constexpr std::int64_t shuffled_together = 64;
    const std::int64_t end = std::min(launch_.grid, begun_ + shuffled_together);
    for (std::int64_t i = end; i-- > begun_;) next_blocks_.push_back(i);
    order_.shuffle(next_blocks_);
    begun_ = end;
  }
  const std::int64_t number = next_blocks_.back();
  next_blocks_.pop_back();
  return number;
}

void grid_run::begin(block_run& b) {
  b.number = next_block();
  b.arrived = b.ended = 0;
  b.clock = b.barrier = 0;
  b.seen.clear(), b.seen_reads.clear();
  for (block_run::shared_thing& s : b.shared) std::memset(s.memory.get(), 0xff, s.where->bytes);
  for (thread_run& t : b.threads) {
    t.block = b.number;
    t.state = thread_state::ready, t.on = nullptr, t.who = moment::of(b.number, t.thread);
    t.polled = nullptr, t.groups = 0;
    t.copies.clear();
  }
  for (warp_run& w : b.warps) w.ready = w.lanes, w.polling = w.at_barrier = w.at_exchange = w.barrier = w.meeting = 0;
}

void grid_run::run() {
  std::vector<block_run*> idle;
  for (block_run& b : places_) idle.push_back(&b);
  std::int64_t left = launch_.grid;
  for (;;) {
    for (; left > 0 && !idle.empty(); --left) {
      begin(*idle.back());
      running_.push_back(idle.back());
      idle.pop_back();
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
      if (ended) idle.push_back(b);
      return ended;
    });
  }
}

// Lets each warp run until it has to wait for others. Returns whether any did.
bool grid_run::run_block(block_run& b) {
  std::vector<std::size_t> warps(b.warps.size());
  for (std::size_t i = 0; i < warps.size(); ++i) warps[i] = i;
  order_.shuffle(warps);
  bool moved = false;
  for (const std::size_t i : warps) {
    warp_run& w = b.warps[i];
    each_bit(w.polling, [&](int lane) {
      if (w.first[lane].published == published_) return;
      w.polling &= ~(1u << lane);
      w.ready |= 1u << lane;
    });
    while (thread_run* const t = w.take_ready()) {
      moved = true;
      enter(main_, t);
      if (failure_) std::rethrow_exception(failure_);
    }
  }
  if (!moved && !b.has_polling()) report_divergence(b);
  return moved;
}

inline void grid_run::enter(fiber& from, thread_run* next) {
  if (next == nullptr) return from.go_to(main_);
  if (next->on != nullptr) return from.go_to(*next->on);
  entering_ = next;
  from.go_to(pool_.take(&run_threads, this));
}

inline void grid_run::leave(thread_run& t, thread_state why) {
  t.state = why;
  enter(*t.on, t.warp->take_ready());
  if (failure_) throw abandoned{};
  t.state = thread_state::ready;
}

// One thread, and those of its warp that have not begun, for as long as they need not wait: they share a stack.
fiber& grid_run::run_threads(fiber& self) {
  for (thread_run* t = entering_;;) {
    t->on = &self;
    try {
      launch_.entry(launch_.arguments, *t);
    } catch (const abandoned&) {
    } catch (...) {
      failure_ = std::current_exception();
    }
    t->state = thread_state::ended, t->on = nullptr;
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

// The team.

void grid_run::synchronize(thread_run& t) {
  block_run& b = *t.home;
  if (++b.arrived < launch_.block) return leave(t, thread_state::at_barrier);
  b.arrived = 0;
  b.barrier = ++b.clock;
  for (warp_run& w : b.warps) w.barrier = w.meeting = b.barrier, w.ready = w.lanes;
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

void grid_run::exchange(thread_run& t, void* to, const void* value, std::size_t bytes, int lane) {
  warp_run& w = *t.warp;
  t.given = value, t.wanted = to, t.given_bytes = bytes, t.wanted_lane = lane;
  w.at_exchange |= t.lane;
  if (w.at_exchange != w.lanes) return leave(t, thread_state::at_exchange);
  w.at_exchange = 0;
  w.meeting = ++t.home->clock;
  w.ready |= w.lanes & ~t.lane;
  each_bit(w.lanes, [&](int i) {
    const thread_run& each = w.first[i];
    const bool exists = each.wanted_lane >= 0 && each.wanted_lane < warp_size && (w.lanes >> each.wanted_lane & 1) != 0;
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
    b.was_last = ++*counter == count;
    if (b.was_last) {
      for (const moment& other : arrived) b.seen[other.block()] = other.when;
      arrivals_.erase(counter);
      *counter = 0;
    }
  }
  synchronize(t);
  return b.was_last;
}

void grid_run::publish(thread_run& t, quad* to, const quad* words, int count) {
  find(t, to, static_cast<std::size_t>(count) * sizeof *to, alignof(quad));
  std::copy_n(words, count, to);
  ++t.home->clock;
  publishers_[to] = now_of(t);
  ++published_;
}

void grid_run::poll(thread_run& t, quad* words, const quad* from, int count) {
  find(t, from, static_cast<std::size_t>(count) * sizeof *from, alignof(quad));
  constexpr int most = 64;  // of several cells in turn
  if (t.published != published_) t.polls = 0, t.polls_again = 0;
  // A cell may be polled twice before it is waited for: a kernel that polls it no further goes on without what will be there.
  if (t.published == published_ && (t.polled == from ? ++t.polls_again > 1 : ++t.polls > most)) {
    t.warp->polling |= t.lane;
    leave(t, thread_state::polling);
  }
  t.polled = from, t.published = published_;
  std::copy_n(from, count, words);
  if (const auto publisher = publishers_.find(from); publisher != publishers_.end() && publisher->second.block() != now_of(t).block())
    t.home->seen_reads[publisher->second.block()] = publisher->second.when;
}

void* grid_run::shared_object(thread_run& t, const void* key, std::size_t bytes) {
  block_run& b = *t.home;
  for (const block_run::shared_thing& each : b.shared)
    if (each.key == key) return each.memory.get();
  auto memory = std::make_unique<unsigned char[]>(std::max<std::size_t>(bytes, 1));
  std::memset(memory.get(), 0xff, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.get());
  auto where = std::make_unique<region>(region{begin, bytes, true, true, true, shadow(begin, bytes)});
  return b.shared.emplace_back(key, std::move(memory), std::move(where)).memory.get();
}

// The memory.

region& grid_run::find(thread_run& t, const void* address, std::size_t bytes, std::size_t alignment) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool aligned = at % alignment == 0;
  if (aligned) {
    for (const block_run::shared_thing& each : t.home->shared)
      if (each.where->holds(at, bytes)) return *each.where;
    for (region& r : memory_)
      if (r.holds(at, bytes)) return r;
  }
  report(t, (aligned ? "an access outside every operand's memory, of " : "a misaligned access, of ") + std::to_string(bytes) + " bytes");
}

// Whether what a thread did is known to come before what this one does now.
bool grid_run::is_before(moment past, const thread_run& t, bool read_then_write) const {
  if (past.who == t.who) return true;
  const block_run& b = *t.home;
  if (past.block() == t.who >> moment::thread_bits) {
    const bool same_warp = past.thread() / warp_size == t.thread / warp_size;
    return past.is_before(!same_warp ? b.barrier : read_then_write ? t.warp->meeting : t.warp->barrier);
  }
  const auto was_seen = [&](const auto& seen) {
    const auto found = seen.find(past.block());
    return found != seen.end() && past.is_before(found->second);
  };
  return was_seen(b.seen) || (read_then_write && was_seen(b.seen_reads));
}

void grid_run::note_read(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes, std::size_t alignment) {
  const moment now = now_of(t);
  const std::uint32_t own_block = now.block();
  r.accesses.visit(at, bytes, alignment, true, [&](const shadow::cell& c) {
    if (r.is_shared && c.written.who != 0 && c.written.block() != own_block) c.written = c.read[0] = c.read[1] = {};  // of a block before
    if ((c.written.who & moment::pending) != 0)
      report(t, "a read of what a copy brings that was not waited for, of " + std::to_string(bytes) + " bytes of shared memory");
    if (c.written.who == 0 && r.is_empty)
      report(t, "a read of what nobody wrote, of " + std::to_string(bytes) + " bytes of " + (r.is_shared ? "shared memory" : "global memory"));
    if (c.written.who != 0 && !is_before(c.written, t, false)) report_race(t, false, c.written, true, r, bytes);
    moment& first = c.read[0];
    if (first.who == 0 || first.who == now.who || (first.block() == own_block && is_before(first, t, false))) first = now;
    else c.read[1] = now;
  });
}

void grid_run::note_write(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes, std::size_t alignment, bool pending) {
  const moment now = now_of(t);
  const std::uint32_t own_block = now.block();
  r.accesses.visit(at, bytes, alignment, false, [&](const shadow::cell& c) {
    if (r.is_shared && c.written.who != 0 && c.written.block() != own_block) {
      c.written = {};
      if (c.read != nullptr) c.read[0] = c.read[1] = {};
    }
    if ((c.written.who & moment::pending) != 0)
      report(t, "a write of where a copy goes that was not waited for, of " + std::to_string(bytes) + " bytes of shared memory");
    if (c.written.who != 0 && !is_before(c.written, t, false)) report_race(t, true, c.written, true, r, bytes);
    if (c.read != nullptr)
      for (int i = 0; i < 2; ++i) {
        if (c.read[i].who != 0 && !is_before(c.read[i], t, true)) report_race(t, true, c.read[i], false, r, bytes);
        c.read[i] = {};
      }
    c.written = now;
    if (pending) c.written.who |= moment::pending;
  });
}

void grid_run::check(thread_run& t, const void* address, std::size_t bytes, std::size_t alignment, bool writes) {
  region& r = find(t, address, bytes, alignment);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!writes) {
    if (r.is_written) note_read(t, r, at, bytes, alignment);
    return;
  }
  if (!r.is_written) report(t, "a write to memory that the kernel only reads, of " + std::to_string(bytes) + " bytes");
  note_write(t, r, at, bytes, alignment, false);
}

void grid_run::start_copy(thread_run& t, void* to, const void* from, std::size_t bytes, std::size_t alignment) {
  check(t, from, bytes, alignment, false);
  region& r = find(t, to, bytes, alignment);
  note_write(t, r, reinterpret_cast<std::uintptr_t>(to), bytes, alignment, true);
  t.copies.push_back({to, from, bytes, &r, alignment, t.groups});
}

void grid_run::wait_for_copies(thread_run& t, int pending) {
  std::erase_if(t.copies, [&](const pending_copy& c) {
    if (c.group >= t.groups - pending) return false;
    std::memcpy(c.to, c.from, c.bytes);
    c.where->accesses.visit(reinterpret_cast<std::uintptr_t>(c.to), c.bytes, c.alignment, false, [&](const shadow::cell& each) { each.written = now_of(t); });
    return true;
  });
}

// Errors.

std::string spell_thread(std::int64_t block, int thread) { return "block " + std::to_string(block) + ", thread " + std::to_string(thread); }

void grid_run::report(const thread_run& t, const std::string& what) const {
  raise<memory_error>(what + ", by " + spell_thread(t.block, t.thread) + " of " + spell_kernel(launch_.name) +
                      (launch_.pass != nullptr ? ": " + spell_pass(*launch_.pass, launch_.operands) : ""));
}

void grid_run::report_race(const thread_run& t, bool writes, moment other, bool other_writes, const region& r, std::size_t bytes) const {
  report(t, std::string("a race: ") + (writes ? "a write" : "a read") + " of " + std::to_string(bytes) + " bytes of " + (r.is_shared ? "shared" : "global") + " memory that " +
                spell_thread(static_cast<std::int64_t>(other.block()) - 1, other.thread()) + (other_writes ? " writes" : " reads") + " with no barrier between them");
}

void grid_run::report_divergence(const block_run& b) const {
  const auto waiting = std::find_if(b.threads.begin(), b.threads.end(), [](const thread_run& t) { return t.state != thread_state::ended; });
  // A barrier of the block waits for all of it, anything else for the warp.
  const auto at_barrier = std::find_if(b.threads.begin(), b.threads.end(), [](const thread_run& t) { return t.state == thread_state::at_barrier; });
  const auto in_warp = std::find_if(b.threads.begin(), b.threads.end(), [](const thread_run& t) {
    return t.state == thread_state::at_warp_barrier || t.state == thread_state::at_exchange;
  });
  const thread_run& first = in_warp != b.threads.end() ? *in_warp : at_barrier != b.threads.end() ? *at_barrier : *waiting;
  const bool of_block = first.state == thread_state::at_barrier;
  const auto spell = [](thread_state s) {
    switch (s) {
      case thread_state::at_barrier: return "waits at a barrier of the block";
      case thread_state::at_warp_barrier: return "waits at a barrier of the warp";
      case thread_state::at_exchange: return "waits for other lanes' values";
      default: return "has ended";
    }
  };
  for (const thread_run& other : b.threads)
    if (other.state != first.state && (of_block || other.thread / warp_size == first.thread / warp_size))
      report(first, std::string(of_block ? "a barrier that not all threads of the block reach" : "a warp's operation that not all its lanes reach") +
                        ": thread " + std::to_string(other.thread) + " " + spell(other.state) + ", and thread " + std::to_string(first.thread) + " " +
                        spell(first.state));
  report(first, "a wait that nobody ends");
}

void grid_run::report_endless_wait() const {
  for (const block_run* b : running_)
    for (const thread_run& t : b->threads)
      if (t.state == thread_state::polling) report(t, "a wait that nobody ends: no block that runs will write what is polled");
}

thread_run& of(simulated_thread& self) { return static_cast<thread_run&>(self); }
grid_run& grid_of(simulated_thread& self) { return *of(self).home->grid; }

}  // namespace

void simulate(const simulated_launch& launch) { grid_run(launch).run(); }

void check_read(simulated_thread& self, const void* address, std::size_t bytes, std::size_t alignment) {
  grid_of(self).check(of(self), address, bytes, alignment, false);
}
void check_write(simulated_thread& self, const void* address, std::size_t bytes, std::size_t alignment) {
  grid_of(self).check(of(self), address, bytes, alignment, true);
}
void start_copy(simulated_thread& self, void* to, const void* from, std::size_t bytes, std::size_t alignment) {
  grid_of(self).start_copy(of(self), to, from, bytes, alignment);
}
void commit_copies(simulated_thread& self) { ++of(self).groups; }
void wait_for_copies(simulated_thread& self, int pending) { grid_of(self).wait_for_copies(of(self), pending); }
void synchronize(simulated_thread& self) { grid_of(self).synchronize(of(self)); }
void synchronize_warp(simulated_thread& self) { grid_of(self).synchronize_warp(of(self)); }
void exchange(simulated_thread& self, void* to, const void* value, std::size_t bytes, int lane) {
  grid_of(self).exchange(of(self), to, value, bytes, lane);
}
unsigned next_ticket(simulated_thread& self, unsigned* counter) { return grid_of(self).next_ticket(of(self), counter); }
bool is_last(simulated_thread& self, unsigned* counter, unsigned count) { return grid_of(self).is_last(of(self), counter, count); }
void publish(simulated_thread& self, quad* to, const quad* words, int count) { grid_of(self).publish(of(self), to, words, count); }
void poll(simulated_thread& self, quad* words, const quad* from, int count) { grid_of(self).poll(of(self), words, from, count); }
void* shared_object(simulated_thread& self, const void* key, std::size_t bytes) { return grid_of(self).shared_object(of(self), key, bytes); }

}  // namespace dsl::detail
