// What the checks of results ask of the interposer.
#pragma once

namespace faults {

/// During its lifetime the calling thread's calls are not counted and do not fail.
class pause {
 public:
  pause();
  ~pause();
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
};

/// Whether kernels do nothing, so that only transfers have results.
bool is_emulated();

}  // namespace faults
