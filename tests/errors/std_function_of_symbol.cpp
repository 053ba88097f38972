// wanted: functions of symbols are without std::, as sqrt(v)
#include <cmath>
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return std::sqrt(v); })(x);
}
