// Loops by each strategy, and concurrent streams and threads.
#include <cuda_runtime_api.h>
#include <dsl/scan.hpp>

#include <exception>
#include <numeric>
#include <thread>
#include <tuple>

#include "checks.hpp"

namespace faults {

namespace {

using dsl::strategy;

constexpr auto mix = dsl::vectorize([](auto x, auto total, auto k) {
  auto y = (x * 5 + total + k) & 1023;
  return std::tuple{y, dsl::sum(y)};
});

// The same steps on the host: the totals after each, and the elements at the end.
struct mixed { numbers totals, elements; };
mixed mix_here(integer count, integer steps) {
  mixed m{{}, numbers_of(count, [](integer i) { return i; })};
  for (integer k = 0, total = 1; k < steps; ++k) {
    integer sum = 0;
    for (integer& each : m.elements) {
      each = (each * 5 + total + k) & 1023;
      sum += each;
    }
    m.totals.push_back(total = sum);
  }
  return m;
}

template <class... Options> void loop(integer count, integer steps, const Options&... options) {
  const mixed right = mix_here(count, steps);
  dsl::array<integer> x = dsl::arange<integer>(count);
  dsl::scalar<integer> total = integer{1};
  const dsl::array<integer> history =
      dsl::iterate(steps, mix, dsl::state(x, total), dsl::step, options...);
  want(held_by(history) == right.totals, "a loop's history");
  want(held_by(x) == right.elements && total.value() == right.totals.back(), "a loop's variables");
}

void loop_by_itself() { loop(n, 3); }
void loop_of_launches() { loop(n, 3, strategy::launches); }
// two graphs of 64 steps, and two single steps
void loop_as_a_graph() { loop(n, 130, strategy::graph); }
void loop_in_one_block() { loop(n, 3, strategy::one_block); }
void loop_of_all_blocks() { loop(n, 3, strategy::cooperative); }
void loop_that_streams() {
  loop(6 * n, 3, strategy::streamed, dsl::launch{.block = 32, .grid = 4});
}
void loop_that_is_watched() {
  loop(n, 6, strategy::cooperative, dsl::progress([](integer, integer) { return true; }));
}
void loop_of_elements() {
  const auto next = dsl::vectorize([](auto v, auto k) { return (v * 5 + k) & 255; });
  dsl::array<integer> x = dsl::arange<integer>(n);
  dsl::iterate(4, next, dsl::state(x), dsl::step, strategy::elementwise);
  want(held_by(x) == numbers_of(n,
                                [](integer i) {
                                  for (integer k = 0; k < 4; ++k) i = (i * 5 + k) & 255;
                                  return i;
                                }),
       "elements by themselves");
}
void loop_until() {
  const auto next = dsl::vectorize([](auto s, auto k) { return s + k; });
  for (const strategy how : {strategy::automatic, strategy::launches}) {
    dsl::scalar<integer> s = integer{0}, ran;
    dsl::iterate(20, next, dsl::state(s), dsl::step, dsl::until(s >= 10, ran), how);
    want(s.value() == 10 && ran.value() == 5, "a loop until a condition");
  }
}

// Its second buffer is so large that the host looks for the end after every few steps.
void loop_that_ends_early() {
  const auto next = dsl::vectorize([](auto x, auto) {
    return std::tuple{dsl::shift(x, 1, dsl::boundary::wrap) + 1, dsl::sum(x)};
  });
  constexpr integer many = 3'000'000;
  dsl::array<integer> x = dsl::zeros<integer>(many);
  dsl::scalar<integer> total = integer{0}, ran;
  dsl::iterate(20, next, dsl::state(x, total), dsl::until(total >= 2 * many, ran),
               strategy::launches);
  want(total.value() == 2 * many && ran.value() == 3, "a loop that ends early");
}

void streams() {
  const dsl::stream one, two;
  dsl::array<integer> x = dsl::to_device(counted), y = dsl::zeros<integer>(n);
  dsl::scalar<integer> sum;
  {
    const dsl::stream_guard on(one);
    changes("on another stream", y, numbers_of(n, [](integer i) { return 3 * (i % 1000); }),
            [&] { y = 3 * x; });
    sum = dsl::sum(x);
  }
  {
    const dsl::stream_guard on(two);
    dsl::array<integer> z = x + y;  // destroyed before it has been computed
    x = z + 1;
    z = dsl::cumsum(y);
  }
  y = x - 1;
  want(held_by(y) == numbers_of(n, [](integer i) { return 4 * (i % 1000); }),
       "what streams gave each other");
  want(sum.value() == std::accumulate(counted.begin(), counted.end(), integer{0}),
       "another stream's sum");
  loop(n, 2, strategy::cooperative);
}

// A stream that the program captures into its own graph, and runs. The program's own calls do not
// count as the library's.
class captured_graph {
 public:
  explicit captured_graph(const dsl::stream& from)
      : stream_(static_cast<cudaStream_t>(from.native())) {
    const pause unseen;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }
  ~captured_graph() {
    const pause unseen;
    if (!is_complete_) cudaStreamEndCapture(stream_, &graph_);
    if (ready_ != nullptr) cudaGraphExecDestroy(ready_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    cudaGetLastError();
  }
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;
  void launch() {
    const pause unseen;
    is_complete_ = true;
    check(cudaStreamEndCapture(stream_, &graph_));
    check(cudaGraphInstantiate(&ready_, graph_, 0));
    check(cudaGraphLaunch(ready_, stream_));
  }

 private:
  // A failed call may have ended the capture too.
  static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    if (failed() != nullptr) throw dsl::cuda_error(dsl::text("the capture came to nothing"));
    throw wrong_result(std::string("a capture: ") + cudaGetErrorString(status));
  }
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
  bool is_complete_ = false;
};

void captured() {
  const dsl::stream stream;
  const dsl::stream_guard on(stream);
  const dsl::array<integer> x = dsl::to_device(counted);
  dsl::array<integer> y = dsl::zeros<integer>(n);
  dsl::scalar<integer> sum = integer{0};
  stream.synchronize();
  captured_graph graph(stream);
  y = 2 * x + 1;
  sum = dsl::sum(y);
  y = dsl::cumsum(x);
  graph.launch();
  const integer all = std::accumulate(counted.begin(), counted.end(), integer{0});
  want(sum.value() == 2 * all + n && held_by(y).back() == all,
       "what a graph of the program's computed");
}

void threads() {
  std::exception_ptr failures[3];
  std::vector<std::thread> all;
  const dsl::array<integer> shared = dsl::to_device(counted);
  for (integer t = 0; t < 3; ++t)
    all.emplace_back([&, t] {
      try {
        std::optional<dsl::stream> mine;
        std::optional<dsl::stream_guard> on;
        if (t > 0) {
          mine.emplace();
          on.emplace(*mine);
        }
        dsl::array<integer> x = shared * (t + 1);
        dsl::scalar<integer> most = dsl::max(x);
        want(most.value() == 999 * (t + 1), "a thread's maximum");
        x += dsl::arange<integer>(n);
        want(held_by(x)[2500] == 500 * (t + 1) + 2500, "a thread's elements");
      } catch (...) {
        failures[t] = std::current_exception();
      }
    });
  for (std::thread& each : all) each.join();
  // A wrong result outranks an error of the library's.
  std::exception_ptr failure;
  for (const std::exception_ptr& each : failures) {
    try {
      if (each) std::rethrow_exception(each);
    } catch (const dsl::error&) {
      failure = each;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::vector<work> own_work() {
  return {
      {"a loop by itself", loop_by_itself},
      {"a loop of launches", loop_of_launches},
      {"a loop as a graph", loop_as_a_graph},
      {"a loop in one block", loop_in_one_block},
      {"a loop of all blocks", loop_of_all_blocks},
      {"a loop that streams", loop_that_streams},
      {"a loop that is watched", loop_that_is_watched},
      {"a loop of elements", loop_of_elements},
      {"a loop until a condition", loop_until},
      {"a loop that ends early", loop_that_ends_early},
      {"streams", streams},
      {"a stream that is captured", captured},
      {"threads", threads},
  };
}

}  // namespace faults
