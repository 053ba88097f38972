// The functions of a device that row.cpp needs, in machine_cuda.cu or machine_host.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <dsl/dsl.hpp>

namespace bench::machine {

/// Makes the device current. Returns its description, by the names of the JSON's context. Throws
/// dsl::error if there is no device.
std::map<std::string, std::string> open();
/// The description of a GPU, or of several as one. Only in machine_cuda.cu.
std::map<std::string, std::string> context_of(const dsl::device& device);

/// Fills memory with random elements: uniform in [0.5, 1.5), or integers in 0 to 7.
void fill(void* data, dsl::dtype type, std::int64_t count, std::uint32_t seed);

/// Queues a copy of `bytes` bytes in the fastest way.
void copy(void* to, const void* from, std::int64_t bytes);
extern const char* const copied_by;

/// Sets all bits, so that elements are NaN, or integers -1.
void erase(void* data, std::int64_t bytes);

/// The largest |x - y| relative to the largest |y|; infinity if only one of x and y is NaN
/// somewhere.
double difference(const void* x, const void* y, dsl::dtype type, std::int64_t count);

/// Waits for all queued work.
void wait();

/// Pauses without work, so that a device that was limited by its power recovers its clock rate.
void rest();

/// Throws errors of launches since the last call.
void check();

/// Seconds that the device takes for the work queued between `begin` and `end`. `end` waits.
void begin();
double end();

}  // namespace bench::machine
