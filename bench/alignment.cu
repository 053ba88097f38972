// Measures operands and results that begin 4, 8 or 12 bytes beyond a multiple of 16.
#include "works.hpp"

namespace bench {
namespace {

/// Operands whose first elements are shifted by `of_a`, `of_b` and `of_out` elements.
struct shifted {
  shifted(std::int64_t n, std::int64_t of_a, std::int64_t of_b, std::int64_t of_out)
      : a(operand<float>(slot::a, n + 4)(dsl::slice(of_a, of_a + n))),
        b(operand<float>(slot::b, n + 4)(dsl::slice(of_b, of_b + n))),
        out(target<float>(slot::out, n + 4)(dsl::slice(of_out, of_out + n))) {}
  dsl::view<const float> a, b;
  dsl::view<float> out;
};

work aligned_so(std::string name, std::int64_t n, int moved) {
  return work("alignment", dsl::dtype::float32, std::to_string(n), std::move(name),
              4.0 * moved * static_cast<double>(n));
}

void add_row(const std::string& name, std::int64_t of_a, std::int64_t of_b, std::int64_t of_out) {
  for (const std::int64_t n : {1 << 27, (1 << 27) + 1})
    aligned_so(name, n, 3).by("dsl", [=] {
      const shifted x(n, of_a, of_b, of_out);
      return job{[=] { x.out = x.a + x.b; }, x.out};
    });
}
void exponential_row(const std::string& name, std::int64_t of_a, std::int64_t of_out) {
  for (const std::int64_t n : {1 << 27, (1 << 27) + 1})
    aligned_so(name, n, 2).by("dsl", [=] {
      const shifted x(n, of_a, 0, of_out);
      return job{[=] { x.out = exp(x.a); }, x.out};
    });
}

const rows shifts([] {
  for (const int k : {1, 2, 3}) {
    const std::string from = '[' + std::to_string(k) + ":]";
    add_row("a" + from + " + b", k, 0, 0);
    add_row("a + b" + from, 0, k, 0);
    add_row("out" + from + " = a + b", 0, 0, k);
    add_row("out" + from + " = a" + from + " + b" + from, k, k, k);
  }
  add_row("a[1:] + b[:-1]", 1, 0, 0);
  exponential_row("exp(a[1:])", 1, 0);
  exponential_row("out[1:] = exp(a[1:])", 1, 1);
});

}  // namespace
}  // namespace bench
