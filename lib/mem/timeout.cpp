#include <dsl/mem/timeout.hpp>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "mem/text.hpp"

namespace dsl::detail {

double seconds_to_wait(double otherwise) {
  static const std::optional<double> seconds = []() -> std::optional<double> {
    const char* const value = std::getenv("DSL_TIMEOUT");
    if (value == nullptr || *value == '\0') return {};
    const std::string_view text = value;
    double wanted = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), wanted);
    if (failure != std::errc{} || end != text.end() || !(wanted > 0 && wanted <= 3600))
      raise<device_error>("DSL_TIMEOUT is \"" + std::string(text) +
                          "\"; valid are numbers of seconds up to 3600");
    return wanted;
  }();
  return seconds.value_or(otherwise);
}

}  // namespace dsl::detail
