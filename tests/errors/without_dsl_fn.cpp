// wanted by nvcc: call_operator_marked_DSL_FN
#include <dsl/dsl.hpp>
struct magnitude {
  float operator()(float v) const { return v > 0 ? v : -v; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(magnitude{})(x); }
