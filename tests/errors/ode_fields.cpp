// wanted: a right-hand side returns one derivative for each field
#include <dsl/ode.hpp>
void f(dsl::array<float>& y, dsl::array<float>& v) {
  dsl::ode::integrate([](auto, auto v) { return v; }, dsl::state(y, v), 0, 1, {});
}
