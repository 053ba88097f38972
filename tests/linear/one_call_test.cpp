// Formulas that are one call of the library: times * matmul(a, b) + plus * c, and conjugates.
#include <dsl/linear.hpp>

#include <cmath>
#include <complex>
#include <functional>
#include <string>

#include "../on_device.hpp"
#include "matrices.hpp"

namespace {

using namespace matrices;
using namespace std::complex_literals;

struct one_call : on_device {};
ON_EVERY_DEVICE(one_call);

bool is_one_call(const dsl::explanation& of) {
  const std::string text(of.text());
  return text.find("matmul") != std::string::npos && text.find("kernel") == std::string::npos;
}

// Assigns to c, and compares with times * a b + plus * c.
template <class T, class Assign>
void expect_call(const Assign& assign, T times, T plus, int64_t n = 33, int64_t k = 20,
                 int64_t m = 17) {
  const auto a = filled<T, 2>({n, k}, 1), b = filled<T, 2>({k, m}, 2);
  auto c = filled<T, 2>({n, m}, 3);
  const auto x = a.copy_to_host(), y = b.copy_to_host(), before = c.copy_to_host();
  const dsl::explanation how = assign(a, b, c);
  EXPECT_TRUE(is_one_call(how)) << how.text();
  const auto got = c.copy_to_host();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(i * m + j);
      const auto want = widened(times) * element_of_product(x, y, k, m, i, j) +
                        widened(plus) * widened(before[at]);
      ASSERT_LE(std::abs(widened(got[at]) - want), 4 * bound_of<T>(k)) << i << " " << j;
    }
}
// Assigns an expression of a, b and c, and explains it.
#define ASSIGN(expression)                                      \
  [](const auto& a, const auto& b, auto& c) {                   \
    const dsl::explanation how = dsl::explain(c, (expression)); \
    c = expression;                                             \
    return how;                                                 \
  }

TEST_P(one_call, numbers_and_the_target) {
  expect_call<double>(ASSIGN(2.5 * dsl::matmul(a, b)), 2.5, 0);
  expect_call<double>(ASSIGN(2 * dsl::matmul(a, b) + c * 0.5), 2, 0.5);
  expect_call<double>(ASSIGN(-(3 * c - dsl::matmul(a, b) * 2)), 2, -3);
  // Of a vector, of rows of no elements.
  expect_call<double>(ASSIGN(2 * dsl::matmul(a, b) + c * 0.5), 2, 0.5, 70, 9, 1);
  expect_call<double>(ASSIGN(2 * dsl::matmul(a, b) + c * 0.5), 2, 0.5, 1, 9, 70);
  expect_call<double>(ASSIGN(2 * dsl::matmul(a, b) + c * 0.5), 2, 0.5, 5, 0, 6);
  expect_call<float>(ASSIGN(c - 0.1 * dsl::matmul(a, b)), -0.1f, 1);
  expect_call<c64>(ASSIGN((1.0 + 2i) * dsl::matmul(a, b) + 1i * c), 1.0 + 2i, 1i);
  expect_call<c64>(ASSIGN((1.0 + 2i) * dsl::matmul(a, b) + 1i * c), 1.0 + 2i, 1i, 5, 0, 6);
  expect_call<dsl::half>(ASSIGN(2 * dsl::matmul(a, b) + c), dsl::half(2), dsl::half(1));
}

TEST_P(one_call, compound_assignments_batches_and_parts) {
  const auto a = filled<double, 3>({4, 5, 7}, 1), b = filled<double, 3>({4, 7, 3}, 2);
  auto c = filled<double, 3>({4, 5, 3}, 3);
  const auto ab = dsl::eval(dsl::matmul(a, b));
  const auto before = dsl::eval(c);
  c += 2 * dsl::matmul(a, b);
  EXPECT_LE(off(c - (before + 2 * ab)), 1e-14);
  c -= dsl::matmul(a, b);
  EXPECT_LE(off(c - (before + ab)), 1e-14);
  // A vector for each matrix.
  const auto v = filled<double, 1>({7}, 4);
  const auto av = dsl::eval(dsl::matmul(a, v));
  dsl::array<double, 2> y = dsl::full<double>(3.0, 4, 5);
  y -= dsl::matmul(a, v);
  EXPECT_LE(off(y - (3 - av)), 1e-14);
  // Rows that lie apart, in batches that lie apart; what is between them stays.
  auto wide = filled<double, 4>({2, 6, 9, 8}, 5);
  const auto whole = dsl::eval(wide);
  const auto part = wide(1, dsl::slice(1, 5), dsl::slice(2, 7), dsl::slice(4, 7));
  EXPECT_TRUE(is_one_call(dsl::explain(part, part + dsl::matmul(a, b))));
  const auto of_part = dsl::eval(part);
  part += dsl::matmul(a, b);
  EXPECT_LE(off(part - (of_part + ab)), 1e-14);
  part = of_part;
  EXPECT_EQ(wide.copy_to_host(), whole.copy_to_host());
  part = dsl::matmul(a, b);
  EXPECT_EQ(dsl::eval(part).copy_to_host(), ab.copy_to_host());
  part = of_part;
  EXPECT_EQ(wide.copy_to_host(), whole.copy_to_host());
  // Columns: not as the library writes them.
  auto turned = filled<double, 3>({4, 3, 5}, 6);
  const auto turned_before = dsl::eval(turned);
  const auto columns = dsl::permute(turned, 0, 2, 1);
  columns += dsl::matmul(a, b);
  EXPECT_LE(off(dsl::permute(turned - turned_before, 0, 2, 1) - ab), 1e-14);
}

// What a call would compute otherwise than the formula.
TEST_P(one_call, values_are_those_of_the_formula) {
  const auto a = filled<double, 2>({6, 6}, 1), b = filled<double, 2>({6, 6}, 2);
  const auto ab = dsl::eval(dsl::matmul(a, b));
  const double nan = std::nan("");
  auto c = filled<double, 2>({6, 6}, 3);
  auto one = c(2, 3);
  for (const double plus : {0.0, 1.5}) {
    one = nan;
    c = 2 * dsl::matmul(a, b) + plus * c;
    const auto got = c.copy_to_host(), want = ab.copy_to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (i == 15) {
        EXPECT_TRUE(std::isnan(got[i]));
      } else if (plus == 0) {
        EXPECT_DOUBLE_EQ(got[i], 2 * want[i]);
      }
    }
  }
  const dsl::array<double, 2> unknown = dsl::full<double>(nan, 6, 6);
  c = 0 * dsl::matmul(a, unknown);
  EXPECT_TRUE(dsl::all(dsl::isnan(c)).value());
  // Where the target is a factor, or something else is added.
  c = a;
  const auto cb = dsl::eval(dsl::matmul(c, b));
  c += dsl::matmul(c, b);
  EXPECT_LE(off(c - (a + cb)), 1e-14);
  c = a;
  c = dsl::matmul(a, b) + dsl::transpose(c);
  EXPECT_LE(off(c - (ab + dsl::transpose(a))), 1e-14);
  c = a;
  c = dsl::matmul(a, b) + 2 * b;
  EXPECT_LE(off(c - (ab + 2 * b)), 1e-14);
  // Of another dtype, and a product of a product.
  const dsl::array<c64, 2> wide = 2 * dsl::matmul(a, b);
  EXPECT_LE(off(wide - 2 * ab), 1e-14);
  c = a;
  c += 2 * dsl::matmul(dsl::matmul(c, b), b);
  EXPECT_LE(off(c - (a + 2 * dsl::matmul(cb, b))), 1e-14);
}

TEST_P(one_call, conjugates_of_columns) {
  const auto a = filled<c64, 2>({9, 20}, 1), b = filled<c64, 2>({9, 11}, 2);
  const auto x = filled<c64, 1>({9}, 3);
  expect_product<c64>(conj(dsl::transpose(a)), b);
  expect_product<c64>(dsl::transpose(b), conj(a));
  expect_product<c64>(dsl::transpose(conj(b)), conj(a));
  expect_product<c64>(conj(dsl::transpose(a(dsl::slice(), dsl::slice(3, 8)))),
                      conj(b(dsl::slice(0, dsl::end, 1), dsl::slice(1, dsl::end, 2))));
  const auto adjoint = dsl::eval(conj(dsl::transpose(a)));
  const auto conjugate = dsl::eval(conj(x));
  EXPECT_LE(off(dsl::matmul(conj(dsl::transpose(a)), conj(x)) - dsl::matmul(adjoint, conjugate)),
            1e-14);
  EXPECT_LE(off(dsl::matmul(conj(x), a) - dsl::matmul(conjugate, a)), 1e-14);
  // Conjugates of columns are read as they lie, those of rows are evaluated before.
  dsl::array<c64, 2> c = dsl::zeros<c64>(20, 11);
  EXPECT_TRUE(is_one_call(dsl::explain(c, 2i * dsl::matmul(conj(dsl::transpose(a)), b))));
  EXPECT_FALSE(is_one_call(dsl::explain(c, dsl::matmul(dsl::transpose(a), conj(b)))));
  c += 1i * dsl::matmul(conj(dsl::transpose(a)), b);
  EXPECT_LE(off(c - 1i * dsl::matmul(adjoint, b)), 1e-14);
  const auto real = filled<double, 2>({9, 20}, 4);
  EXPECT_LE(
      off(dsl::matmul(conj(dsl::transpose(real)), real) - dsl::matmul(dsl::transpose(real), real)),
      0);
}

}  // namespace
