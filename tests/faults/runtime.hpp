// Interposes between the library and the CUDA runtime: counts calls, makes one of them fail, and
// tracks what is alive.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include "pause.hpp"

namespace faults {

/// Resources acquired from the runtime and not yet released.
struct living {
  long allocations = 0, bytes = 0, pinned = 0, streams = 0, events = 0, graphs = 0, executables = 0;
  friend bool operator==(const living&, const living&) = default;
  std::string describe() const;
};
living alive();
/// Number of releases of resources that were not alive, double releases included.
long strangers();

/// How a call fails: the status that it returns. With `stays` every later call of the same function
/// fails too.
struct failure {
  cudaError_t status = cudaErrorUnknown;
  bool stays = false;
};

/// Starts counting. The `number`-th call fails, counted from 1; 0: no call fails. A failing call
/// still takes effect if it releases a resource or reports the outcome of earlier work; any other
/// has no effect.
void begin(long number = 0, failure how = {});
/// The same for the `number`-th call of one function.
void begin_at(const char* function, long number = 1, failure how = {});
/// From here on no call fails.
void end();
long calls();
/// Number of calls of a function since `begin`.
long calls_of(const char* function);
/// The current GPU at the last call of a function since `begin`; -1 if there was no call.
int gpu_of(const char* function);
/// The kernels added to graphs since `begin`: for each the numbers, counted from 1, of the kernels
/// that it depends on.
std::vector<std::vector<long>> graph_kernels();
/// The function that failed; null if none did.
const char* failed();

/// Emulated streams stop after this many further writes to memory; a later call lets them continue.
void stop_streams(long after);
void resume_streams();

/// From here on the runtime is emulated: one GPU, whose memory is the host's and whose kernels do
/// nothing.
void emulate();

}  // namespace faults
