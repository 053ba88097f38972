// Communication between the blocks of a simulated grid while they run.
#include "sim/grid_run.hpp"

namespace dsl::detail {

void grid_run::note_publication(thread_run& t, const quad* at, bool to_mesh) {
  ++t.home->clock;
  publications_[at] = {now_of(t), t.member, to_mesh};
  ++published_;
}

void grid_run::publish(thread_run& t, quad* to, const quad* words, int count, bool to_mesh) {
  find(t, to, static_cast<std::size_t>(count) * sizeof *to, alignof(quad));
  std::copy_n(words, count, to);
  note_publication(t, to, to_mesh);
}

// Suspends a thread that has seen everything published so far.
void grid_run::wait_to_poll(thread_run& t, const quad* from) {
  constexpr int most = 64;  // polls of alternating cells
  if (t.published != published_) {
    t.polls = 0;
    t.polls_again = 0;
  }
  // A thread may poll a cell twice before it is suspended: a kernel that polls a cell once and then
  // goes on must not be suspended.
  if (t.published == published_ && (t.polled == from ? ++t.polls_again > 1 : ++t.polls > most)) {
    t.warp->polling |= t.lane;
    leave(t, thread_state::polling);
  }
  t.polled = from;
  t.published = published_;
}

// The first poll may be for one device only, even if the value was published to the mesh.
void grid_run::poll(thread_run& t, quad* words, const quad* from, int count, bool of_mesh) {
  find(t, from, static_cast<std::size_t>(count) * sizeof *from, alignof(quad));
  const bool is_again = t.polled == from;
  wait_to_poll(t, from);
  std::copy_n(from, count, words);
  const auto found = publications_.find(from);
  if (found == publications_.end()) return;
  const publication& p = found->second;
  if (p.member != t.member && !(p.to_mesh && (of_mesh || !is_again)))
    report(t, "a value of another device's block that is " +
                  std::string(p.to_mesh ? "polled" : "published") + " for one device");
  if (p.when.block() != now_of(t).block()) t.home->seen_reads[p.when.block()] = p.when.when;
}

void grid_run::release(thread_run& t, quad* to, unsigned number) {
  find(t, to, sizeof *to, alignof(quad));
  to->w = number;
  note_publication(t, to, true);
}

unsigned grid_run::acquire(thread_run& t, const quad* from) {
  find(t, from, sizeof *from, alignof(quad));
  wait_to_poll(t, from);
  if (const auto found = publications_.find(from); found != publications_.end())
    t.home->seen[found->second.when.block()] = found->second.when.when;
  return from->w;
}

void publish(simulated_thread& self, quad* to, const quad* words, int count, bool to_mesh) {
  grid_of(self).publish(run_of(self), to, words, count, to_mesh);
}
void poll(simulated_thread& self, quad* words, const quad* from, int count, bool of_mesh) {
  grid_of(self).poll(run_of(self), words, from, count, of_mesh);
}
void release(simulated_thread& self, quad* to, unsigned number) {
  grid_of(self).release(run_of(self), to, number);
}
unsigned acquire(simulated_thread& self, const quad* from) {
  return grid_of(self).acquire(run_of(self), from);
}

}  // namespace dsl::detail
