// Products of matrices, systems of equations and decompositions, against sums in higher precision
// and against what defines them.
#include <dsl/linear.hpp>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <thread>

#include "../error_of.hpp"
#include "../on_device.hpp"
#include "matrices.hpp"

namespace {

using namespace std::complex_literals;
using namespace matrices;

struct linear : on_device {};
ON_EVERY_DEVICE(linear);

// Other dtypes are in linear_all_test.cpp and one_call_test.cpp.
TEST_P(linear, products_of_every_size) {
  products_of_sizes<double>({0, 1, 2, 32, 65});
  products_of_sizes<c64>({0, 1, 33});
}

TEST_P(linear, products_read_views_as_they_lie) {
  const auto x = filled<double, 2>({70, 90}, 1), y = filled<double, 2>({90, 70}, 2);
  expect_product<double>(dsl::transpose(y), dsl::transpose(x));
  expect_product<double>(x(dsl::slice(3, 40), dsl::slice(5, 22)),
                         y(dsl::slice(1, 18), dsl::slice(7, 60)));
  // Steps that BLAS does not know, rows from the end, one row for all.
  expect_product<double>(x(dsl::slice(0, dsl::end, 2), dsl::slice(0, dsl::end, 3)),
                         y(dsl::slice(0, 30), dsl::slice()));
  expect_product<double>(dsl::flip(x, 0), y);
  expect_product<double>(dsl::broadcast_to(x(0, dsl::slice()), 5, 90), y);
}

TEST_P(linear, products_of_vectors_and_batches) {
  const auto a = filled<double, 3>({4, 5, 7}, 1), b = filled<double, 3>({4, 7, 3}, 2);
  const auto v = filled<double, 1>({7}, 3), u = filled<double, 1>({5}, 4);
  const auto by_sum =
      dsl::eval(dsl::sum(dsl::expand_dims(a, 3) * dsl::expand_dims(b, 1), dsl::axis(2)));
  EXPECT_LE(off(dsl::matmul(a, b) - by_sum), 1e-14);
  EXPECT_LE(off(dsl::matmul(a, v) - dsl::sum(a * v, dsl::axis(2))), 1e-14);
  EXPECT_LE(off(dsl::matmul(u, a) - dsl::sum(a * dsl::expand_dims(u, 1), dsl::axis(1))), 1e-14);
  EXPECT_NEAR(dsl::scalar<double>(dsl::matmul(v, v)).value(), dsl::sum(v * v).value(), 1e-14);
  // A matrix for all of a batch, and batches of two dimensions of which each is broadcast.
  const auto one = filled<double, 2>({7, 3}, 5);
  EXPECT_LE(off(dsl::matmul(a, one) -
                dsl::sum(dsl::expand_dims(a, 3) * dsl::expand_dims(one, 0), dsl::axis(2))),
            1e-14);
  const auto rows = filled<double, 4>({2, 1, 3, 5}, 6),
             columns = filled<double, 4>({1, 4, 5, 2}, 7);
  const dsl::array<double, 4> all = dsl::matmul(rows, columns);
  ASSERT_EQ(all.extents(), (dsl::extents<4>{2, 4, 3, 2}));
  EXPECT_LE(
      off(all - dsl::sum(dsl::expand_dims(rows, 4) * dsl::expand_dims(columns, 2), dsl::axis(3))),
      1e-14);
}

TEST_P(linear, products_in_formulas) {
  const auto a = filled<double, 2>({40, 40}, 1), b = filled<double, 2>({40, 40}, 2);
  const dsl::array<double, 2> ab = dsl::matmul(a, b), ba = dsl::matmul(b, a);
  dsl::array<double, 2> r = 2 * (dsl::matmul(a, b) - dsl::matmul(b, a)) + 1;
  EXPECT_LE(off(r - (2 * (ab - ba) + 1)), 1e-13);
  // Into an operand, of a product, into another dtype, into a part, beside another statement.
  dsl::array<double, 2> c = a;
  c = dsl::matmul(c, b);
  EXPECT_EQ(c.copy_to_host(), ab.copy_to_host());
  EXPECT_LE(off(dsl::matmul(dsl::matmul(a, b) + 1, a) - dsl::matmul(dsl::eval(ab + 1), a)), 1e-12);
  const dsl::array<float, 2> narrow = dsl::cast<float>(dsl::matmul(a, b));
  EXPECT_LE(off(narrow - dsl::cast<float>(ab)), 0);
  dsl::array<double, 2> wide = dsl::zeros<double>(50, 60);
  auto part = wide(dsl::slice(5, 45), dsl::slice(10, 50));
  part = dsl::matmul(a, b);
  EXPECT_LE(off(wide(dsl::slice(5, 45), dsl::slice(10, 50)) - ab), 0);
  EXPECT_EQ(dsl::sum(wide(dsl::slice(0, 5), dsl::slice())).value(), 0);
  dsl::array<double, 2> product;
  dsl::scalar<double> total;
  dsl::tie(product, total) = std::tuple{dsl::matmul(a, b), dsl::sum(a)};
  EXPECT_EQ(product.copy_to_host(), ab.copy_to_host());
  // The same bits each time.
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(dsl::eval(dsl::matmul(a, b)).copy_to_host(), ab.copy_to_host());
  EXPECT_NE(std::string(dsl::explain(c, dsl::matmul(a, 2 * b)).text()).find("matmul of (40, 40)"),
            std::string::npos);
}

TEST_P(linear, systems_of_every_size) {
  for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 40}) expect_solutions<double>(n, 131);
  expect_solutions<double>(300, 2);
  const dsl::array<double, 2> none =
      dsl::solve(dsl::array<double, 3>(0, 3, 3), dsl::array<double, 2>(0, 3));
  EXPECT_EQ(none.size(), 0);
}

TEST_P(linear, singular_systems_stop_nothing) {
  for (const int64_t n : {2, 12}) {
    dsl::array<double, 3> a =
        dsl::cast<double>(dsl::index(1, 3, n, n) == dsl::index(2, 3, n, n)) * 2;
    auto second = a(1, dsl::slice(), dsl::slice());
    second = 1.0;
    const dsl::array<double, 2> b = dsl::full<double>(4.0, 3, n), x = dsl::solve(a, b);
    const auto got = x.copy_to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool is_second = i / static_cast<std::size_t>(n) == 1;
      if (!is_second) {
        EXPECT_EQ(got[i], 2);
      }
    }
    EXPECT_FALSE(std::isfinite(got[static_cast<std::size_t>(2 * n - 1)]));
  }
}

TEST_P(linear, decompositions) {
  for (const int64_t n : {1, 5, 33}) expect_decompositions<double>(n, 3);
}
TEST_P(linear, cholesky_of_other_matrices_gives_nan) {
  dsl::array<double, 3> a = dsl::cast<double>(dsl::index(1, 3, 4, 4) == dsl::index(2, 3, 4, 4)) * 9;
  auto pivot = a(1, 2, 2);
  pivot = -1.0;
  const auto got = dsl::eval(dsl::cholesky(a)).copy_to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (i / 16 == 1) {
      EXPECT_TRUE(std::isnan(got[i]));
    } else {
      EXPECT_EQ(got[i], i % 16 % 5 == 0 ? 3 : 0);
    }
}

// Vectors of matrices of rank 0 and 1 are orthogonal as well.
TEST_P(linear, vectors_of_singular_matrices) {
  for (const int64_t n : {6, 40}) {
    auto a = filled<double, 3>({3, n, n}, 1);
    auto zero = a(0, dsl::slice(), dsl::slice()), flat = a(1, dsl::slice(), dsl::slice());
    zero = 0.0;
    flat = dsl::expand_dims(filled<double, 1>({n}, 2), 1);
    const auto [u, s, vh] = dsl::svd(a);
    const auto identity = dsl::cast<double>(dsl::index(1, 3, n, n) == dsl::index(2, 3, n, n));
    EXPECT_LE(off(dsl::matmul(dsl::permute(u, 0, 2, 1), u) - identity), 1e-13);
    EXPECT_LE(off(dsl::matmul(vh, dsl::permute(vh, 0, 2, 1)) - identity), 1e-13);
    EXPECT_LE(off(dsl::matmul(u * dsl::expand_dims(s, 1), vh) - a), 1e-13);
    EXPECT_LE(off(s(0, dsl::slice())), 0);
  }
}

TEST_P(linear, nan_stays_in_its_own_matrix) {
  auto a = filled<double, 3>({3, 5, 5}, 2);
  const auto before = dsl::eval(dsl::svdvals(a)).copy_to_host();
  auto unknown = a(1, 2, 3);
  unknown = std::nan("");
  const auto values = dsl::eval(dsl::svdvals(a)).copy_to_host();
  const auto [u, s, vh] = dsl::svd(a);
  const auto [of_a, vectors] = dsl::eigh(dsl::permute(a, 0, 2, 1));
  const auto eigenvalues = of_a.copy_to_host(), with_vectors = s.copy_to_host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_unknown = i / 5 == 1;
    EXPECT_EQ(std::isnan(values[i]), is_unknown) << i;
    EXPECT_EQ(std::isnan(with_vectors[i]), is_unknown) << i;
    EXPECT_EQ(std::isnan(eigenvalues[i]), is_unknown) << i;
    if (!is_unknown) {
      EXPECT_NEAR(values[i], before[i], 1e-14);
    }
  }
  EXPECT_NEAR(dsl::eval(dsl::matrix_norm<dsl::nuclear>(a)).copy_to_host()[2],
              values[10] + values[11] + values[12] + values[13] + values[14], 1e-14);
  // Of many unknowns, which LAPACK solves.
  const auto solution =
      dsl::eval(dsl::solve(dsl::full<double>(std::nan(""), 9, 9), dsl::full<double>(1.0, 9)));
  EXPECT_TRUE(dsl::all(dsl::isnan(solution)).value());
}

TEST_P(linear, errors_change_nothing) {
  const auto a = filled<double, 2>({3, 4}, 1), b = filled<double, 2>({3, 5}, 2);
  dsl::array<double, 2> c = dsl::full<double>(7.0, 3, 5);
  EXPECT_EQ(error_of([&] { c = dsl::matmul(a, b); }),
            "matmul of shapes (3, 4) and (3, 5): rows of 4 elements and columns of 3");
  EXPECT_EQ(error_of([&] {
              dsl::eval(dsl::matmul(dsl::zeros<double>(2, 3, 4), dsl::zeros<double>(3, 4, 5)));
            }),
            "matmul of shapes (2, 3, 4) and (3, 4, 5): the batches do not broadcast");
  EXPECT_NE(error_of([&] { c = dsl::matmul(a, dsl::transpose(a)); }), "no error");
  EXPECT_EQ(error_of([&] { dsl::eval(dsl::solve(a, b)); }),
            "solve of matrices of shape (3, 4), which are not square");
  EXPECT_EQ(
      error_of([&] { dsl::eval(dsl::solve(dsl::zeros<double>(3, 3), dsl::zeros<double>(4))); }),
      "solve of matrices of shape (3, 3) and right sides of shape (4): 3 unknowns and 4 "
      "equations");
  EXPECT_NE(error_of([&] { dsl::eval(dsl::cholesky(a)); }), "no error");
  EXPECT_NE(error_of([&] { dsl::eigh(a); }), "no error");
  EXPECT_EQ(c.copy_to_host(), std::vector<double>(15, 7.0));
  const auto square = filled<double, 2>({4, 4}, 3);
  const dsl::device here = dsl::device::current();
  const dsl::device elsewhere(here.kind == dsl::backend::host ? dsl::backend::sim
                                                              : dsl::backend::host);
  const dsl::array<double, 2> other = [&] {
    const dsl::device_guard on(elsewhere);
    return filled<double, 2>({4, 4}, 3);
  }();
  auto sum = filled<double, 2>({4, 4}, 5);
  const auto before = sum.copy_to_host();
  for (const auto& run : std::initializer_list<std::function<void()>>{
           [&] { sum = dsl::matmul(square, other); }, [&] { sum = dsl::matmul(other, other); },
           [&] { sum += dsl::matmul(square, other); }, [&] { sum = dsl::solve(other, other); }})
    EXPECT_NE(error_of(run).find("operands on different devices"), std::string::npos);
  EXPECT_EQ(sum.copy_to_host(), before);
  EXPECT_NE(error_of([&] {
              dsl::eval(dsl::gradient(dsl::sum(dsl::matmul(square, square)), square));
            }).find("none goes through a product"),
            std::string::npos);
}

TEST_P(linear, threads_have_results_of_their_own) {
  const auto a = filled<double, 2>({64, 64}, 1), b = filled<double, 2>({64, 64}, 2);
  const auto want = dsl::eval(dsl::matmul(a, b)).copy_to_host();
  std::vector<std::thread> all;
  std::vector<std::vector<double>> got(4);
  for (std::size_t t = 0; t < 4; ++t)
    all.emplace_back([&, t, where = dsl::device::current()] {
      const dsl::device_guard on(where);
      const dsl::stream own(where);
      const dsl::stream_guard queue(own);
      for (int i = 0; i < 5; ++i) got[t] = dsl::eval(dsl::matmul(a, b)).copy_to_host();
    });
  for (std::thread& t : all) t.join();
  for (const auto& each : got) EXPECT_EQ(each, want);
}

}  // namespace
