// Between the library and the CUDA runtime: counts the calls, makes one of them fail, and knows
// what is alive.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace faults {

/// What has been taken from the runtime and not given back.
struct living {
  long allocations = 0, bytes = 0, pinned = 0, streams = 0, events = 0, graphs = 0, executables = 0;
  friend bool operator==(const living&, const living&) = default;
  std::string describe() const;
};
living alive();
/// What was given back that was not alive, or twice.
long strangers();

/// How a call fails: with this status, and if it `stays` so does every later call of the same
/// function.
struct failure {
  cudaError_t status = cudaErrorUnknown;
  bool stays = false;
};

/// Counts from here on. The `number`-th call fails, counted from 1; 0: none does. A call that gives
/// something back does so all the same, as one does that reports what work queued before has come
/// to; any other does nothing.
void begin(long number = 0, failure how = {});
/// The same of the `number`-th call of one function.
void begin_at(const char* function, long number = 1, failure how = {});
/// No call fails from here on.
void end();
long calls();
/// How often a function was called since `begin`.
long calls_of(const char* function);
/// The GPU that was current in the last call of a function since `begin`; of none -1.
int gpu_of(const char* function);
/// The kernels added to graphs since `begin`: of each those that it is behind, by their numbers,
/// counted from 1.
std::vector<std::vector<long>> graph_kernels();
/// The function that failed; null where none did.
const char* failed();

/// Emulated streams stop behind so many more numbers that they write into memory, and go on with
/// those that are left.
void stop_streams(long after);
void resume_streams();

/// While it lives the calling thread's calls are neither counted nor do they fail.
class pause {
 public:
  pause();
  ~pause();
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
};

/// From here on the answers are made up: one GPU, whose memory is the host's, and whose kernels do
/// nothing.
void emulate();
bool is_emulated();

}  // namespace faults
