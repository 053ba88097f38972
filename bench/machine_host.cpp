#include "machine.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "random.hpp"

namespace bench::machine {

const char* const copied_by = "memcpy";

namespace {

using range = tbb::blocked_range<std::int64_t>;
constexpr std::int64_t grain = 1 << 16;

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::chrono::steady_clock::time_point begun;

}  // namespace

std::map<std::string, std::string> open() {
  static const dsl::device_guard guard(dsl::backend::host);
  return {{"backend", "host"},
          {"device", processor()},
          {"threads", std::to_string(std::thread::hardware_concurrency())},
          {"compiler", std::string("g++ ") + __VERSION__}};
}

void fill(void* data, dsl::dtype type, std::int64_t count, std::uint32_t seed) {
  with_type_of(type, [&]<class T>(std::type_identity<T>) {
    using part = typename parts<T>::type;
    part* const to = static_cast<part*>(data);
    tbb::parallel_for(range(0, count * parts<T>::count, grain), [=](const range& r) {
      for (std::int64_t i = r.begin(); i < r.end(); ++i)
        to[i] = random_element<part>(static_cast<std::uint64_t>(i), seed);
    });
  });
}

void copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes < 4 * grain) return void(std::memcpy(to, from, static_cast<std::size_t>(bytes)));
  tbb::parallel_for(range(0, bytes, grain), [=](const range& r) {
    std::memcpy(static_cast<char*>(to) + r.begin(), static_cast<const char*>(from) + r.begin(),
                r.size());
  });
}

void erase(void* data, std::int64_t bytes) {
  std::memset(data, 0xff, static_cast<std::size_t>(bytes));
}

double difference(const void* x, const void* y, dsl::dtype type, std::int64_t count) {
  double most = 0, magnitude = 0;
  with_type_of(type, [&]<class T>(std::type_identity<T>) {
    using part = typename parts<T>::type;
    const part *a = static_cast<const part*>(x), *b = static_cast<const part*>(y);
    for (std::int64_t i = 0; i < count * parts<T>::count; ++i) {
      most = std::max(most, difference_of(a[i], b[i]));
      magnitude = std::max(magnitude, magnitude_of(b[i]));
    }
  });
  return relative_difference(most, magnitude);
}

void wait() {}
void rest() {}
void check() {}

void begin() { begun = std::chrono::steady_clock::now(); }
double end() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace bench::machine
