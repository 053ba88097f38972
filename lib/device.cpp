#include <dsl/mem/device.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "cuda.hpp"
#include "text.hpp"

namespace dsl {

namespace {

std::atomic<bool> has_kernels{false};
thread_local std::optional<device> guarded;

std::string valid_names() {
  std::string names = "\"host\", \"sim\"";
  const int gpus = detail::cuda::device_count();
  for (int i = 0; i < gpus; ++i) names += ", \"cuda:" + std::to_string(i) + "\"";
  return names + (gpus == 0 ? " (no GPU was found)" : "");
}

device from_environment() {
  const char* wanted = std::getenv("DSL_DEVICE");
  if (wanted != nullptr && *wanted != '\0') return device(wanted);
  return has_kernels && detail::cuda::device_count() > 0 ? backend::cuda : backend::host;
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
    for (int i = 0; i < detail::cuda::device_count(); ++i) all.push_back(detail::cuda::properties(i));
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
