// wanted: a reduction is one value: assign it to a dsl::scalar
#include <tuple>
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x, dsl::array<float>& y) { dsl::tie(y) = std::tuple{dsl::sum(x)}; }
