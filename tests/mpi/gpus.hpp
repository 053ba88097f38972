// The GPUs of processes in tests.
#pragma once

#include <dsl/dsl.hpp>

#include <cstdlib>

inline int count_gpus() {
  int count = 0;
  for (const dsl::device d : dsl::devices()) count += d.kind == dsl::backend::cuda ? 1 : 0;
  return count;
}

// NCCL takes processes that say they are of several machines for such, though they have the same GPU.
inline bool lacks_gpus(int processes) {
  return dsl::device::current().kind == dsl::backend::cuda && count_gpus() < processes && std::getenv("NCCL_HOSTID") == nullptr;
}
