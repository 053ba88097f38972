// wanted: a right-hand side takes the fields and the other arguments, after the time with ode::with_time
#include <dsl/ode.hpp>
void f(dsl::array<float>& y) {
  y = dsl::ode::rk4([](auto y, auto rate) { return rate * y; })(y, 0.1f);
}
