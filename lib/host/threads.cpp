#include "host/threads.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace dsl::detail {

namespace {

using steady = std::chrono::steady_clock;

// Sleeping threads begin to work 20 us after they are woken. So less work than this is done by the
// calling thread alone, unless calls follow each other closely.
constexpr double worth_waking = 30'000;  // nanoseconds of one thread

// The time that a thread waits for more work before it sleeps.
constexpr steady::duration patience = std::chrono::microseconds(100);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Number of pieces of a share that have been taken, or completed. The number of the job is in the
// same word, so that a late thread cannot change a later job.
class tally {
 public:
  /// Counts one more piece of a job, and returns the number before it; -1 if there were `most`, or
  /// the job has ended.
  int add(std::uint32_t job, std::uint32_t most) {
    std::uint64_t now = word_.load(std::memory_order_acquire);
    for (;;) {
      const auto latest = static_cast<std::uint32_t>(now >> 32),
                 before = latest == job ? static_cast<std::uint32_t>(now) : 0;
      if (before == most || static_cast<std::int32_t>(latest - job) > 0) return -1;
      const std::uint64_t next = of(job, before + 1);
      if (word_.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return static_cast<int>(before);
    }
  }
  bool is(std::uint32_t job, std::uint32_t count) const {
    return word_.load(std::memory_order_acquire) == of(job, count);
  }

 private:
  static constexpr std::uint64_t of(std::uint32_t job, std::uint32_t count) {
    return std::uint64_t{job} << 32 | count;
  }
  std::atomic<std::uint64_t> word_{0};
};

// A part of a job's tasks, divided into pieces. Each share has its own cache lines.
struct alignas(128) share {
  tally taken, done;
  std::atomic<bool> has_member{false};
};

struct job {
  std::uint32_t number;
  int members;
  std::int64_t count;
  task_range run;
  const void* work;

  std::int64_t begin_of(int share) const { return count * share / members; }
  std::uint32_t pieces_of(int share) const {
    constexpr std::int64_t most = 8;
    return static_cast<std::uint32_t>(std::min(most, begin_of(share + 1) - begin_of(share)));
  }
  void run_piece(int share, int piece) const {
    const std::int64_t begin = begin_of(share), length = begin_of(share + 1) - begin,
                       pieces = pieces_of(share);
    run(work, begin + length * piece / pieces, begin + length * (piece + 1) / pieces);
  }
};
// The latest job, in one cache line, which waiting members poll.
class alignas(128) posted_job {
 public:
  void post(const job& j) {
    number_.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    members_.store(j.members, std::memory_order_relaxed);
    count_.store(j.count, std::memory_order_relaxed);
    run_.store(j.run, std::memory_order_relaxed);
    work_.store(j.work, std::memory_order_relaxed);
    number_.store(j.number, std::memory_order_release);
  }
  std::uint32_t number() const { return number_.load(std::memory_order_relaxed); }
  /// The latest job; its number is 0 if another one was posted during the call.
  job read() const {
    job j{number_.load(std::memory_order_acquire), members_.load(std::memory_order_relaxed),
          count_.load(std::memory_order_relaxed), run_.load(std::memory_order_relaxed),
          work_.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    if (number() != j.number) j.number = 0;
    return j;
  }

 private:
  std::atomic<std::uint32_t> number_{0};
  std::atomic<int> members_{0};
  std::atomic<std::int64_t> count_{0};
  std::atomic<task_range> run_{nullptr};
  std::atomic<const void*> work_{nullptr};
};

// Threads of TBB that run one job after another, together with the thread that calls them. A member
// gets the same share of every job of one size, because it then finds the data of the previous job
// in its core's cache: an addition of 10^6 floats on 16 cores takes half the time.
class team {
 public:
  /// Runs the job, if it is worth waking the team and the team is free; returns whether it did.
  bool run(std::int64_t count, double nanoseconds, task_range tasks, const void* work);
  /// Runs the job on threads that TBB assigns, for a caller that the team did not serve.
  void run_apart(std::int64_t count, double nanoseconds, task_range tasks, const void* work);

 private:
  static constexpr int most_members = 256;

  bool is_awake() const { return shares_[1].has_member.load(std::memory_order_relaxed); }
  bool follows_another() {
    const steady::rep now = steady::now().time_since_epoch().count();
    return now - last_call_.exchange(now, std::memory_order_relaxed) < patience.count();
  }
  static int members_for(std::int64_t count) {
    const auto allowed =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return static_cast<int>(
        std::min({static_cast<std::int64_t>(allowed), count, std::int64_t{most_members},
                  static_cast<std::int64_t>(tbb::this_task_arena::max_concurrency())}));
  }
  void be_member(int number);
  void take_from(int share, const job& of);
  void take_from_others(int mine, const job& of);

  std::atomic<bool> is_busy_{false};
  std::atomic<int> callers_apart_{0};
  std::atomic<steady::rep> last_call_{0};
  std::uint32_t number_ = 0;  // of the latest job
  posted_job posted_;
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;
  share shares_[most_members];  // the first is the calling thread's
  tbb::task_arena arena_;
};

// Runs all pieces of a share that no other thread has taken.
void team::take_from(int from, const job& j) {
  share& s = shares_[from];
  const std::uint32_t pieces = j.pieces_of(from);
  for (int piece; (piece = s.taken.add(j.number, pieces)) >= 0; s.done.add(j.number, pieces)) {
    try {
      if (!has_failed_.load(std::memory_order_relaxed)) j.run_piece(from, piece);
    } catch (...) {
      if (!has_failed_.exchange(true)) failure_ = std::current_exception();
    }
  }
}
void team::take_from_others(int mine, const job& j) {
  for (int k = 1; k < j.members; ++k) take_from((mine + k) % j.members, j);
}

void team::be_member(int number) {
  std::uint32_t seen = 0;
  steady::time_point until = steady::now() + patience;
  for (unsigned looks = 1;; ++looks) {
    if (posted_.number() != seen) {
      const job j = posted_.read();
      seen = j.number;
      if (seen != 0 && number < j.members) {
        take_from(number, j);
        if (j.pieces_of(number) > 1) take_from_others(number, j);
        until = steady::now() + patience;
      }
    } else if (looks % 16 == 0 &&
               (steady::now() > until || callers_apart_.load(std::memory_order_relaxed) > 0)) {
      break;
    }
    pause();
  }
  shares_[number].has_member.store(false, std::memory_order_release);
}

bool team::run(std::int64_t count, double nanoseconds, task_range tasks, const void* work) {
  const bool is_of_tbb = tbb::this_task_arena::current_thread_index() > 0;
  if (is_of_tbb || callers_apart_.load(std::memory_order_relaxed) > 0) return false;
  if (!is_awake() && !follows_another() && nanoseconds < worth_waking) return false;
  const int members = members_for(count);
  if (members == 1 || is_busy_.exchange(true, std::memory_order_acquire)) return false;
  if (++number_ == 0) ++number_;
  const job j{number_, members, count, tasks, work};
  has_failed_.store(false, std::memory_order_relaxed);
  posted_.post(j);
  for (int k = 1; k < members; ++k)
    if (!shares_[k].has_member.exchange(true, std::memory_order_relaxed))
      arena_.enqueue([this, k] { be_member(k); });
  take_from(0, j);
  take_from_others(0, j);
  for (int k = 0; k < members; ++k)
    for (unsigned looks = 1; !shares_[k].done.is(j.number, j.pieces_of(k)); ++looks)
      if (looks % 1024 == 0) std::this_thread::yield();
      else pause();
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  is_busy_.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
  return true;
}

void team::run_apart(std::int64_t count, double nanoseconds, task_range tasks, const void* work) {
  if (nanoseconds < worth_waking) return tasks(work, 0, count);
  struct counted {
    std::atomic<int>& callers;
    explicit counted(std::atomic<int>& c) : callers(c) {
      callers.fetch_add(1, std::memory_order_relaxed);
    }
    ~counted() { callers.fetch_sub(1, std::memory_order_relaxed); }
  } const here(callers_apart_);
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count),
                    [=](const tbb::blocked_range<std::int64_t>& range) {
                      tasks(work, range.begin(), range.end());
                    });
}

}  // namespace

void run_on_threads(std::int64_t count, double nanoseconds, task_range tasks, const void* work) {
  static team& all = *new team;  // never destroyed: its members may outlast static objects
  if (!all.run(count, nanoseconds, tasks, work)) all.run_apart(count, nanoseconds, tasks, work);
}

}  // namespace dsl::detail
