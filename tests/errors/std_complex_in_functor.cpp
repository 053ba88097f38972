// wanted by both: a functor takes dsl::complex<T>, not std::complex<T>
// lines: 15
#include <complex>
#include <dsl/dsl.hpp>
struct square {
  DSL_FN std::complex<double> operator()(std::complex<double> z) const { return z * z; }
};
void f(dsl::array<std::complex<double>>& z) { z = dsl::vectorize(square{})(z); }
