// wanted by nvcc: calling a __host__ function
#include <dsl/dsl.hpp>
inline float magnitude_of(float v) { return v > 0 ? v : -v; }
struct magnitude {
  DSL_FN float operator()(float v) const { return magnitude_of(v); }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(magnitude{})(x); }
