// Statements of several expressions, drawn at random: shapes, shared operands, targets with and
// without memory, and shapes that do not fit.
#pragma once

#include "../on_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <tuple>

// For functors that accept elements only: any other argument ends the program.
DSL_FN inline void require_element(bool is_one) {
#if defined(__CUDA_ARCH__)
  if (!is_one) __trap();
#else
  if (!is_one) std::abort();
#endif
}
struct of_odd {  // 3, 5, ... 99
  DSL_FN double operator()(std::int64_t a) const {
    require_element(a >= 3 && a <= 99 && a % 2 == 1);
    return 100.0 / static_cast<double>(a / 3);
  }
};
struct of_negative {  // -100, -98, ... -2
  DSL_FN double operator()(std::int64_t a) const {
    require_element(a >= -100 && a <= -2 && a % 2 == 0);
    return static_cast<double>(a);
  }
};

inline constexpr auto odd = dsl::vectorize(of_odd{});
inline constexpr auto negative = dsl::vectorize(of_negative{});

struct index_spaces : on_device {
  // Returns the text of a shape_error.
  template <class Run>
  static std::string refused(const Run& run) {
    try {
      run();
    } catch (const dsl::shape_error& e) {
      return e.what();
    }
    return "no error";
  }
};

// The reference for statements: a table of numbers that broadcasts.
struct table {
  std::int64_t rows = 1, columns = 1;
  std::vector<double> values{0};
  double at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>((rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j))];
  }
  bool operator==(const table&) const = default;
};
template <class F, class... Tables>
table formula(const F& f, const Tables&... t) {
  table made{1, 1, {}};
  ((made.rows = t.rows == 1 ? made.rows : t.rows,
    made.columns = t.columns == 1 ? made.columns : t.columns),
   ...);
  for (std::int64_t i = 0; i < made.rows; ++i)
    for (std::int64_t j = 0; j < made.columns; ++j) made.values.push_back(f(t.at(i, j)...));
  return made;
}
// Reduces along axis 0 or 1, or all elements (-1).
inline table reduced(const table& t, int along = -1) {
  table sums{along == 1 ? t.rows : 1, along == 0 ? t.columns : 1, {}};
  sums.values.resize(static_cast<std::size_t>(sums.rows * sums.columns));
  for (std::int64_t i = 0; i < t.rows; ++i)
    for (std::int64_t j = 0; j < t.columns; ++j)
      sums.values[static_cast<std::size_t>((along == 1 ? i : 0) * sums.columns +
                                           (along == 0 ? j : 0))] += t.at(i, j);
  return sums;
}
inline table odd_of(const table& t) {
  return formula([](double a) { return 100 / std::floor(a / 3); }, t);
}
inline table times(const table& a, const table& b) { return formula(std::multiplies<>{}, a, b); }
inline table plus(const table& a, const table& b) { return formula(std::plus<>{}, a, b); }

// Draws statements: shapes, operands that two expressions share, and targets with and without
// memory. Some shapes do not fit; then nothing may have changed.
class drawn_statements {
 public:
  explicit drawn_statements(unsigned seed) : engine_(seed) {}

  void draw() {
    draw_table(a_, 3, 49, 2);
    draw_table(b_, -100, 50, 2);
    w_.rows = one_in(3) ? 1 : a_.rows;
    w_.columns = one_in(3) ? 1 : a_.columns;
    fill(w_, -3, 7, 1);
    y_.rows = 1;
    y_.columns = extent();
    fill(y_, 0, 9, 1);
    v_.rows = 1;
    v_.columns = b_.columns;
    fill(v_, 0, 9, 1);
    A = on_device_as<std::int64_t>(a_);
    N = on_device_as<std::int64_t>(b_);
    W = on_device_as<double>(w_);
    y = dsl::to_device(y_.values);
    v = dsl::to_device(v_.values);
    s = s_ = pick(1, 9);
    t = t_ = pick(1, 9);
    k = dsl::array<double>();
    l = dsl::array<double>();
    e = dsl::array<double, 2>();
    o = dsl::array<double, 2>();
  }

  template <int Statement>
  void run() {
    const table odds = odd_of(a_), products = times(odds, w_);
    if constexpr (Statement == 0) {
      dsl::tie(s, t) = std::tuple{dsl::sum(odd(A) * W), dsl::sum(negative(N))};
      return expect(s, reduced(products)), expect(t, reduced(b_));
    }
    if constexpr (Statement == 1) {
      dsl::tie(s, t) = std::tuple{dsl::sum(odd(A)), dsl::sum(negative(N))};
      return expect(s, reduced(odds)), expect(t, reduced(b_));
    }
    if constexpr (Statement == 2) {  // the first two read the same array, or two of one type
      const bool same = one_in(2);
      const table other = same ? a_ : drawn(3, 49, 2);
      const auto C = same ? A : on_device_as<std::int64_t>(other);
      dsl::scalar<double> greatest;
      if (other.values.empty()) return;
      dsl::tie(s, greatest, t) =
          std::tuple{dsl::sum(odd(A)), dsl::max(odd(C)), dsl::sum(negative(N))};
      const table o = odd_of(other);
      return expect(s, reduced(odds)),
             expect(greatest, {1, 1, {*std::max_element(o.values.begin(), o.values.end())}}),
             expect(t, reduced(b_));
    }
    if constexpr (Statement == 3) {
      return along_axes(
          odds.columns, b_.rows,
          [&] {
            dsl::tie(k, l) =
                std::tuple{dsl::sum(odd(A) * W, dsl::axis(0)), dsl::sum(negative(N), dsl::axis(1))};
          },
          [&] {
            expect(k, reduced(products, 0));
            expect(l, reduced(b_, 1));
          });
    }
    if constexpr (Statement == 4) {
      return along_axes(
          a_.rows, b_.columns,
          [&] {
            dsl::tie(k, l) =
                std::tuple{dsl::sum(odd(A), dsl::axis(1)), dsl::sum(negative(N), dsl::axis(0))};
          },
          [&] {
            expect(k, reduced(odds, 1));
            expect(l, reduced(b_, 0));
          });
    }
    if constexpr (Statement == 5) {  // inside an expression
      k = y * dsl::sum(odd(A) * W) / (dsl::sum(negative(N)) - 1.0);
      return expect(k, formula(
                           [&](double each) {
                             return each * reduced(products).values[0] /
                                    (reduced(b_).values[0] - 1);
                           },
                           y_));
    }
    if constexpr (Statement == 6) {  // one expression writes an operand of another
      dsl::tie(v, s) = std::tuple{dsl::sum(negative(N), dsl::axis(0)) + t, dsl::sum(v) * s + t};
      return expect(v, plus(reduced(b_, 0), {1, 1, {t_}})),
             expect(s, {1, 1, {reduced(v_).values[0] * s_ + t_}});
    }
    if constexpr (Statement == 7) {
      dsl::tie(s, t) = std::tuple{dsl::sum(odd(A)) + t, dsl::sum(W) + s};
      return expect(s, {1, 1, {reduced(odds).values[0] + t_}}),
             expect(t, {1, 1, {reduced(w_).values[0] + s_}});
    }
    if constexpr (Statement == 8) {
      if (one_in(2)) e = dsl::full<double>(7, a_.rows, a_.columns);
      dsl::tie(e, o) = std::tuple{odd(A) * W, odd(A) + W};
      return expect(e, products), expect(o, plus(odds, w_));
    }
    if constexpr (Statement == 9) {
      const std::int64_t count = extent(), from = pick(0, 900'000);
      const dsl::array<double> far = dsl::arange<double>(from + count);
      const dsl::array<std::int64_t> i = dsl::arange<std::int64_t>(count);
      if (from + count == 0) return;
      dsl::tie(s, t) = std::tuple{dsl::sum(dsl::take(far, i + from)), dsl::sum(negative(N))};
      return expect(s, {1, 1, {static_cast<double>(count * from + count * (count - 1) / 2)}}),
             expect(t, reduced(b_));
    }
  }

 private:
  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine_);
  }
  bool one_in(int n) { return pick(1, n) == 1; }
  std::int64_t extent() {
    constexpr std::int64_t some[] = {0, 1, 1, 2, 3, 5, 31, 32, 33, 64, 100, 257};
    return some[pick(0, 11)];
  }
  void fill(table& t, std::int64_t first, std::int64_t count, std::int64_t step) {
    t.values.resize(static_cast<std::size_t>(t.rows * t.columns));
    for (double& x : t.values) x = static_cast<double>(first + step * pick(0, count - 1));
  }
  void draw_table(table& t, std::int64_t first, std::int64_t count, std::int64_t step) {
    t.rows = extent();
    t.columns = extent();
    fill(t, first, count, step);
  }
  table drawn(std::int64_t first, std::int64_t count, std::int64_t step) {
    table t;
    draw_table(t, first, count, step);
    return t;
  }
  template <class T>
  static dsl::array<T, 2> on_device_as(const table& t) {
    return dsl::array<T, 2>(dsl::reshape(
        dsl::to_device(std::vector<T>(t.values.begin(), t.values.end())), t.rows, t.columns));
  }

  template <class Target>
  static void expect(const Target& got, const table& want) {
    std::vector<double> host;
    if constexpr (Target::rank == 0) host = {got.value()};
    else host = got.copy_to_host();
    ASSERT_EQ(host.size(), want.values.size());
    double largest = 1;
    for (const double x : want.values) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < host.size(); ++i)
      ASSERT_NEAR(host[i], want.values[i], 1e-11 * largest);
  }
  // Targets of these extents, with or without memory; occasionally one does not fit.
  template <class Run, class Check>
  void along_axes(std::int64_t first, std::int64_t second, const Run& run, const Check& check) {
    const bool wrong = one_in(4), first_is_wrong = one_in(2);
    if (one_in(2) || (wrong && first_is_wrong))
      k = dsl::full<double>(7, first + (wrong && first_is_wrong ? 1 : 0));
    if (one_in(2) || (wrong && !first_is_wrong))
      l = dsl::full<double>(8, second + (wrong && !first_is_wrong ? 1 : 0));
    if (!wrong) return run(), check();
    const bool k_had_memory = k.has_memory(), l_had_memory = l.has_memory();
    EXPECT_THROW(run(), dsl::shape_error);
    EXPECT_EQ(k.has_memory(), k_had_memory);
    EXPECT_EQ(l.has_memory(), l_had_memory);
    for (const double x : k.copy_to_host()) EXPECT_EQ(x, 7);
    for (const double x : l.copy_to_host()) EXPECT_EQ(x, 8);
  }

  std::mt19937 engine_;
  table a_, b_, w_, y_, v_;
  double s_ = 0, t_ = 0;
  dsl::array<std::int64_t, 2> A, N;
  dsl::array<double, 2> W, e, o;
  dsl::array<double> y, v, k, l;
  dsl::scalar<double> s, t;
};

/// Runs each of these statements in turn, with new operands.
template <int... Statement>
void run_drawn_statements() {
  for (unsigned seed = 0; seed < 120; ++seed) {
    drawn_statements each(seed);
    const auto run = [&]<int S>() {
      if (testing::Test::HasFailure()) return;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", statement " + std::to_string(S));
      each.draw();
      each.run<S>();
    };
    (run.template operator()<Statement>(), ...);
  }
}
