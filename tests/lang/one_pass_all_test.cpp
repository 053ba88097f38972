// Reductions of several arrays in one statement: one pass where their shapes agree, and the right
// values whatever the arrays are.
#include "../on_device.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct one_pass : on_device {};
ON_EVERY_DEVICE(one_pass);

using dsl::axis, dsl::max, dsl::mean, dsl::min, dsl::norm, dsl::sum, dsl::var;

// Elements on the device, and the same ones here.
template <int Rank>
struct operand {
  dsl::view<const double, Rank> d;
  std::vector<double> h;
  std::int64_t rows = 1, columns = 0;
  double at(std::int64_t i, std::int64_t j) const {
    return h[static_cast<std::size_t>((rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j))];
  }
};

// ---- references in long double
using wide = long double;
std::vector<wide> product(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<wide> all;
  if (a.empty() || b.empty()) return all;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    all.push_back(wide(a[a.size() == 1 ? 0 : i]) * b[b.size() == 1 ? 0 : i]);
  return all;
}
template <class T>
wide sum_of(const std::vector<T>& x) {
  wide s = 0;
  for (const T v : x) s += v;
  return s;
}
template <class T>
wide mean_of(const std::vector<T>& x) {
  return x.empty() ? std::numeric_limits<wide>::quiet_NaN() : sum_of(x) / wide(x.size());
}
wide var_of(const std::vector<double>& x) {
  const wide m = mean_of(x);
  std::vector<wide> squares;
  for (const double v : x) squares.push_back((v - m) * (v - m));
  return mean_of(squares);
}
bool has_nan(const std::vector<double>& x) {
  return std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
}
double min_of(const std::vector<double>& x) {
  return has_nan(x) ? std::nan("") : *std::min_element(x.begin(), x.end());
}
double max_of(const std::vector<double>& x) {
  return has_nan(x) ? std::nan("") : *std::max_element(x.begin(), x.end());
}
std::int64_t argmax_of(const std::vector<double>& x) {
  const auto nan = std::find_if(x.begin(), x.end(), [](double v) { return std::isnan(v); });
  return (nan != x.end() ? nan : std::max_element(x.begin(), x.end())) - x.begin();
}
void expect_near(double got, wide want, const std::string& what) {
  if (std::isnan(want)) EXPECT_TRUE(std::isnan(got)) << what << ": " << got;
  else
    EXPECT_NEAR(got, static_cast<double>(want),
                1e-11 * std::max(1.0, std::abs(static_cast<double>(want))))
        << what;
}

// Whether each depth of a statement's reductions takes one launch.
template <class Run>
bool is_one_launch(const Run& run) {
  const dsl::detail::explained_runs runs;
  run();
  const std::string text = runs[0].text().c_str();
  return text.find("it reduces other operands") == text.npos &&
         text.find("its index space is") == text.npos;
}

// Arrays of one size, contiguous, misaligned, strided and backwards; then one with a NaN, one of
// another size, one of a single element and one without elements.
struct vectors {
  enum { with_nan = 4, of_other_size, single, empty, count };
  std::mt19937 engine;
  std::vector<dsl::array<double>> memory;
  std::vector<operand<1>> all;

  vectors(std::int64_t n, unsigned seed) : engine(seed) {
    for (int k = 0; k < count; ++k) {
      const std::int64_t size = k == of_other_size ? n / 2 + 3
                                : k == single      ? 1
                                : k == empty       ? 0
                                                   : n;
      std::vector<double> h(static_cast<std::size_t>(2 * size + 1));
      for (double& x : h) x = std::uniform_real_distribution<>(-2, 2)(engine) + 0.25 * k;
      if (k == with_nan && size > 0) h[static_cast<std::size_t>(size / 2)] = std::nan("");
      const std::int64_t first = k == 1   ? 1
                                 : k == 3 ? size - 1
                                          : 0,
                         step = k == 2   ? 2
                                : k == 3 ? -1
                                         : 1;
      memory.push_back(dsl::to_device(h));
      operand<1> made{{memory.back().view().owner(), memory.back().data() + first, {size}, {step}},
                      {}};
      for (std::int64_t i = 0; i < size; ++i)
        made.h.push_back(h[static_cast<std::size_t>(first + i * step)]);
      all.push_back(std::move(made));
    }
  }
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
  // One of the first `among`, more often one of two.
  const operand<1>& draw(int among = count) {
    return all[static_cast<std::size_t>(below(below(2) == 0 ? 2 : among))];
  }
  // One that broadcasts with x.
  const operand<1>& draw_beside(const operand<1>& x) {
    for (;;)
      if (const operand<1>& y = draw(); y.h.size() == x.h.size() || y.h.size() == 1) return y;
  }
};
constexpr std::int64_t drawn_sizes[] = {0, 1, 2, 3, 31, 32, 33, 257, 1023, 2049, 7001};

using v = const operand<1>&;

void correlation(dsl::scalar<double>& r, v a, v b, v c, v d, v e, v f) {
  r = (mean(a.d * b.d) - mean(c.d) * mean(d.d)) / sqrt(var(e.d) * var(f.d) + 1);
}
void check_correlation(v a, v b, v c, v d, v e, v f) {
  dsl::scalar<double> r;
  correlation(r, a, b, c, d, e, f);
  expect_near(r.value(),
              (mean_of(product(a.h, b.h)) - mean_of(c.h) * mean_of(d.h)) /
                  std::sqrt(var_of(e.h) * var_of(f.h) + 1),
              "correlation");
}

TEST_P(one_pass, correlations) {
  for (unsigned seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    vectors some(drawn_sizes[seed % std::size(drawn_sizes)], seed);
    const operand<1>& a = some.draw();
    check_correlation(a, some.draw_beside(a), some.draw(), some.draw(), some.draw(), some.draw());
  }
  for (const std::int64_t n : {1, 33, 7001}) {
    const vectors some(n, 1);
    v x = some.all[0], y = some.all[2], other = some.all[vectors::of_other_size];
    const auto is_one = [](v a, v b, v c, v d, v e, v f) {
      check_correlation(a, b, c, d, e, f);
      dsl::scalar<double> r;
      return is_one_launch([&] { correlation(r, a, b, c, d, e, f); });
    };
    EXPECT_TRUE(is_one(x, y, x, y, x, y));
    EXPECT_TRUE(is_one(x, y, x, y, y, x));
    EXPECT_TRUE(is_one(y, x, x, y, x, y));
    EXPECT_TRUE(is_one(y, x, y, x, x, x));
    EXPECT_TRUE(is_one(x, x, x, x, x, x));
    EXPECT_FALSE(is_one(x, y, x, y, x, other));
    EXPECT_FALSE(is_one(other, other, x, y, x, y));
  }
}

TEST_P(one_pass, the_same_functions_of_several_arrays) {
  dsl::scalar<double> r, s, t, q;
  const auto run = [&](v a, v b, v c, v d) {
    dsl::tie(r, s, t, q) = std::tuple{mean(a.d), dsl::std(b.d), mean(c.d), dsl::std(d.d)};
  };
  const auto check = [&](v a, v b, v c, v d) {
    run(a, b, c, d);
    expect_near(r.value(), mean_of(a.h), "first mean");
    expect_near(s.value(), std::sqrt(var_of(b.h)), "first std");
    expect_near(t.value(), mean_of(c.h), "second mean");
    expect_near(q.value(), std::sqrt(var_of(d.h)), "second std");
  };
  for (unsigned seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    vectors some(drawn_sizes[seed % std::size(drawn_sizes)], seed);
    check(some.draw(), some.draw(), some.draw(), some.draw());
  }
  const vectors some(1000, 1);
  const operand<1>&x = some.all[0], &y = some.all[1];
  EXPECT_TRUE(is_one_launch([&] { run(x, x, y, y); }));
  EXPECT_TRUE(is_one_launch([&] { run(x, y, y, x); }));
  EXPECT_TRUE(is_one_launch([&] { run(y, x, y, x); }));
}

TEST_P(one_pass, functions_of_arrays_that_a_product_may_read_too) {
  dsl::scalar<double> product_sum, least, greatest, length;
  dsl::scalar<std::int64_t> where;
  const auto run = [&](v a, v b, v c, v d, v e, v f) {
    dsl::tie(product_sum, least, greatest, where, length) =
        std::tuple{sum(a.d * b.d), min(c.d), max(d.d), dsl::argmax(e.d), norm(f.d)};
  };
  for (unsigned seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    vectors some(drawn_sizes[seed % std::size(drawn_sizes)], seed);
    const operand<1>& a = some.draw();
    const operand<1>&b = some.draw_beside(a), &c = some.draw(), &d = some.draw(), &e = some.draw(),
          &f = some.draw();
    if (c.h.empty() || d.h.empty() || e.h.empty()) {
      least = 77.0;
      EXPECT_THROW(run(a, b, c, d, e, f), dsl::shape_error);
      EXPECT_EQ(least.value(), 77);
      continue;
    }
    run(a, b, c, d, e, f);
    expect_near(product_sum.value(), sum_of(product(a.h, b.h)), "sum");
    expect_near(least.value(), min_of(c.h), "min");
    expect_near(greatest.value(), max_of(d.h), "max");
    EXPECT_EQ(where.value(), argmax_of(e.h));
    expect_near(length.value(), std::sqrt(sum_of(product(f.h, f.h))), "norm");
  }
  const vectors some(1000, 1);
  const operand<1>&x = some.all[0], &y = some.all[1], &z = some.all[2];
  EXPECT_TRUE(is_one_launch([&] { run(x, y, x, y, x, y); }));
  EXPECT_TRUE(is_one_launch([&] { run(x, y, z, x, z, z); }));
  EXPECT_TRUE(is_one_launch([&] { run(z, z, z, z, z, z); }));
}

TEST_P(one_pass, all_pairs_of_three_arrays) {
  dsl::scalar<double> ab, bc, ca, a_sum, b_sum, c_sum, a_var, b_var, c_var;
  const auto run = [&](v a, v b, v c) {
    dsl::tie(ab, bc, ca, a_sum, b_sum, c_sum, a_var, b_var, c_var) =
        std::tuple{sum(a.d * b.d), sum(b.d * c.d), sum(c.d * a.d), sum(a.d), sum(b.d),
                   sum(c.d),       var(a.d),       var(b.d),       var(c.d)};
  };
  for (const std::int64_t n : drawn_sizes) {
    vectors some(n, static_cast<unsigned>(n));
    for (int k = 0; k < 8; ++k) {
      v a = some.draw(5), b = some.draw(5), c = some.draw(5);
      EXPECT_TRUE(is_one_launch([&] { run(a, b, c); }));
      expect_near(ab.value(), sum_of(product(a.h, b.h)), "ab");
      expect_near(bc.value(), sum_of(product(b.h, c.h)), "bc");
      expect_near(ca.value(), sum_of(product(c.h, a.h)), "ca");
      expect_near(a_sum.value(), sum_of(a.h), "a");
      expect_near(b_sum.value(), sum_of(b.h), "b");
      expect_near(c_sum.value(), sum_of(c.h), "c");
      expect_near(a_var.value(), var_of(a.h), "var a");
      expect_near(b_var.value(), var_of(b.h), "var b");
      expect_near(c_var.value(), var_of(c.h), "var c");
    }
  }
}

// A target of one is an operand of the other: all are read before any is written.
TEST_P(one_pass, targets_among_the_operands) {
  for (unsigned seed = 0; seed < 60 && !HasFailure(); ++seed) {
    vectors some(drawn_sizes[seed % std::size(drawn_sizes)], seed);
    v a = some.draw(4), b = some.draw(4), c = some.draw();
    dsl::scalar<double> s = 3.0, t = 5.0, q = 7.0;
    const auto run = [&] {
      dsl::tie(s, t, q) = std::tuple{sum(a.d) * t, sum(b.d * a.d) * q, max(c.d + 100) * 0 + s};
    };
    if (c.h.empty()) {
      try {
        run();
        FAIL();
      } catch (const dsl::shape_error& e) {
        EXPECT_NE(std::string(e.what()).find("no value: max("), std::string::npos) << e.what();
      }
      EXPECT_EQ(std::tuple(s.value(), t.value(), q.value()), std::tuple(3, 5, 7));
      continue;
    }
    run();
    expect_near(s.value(), sum_of(a.h) * 5, "s");
    expect_near(t.value(), sum_of(product(b.h, a.h)) * 7, "t");
    if (!has_nan(c.h)) EXPECT_EQ(q.value(), 3);
  }
}

// Rows and columns, contiguous, transposed, cut out, and broadcast within a reduction.
struct matrices {
  std::mt19937 engine;
  std::vector<dsl::array<double>> memory;
  std::vector<operand<2>> all;
  matrices(std::int64_t rows, std::int64_t columns, unsigned seed) : engine(seed) {
    const std::int64_t r = rows, c = columns;
    for (int k = 0; k < 6; ++k) {
      // Extents in memory, then those of the operand: whole twice, transposed, cut out, one row,
      // twice as many rows.
      const std::int64_t height = k == 2   ? c
                                  : k == 3 ? r + 2
                                  : k == 4 ? 1
                                  : k == 5 ? 2 * r
                                           : r,
                         width = k == 2   ? r
                                 : k == 3 ? c + 3
                                          : c,
                         own = k == 4   ? 1
                               : k == 5 ? 2 * r
                                        : r;
      std::vector<double> h(static_cast<std::size_t>(height * width + 1));
      for (double& x : h) x = std::uniform_real_distribution<>(-2, 2)(engine);
      memory.push_back(dsl::to_device(h));
      const std::int64_t first = k == 3 ? width + 1 : 0, down = k == 2 ? 1 : width,
                         across = k == 2 ? width : 1;
      operand<2> made{
          {memory.back().view().owner(), memory.back().data() + first, {own, c}, {down, across}},
          {},
          own,
          c};
      for (std::int64_t i = 0; i < own; ++i)
        for (std::int64_t j = 0; j < c; ++j)
          made.h.push_back(h[static_cast<std::size_t>(first + i * down + j * across)]);
      all.push_back(std::move(made));
    }
  }
  const operand<2>& draw(int among) { return all[engine() % static_cast<unsigned>(among)]; }
};

TEST_P(one_pass, along_axes) {
  const std::pair<int, int> shapes[] = {{1, 1}, {3, 5},   {4, 32},  {33, 7}, {2, 1025},
                                        {0, 4}, {257, 2}, {64, 64}, {5, 0},  {31, 130}};
  for (unsigned seed = 0; seed < 120 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const auto [rows, columns] = shapes[seed % std::size(shapes)];
    matrices some(rows, columns, seed);
    const operand<2>&a = some.draw(4), &b = some.draw(5), &c = some.draw(6), &d = some.draw(6);
    const int along = seed / std::size(shapes) % 2;
    dsl::array<double> means, variances, lengths;
    const auto run = [&] {
      dsl::tie(means, variances, lengths) =
          std::tuple{mean(a.d * b.d, axis(along)), var(c.d, axis(along)), norm(d.d, axis(along))};
    };
    // With a row as its operand, each is over other elements than the product.
    const bool agree = c.rows == rows && d.rows == rows, is_one = is_one_launch(run);
    if ((along == 0 ? columns : rows) > 0) EXPECT_EQ(is_one, agree);  // there are results
    const std::vector<double> m = means.copy_to_host(), s = variances.copy_to_host(),
                              l = lengths.copy_to_host();
    const auto line = [&](const operand<2>& x, std::size_t k) {
      std::vector<double> all;
      const auto at = static_cast<std::int64_t>(k);
      for (std::int64_t i = 0; i < (along == 0 ? x.rows : x.columns); ++i)
        all.push_back(along == 0 ? x.at(i, at) : x.at(at, i));
      return all;
    };
    const operand<2> stretched = [&] {
      operand<2> all = a;
      all.h.clear();
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) all.h.push_back(b.at(i, j));
      return all;
    }();
    const operand<2> whole = [&] {
      operand<2> all = stretched;
      all.h = a.h;
      return all;
    }();
    ASSERT_EQ(m.size(), static_cast<std::size_t>(along == 0 ? columns : rows));
    for (std::size_t k = 0; k < m.size(); ++k)
      expect_near(m[k], mean_of(product(line(whole, k), line(stretched, k))), "mean");
    ASSERT_EQ(s.size(), static_cast<std::size_t>(along == 0 ? c.columns : c.rows));
    for (std::size_t k = 0; k < s.size(); ++k) expect_near(s[k], var_of(line(c, k)), "var");
    ASSERT_EQ(l.size(), static_cast<std::size_t>(along == 0 ? d.columns : d.rows));
    for (std::size_t k = 0; k < l.size(); ++k)
      expect_near(l[k], std::sqrt(sum_of(product(line(d, k), line(d, k)))), "norm");
  }
}

TEST_P(one_pass, of_several_dtypes) {
  for (const std::int64_t n : {1, 33, 1025}) {
    std::vector<float> h(static_cast<std::size_t>(n));
    std::vector<int> i;
    std::vector<double> x;
    for (std::int64_t k = 0; k < n; ++k) {
      h[static_cast<std::size_t>(k)] = static_cast<float>(k % 17) - 8;
      i.push_back(static_cast<int>(k * 7919 % 1000));
      x.push_back(1.0 / static_cast<double>(k + 1));
    }
    const dsl::array<dsl::half> of_halves = dsl::cast<dsl::half>(dsl::to_device(h));
    const auto of_integers = dsl::to_device(i);
    const auto of_doubles = dsl::to_device(x);
    dsl::scalar<double> weighted, least;
    dsl::scalar<dsl::half> greatest;
    dsl::scalar<std::int64_t> total;
    EXPECT_TRUE(is_one_launch([&] {
      dsl::tie(weighted, greatest, total, least) = std::tuple{
          sum(of_halves * of_doubles), max(of_halves), sum(of_integers), min(of_doubles)};
    }));
    wide sum = 0;
    std::int64_t integers = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      sum += wide(h[k]) * x[k];
      integers += i[k];
    }
    expect_near(weighted.value(), sum, "weighted");
    EXPECT_EQ(static_cast<float>(greatest.value()), *std::max_element(h.begin(), h.end()));
    EXPECT_EQ(total.value(), integers);
    EXPECT_EQ(least.value(), x.back());
  }
}

}  // namespace
