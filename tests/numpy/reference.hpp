// NumPy's values (tests/data/functions.txt), and the comparison with them. Compiled once, because
// dtypes are run-time values here.
#pragma once

#include "../on_device.hpp"
#include "../stored_values.hpp"

/// A test for each dtype.
struct numpy : on_device {};

namespace numpy_values {

using stored::bytes;

struct function_values {
  std::string name;
  dsl::dtype type;
  bytes values;
  mutable bool compared = false;
};

/// Operands of given dtypes, and the values of every function that takes them.
struct section {
  std::vector<dsl::dtype> types;
  std::vector<bytes> operands;
  std::vector<function_values> functions;
};

/// Whether functions.txt has a row for operands of these dtypes.
constexpr bool takes(dsl::op code, const dsl::dtype* types, std::size_t count) {
  const dsl::op_info& row = dsl::info(code);
  const auto type_of = [&](std::size_t i) {
    return i < count ? dsl::weak_dtype{types[i]} : dsl::weak_dtype{};
  };
  if (row.arity != count || !dsl::resolve(code, type_of(0), type_of(1), type_of(2)).valid)
    return false;
  switch (row.operands) {
    case dsl::op_operands::selection:
      return types[0] == dsl::dtype::boolean && types[1] == types[2];
    case dsl::op_operands::scaled: return types[1] == dsl::dtype::int32;
    default: {
      bool same = true;
      for (std::size_t i = 1; i < count; ++i) same = same && types[i] == types[0];
      return same;
    }
  }
}

/// All sections of the file; no function has been compared yet.
const std::vector<section>& all_sections();
/// The section of operands of these dtypes; no function has been compared yet. Throws
/// std::runtime_error if there is none.
section section_of(const std::vector<dsl::dtype>& types);

/// Expects a function's elements, in their memory format, to be NumPy's: dtypes, integers, NaNs,
/// infinities and signs of zeros exactly, other numbers within the function's bound
/// (accuracy/bounds.hpp). For 16-bit floats only the last place may differ.
void expect_equal(const section& s, dsl::op code, dsl::dtype type, const bytes& got, bool on_gpu);

/// Expects that every function of the section has been compared.
void expect_complete(const section& s);

}  // namespace numpy_values
