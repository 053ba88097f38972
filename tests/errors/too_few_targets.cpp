// wanted: as many targets as the right side has values
#include <tuple>
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  dsl::tie(x) = dsl::vectorize([](auto v) { return std::tuple{v, -v}; })(x);
}
