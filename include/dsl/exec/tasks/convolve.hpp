// Runs convolutions of elements in memory.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Throws shape_error if a convolution has an operand without elements, and device_error if the
/// device has none.
void require_convolution(device where, dtype type, std::int64_t elements, std::int64_t taps);

/// Queues result[i] = sum over j of taps[j] elements[first + i - j] on the current stream, where
/// there are such elements. All have rank 1, one dtype and contiguous elements; the result overlaps
/// neither operand. Throws memory_error or cuda_error.
void run_convolution(const operand& elements, const operand& taps, std::int64_t first,
                     const operand& result);

/// `explain`'s line.
text describe_convolution(std::int64_t elements, std::int64_t taps);

}  // namespace dsl::detail
