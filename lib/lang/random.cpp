#include <cmath>
#include <string>

#include <dsl/lang/random.hpp>

#include "mem/text.hpp"

namespace dsl::random::detail {

namespace {

template <class Wide>
void require_some(Wide low, Wide high) {
  if (low < high) return;
  raise<value_error>("random::integers from " + std::to_string(low) +
                     " up to, but not including, " + std::to_string(high) + ": there are none");
}

}  // namespace

void require_range(std::int64_t low, std::int64_t high) { require_some(low, high); }
void require_range(std::uint64_t low, std::uint64_t high) { require_some(low, high); }

std::uint64_t words_of_probability(double p) {
  if (!(p >= 0 && p <= 1))
    raise<value_error>("random::bernoulli of probability " + std::to_string(p) +
                       ", which is not between 0 and 1");
  return static_cast<std::uint64_t>(std::ceil(p * 0x1p32));
}

}  // namespace dsl::random::detail
