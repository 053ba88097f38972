// wanted: a stepper takes functions without captures or members: pass values as arguments
#include <dsl/ode.hpp>
void f(dsl::array<float>& y, float rate) {
  y = dsl::ode::rk4([rate](auto y) { return rate * y; })(y, 0.1f);
}
