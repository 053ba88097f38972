// wanted: a functor's members are copied to the device as they are: numbers, std::array and pointers to the device's memory, no std::vector and no dsl::array
// wanted: a functor's members are given to the kernel by value, and may take up 256 bytes
// wanted: a functor with members cannot be called inside a traced lambda
// lines: 15
#include <dsl/dsl.hpp>

struct with_vector {
  std::vector<float> weights;
  DSL_FN float operator()(float x) const { return weights[0] * x; }
};
struct large {
  float weights[100];
  DSL_FN float operator()(float x) const { return weights[0] * x; }
};
struct scaled {
  float weight;
  DSL_FN float operator()(float x) const { return weight * x; }
};
constexpr auto twice = dsl::vectorize(scaled{2});

void f(dsl::array<float>& x) {
  x = dsl::vectorize(with_vector{})(x);
  x = dsl::vectorize(large{})(x);
  x = dsl::vectorize([](auto v) { return twice(v) + 1; })(x);
}
