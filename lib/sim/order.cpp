#include "sim/order.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "mem/text.hpp"

namespace dsl::detail {

std::uint64_t seed_of_environment() {
  const char* const value = std::getenv("DSL_SIM_SEED");
  if (value == nullptr || *value == 0) return 0;
  const std::string_view text = value;
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    raise<device_error>("DSL_SIM_SEED is \"" + std::string(text) +
                        "\", which is no number from 0 to 18446744073709551615");
  return seed;
}

}  // namespace dsl::detail
