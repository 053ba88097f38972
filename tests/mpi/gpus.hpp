// The GPUs of the processes in tests.
#pragma once

#include <dsl/dsl.hpp>

#include <cstdio>
#include <cstdlib>

inline int count_gpus() {
  int count = 0;
  for (const dsl::device d : dsl::devices()) count += d.kind == dsl::backend::cuda ? 1 : 0;
  return count;
}

// Whether there are fewer GPUs than processes; then the first one prints that the test is skipped.
// NCCL accepts processes that share a GPU if they claim to be on several machines.
inline bool lacks_gpus(int rank, int processes) {
  const bool is_on_gpus = dsl::device::current().kind == dsl::backend::cuda;
  if (!is_on_gpus || count_gpus() >= processes || std::getenv("NCCL_HOSTID") != nullptr)
    return false;
  if (rank == 0) std::printf("skipped: fewer GPUs than processes\n");
  return true;
}
