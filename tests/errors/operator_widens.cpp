// wanted: the operator's result is of a wider dtype than what it joins: use dsl::cast
#include <dsl/scan.hpp>
void f(dsl::array<float>& x) {
  x = dsl::scan([](auto a, auto b) { return dsl::cast<double>(a) + b; })(x);
}
