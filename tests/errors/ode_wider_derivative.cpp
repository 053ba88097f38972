// wanted: a derivative's dtype is wider than its field's: use dsl::cast
#include <dsl/ode.hpp>
void f(dsl::array<float>& y, const dsl::array<double>& rate) {
  y = dsl::ode::rk4([](auto y, auto rate) { return rate * y; })(y, rate, 0.1f);
}
