// A file in memory, for readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// Rewritten for each input.
class memory_file {
 public:
  memory_file()
      : handle_(memfd_create("fuzzed", MFD_CLOEXEC)),
        name_("/proc/self/fd/" + std::to_string(handle_)) {}
  const std::string& holding(const std::uint8_t* bytes, std::size_t size) {
    if (ftruncate(handle_, 0) != 0 ||
        pwrite(handle_, bytes, size, 0) != static_cast<ssize_t>(size)) {
      std::perror("memfd");
      std::exit(2);
    }
    return name_;
  }

 private:
  int handle_;
  std::string name_;
};
