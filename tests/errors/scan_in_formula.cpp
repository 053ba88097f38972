// wanted: a scan is one of arrays: inside a formula there is one element
#include <dsl/scan.hpp>
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return dsl::cumsum(v); })(x);
}
