// wanted: a right-hand side returns one derivative for each field, and the fields are its first arguments
#include <dsl/ode.hpp>

#include <tuple>
void f(dsl::array<float>& y, dsl::array<float>& v) {
  dsl::tie(y, v) = dsl::ode::rk4([](auto y) { return std::tuple{y, -y}; })(y, 0.1f);
}
