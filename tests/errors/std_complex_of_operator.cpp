// wanted: a functor returns dsl::complex<T>, not std::complex<T>
#include <complex>
#include <dsl/dsl.hpp>
struct product {
  DSL_FN std::complex<double> operator()(dsl::complex<double> z, dsl::complex<double> w) const {
    return std::complex<double>(z * w);
  }
};
void f(dsl::scalar<std::complex<double>>& p, const dsl::array<std::complex<double>>& z) { p = dsl::reduce(product{})(z); }
