// Text for error messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <dsl/mem/error.hpp>

namespace dsl::detail {

/// "(512, 512)"
std::string spell_shape(const std::int64_t* sizes, int rank);
/// "7"; "9223372036854775807 or more" for the greatest int64, which stands for all larger values.
std::string spell_position(std::int64_t at);
/// "1.5", "1e+300", "inf"
std::string spell_number(double number);
/// "12.3 Gflop" for 1.23e10 and "flop".
std::string spell_amount(double amount, const char* unit);
/// "12.3 GB"
std::string spell_bytes(double bytes);

template <class Error>
[[noreturn]] void raise(const std::string& what) {
  throw Error(text(what.c_str()));
}

}  // namespace dsl::detail
