// wanted: NumPy's files have no bfloat16
#include <dsl/dsl.hpp>
void f(const dsl::array<dsl::bfloat16>& x) { dsl::save_npy("x.npy", x); }
