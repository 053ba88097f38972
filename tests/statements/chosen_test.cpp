// Regression tests: statements that once gave wrong results, in addition to the drawn ones.
#include "statements.hpp"

#include <sstream>

ON_EVERY_DEVICE(drawn_statements);

// The sizes and chips of the tests reach every way in which rows are computed.
TEST_P(drawn_statements, see_every_path) {
  if (!simulated()) return;
  std::ostringstream all;
  for (const auto& [rows, columns] : statement_sizes)
    for (int number = 0; number < 4; ++number) {
      const other_chip guard(number);
      const dsl::array<float, 2> m = dsl::zeros<float>(rows, columns);
      dsl::array<float, 2> to(rows, columns);
      for (const int k : {0, 1}) all << dsl::explain(to, m - max(m, dsl::axis(k), dsl::keep_dims));
      all << dsl::explain(to, m - max(m));
    }
  for (const char* path : {"rows: ", "columns: ", "in registers", "in shared memory", "a cluster",
                           "blocks a row", "rows a block", "linear: ", "strided: ", "2 kernels"})
    EXPECT_NE(all.str().find(path), std::string::npos) << path;
}

// One reduction in two subformulas inside another reduction.
DRAWN_STATEMENT(a_row_of_sums_twice, [](const auto& x) {
  const auto s = sum(x.m, dsl::axis(1));
  return std::tuple{sum((s + 1) * (s + 2))};
});
DRAWN_STATEMENT(a_correlation_of_a_converted_array, [](const auto& x) {
  const auto v = cast<double>(x.m);
  return std::tuple{(mean(v * x.d) - mean(v) * mean(x.d)) *
                    ((mean(v * v) - square(mean(v))) * (mean(x.d * x.d) - square(mean(x.d))))};
});

// The bytes that blocks exchange differ between phases: 4, 4 and 12 a row, and 12, 4 and 12.
DRAWN_STATEMENT(phases_of_rising_size, [](const auto& x) {
  const auto greatest = max(x.m, dsl::axis(1), dsl::keep_dims);
  const auto below = min(x.m - greatest, dsl::axis(1), dsl::keep_dims);
  return std::tuple{argmax(x.m - below, dsl::axis(1), dsl::keep_dims)};
});
DRAWN_STATEMENT(phases_of_several_sizes, [](const auto& x) {
  const auto first = argmax(x.m);
  const auto below = min(x.m - first);
  return std::tuple{argmax(x.m - below)};
});

// Elements that need a row's reduction, together with a reduction of all elements.
DRAWN_STATEMENT(elements_of_columns_beside_a_sum, [](const auto& x) {
  return std::tuple{x.m - max(x.m, dsl::axis(0)), sum(x.m - x.n)};
});
DRAWN_STATEMENT(elements_beside_rows, [](const auto& x) {
  return std::tuple{x.m + 1, sum(x.m, dsl::axis(1)), max(x.n, dsl::axis(1))};
});
