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

// Threads that sleep begin to work 20 us after they are called. So less than this is done by the calling thread alone, unless
// calls come one soon after another.
constexpr double worth_waking = 30'000;  // nanoseconds of one thread

// For how long a thread that has worked waits for more before it sleeps.
constexpr steady::duration patience = std::chrono::microseconds(100);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A part of a job's tasks, in pieces. Each has cache lines of its own.
struct alignas(128) share {
  std::atomic<std::uint64_t> taken{0};  // the job's number, and how many pieces have been taken
  std::atomic<std::uint32_t> pieces{0}, done{0};
  std::atomic<bool> has_member{false};
};

// Threads of TBB that do one job after another, together with the thread that calls them. A member has the same share of every
// job of one size, since what a job leaves in a core's cache the next one finds there: an addition of 10^6 floats on 16 cores
// takes half the time.
class team {
 public:
  /// Whether the job is worth the team, and the team was free for it; then it is done.
  bool run(std::int64_t count, double nanoseconds, task_range run, const void* work);
  /// By threads as TBB finds them, for a caller whom the team does not serve.
  void run_apart(std::int64_t count, double nanoseconds, task_range run, const void* work);

 private:
  static constexpr int most_members = 256;
  static constexpr std::uint32_t pieces_of_share = 8;

  struct job {
    std::uint32_t number = 0;
    std::int64_t count = 0;
    int members = 0;
    task_range run = nullptr;
    const void* work = nullptr;
  };

  bool is_awake() const { return shares_[1].has_member.load(std::memory_order_relaxed); }
  bool follows_another() {
    const steady::rep now = steady::now().time_since_epoch().count();
    return now - last_call_.exchange(now, std::memory_order_relaxed) < patience.count();
  }
  static int members_for(std::int64_t count) {
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return static_cast<int>(std::min({static_cast<std::int64_t>(allowed), count, std::int64_t{most_members},
                                      static_cast<std::int64_t>(tbb::this_task_arena::max_concurrency())}));
  }
  void be_member(int number);
  bool take_from(share& from, std::uint32_t number);
  void take_from_others(int mine, std::uint32_t number);
  void run_piece(const share& of, std::uint32_t piece);

  std::atomic<bool> is_busy_{false};
  std::atomic<int> callers_apart_{0};
  std::atomic<steady::rep> last_call_{0};
  job job_;  // of whoever has taken a piece of it
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;
  share shares_[most_members];  // the calling thread's first
  tbb::task_arena arena_;
};

void team::run_piece(const share& of, std::uint32_t piece) {
  const std::int64_t number = &of - shares_, pieces = of.pieces.load(std::memory_order_relaxed);
  const std::int64_t begin = job_.count * number / job_.members, length = job_.count * (number + 1) / job_.members - begin;
  try {
    if (has_failed_.load(std::memory_order_relaxed)) return;
    job_.run(job_.work, begin + length * piece / pieces, begin + length * (piece + 1) / pieces);
  } catch (...) {
    if (!has_failed_.exchange(true)) failure_ = std::current_exception();
  }
}

// All pieces that nobody takes before; of a job that has ended there are none. Whether the share is of that job.
bool team::take_from(share& from, std::uint32_t number) {
  std::uint64_t taken = from.taken.load(std::memory_order_acquire);
  while (taken >> 32 == number && static_cast<std::uint32_t>(taken) < from.pieces.load(std::memory_order_relaxed)) {
    if (!from.taken.compare_exchange_weak(taken, taken + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    run_piece(from, static_cast<std::uint32_t>(taken));
    from.done.fetch_add(1, std::memory_order_release);
    ++taken;
  }
  return taken >> 32 == number;
}
void team::take_from_others(int mine, std::uint32_t number) {
  for (int k = mine + 1; k < most_members && take_from(shares_[k], number); ++k) {}
  for (int k = 0; k < mine; ++k) take_from(shares_[k], number);
}

void team::be_member(int number) {
  share& mine = shares_[number];
  std::uint32_t seen = 0;
  steady::time_point until = steady::now() + patience;
  for (unsigned looks = 1;; ++looks) {
    const auto now_there = static_cast<std::uint32_t>(mine.taken.load(std::memory_order_acquire) >> 32);
    if (now_there != seen) {
      seen = now_there;
      take_from(mine, seen);
      if (mine.pieces.load(std::memory_order_relaxed) > 1) take_from_others(number, seen);
      until = steady::now() + patience;
    } else if (looks % 16 == 0 && (steady::now() > until || callers_apart_.load(std::memory_order_relaxed) > 0)) {
      break;
    }
    pause();
  }
  mine.has_member.store(false, std::memory_order_release);
}

bool team::run(std::int64_t count, double nanoseconds, task_range run, const void* work) {
  const bool is_of_tbb = tbb::this_task_arena::current_thread_index() > 0;
  if (is_of_tbb || callers_apart_.load(std::memory_order_relaxed) > 0) return false;
  if (!is_awake() && !follows_another() && nanoseconds < worth_waking) return false;
  const int members = members_for(count);
  if (members == 1 || is_busy_.exchange(true, std::memory_order_acquire)) return false;
  job_ = {job_.number + 1, count, members, run, work};
  has_failed_.store(false, std::memory_order_relaxed);
  for (int k = 0; k < members; ++k) {
    share& s = shares_[k];
    const std::int64_t length = count * (k + 1) / members - count * k / members;
    s.done.store(0, std::memory_order_relaxed);
    s.pieces.store(static_cast<std::uint32_t>(std::min<std::int64_t>(length, pieces_of_share)), std::memory_order_relaxed);
    s.taken.store(std::uint64_t{job_.number} << 32, std::memory_order_release);
  }
  for (int k = 1; k < members; ++k)
    if (!shares_[k].has_member.exchange(true, std::memory_order_relaxed)) arena_.enqueue([this, k] { be_member(k); });
  take_from(shares_[0], job_.number);
  take_from_others(0, job_.number);
  for (int k = 0; k < members; ++k)
    for (unsigned looks = 1; shares_[k].done.load(std::memory_order_acquire) != shares_[k].pieces; ++looks)
      if (looks % 1024 == 0) std::this_thread::yield();
      else pause();
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  is_busy_.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
  return true;
}

void team::run_apart(std::int64_t count, double nanoseconds, task_range run, const void* work) {
  if (nanoseconds < worth_waking) return run(work, 0, count);
  struct counted {
    std::atomic<int>& callers;
    explicit counted(std::atomic<int>& c) : callers(c) { callers.fetch_add(1, std::memory_order_relaxed); }
    ~counted() { callers.fetch_sub(1, std::memory_order_relaxed); }
  } const here(callers_apart_);
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count),
                    [=](const tbb::blocked_range<std::int64_t>& range) { run(work, range.begin(), range.end()); });
}

}  // namespace

void run_on_threads(std::int64_t count, double nanoseconds, task_range run, const void* work) {
  static team& all = *new team;  // is never destroyed, since its members may outlast static objects
  if (!all.run(count, nanoseconds, run, work)) all.run_apart(count, nanoseconds, run, work);
}

}  // namespace dsl::detail
