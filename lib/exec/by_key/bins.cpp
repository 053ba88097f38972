#include <dsl/exec/by_key/bins.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <dsl/ir/half.hpp>

#include "mem/text.hpp"

namespace dsl::detail {

namespace {

// Significant bits of a floating point dtype, and the binary exponent of its smallest positive
// number.
struct precision { int digits, least; };
precision precision_of(dtype type) {
  switch (type) {
    case dtype::float16: return {11, -24};
    case dtype::bfloat16: return {8, -133};
    case dtype::float32: return {24, -149};
    default: return {53, -1074};
  }
}
double rounded_to(dtype type, double x) {
  switch (type) {
    case dtype::float16: return half(static_cast<float>(x));
    case dtype::bfloat16: return bfloat16(static_cast<float>(x));
    case dtype::float32: return static_cast<float>(x);
    default: return x;
  }
}

// Whether each edge, rounded to the dtype, is greater than the one before. The spacing of the dtype
// is widest at the end of larger magnitude. If edges are at least two spacings apart there, none
// are compared; otherwise comparing starts at that end, where equal edges are most likely.
bool edges_rise(const bin_range& r, dtype type) {
  const double largest = std::max(std::abs(r.low), std::abs(r.high));
  const precision p = precision_of(type);
  if (std::isfinite(rounded_to(type, largest)) &&
      r.apart >= std::ldexp(1., std::max(std::ilogb(largest) + 2 - p.digits, p.least + 1)))
    return true;
  const auto edge = [&](std::int64_t i) {
    return rounded_to(type, i < r.count ? static_cast<double>(i) * r.apart + r.low : r.high);
  };
  const bool from_above = std::abs(r.high) >= std::abs(r.low);
  for (std::int64_t k = 0; k < r.count; ++k) {
    const std::int64_t i = from_above ? r.count - 1 - k : k;
    if (!(edge(i) < edge(i + 1))) return false;
  }
  return true;
}

}  // namespace

bin_range make_bins(std::int64_t bins, double low, double high, dtype edges) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  const auto refuse = [&](const std::string& why) {
    raise<value_error>("a histogram of " + std::to_string(bins) + " bins from " +
                       spell_number(low) + " to " + spell_number(high) + ": " + why);
  };
  if (bins < 1 || bins > most) refuse("there are to be bins, fewer than 2^31");
  if (low > high) refuse("the first edge is above the last");
  if (!std::isfinite(low) || !std::isfinite(high))
    refuse("the first edge and the last are to be finite");
  if (low == high) low -= 0.5, high += 0.5;
  const double distance = high - low,
               lift = distance < std::ldexp(1., -960) ? std::ldexp(1., 600) : 1;
  if (!std::isfinite(distance))
    refuse("the distance between the first edge and the last is to be finite");
  const auto count = static_cast<double>(bins);
  const bin_range made{low,
                       high,
                       distance / count,
                       lift,
                       count / (distance * lift),
                       static_cast<std::int32_t>(bins)};
  if (!edges_rise(made, edges))
    refuse(std::string(name(edges)) + " has too few numbers between them for so many edges");
  return made;
}

}  // namespace dsl::detail
