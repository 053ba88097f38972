// What row.cpp needs of the device that a program measures: machine_cuda.cu or machine_host.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <dsl/dsl.hpp>

namespace bench::machine {

/// Makes the device the current one, and says what it is, by the names of the JSON's context.
/// Throws dsl::error where there is none.
std::map<std::string, std::string> open();
/// What it says of GPUs, of several as one too; machine_cuda.cu alone has it.
std::map<std::string, std::string> context_of(const dsl::device& device);

/// Random elements: uniform in [0.5, 1.5), or whole numbers in 0 to 7.
void fill(void* data, dsl::dtype type, std::int64_t count, std::uint32_t seed);

/// Queues a copy of so many bytes, in the fastest way that there is.
void copy(void* to, const void* from, std::int64_t bytes);
extern const char* const copied_by;

/// Sets all bits: NaN, and of integers -1.
void erase(void* data, std::int64_t bytes);

/// The largest of |x - y| in relation to the largest |y|; infinity where one of x and y alone is
/// NaN.
double difference(const void* x, const void* y, dsl::dtype type, std::int64_t count);

/// Waits for all that is queued.
void wait();

/// Lets a device that has been at its limit of power come back to its clock. It has nothing to do.
void rest();

/// Throws what has gone wrong with a launch since the last call.
void check();

/// Seconds that the device takes for what is queued between `begin` and `end`, which waits.
void begin();
double end();

}  // namespace bench::machine
