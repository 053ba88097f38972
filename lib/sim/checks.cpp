// The simulator's checks, and its error messages.
#include <cstring>

#include "exec/plan/text.hpp"
#include "sim/grid_run.hpp"

namespace dsl::detail {

region& grid_run::find(thread_run& t, const void* address, std::size_t bytes,
                       std::size_t alignment) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool aligned = at % alignment == 0;
  if (aligned) {
    if (recent_ < memory_.size() && memory_[recent_].holds(at, bytes)) return memory_[recent_];
    for (const block_run::shared_variable& each : t.home->shared)
      if (each.where->holds(at, bytes)) return *each.where;
    for (recent_ = 0; recent_ < memory_.size(); ++recent_)
      if (memory_[recent_].holds(at, bytes)) return memory_[recent_];
  }
  report(t,
         (aligned ? "an access outside every operand's memory, of " : "a misaligned access, of ") +
             std::to_string(bytes) + " bytes");
}

// An access to another block's shared memory counts as an access by that block's thread of the same
// number.
thread_run& grid_run::owner_of(thread_run& t, const void* address) {
  for (int i = 0; i < launch_.cluster && launch_.cluster > 1; ++i) {
    block_run& b = places_[t.home->cluster->first_place + static_cast<std::size_t>(i)];
    if (b.shared[0].where->holds(reinterpret_cast<std::uintptr_t>(address), 1))
      return b.threads[static_cast<std::size_t>(t.thread)];
  }
  return t;
}

// Whether a past access is known to happen before what thread t does now.
bool grid_run::is_before(moment past, const thread_run& t, bool read_then_write) const {
  if (past.who == t.who) return true;
  const block_run& b = *t.home;
  if (past.block() == t.who >> moment::thread_bits) {
    const int warp = warp_of(past.thread());
    if (warp == warp_of(t.thread))
      return past.is_before(read_then_write ? t.warp->meeting : t.warp->barrier);
    return past.is_before(b.barrier) ||
           past.is_before(t.warp->seen[static_cast<std::size_t>(warp)]);
  }
  const auto was_seen = [&](const auto& seen) {
    const auto found = seen.find(past.block());
    return found != seen.end() && past.is_before(found->second);
  };
  return was_seen(b.seen) || (read_then_write && was_seen(b.seen_reads));
}

void grid_run::note_read(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes,
                         std::size_t alignment) {
  const moment now = now_of(t);
  const std::uint32_t own_block = now.block();
  r.accesses.visit(at, bytes, alignment, true, [&](const shadow::cell& c) {
    if (r.is_shared && c.written.who != 0 && c.written.block() != own_block)
      c.written = c.read[0] = c.read[1] = {};  // by an earlier block
    if ((c.written.who & moment::pending) != 0)
      report(t, "a read of what a copy brings that was not waited for, of " +
                    std::to_string(bytes) + " bytes of shared memory");
    if (c.written.who == 0 && r.is_empty)
      report(t, "a read of what nobody wrote, of " + std::to_string(bytes) + " bytes of " +
                    (r.is_shared ? "shared memory" : "global memory"));
    if (c.written.who != 0 && !is_before(c.written, t, false))
      report_race(t, false, c.written, true, r, bytes);
    moment& first = c.read[0];
    if (first.who == 0 || first.who == now.who ||
        (first.block() == own_block && is_before(first, t, false)))
      first = now;
    else c.read[1] = now;
  });
}

void grid_run::note_write(thread_run& t, region& r, std::uintptr_t at, std::size_t bytes,
                          std::size_t alignment, bool pending) {
  const moment now = now_of(t);
  const std::uint32_t own_block = now.block();
  r.accesses.visit(at, bytes, alignment, false, [&](const shadow::cell& c) {
    if (r.is_shared && c.written.who != 0 && c.written.block() != own_block) {
      c.written = {};
      if (c.read != nullptr) c.read[0] = c.read[1] = {};
    }
    if ((c.written.who & moment::pending) != 0)
      report(t, "a write of where a copy goes that was not waited for, of " +
                    std::to_string(bytes) + " bytes of shared memory");
    if (c.written.who != 0 && !is_before(c.written, t, false))
      report_race(t, true, c.written, true, r, bytes);
    if (c.read != nullptr)
      for (int i = 0; i < 2; ++i) {
        if (c.read[i].who != 0 && !is_before(c.read[i], t, true))
          report_race(t, true, c.read[i], false, r, bytes);
        c.read[i] = {};
      }
    c.written = now;
    if (pending) c.written.who |= moment::pending;
  });
}

void grid_run::check(thread_run& by, const void* address, std::size_t bytes, std::size_t alignment,
                     bool writes) {
  thread_run& t = owner_of(by, address);
  region& r = find(t, address, bytes, alignment);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!r.touched.empty()) {
    touched_bytes& mine = r.touched[static_cast<std::size_t>(by.member)];
    (writes ? mine.written : mine.read).add({at, at + bytes});
  }
  if (!writes) {
    if (r.is_written) note_read(t, r, at, bytes, alignment);
    return;
  }
  if (!r.is_written)
    report(t,
           "a write to memory that the kernel only reads, of " + std::to_string(bytes) + " bytes");
  note_write(t, r, at, bytes, alignment, false);
}

void grid_run::check_atomic(thread_run& t, const void* address, std::size_t bytes) {
  find(t, address, bytes, bytes);
}

void grid_run::start_copy(thread_run& t, void* to, const void* from, std::size_t bytes,
                          std::size_t alignment) {
  check(t, from, bytes, alignment, false);
  region& r = find(t, to, bytes, alignment);
  note_write(t, r, reinterpret_cast<std::uintptr_t>(to), bytes, alignment, true);
  t.copies.push_back({to, from, bytes, &r, alignment, t.groups});
}

void grid_run::wait_for_copies(thread_run& t, int pending) {
  std::erase_if(t.copies, [&](const pending_copy& c) {
    if (c.group >= t.groups - pending) return false;
    std::memcpy(c.to, c.from, c.bytes);
    c.where->accesses.visit(reinterpret_cast<std::uintptr_t>(c.to), c.bytes, c.alignment, false,
                            [&](const shadow::cell& each) { each.written = now_of(t); });
    return true;
  });
}

std::vector<touched_memory> grid_run::touched() const {
  std::vector<touched_memory> all;
  for (const region& r : memory_)
    if (!r.touched.empty()) all.push_back({r.begin, r.touched});
  return all;
}

// Error messages.

namespace {

std::string spell_thread(std::int64_t block, int thread) {
  return "block " + std::to_string(block) + ", thread " + std::to_string(thread);
}

}  // namespace

void grid_run::report(const thread_run& t, const std::string& what) const {
  raise<memory_error>(
      what + ", by " + spell_thread(t.block, t.thread) + " of " + spell_kernel(launch_.name) +
      (launch_.pass != nullptr ? ": " + spell_pass(*launch_.pass, launch_.operands) : ""));
}

void grid_run::report_race(const thread_run& t, bool writes, moment other, bool other_writes,
                           const region& r, std::size_t bytes) const {
  report(t, std::string("a race: ") + (writes ? "a write" : "a read") + " of " +
                std::to_string(bytes) + " bytes of " + (r.is_shared ? "shared" : "global") +
                " memory that " +
                spell_thread(static_cast<std::int64_t>(other.block()) - 1, other.thread()) +
                (other_writes ? " writes" : " reads") + " with no barrier between them");
}

void grid_run::report_divergence(const block_run& b) const {
  const auto waiting = std::find_if(b.threads.begin(), b.threads.end(), [](const thread_run& t) {
    return t.state != thread_state::ended;
  });
  // A barrier of the block waits for all its threads, anything else for the warp.
  const auto at_barrier = std::find_if(b.threads.begin(), b.threads.end(), [](const thread_run& t) {
    return t.state == thread_state::at_barrier;
  });
  const auto in_warp = std::find_if(b.threads.begin(), b.threads.end(), [](const thread_run& t) {
    return t.state == thread_state::at_warp_barrier || t.state == thread_state::at_exchange;
  });
  const thread_run& first = in_warp != b.threads.end()      ? *in_warp
                            : at_barrier != b.threads.end() ? *at_barrier
                                                            : *waiting;
  const bool of_block = first.state == thread_state::at_barrier;
  const auto spell = [](thread_state s) {
    switch (s) {
      case thread_state::at_barrier: return "waits at a barrier of the block";
      case thread_state::at_warp_barrier: return "waits at a barrier of the warp";
      case thread_state::at_exchange: return "waits for other lanes' values";
      case thread_state::at_turn: return "waits for its turn";
      default: return "has ended";
    }
  };
  for (const thread_run& other : b.threads)
    if (other.state != first.state && (of_block || warp_of(other.thread) == warp_of(first.thread)))
      report(first, std::string(of_block ? "a barrier that not all threads of the block reach"
                                         : "a warp's operation that not all its lanes reach") +
                        ": thread " + std::to_string(other.thread) + " " + spell(other.state) +
                        ", and thread " + std::to_string(first.thread) + " " + spell(first.state));
  report(first, "a wait that nobody ends");
}

void grid_run::report_endless_wait() const {
  for (const block_run* b : running_)
    for (const thread_run& t : b->threads)
      if (t.state == thread_state::at_cluster_barrier)
        report(t, "a barrier that not all threads of the cluster reach");
      else if (t.state == thread_state::polling)
        report(t, "a wait that nobody ends: no block that runs will write what is polled");
}

void check_read(simulated_thread& self, const void* address, std::size_t bytes,
                std::size_t alignment) {
  grid_of(self).check(run_of(self), address, bytes, alignment, false);
}
void check_write(simulated_thread& self, const void* address, std::size_t bytes,
                 std::size_t alignment) {
  grid_of(self).check(run_of(self), address, bytes, alignment, true);
}
void check_atomic(simulated_thread& self, const void* address, std::size_t bytes) {
  grid_of(self).check_atomic(run_of(self), address, bytes);
}
void refuse_key(simulated_thread& self, std::int64_t key, std::int64_t groups) {
  grid_of(self).report(run_of(self), "key " + spell_position(key) + " is none of " +
                                         std::to_string(groups) + " groups");
}
void start_copy(simulated_thread& self, void* to, const void* from, std::size_t bytes,
                std::size_t alignment) {
  grid_of(self).start_copy(run_of(self), to, from, bytes, alignment);
}
void commit_copies(simulated_thread& self) { ++run_of(self).groups; }
void wait_for_copies(simulated_thread& self, int pending) {
  grid_of(self).wait_for_copies(run_of(self), pending);
}
}  // namespace dsl::detail
