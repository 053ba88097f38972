// A kernel of each kind; names.sh compares their names. "shown:" precedes the name that profilers
// must show.
#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <tuple>

namespace app {
struct polar;
struct triple {
  DSL_FN float operator()(float x) const { return 3 * x; }
};
}  // namespace app

void run(dsl::array<float>& a, dsl::array<float>& b, dsl::scalar<float>& s) {
  // shown: map<app::polar, dsl::detail::linear_arguments<4>
  // shown: map<app::polar, dsl::detail::strided_arguments<4>
  const auto polar = dsl::vectorize<app::polar>(
      [](auto x, auto y) { return std::tuple{sqrt(x * x + y * y), atan2(y, x)}; });
  dsl::tie(a, b) = polar(a, b);
  // shown: map<dsl::kernels::formula<dsl::ops::exp, dsl::ops::multiply, dsl::ops::add>,
  a = exp(a) + 2 * b;
  // shown: map<dsl::kernels::formula<app::triple>,
  a = dsl::vectorize(app::triple{})(a);
  // shown: reduce<dsl::kernels::formula<dsl::ops::abs2, dsl::ops::sum, dsl::ops::sqrt>,
  s = dsl::norm(a);
  // shown: map<dsl::kernels::formula<dsl::ops::add, dsl::ops::add, dsl::ops::add, dsl::ops::add,
  // dsl::ops::add, dsl::ops::add, dsl::ops::add, dsl::ops::add, dsl::ops::more>,
  a = a + b + a + b + a + b + a + b + a + b;
  // shown: scan_rows<dsl::kernels::formula<dsl::ops::cumsum>,
  // shown: scan_columns<dsl::kernels::formula<dsl::ops::cumsum>,
  // shown: scan_column_totals<dsl::kernels::formula<dsl::ops::cumsum>,
  b = dsl::cumsum(a);
  // shown: loop<dsl::kernels::formula<dsl::ops::multiply, dsl::ops::sum>,
  // shown: reduce<dsl::kernels::formula<dsl::ops::multiply, dsl::ops::sum>,
  // shown: finish<dsl::kernels::formula<dsl::ops::multiply, dsl::ops::sum>,
  dsl::iterate(10, dsl::vectorize([](auto x, auto y) {
                 auto z = x * y;
                 return std::tuple{z, dsl::sum(z)};
               }),
               dsl::state(a, s));
}
