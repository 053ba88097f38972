// wanted: this operation is not defined for operands of these dtypes
#include <complex>
#include <dsl/dsl.hpp>
void f(dsl::array<bool>& x, dsl::array<std::complex<float>>& z) { x = z < z; }
