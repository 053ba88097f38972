// CUB's functions need memory. It is allocated once, outside of the measurement.
#pragma once

#include <cstddef>

#include "check.cuh"
#include "row.hpp"

namespace bench {

/// Returns a call of one of CUB's functions, `call(memory, size)`, with memory of the size that the
/// function asks for.
template <class Call> auto with_workspace(Call call) {
  std::size_t size = 0;
  check(call(nullptr, size));
  const auto memory = dsl::array<unsigned char>(static_cast<std::int64_t>(size) + 1).view();
  return [=]() mutable { check(call(memory.data(), size)); };
}

}  // namespace bench
