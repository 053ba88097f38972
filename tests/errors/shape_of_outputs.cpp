// wanted: a reduction has no elements to rearrange
#include <dsl/dsl.hpp>

#include <tuple>
auto f(dsl::array<float>& x) {
  return dsl::vectorize([](auto v) { return std::tuple{2 * v, dsl::sum(v)}; })(x)(dsl::slice(1, 3));
}
