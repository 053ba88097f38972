// wanted: a functor is a class at namespace scope: nvcc takes none that is local to a function
// lines: 15
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  struct magnitude {
    DSL_FN float operator()(float v) const { return v > 0 ? v : -v; }
  };
  x = dsl::vectorize(magnitude{})(x);
}
