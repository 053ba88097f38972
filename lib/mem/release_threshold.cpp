#include "mem/release_threshold.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mem/text.hpp"

namespace dsl::detail {

std::size_t release_threshold_from_environment() {
  const char* const wanted = std::getenv("DSL_RELEASE_THRESHOLD");
  if (wanted == nullptr || *wanted == '\0') return SIZE_MAX;
  const std::string_view text = wanted, units = "KMG";
  std::size_t bytes = 0;
  auto [rest, error] = std::from_chars(text.begin(), text.end(), bytes);
  std::size_t unit = 0;
  if (rest != text.end() && rest != text.begin() && units.find(*rest) != units.npos)
    unit = 10 * (units.find(*rest++) + 1);
  if (error != std::errc{} || rest != text.end() || bytes > SIZE_MAX >> unit)
    raise<device_error>("DSL_RELEASE_THRESHOLD is \"" + std::string(text) +
                        "\"; valid are numbers of bytes, or with K, M or G, as in \"2G\"");
  return bytes << unit;
}

}  // namespace dsl::detail
