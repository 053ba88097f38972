// CUB's functions ask for memory, which is given to them once, outside of what is measured.
#pragma once

#include <cstddef>

#include "check.cuh"
#include "row.hpp"

namespace bench {

/// A call of one of CUB's functions, `call(memory, size)`, with memory of the size that it asks for.
template <class Call> auto with_workspace(Call call) {
  std::size_t size = 0;
  check(call(nullptr, size));
  const auto memory = dsl::array<unsigned char>(static_cast<std::int64_t>(size) + 1).view();
  return [=]() mutable { check(call(memory.data(), size)); };
}

}  // namespace bench
