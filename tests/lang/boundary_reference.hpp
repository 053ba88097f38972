// The place that is read for a neighbour beyond an end.
#pragma once

#include <dsl/dsl.hpp>

#include <algorithm>

// By the boundary's definition, one step at a time; -1: zero.
inline std::int64_t inside_by_steps(dsl::boundary beyond, std::int64_t i, std::int64_t n) {
  switch (beyond) {
    case dsl::boundary::zero: return i < 0 || i >= n ? -1 : i;
    case dsl::boundary::clamp: return std::clamp<std::int64_t>(i, 0, n - 1);
    case dsl::boundary::wrap:
      while (i < 0) i += n;
      return i % n;
    default:
      if (n == 1) return 0;
      while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
      return i;
  }
}
inline constexpr dsl::boundary boundaries[] = {dsl::boundary::zero, dsl::boundary::wrap,
                                               dsl::boundary::clamp, dsl::boundary::reflect};
