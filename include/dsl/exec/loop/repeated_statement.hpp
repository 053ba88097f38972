// A statement that is run many times.
#pragma once

#include <cstdint>
#include <functional>

#include <dsl/mem/device.hpp>

namespace dsl::detail {

/// Calls `queue`, which queues the same work each time, for each of some steps, and `after(k)`
/// behind the first k steps. On a GPU the work of the second step is recorded into a CUDA graph,
/// which the other steps launch: so `queue` is called twice. If it cannot be recorded, and on other
/// devices, each step calls it. Does not wait.
void repeat_statement(std::int64_t steps, device where, const std::function<void()>& queue,
                      const std::function<void(std::int64_t)>& after);

}  // namespace dsl::detail
