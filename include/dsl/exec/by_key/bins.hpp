// A histogram's bins.
#pragma once

#include <cstdint>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

/// A histogram's bins, `apart` wide. That of a value is number (value - low) * lift * scale, or one
/// beside it. `lift` is 1, but where the range is so small that `scale` alone would be infinite.
struct bin_range {
  double low, high, apart, lift, scale;
  std::int32_t count;
};
/// For edges of a dtype. Throws value_error.
bin_range make_bins(std::int64_t bins, double low, double high, dtype edges);

}  // namespace dsl::detail
