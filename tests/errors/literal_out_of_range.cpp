// wanted: an integer literal is outside the dtype of the array beside it
#include <dsl/dsl.hpp>
void f(dsl::array<unsigned char>& x) {
  x = dsl::vectorize([](auto v) { return v + 300; })(x);
}
