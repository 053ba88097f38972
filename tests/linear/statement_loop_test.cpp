// Loops whose steps are statements with products and systems: the same bits as a C++ loop of them,
// if its statements are the same.
#include <dsl/linear.hpp>

#include <complex>

#include "../error_of.hpp"
#include "../on_device.hpp"
#include "matrices.hpp"

namespace {

using namespace matrices;
using namespace std::complex_literals;

struct statement_loop : on_device {};
ON_EVERY_DEVICE(statement_loop);

TEST_P(statement_loop, steps_are_statements) {
  const auto H = filled<c64, 2>({12, 12}, 1);
  for (const int steps : {0, 1, 3, 50}) {
    auto rho = filled<c64, 2>({12, 12}, 2), want = filled<c64, 2>({12, 12}, 2);
    const auto commutator = dsl::statement([](auto r, auto hamiltonian, double dt) {
      return r - 1i * dt * (dsl::matmul(hamiltonian, r) - dsl::matmul(r, hamiltonian));
    });
    dsl::iterate(steps, commutator, dsl::state(rho), H, 0.01);
    for (int k = 0; k < steps; ++k)
      want = want - 1i * 0.01 * (dsl::matmul(H, want) - dsl::matmul(want, H));
    EXPECT_EQ(rho.copy_to_host(), want.copy_to_host()) << steps;
    // Used by another statement behind the loop.
    EXPECT_EQ(dsl::eval(rho + 0.0).copy_to_host(), want.copy_to_host()) << steps;
  }
}

TEST_P(statement_loop, several_variables_and_histories) {
  const auto A = filled<double, 2>({20, 20}, 3);
  const dsl::array<double, 2> M =
      A + 9 * dsl::cast<double>(dsl::index(0, 20, 20) == dsl::index(1, 20, 20));
  auto x = filled<double, 1>({20}, 4), y = filled<double, 1>({20}, 4);
  dsl::scalar<double> size(0.0), t(1.0);
  double other = 1;
  const auto power = dsl::statement([&M, h = 0.5](auto v, auto, auto time) {
    return std::tuple{dsl::solve(M, v) / dsl::norm(v), dsl::sum(v * v), time + h};
  });
  const auto [sizes, times, first] = dsl::iterate(13, power, dsl::state(x, size, t), dsl::every(2),
                                                  dsl::record(x(dsl::slice(0, 20, 7))));
  const auto got = sizes.copy_to_host(), at = times.copy_to_host(), rows = first.copy_to_host();
  ASSERT_EQ(got.size(), 6u);
  ASSERT_EQ(first.extents(), (dsl::extents<2>{6, 3}));
  for (int k = 0; k < 13; ++k) {
    const double before = dsl::sum(y * y).value();
    y = dsl::solve(M, y) / dsl::norm(y);
    other += 0.5;
    if (k % 2 == 0) continue;
    const auto row = static_cast<std::size_t>(k / 2);
    EXPECT_NEAR(got[row], before, 1e-15 * before);
    EXPECT_EQ(at[row], other);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(rows[row * 3 + i], y.copy_to_host()[7 * i], 1e-14);
  }
  EXPECT_LE(off(x - y), 1e-14);
  EXPECT_EQ(t.value(), 7.5);
}

// How often a loop of so many steps calls its function. On a GPU that is twice, for the first step
// and for the recording; the other steps launch the graph.
int calls_of(int steps, const auto& f, const auto&... of) {
  int calls = 0;
  const auto counted = dsl::statement([&](auto... arrays) {
    ++calls;
    return f(arrays...);
  });
  dsl::iterate(steps, counted, of...);
  return calls;
}

TEST_P(statement_loop, is_recorded_where_libraries_can_be) {
  const auto A = filled<double, 2>({20, 20}, 3);
  const dsl::array<double, 2> M =
      A + 9 * dsl::cast<double>(dsl::index(0, 20, 20) == dsl::index(1, 20, 20));
  auto x = filled<double, 1>({20}, 4), y = filled<double, 1>({20}, 5);
  const bool is_recorded = dsl::device::current().kind == dsl::backend::cuda;
  const auto expected = [&](int steps) { return is_recorded && steps > 3 ? 2 : steps; };
  for (const int steps : {0, 3, 20}) {
    EXPECT_EQ(calls_of(
                  steps, [](auto v, auto a) { return dsl::matmul(a, v) / dsl::norm(v); },
                  dsl::state(x), A),
              expected(steps));
    EXPECT_EQ(calls_of(
                  steps, [](auto v, auto w, auto m) { return std::tuple{dsl::solve(m, w), v + w}; },
                  dsl::state(x, y), M),
              expected(steps));
  }
}

TEST_P(statement_loop, errors_come_before_the_first_step) {
  const auto A = filled<double, 2>({5, 5}, 3), wide = filled<double, 2>({5, 6}, 3);
  auto x = filled<double, 2>({5, 5}, 4);
  const auto before = x.copy_to_host();
  const auto power = dsl::statement([](auto v, auto a) { return dsl::matmul(v, a); });
  EXPECT_NE(error_of([&] { dsl::iterate(10, power, dsl::state(x), wide); }), "no error");
  EXPECT_NE(error_of([&] { dsl::iterate(-1, power, dsl::state(x), A); }), "no error");
  EXPECT_EQ(x.copy_to_host(), before);
}

}  // namespace
