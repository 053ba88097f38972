// Threads that share one device, each with its own stream or the default one, and pass arrays to
// each other; every result is checked. `soak [seconds] [threads]`; DSL_DEVICE chooses the device.
// Values are integers, so results must be equal.
#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using dsl::strategy;
using integer = std::int64_t;
using seconds = std::chrono::duration<double>;

void want(bool right, const char* what, integer n) {
  if (!right) throw std::runtime_error(std::string(what) + " is wrong for " + std::to_string(n));
}

// An array whose element i is first + step * i, passed from one thread to another.
struct parcel {
  dsl::array<integer> elements;
  integer first, step;
};
struct mailbox {
  std::mutex mutex;
  std::optional<parcel> content;
  std::optional<parcel> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(content, std::nullopt);
  }
  std::optional<parcel> put(parcel p) {
    const std::lock_guard lock(mutex);
    return std::exchange(content, std::move(p));
  }
};

void check(const parcel& p) {
  const std::vector<integer> got = p.elements.copy_to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    want(got[i] == p.first + p.step * static_cast<integer>(i), "a parcel",
         static_cast<integer>(got.size()));
}

constexpr auto mix = dsl::vectorize([](auto x, auto total, auto k) {
  auto y = (x * 5 + total + k) & 1023;
  return std::tuple{y, dsl::sum(y)};
});
constexpr auto next = dsl::vectorize([](auto s, auto k) { return (s * 5 + k) & 255; });

class worker {
 public:
  worker(int number, std::vector<mailbox>& boxes, const dsl::array<integer>& table)
      : engine_(static_cast<unsigned>(number)), boxes_(boxes), table_(table) {}

  void round() {
    switch (below(8)) {
      case 0: return pass_parcel();
      case 1: return reduce();
      case 2: return scan();
      case 3: return transposed();
      case 4: return end_on_a_condition();
      default: return loop();
    }
  }

 private:
  static bool simulated() { return dsl::device::current().kind == dsl::backend::sim; }
  integer below(integer n) {
    return static_cast<integer>(engine_() % static_cast<std::uint64_t>(n));
  }
  // Rarely so large that blocks' shared memory fills every multiprocessor.
  integer size() {
    if (simulated()) return 1 + below(300);
    return 1 + below(below(50) == 0 ? 1'500'000 : 30'000);
  }

  void pass_parcel() {
    mailbox& box = boxes_[static_cast<std::size_t>(below(static_cast<integer>(boxes_.size())))];
    std::optional<parcel> p = box.take();
    if (!p) p = parcel{dsl::array<integer>(3 + 2 * dsl::arange<integer>(size())), 3, 2};
    const integer add = below(100);
    p->elements += add;
    p->first += add;
    if (below(2) == 0) {
      p->elements = -p->elements;
      p->first = -p->first;
      p->step = -p->step;
    }
    if (below(4) == 0) check(*p);
    if (const auto before = box.put(std::move(*p))) check(*before);
  }

  void reduce() {
    const integer n = std::min(size(), table_.size());
    const auto x = table_(dsl::slice(0, n));
    dsl::scalar<integer> sum, most;
    dsl::tie(sum, most) =
        dsl::vectorize([](auto x) { return std::tuple{dsl::sum(2 * x + 1), dsl::max(x)}; })(x);
    const dsl::scalar<integer> where = dsl::argmax(x);
    want(sum.value() == n * n, "a sum", n);
    want(most.value() == n - 1 && where.value() == n - 1, "a maximum", n);
  }

  void scan() {
    const integer n = size();
    dsl::array<integer> sums = dsl::cumsum(dsl::arange<integer>(n) + 1);
    for (const integer i : {integer{0}, n / 2, n - 1})
      want(integer(sums(i)) == (i + 1) * (i + 2) / 2, "a scan", n);
  }

  void transposed() {
    const integer rows = 1 + below(simulated() ? 20 : 200),
                  columns = 1 + below(simulated() ? 20 : 200);
    const dsl::array<integer, 2> m = dsl::reshape(dsl::arange<integer>(rows * columns), rows,
                                                  columns),
                                 t = dsl::transpose(m) * 2;
    const dsl::array<integer> sums = dsl::sum(t, dsl::axis(0));
    const std::vector<integer> got = sums.copy_to_host();
    for (integer r = 0; r < rows; ++r)
      want(got[static_cast<std::size_t>(r)] == columns * (2 * r * columns + columns - 1),
           "a row's sum", r);
  }

  void loop() {
    const integer n = size(), offset = below(1000), steps = 1 + below(n > 100'000 ? 4 : 12);
    dsl::array<integer> x = dsl::arange<integer>(n) + offset;
    dsl::scalar<integer> total = offset;
    static constexpr strategy ways[] = {strategy::automatic, strategy::cooperative,
                                        strategy::cooperative, strategy::launches, strategy::graph};
    const dsl::backend where = dsl::device::current().kind;
    const strategy how = ways[where == dsl::backend::cuda  ? below(5)
                              : where == dsl::backend::sim ? below(4)
                                                           : 0];
    const std::vector<integer> got =
        dsl::iterate(steps, mix, dsl::state(x, total), dsl::step, how).copy_to_host();
    std::vector<integer> y(static_cast<std::size_t>(n));
    for (integer i = 0; i < n; ++i) y[static_cast<std::size_t>(i)] = i + offset;
    integer now = offset;
    for (integer k = 0; k < steps; ++k) {
      integer sum = 0;
      for (integer& each : y) {
        each = (each * 5 + now + k) & 1023;
        sum += each;
      }
      now = sum;
      want(got[static_cast<std::size_t>(k)] == now, "a loop's history", n);
    }
    want(x.copy_to_host() == y, "a loop's array", n);
    want(total.value() == now, "a loop's scalar", n);
  }

  void end_on_a_condition() {
    const integer last = below(256), seed = below(256);
    dsl::scalar<integer> s = seed, ran;
    dsl::iterate(60, next, dsl::state(s), dsl::step, dsl::until(s == last, ran),
                 below(2) == 0 ? strategy::automatic : strategy::launches);
    integer now = seed, count = 0;
    while (count < 60) {
      now = (now * 5 + count++) & 255;
      if (now == last) break;
    }
    want(s.value() == now && ran.value() == count, "a loop that ends", last);
  }

  std::mt19937_64 engine_;
  std::vector<mailbox>& boxes_;
  const dsl::array<integer>& table_;  // read by all threads
};

}  // namespace

int main(int argc, char** argv) {
  const seconds length(argc > 1 ? std::atof(argv[1]) : 2.0);
  const int count = argc > 2 ? std::atoi(argv[2]) : 8;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return seconds(std::chrono::steady_clock::now() - start); };
  const dsl::array<integer> table = dsl::arange<integer>(40'000);
  std::vector<mailbox> boxes(static_cast<std::size_t>(count));
  std::atomic<integer> rounds{0}, failures{0};
  std::atomic<int> running{count};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      try {
        worker w(t, boxes, table);
        for (integer k = 0; elapsed() < length;) {
          if (t % 4 == 3) {
            w.round();
            ++k;
            ++rounds;  // on the default stream
          } else {
            const dsl::stream mine;
            const dsl::stream_guard on(mine);
            for (int i = 0; i < 50 && elapsed() < length; ++i) {
              w.round();
              ++k;
              ++rounds;
            }
          }
        }
      } catch (const std::exception& e) {
        ++failures;
        std::printf("thread %d: %s\n", t, e.what());
      }
      --running;
    });
  // Detects a deadlock by lack of progress, instead of hanging.
  integer before = -1;
  for (int quiet = 0; running > 0 && quiet < 60;) {
    for (int i = 0; i < 100 && running > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    quiet = rounds == before ? quiet + 1 : 0;
    before = rounds;
  }
  if (running > 0) {
    std::printf("no round was finished for a minute: %d threads hang\n", running.load());
    std::fflush(stdout);
    std::_Exit(2);
  }
  for (std::thread& t : threads) t.join();
  std::printf("%lld rounds of %d threads on %s in %.1f s, %lld threads failed\n",
              static_cast<long long>(rounds), count, dsl::device::current().name().c_str(),
              elapsed().count(), static_cast<long long>(failures));
  return failures == 0 && rounds > 0 ? 0 : 1;
}
