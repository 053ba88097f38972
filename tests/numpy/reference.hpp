// NumPy's values (tests/data/functions.txt), and the comparison with them. Compiled once: the dtypes are values here.
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

/// Operands of given dtypes, and what every function that takes them makes of them.
struct section {
  std::vector<dsl::dtype> types;
  std::vector<bytes> operands;
  std::vector<function_values> functions;
};

/// The section of operands of these dtypes, none of its functions compared yet. Throws std::runtime_error where there is none.
section section_of(const std::vector<dsl::dtype>& types);

/// Expects a function's elements, as they lie in memory, to be NumPy's: dtypes, integers, NaNs, infinities and signs of zeros exactly,
/// other numbers within the function's bound (accuracy/bounds.hpp). Of 16-bit floats the last place alone may differ.
void expect_equal(const section& s, dsl::op code, dsl::dtype type, const bytes& got, bool on_gpu);

/// Expects that no function of the section has been left out.
void expect_complete(const section& s);

}  // namespace numpy_values
