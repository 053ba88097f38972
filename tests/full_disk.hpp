// Simulates a full disk: limits the size to which a file may grow, in bytes.
#pragma once

#include "error_of.hpp"

#include <sys/resource.h>

#include <csignal>
#include <string>

template <class F>
std::string error_with_full_disk(rlim_t bytes, F&& write) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{bytes, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string error = error_of(write);
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  return error;
}
