// Transforms of operands that are complete, as the devices' libraries run them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <dsl/exec/plan/operand.hpp>
#include <dsl/fft/operation.hpp>

#include "mem/buffer.hpp"

namespace dsl::detail {

/// From `in` to `out` along `axes`, in ascending order. Both have all elements: the number of
/// points along each axis, or of their spectrum. Between complex and real numbers there is one
/// axis. Both may be the same elements, if these are complex. `factor`: on the host,
/// real numbers that are made of a spectrum are multiplied by it.
struct transform_task {
  operand in, out;
  transform_axes axes;
  bool inverse;
  double factor;
};

/// A dimension across the axes of a transform: how many lines or groups of them, and the distances
/// in elements from one to the next.
struct batch_dimension { std::int64_t count, next_in, next_out; };
/// The dimensions across, the innermost first, as few as possible, without those of extent 1.
std::vector<batch_dimension> batch_of(const transform_task& task);

/// A contiguous operand of the same dtype and rank in new memory.
operand temporary_like(const operand& o, const std::int64_t* extents, device where,
                       buffer_ref& memory);

// On the host's cores. Done when it returns.
void transform_on_host(const transform_task& task);
/// A transform on a GPU with all that it needs: plans of cuFFT, and memory to work in.
struct gpu_transform {
  virtual ~gpu_transform() = default;
  /// Queues it on the stream that it was made for, which does not wait.
  virtual void run() = 0;
};
/// Defined if there is a CUDA toolkit with cuFFT.
std::unique_ptr<gpu_transform> transform_for_gpu(const transform_task& task, const stream& on);

}  // namespace dsl::detail
