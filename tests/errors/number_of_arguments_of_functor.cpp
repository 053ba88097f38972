// wanted: Takes = 1; int Given = 2
#include <dsl/dsl.hpp>
struct magnitude {
  DSL_FN float operator()(float v) const { return v > 0 ? v : -v; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(magnitude{})(x, 2); }
