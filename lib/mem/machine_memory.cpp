#include "mem/machine_memory.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "mem/text.hpp"

namespace dsl::detail {

device_properties machine_memory::read_machine() {
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
  d.memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
             static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return d;
}

memory_usage machine_memory::usage(int index) {
  const std::size_t free = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
                           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return {0, 0, free, properties(index).memory};
}

void* machine_memory::allocate(std::size_t bytes, int index, void*) {
  constexpr std::size_t alignment = 256;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr)
    raise<memory_error>("out of memory on " + spell(index) + ": asked for " +
                        spell_bytes(static_cast<double>(bytes)) + " of " +
                        spell_bytes(static_cast<double>(properties(index).memory)));
  return memory;
}
void machine_memory::release(void* memory, int, void*) noexcept { std::free(memory); }

void machine_memory::copy(void* to, const void* from, std::size_t bytes, direction, int, void*) {
  std::memmove(to, from, bytes);
}
void machine_memory::set_zero(void* at, std::size_t bytes, int, void*) {
  std::memset(at, 0, bytes);
}
void machine_memory::fill(void* at, const void* value, std::size_t size, std::int64_t count, int,
                          void*) {
  auto* const out = static_cast<unsigned char*>(at);
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(out + static_cast<std::size_t>(i) * size, value, size);
}

}  // namespace dsl::detail
