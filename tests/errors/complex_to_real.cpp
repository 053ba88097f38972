// wanted: a complex number has no real value: take real(x), imag(x) or abs(x)
#include <complex>
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x, dsl::array<std::complex<float>>& z) { x = dsl::cast<float>(z); }
