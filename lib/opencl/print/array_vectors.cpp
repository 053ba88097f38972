#include "opencl/print/array_vectors.hpp"

#include <algorithm>

#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

array_vectors::array_vectors(dtype of, int elements) : of_(of) {
  lanes = std::min(elements, 16 / size_of(of));
  count = elements / lanes;
  const bool is_complex = kind_of(of) == kind::complex;
  const int scalars = lanes * (is_complex ? 2 : 1);
  type = is_complex ? value_type(real_of(of)) : is_narrow_real(of) ? "ushort" : stored_type(of);
  if (scalars > 1) type += std::to_string(scalars);
}

std::string array_vectors::element(const std::string& of, const std::string& number,
                                   int lane) const {
  constexpr const char* digits = "0123456789abcdef";
  const std::string from = name(of, lane / lanes) + number;
  const int at = lane % lanes;
  if (kind_of(of_) == kind::complex)
    return lanes == 1 ? from : from + ".s" + digits[2 * at] + digits[2 * at + 1];
  const std::string scalar = lanes == 1 ? from : from + ".s" + digits[at];
  if (of_ == dtype::boolean) return scalar + " != 0";
  return is_narrow_real(of_) ? std::string("widen_") + dsl::name(of_) + "(" + scalar + ")" : scalar;
}

std::string array_vectors::of_values(const std::vector<std::string>& values) const {
  std::string text;
  for (const std::string& v : values) {
    if (!text.empty()) text += ", ";
    if (of_ == dtype::boolean) text += "(uchar)(" + v + ")";
    else if (is_narrow_real(of_)) text += std::string("narrow_") + dsl::name(of_) + "(" + v + ")";
    else text += v;
  }
  return values.size() == 1 ? text : "(" + type + ")(" + text + ")";
}

}  // namespace dsl::detail::opencl
