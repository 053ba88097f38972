#include "row.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "machine.hpp"

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

double since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// Seconds of one call with the wait for its end.
double wall_time(const job& j) {
  if (j.start) j.start();
  machine::wait();
  const clock::time_point begin = clock::now();
  j.run();
  machine::wait();
  return since(begin);
}

/// Seconds of a call, measured over `calls` calls in a row.
double time_of_calls(const job& j, int calls) {
  const clock::time_point begin = clock::now();
  for (int k = 0; k < calls; ++k) j.run();
  machine::wait();
  return since(begin) / calls;
}
double time_on_device(const job& j, int calls) {
  machine::begin();
  for (int k = 0; k < calls; ++k) j.run();
  return machine::end() / calls;
}

/// Seconds of a call, sorted: up to 20 measurements after a warm-up, as many as fit into the time
/// allowed for a row.
std::vector<double> measure(const job& j, timing how) {
  constexpr double seconds_for_a_row = 0.1, seconds_of_a_batch = 200e-6;
  wall_time(j);
  const double about = std::max(1e-7, std::min(wall_time(j), wall_time(j)));
  if (how == timing::device) machine::rest();
  int calls = 1;
  if (how == timing::calls) calls = 10'000 / 20;
  if (how == timing::device)
    calls = std::clamp(static_cast<int>(seconds_of_a_batch / about), 5, 100);
  const int batches = std::clamp(static_cast<int>(seconds_for_a_row / (about * calls)), 5, 20);
  std::vector<double> seconds;
  for (int k = -1; k < batches; ++k) {
    const double one = how == timing::call    ? wall_time(j)
                       : how == timing::calls ? time_of_calls(j, calls)
                                              : time_on_device(j, calls);
    if (k >= 0) seconds.push_back(one);
  }
  machine::check();
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// Bytes a second of a copy that moves the given bytes.
double copy_bandwidth(double bytes) {
  static std::map<std::int64_t, double> known;
  const std::int64_t half =
      std::clamp(static_cast<std::int64_t>(bytes / 2), std::int64_t{1}, std::int64_t{1} << 31);
  if (const auto found = known.find(half); found != known.end()) return found->second;
  const auto from = random_bytes(slot::copied, dsl::dtype::uint8, half),
             to = bytes_of(slot::copy, half);
  const auto seconds =
      measure({[=] { machine::copy(to.data(), from.data(), half); }, {}}, timing::device);
  return known[half] = 2.0 * static_cast<double>(half) / seconds[seconds.size() / 2];
}

/// The relative difference from the first row's results that rounding may cause in this dtype.
double rounding_of(dsl::dtype type) {
  if (type == dsl::dtype::bfloat16) return 2e-2;
  if (type == dsl::dtype::float16) return 2e-3;
  const bool is_float = type == dsl::dtype::float32 || type == dsl::dtype::complex64;
  return is_float                                                             ? 2e-5
         : kind_of(type) == dsl::kind::integer || type == dsl::dtype::boolean ? 0
                                                                              : 1e-12;
}

/// The largest difference of a peer's results from the first row's.
double difference(const job& first, const job& peer) {
  if (first.out.count != peer.out.count || first.out.type != peer.out.type)
    throw std::logic_error("a peer's results are of another size or dtype");
  const std::int64_t bytes = first.out.count * dsl::size_of(first.out.type);
  const auto reference = bytes_of(slot::reference, bytes);
  const auto run = [&](const job& j) {
    if (j.start) j.start();
    else machine::erase(j.out.data, bytes);  // Elements that neither call writes are NaN in both.
    j.run();
    if (j.collect) j.collect();
  };
  run(first);
  machine::copy(reference.data(), first.out.data, bytes);
  run(peer);
  machine::wait();
  machine::check();
  return machine::difference(peer.out.data, reference.data(), peer.out.type, peer.out.count);
}

/// The seconds that `dsl::explain` predicts for the statements of a call; 0 if it runs none, or if
/// nothing is predicted.
double predicted_seconds(const job& j) {
  const dsl::detail::explained_runs runs;
  if (j.start) j.start();
  const int before = runs.count();
  j.run();
  double all = 0;
  for (int k = before; k < runs.count(); ++k) all += runs[k].seconds();
  machine::wait();
  return all;
}

std::runtime_error wrong_results(double off) {
  char text[80];
  std::snprintf(text, sizeof(text), "its results differ from the first row's by %.1e", off);
  return std::runtime_error(text);
}

}  // namespace

struct work::shared {
  double bytes, tolerance = -1, flops = 0;
  timing how;
  std::string prefix, name;
  std::function<job()> first;

  void time(benchmark::State& state, const std::function<job()>& make, bool is_peer) const {
    const job j = make();
    if (is_peer) {
      const double off = difference(first(), j);
      state.counters["difference"] = off;
      if (!(off <= (tolerance >= 0 ? tolerance : rounding_of(j.out.type))))
        throw wrong_results(off);
    }
    const std::vector<double> seconds = measure(j, how);
    const double median = seconds[seconds.size() / 2];
    for (auto _ : state) state.SetIterationTime(median);
    if (const double predicted = predicted_seconds(j); predicted > 0)
      state.counters["predicted"] = predicted / median;
    state.counters["spread"] =
        100 * (seconds[3 * seconds.size() / 4] - seconds[seconds.size() / 4]) / median;
    if (flops > 0) state.counters["TFLOP/s"] = 1e-12 * flops / median;
    if (bytes == 0) return;
    state.counters["bytes"] = bytes;
    state.counters["GB/s"] = 1e-9 * bytes / median;
    if (how != timing::calls)
      state.counters["percent of copy"] = 100 * bytes / median / copy_bandwidth(bytes);
  }
};

work::work(const char* group, dsl::dtype type, std::string size, std::string name, double bytes,
           timing how)
    : it_(std::make_shared<shared>()) {
  it_->bytes = bytes;
  it_->how = how;
  it_->prefix = std::string(group) + '/' + dsl::name(type) + '/' + size + '/';
  it_->name = std::move(name);
}

work& work::by(const char* who, std::function<job()> make) {
  const bool is_peer = static_cast<bool>(it_->first);
  if (!is_peer) it_->first = make;
  // The median is measured here, so that Google Benchmark sees one iteration.
  benchmark::RegisterBenchmark(
      (it_->prefix + who + '/' + it_->name).c_str(),
      [it = it_, make = std::move(make), is_peer](benchmark::State& state) {
        try {
          it->time(state, make, is_peer);
        } catch (const std::exception& e) {
          state.SkipWithError(e.what());
        }
      })
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
  return *this;
}

work& work::within(double tolerance) { return it_->tolerance = tolerance, *this; }
work& work::flops(double count) { return it_->flops = count, *this; }

namespace {

struct shared_memory {
  dsl::array<unsigned char> bytes;
  dsl::dtype type = dsl::dtype::boolean;
  std::int64_t filled = 0;  // Number of elements that are filled.
};

shared_memory& memory_at(slot where, std::int64_t bytes) {
  // Never freed: when the program ends, the driver may be gone.
  static shared_memory* const all = new shared_memory[8];
  shared_memory& m = all[static_cast<int>(where)];
  if (m.bytes.size() < bytes) {
    m = {};
    m.bytes = dsl::array<unsigned char>(bytes);
  }
  return m;
}

}  // namespace

dsl::view<unsigned char> random_bytes(slot where, dsl::dtype type, std::int64_t count) {
  const std::int64_t bytes = count * dsl::size_of(type);
  shared_memory& m = memory_at(where, bytes);
  if (m.type != type || m.filled < count) {
    machine::fill(m.bytes.data(), type, count, 1 + static_cast<std::uint32_t>(where));
    m.type = type;
    m.filled = count;
  }
  return m.bytes(dsl::slice(0, bytes));
}
dsl::view<unsigned char> bytes_of(slot where, std::int64_t count) {
  return memory_at(where, count).bytes(dsl::slice(0, count));
}

void add_copy(const char* group, std::string size, std::int64_t floats) {
  work(group, dsl::dtype::float32, std::move(size), "copy", 8.0 * static_cast<double>(floats))
      .by(machine::copied_by, [=] {
        const auto from = operand<float>(slot::a, floats);
        const auto to = target<float>(slot::out, floats);
        return job{[=] { machine::copy(to.data(), from.data(), 4 * floats); }, to};
      });
}

namespace {

/// Prints the context, and a line for each row.
class table : public benchmark::BenchmarkReporter {
 public:
  explicit table(std::map<std::string, std::string> context) : context_(std::move(context)) {}
  bool ReportContext(const Context&) override {
    for (const auto& [name, value] : context_) std::printf("%s: %s\n", name.c_str(), value.c_str());
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      std::printf("%-72s", run.run_name.function_name.c_str());
      failed = failed || run.error_occurred;
      if (run.error_occurred) std::printf(" %s", run.error_message.c_str());
      else std::printf("%11.5f ms", run.GetAdjustedRealTime());
      for (const auto& [name, format] : {std::pair{"GB/s", " %8.0f GB/s"},
                                         {"percent of copy", " %6.1f %%"},
                                         {"TFLOP/s", " %6.1f TFLOP/s"},
                                         {"predicted", "   predicted / measured %.2f"},
                                         {"difference", "   differs by %.1e"}})
        if (const auto at = run.counters.find(name); at != run.counters.end())
          std::printf(format, static_cast<double>(at->second));
      std::printf("\n");
    }
    std::fflush(stdout);
  }

  bool failed = false;

 private:
  std::map<std::string, std::string> context_;
};

/// Writes JSON with names without Google Benchmark's suffix, such as "/iterations:1/manual_time".
class file : public benchmark::JSONReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    auto named = runs;
    for (Run& run : named) {
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    JSONReporter::ReportRuns(named);
  }
};

bool has(int argc, char** argv, const char* flag) {
  return std::any_of(argv, argv + argc,
                     [&](const char* a) { return std::strncmp(a, flag, std::strlen(flag)) == 0; });
}

int run(int argc, char** argv) {
  const bool lists = has(argc, argv, "--benchmark_list_tests"),
             writes = has(argc, argv, "--benchmark_out=");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (lists) return benchmark::RunSpecifiedBenchmarks(), 0;
  const auto context = machine::open();
  for (const auto& [name, value] : context) benchmark::AddCustomContext(name, value);
  table shown(context);
  file written;
  if (writes) benchmark::RunSpecifiedBenchmarks(&shown, &written);
  else benchmark::RunSpecifiedBenchmarks(&shown);
  return shown.failed ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}
