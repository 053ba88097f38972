#include "host/threads.hpp"

namespace dsl::detail {

namespace {

// Also after the thread's end, when destructors of static objects may work.
constinit thread_local bool is_held = false;

struct affinity_of_thread {
  tbb::affinity_partitioner partitioner;
  ~affinity_of_thread() { is_held = true; }
};

}  // namespace

held_affinity::held_affinity() : partitioner_(nullptr) {
  if (is_held) return;
  thread_local affinity_of_thread mine;
  partitioner_ = &mine.partitioner;
  is_held = true;
}
held_affinity::~held_affinity() {
  if (partitioner_ != nullptr) is_held = false;
}

}  // namespace dsl::detail
