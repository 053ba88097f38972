// Interposes between the library and OpenCL: counts calls, makes them fail, and counts what is
// alive. A shared library that DSL_OPENCL_LIBRARY names; it passes calls on to libOpenCL.so.1.
#pragma once

#include <CL/cl.h>

#include <map>
#include <string>

namespace faulty_driver {

/// Which calls fail: one; it and all later ones of its function; or it and all later ones, as when
/// a device is lost.
enum class lasting { once, of_function, of_device };
struct failure {
  cl_int status = CL_DEVICE_NOT_AVAILABLE;
  lasting how_long = lasting::once;
};

/// A failing call still takes effect if it releases an object, or waits for work and reports how
/// that has ended; any other has no effect. Of an event that is asked for, the failure is its
/// execution status.
class control {
 public:
  /// Starts counting. The `number`-th call fails, counted from 1; 0: no call fails.
  virtual void begin(long number = 0, failure how = {}) = 0;
  /// The same for the `number`-th call of a function.
  virtual void begin_at(const char* function, long number, failure how = {}) = 0;
  /// The calling thread's calls are not counted and do not fail until the pauses that it has begun
  /// are over (-1).
  virtual void pause(int change) = 0;
  /// From here on no call fails.
  virtual void end() = 0;
  /// The calls of each function since `begin`.
  virtual std::map<std::string, long> calls() = 0;
  /// The function that failed first; null if none did.
  virtual const char* failed() = 0;
  /// Objects that were made or retained and not released, by kind. Of command queues, memory
  /// objects, programs, kernels, events and contexts.
  virtual std::map<std::string, long> alive() = 0;

 protected:
  ~control() = default;
};

}  // namespace faulty_driver

/// The only control; found with dlsym.
extern "C" faulty_driver::control* faulty_driver_control();
