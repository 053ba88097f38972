// The bins of a histogram.
#pragma once

#include <cstdint>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

/// The bins of a histogram, each `apart` wide. The bin of a value is number (value - low) * lift *
/// scale, or a neighbouring one. `lift` is 1, unless the range is so small that `scale` alone would
/// be infinite.
struct bin_range {
  double low, high, apart, lift, scale;
  std::int32_t count;
};
/// Makes bins with edges of a dtype. Throws value_error.
bin_range make_bins(std::int64_t bins, double low, double high, dtype edges);

}  // namespace dsl::detail
