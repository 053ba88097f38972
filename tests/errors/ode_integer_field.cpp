// wanted: fields are real or complex
#include <dsl/ode.hpp>
void f(dsl::array<int>& y) {
  y = dsl::ode::euler([](auto y) { return -y; })(y, 1);
}
