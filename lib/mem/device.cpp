#include <dsl/mem/device.hpp>

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "cuda/cuda.hpp"
#include "exec/text.hpp"

namespace dsl {

namespace {

std::atomic<bool> has_kernels{false};
thread_local std::optional<device> guarded;

std::string valid_names() {
  std::string names = "\"host\", \"sim\"";
  const int gpus = detail::cuda::device_count();
  for (int i = 0; i < gpus; ++i) names += ", \"cuda:" + std::to_string(i) + "\"";
  return names + (gpus == 0 ? " (" + detail::cuda::why_no_device() + ")" : "");
}

device from_environment() {
  const char* wanted = std::getenv("DSL_DEVICE");
  if (wanted != nullptr && *wanted != '\0') return device(wanted);
  if (!has_kernels) return backend::host;
  if (detail::cuda::device_count() > 0) return backend::cuda;
  if (const std::string why = detail::cuda::device_count_error(); !why.empty())
    detail::raise<device_error>("no GPU can be used: " + why + "; DSL_DEVICE=host does without");
  return backend::host;
}

// Throws device_error where it is set to something else than a number of bytes, which K, M or G may follow.
std::size_t release_threshold_from_environment() {
  const char* const wanted = std::getenv("DSL_RELEASE_THRESHOLD");
  if (wanted == nullptr || *wanted == '\0') return SIZE_MAX;
  const std::string_view text = wanted, units = "KMG";
  std::size_t bytes = 0;
  auto [rest, error] = std::from_chars(text.begin(), text.end(), bytes);
  std::size_t unit = 0;
  if (rest != text.end() && rest != text.begin() && units.find(*rest) != units.npos) unit = 10 * (units.find(*rest++) + 1);
  if (error != std::errc{} || rest != text.end() || bytes > SIZE_MAX >> unit)
    detail::raise<device_error>("DSL_RELEASE_THRESHOLD is \"" + std::string(text) + "\"; valid are numbers of bytes, or with K, M or G, as in \"2G\"");
  return bytes << unit;
}

device_properties read_host() {
  device_properties d{};
  std::snprintf(d.name, sizeof d.name, "host");
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      std::snprintf(d.name, sizeof d.name, "%s", line.substr(line.find(": ") + 2).c_str());
      break;
    }
  d.multiprocessors = static_cast<int>(std::thread::hardware_concurrency());
  d.threads_per_multiprocessor = 1;
  d.memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return d;
}

// Small enough that the tests' kernels have more work than threads, and walk on.
device_properties read_sim() {
  device_properties d = read_host();
  std::snprintf(d.name, sizeof d.name, "simulator");
  d.multiprocessors = 2, d.threads_per_multiprocessor = 1024, d.registers_per_multiprocessor = 65536;
  d.shared_per_block = 16 << 10;
  return d;
}

}  // namespace

device::device(const char* name) {
  if (name == nullptr) detail::raise<device_error>("a null pointer for a device's name; valid are " + valid_names());
  const std::string text = name;
  if (text == "host" || text == "sim") {
    kind = text == "host" ? backend::host : backend::sim;
    return;
  }
  kind = backend::cuda;
  if (text == "cuda") return;
  if (text.starts_with("cuda:") && text.size() > 5 && text.size() < 9 &&
      text.find_first_not_of("0123456789", 5) == std::string::npos) {
    index = std::atoi(text.c_str() + 5);
    return;
  }
  detail::raise<device_error>("there is no device \"" + text + "\"; valid are " + valid_names());
}

device device::current() {
  if (guarded) return *guarded;
  static const device chosen = [] {
    const device d = from_environment();
    properties(d);
    return d;
  }();
  return chosen;
}

text device::name() const {
  if (kind == backend::cuda) return text(("cuda:" + std::to_string(index)).c_str());
  return text(kind == backend::host ? "host" : "sim");
}

void device::synchronize() const {
  if (kind == backend::cuda) properties(*this), detail::cuda::synchronize_device(index);
}

const device_properties& properties(device where) {
  static const device_properties host = read_host(), sim = read_sim();
  if (where.kind == backend::host) return host;
  if (where.kind == backend::sim) return sim;
  if (where.index < 0 || where.index >= detail::cuda::device_count()) {
    const std::string wanted = "device \"" + std::string(where.name()) + "\"";
    if (detail::cuda::device_count() == 0)
      detail::raise<device_error>(wanted + " was asked for, but no GPU can be used; valid are " + valid_names());
    detail::raise<device_error>("there is no " + wanted + "; valid are " + valid_names());
  }
  static const std::vector<device_properties> gpus = [] {
    std::vector<device_properties> all;
    for (int i = 0; i < detail::cuda::device_count(); ++i) {
      all.push_back(detail::cuda::properties(i));
      detail::cuda::set_release_threshold(i, release_threshold_from_environment());
    }
    return all;
  }();
  return gpus[static_cast<std::size_t>(where.index)];
}

std::vector<device> devices() {
  std::vector<device> all;
  for (int i = 0; i < detail::cuda::device_count(); ++i) all.emplace_back(backend::cuda, i);
  all.emplace_back(backend::host);
  all.emplace_back(backend::sim);
  return all;
}

memory_usage memory_usage_of(device where) {
  const std::size_t total = properties(where).memory;
  if (where.kind == backend::cuda) return detail::cuda::usage(where.index);
  return {0, 0, static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), total};
}

void release_memory(device where) {
  properties(where);
  if (where.kind == backend::cuda) detail::cuda::release_memory(where.index);
}

void set_release_threshold(std::size_t bytes, device where) {
  properties(where);
  if (where.kind == backend::cuda) detail::cuda::set_release_threshold(where.index, bytes);
}

device_guard::device_guard(device where) : previous_(guarded.value_or(where)), had_previous_(guarded.has_value()) {
  properties(where);
  guarded = where;
}
device_guard::~device_guard() {
  if (had_previous_) guarded = previous_;
  else guarded.reset();
}

namespace detail {

bool register_kernels() noexcept { return has_kernels = true; }

}  // namespace detail
}  // namespace dsl
