#include "opencl/print/types.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace dsl::detail::opencl {

const char* value_type(dtype type) {
  static constexpr const char* names[dtype_count] = {
      "bool",  "char",  "short", "int",   "long",   "uchar",  "ushort", "uint",
      "ulong", "float", "float", "float", "double", "float2", "double2"};
  return names[static_cast<int>(type)];
}

namespace {

// The fewest digits that read back as the same number.
std::string number_text(double v, bool is_float) {
  if (std::isnan(v)) return is_float ? "NAN" : "(double)NAN";
  if (std::isinf(v))
    return std::string(v < 0 ? "-" : "") + (is_float ? "INFINITY" : "(double)INFINITY");
  char line[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(line, sizeof line, "%.*g", digits, v);
    if (is_float ? std::strtof(line, nullptr) == static_cast<float>(v)
                 : std::strtod(line, nullptr) == v)
      break;
  }
  std::string text = line;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return is_float ? text + "f" : text;
}

std::string integer_text(dtype type, std::uint64_t bits) {
  if (type == dtype::uint64) return std::to_string(bits) + "UL";
  if (!info(type).is_signed) return std::to_string(bits) + (type == dtype::uint32 ? "u" : "");
  const auto v = static_cast<std::int64_t>(bits);
  if (v == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807L - 1)";
  if (v == std::numeric_limits<std::int32_t>::min() && type != dtype::int64)
    return "(-2147483647 - 1)";
  return std::to_string(v) + (type == dtype::int64 ? "L" : "");
}

}  // namespace

std::string literal_text(dtype type, literal bits) {
  switch (type) {
    case dtype::boolean: return bits.bits != 0 ? "true" : "false";
    case dtype::float16:
    case dtype::bfloat16:
    case dtype::float32: return number_text(static_cast<double>(from_bits<float>(bits.bits)), true);
    case dtype::float64: return number_text(from_bits<double>(bits.bits), false);
    case dtype::complex64: {
      const auto z = from_bits<complex_value<float>>(bits.bits);
      return "(float2)(" + number_text(static_cast<double>(z.re), true) + ", " +
             number_text(static_cast<double>(z.im), true) + ")";
    }
    case dtype::complex128:
      return "(double2)(" + number_text(from_bits<double>(bits.bits), false) + ", " +
             number_text(from_bits<double>(bits.second), false) + ")";
    default: return integer_text(type, bits.bits);
  }
}

}  // namespace dsl::detail::opencl
