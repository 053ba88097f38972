// Several expressions in one statement, each over an index space of its own, and what an error leaves behind.
#include "../on_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <tuple>

// Functors that mind what they are called with: what is no element ends the program.
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

namespace {

using dsl::axis;

constexpr auto odd = dsl::vectorize(of_odd{});
constexpr auto negative = dsl::vectorize(of_negative{});
constexpr auto both_signs = dsl::vectorize([](auto a) { return std::tuple{a, -a}; });

struct index_spaces : on_device {
  // What a shape_error says.
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
ON_EVERY_DEVICE(index_spaces);

// Of no elements: a sum is 0 whatever another reduction of the statement needs.
TEST_P(index_spaces, no_elements_in_one_of_them) {
  const dsl::array<double> none(0), z = dsl::arange<double>(7);
  dsl::scalar<double> least, sum;
  dsl::tie(least, sum) = std::tuple{dsl::min(z), dsl::sum(none)};
  EXPECT_EQ(std::tuple(least.value(), sum.value()), std::tuple(0, 0));
  least = sum = 5.0;
  EXPECT_THROW((dsl::tie(least, sum) = std::tuple{dsl::min(none), dsl::sum(z)}), dsl::shape_error);
  EXPECT_EQ(std::tuple(least.value(), sum.value()), std::tuple(5, 5));
}

TEST_P(index_spaces, the_simulator_checks_what_take_reads) {
  if (!simulated()) GTEST_SKIP() << "the simulator alone checks";
  const dsl::array<double> y = dsl::arange<double>(7);
  const auto i = dsl::to_device(std::vector<int>{0, 1, 2});
  const dsl::view<const double, 1> window(y.view().owner(), y.data() + 4, {10}, {1});  // beyond the array's memory
  dsl::scalar<double> s;
  s = dsl::sum(dsl::take(window, i));
  EXPECT_EQ(s.value(), 15);
  EXPECT_THROW(s = dsl::sum(dsl::take(window, i + 1)), dsl::memory_error);
}

// A scalar in device memory is a target of one expression and an operand of another.
TEST_P(index_spaces, all_right_sides_are_complete_before_the_first_write) {
  const dsl::array<double, 2> m = dsl::ones<double>(3, 4);
  dsl::array<double> v = dsl::full<double>(2, 4);
  dsl::scalar<double> s = 7.0, t = 9.0;
  dsl::tie(v, s) = std::tuple{dsl::sum(m, axis(0)) * s, dsl::sum(v) * s};
  EXPECT_EQ(v.copy_to_host(), (std::vector<double>{21, 21, 21, 21}));
  EXPECT_EQ(s.value(), 56);
  dsl::tie(s, t) = std::tuple{dsl::sum(v) * t, dsl::sum(m) * s};
  EXPECT_EQ(std::tuple(s.value(), t.value()), std::tuple(84 * 9, 12 * 56));
  dsl::tie(s, t) = std::tuple{dsl::sum(v) * t, s + 1};  // without a reduction
  EXPECT_EQ(std::tuple(s.value(), t.value()), std::tuple(84.0 * 12 * 56, 84 * 9 + 1));
}

TEST_P(index_spaces, an_error_leaves_all_targets_as_they_were) {
  const dsl::array<double, 2> m = dsl::ones<double>(3, 4), p = dsl::ones<double>(4, 5), no_m;
  const dsl::array<double> x = dsl::arange<double>(4), never;
  const dsl::device elsewhere(simulated() ? "host" : "sim");
  const dsl::array<double> there = [&] {
    const dsl::device_guard other(elsewhere);
    return dsl::array<double>(dsl::ones<double>(4));
  }();
  dsl::array<double> r = dsl::zeros<double>(4), q(7), a, b(5);
  dsl::scalar<double> s = 3.0;
  const auto sums = [](auto& first, auto& second, const dsl::array<double, 2>& of_first, const dsl::array<double, 2>& of_second) {
    dsl::tie(first, second) = std::tuple{dsl::sum(of_first, axis(0)), dsl::sum(of_second, axis(0))};
  };
  EXPECT_THROW(sums(r, q, m, p), dsl::shape_error);
  EXPECT_THROW(sums(a, q, m, p), dsl::shape_error);
  EXPECT_THROW(sums(a, q, m, m), dsl::shape_error);
  EXPECT_THROW(sums(a, r, m, no_m), dsl::memory_error);
  EXPECT_THROW((dsl::tie(a, b) = both_signs(x + 1)), dsl::shape_error);
  EXPECT_THROW(a = x + never, dsl::memory_error);
  EXPECT_THROW(a = x + there, dsl::device_error);
  EXPECT_THROW(a = x + r(dsl::slice(0, 3)), dsl::shape_error);
  EXPECT_THROW((dsl::tie(a, s) = std::tuple{x + x, dsl::sum(m)}), dsl::shape_error);  // arrays and reductions, two index spaces
  EXPECT_THROW((dsl::tie(a, s) = std::tuple{dsl::sum(m, axis(0)), dsl::sum(never)}), dsl::memory_error);
  EXPECT_THROW((dsl::tie(a, s) = std::tuple{dsl::sum(m, axis(0)), dsl::sum(p, axis(0, 2))}), dsl::shape_error);
  // The second target is larger than any memory.
  dsl::array<double, 2> huge;
  const auto far = dsl::broadcast_to(x(dsl::slice(0, 1)), std::int64_t{1} << 22, std::int64_t{1} << 22, 1);
  EXPECT_THROW((dsl::tie(a, huge) = std::tuple{dsl::sum(m, axis(0)), dsl::sum(far, axis(2))}), dsl::memory_error);
  EXPECT_THROW(huge = x + x, dsl::shape_error);  // two dimensions of one
  EXPECT_FALSE(a.has_memory() || huge.has_memory());
  EXPECT_EQ(r.copy_to_host(), std::vector<double>(4));
  EXPECT_EQ(s.value(), 3);
  sums(a, r, m, m);
  EXPECT_EQ(a.copy_to_host(), std::vector<double>(4, 3));
  EXPECT_EQ(r.copy_to_host(), std::vector<double>(4, 3));
}

TEST_P(index_spaces, a_plan_gives_its_target_no_memory) {
  const dsl::array<double> x = dsl::arange<double>(1000);
  dsl::array<double> y, kept = dsl::zeros<double>(1000);
  EXPECT_EQ(std::string(dsl::plan_of(y, x + x).describe().c_str()), dsl::plan_of(kept, x + x).describe().c_str());
  EXPECT_FALSE(y.has_memory());
  const auto far = dsl::broadcast_to(x(dsl::slice(0, 1)), std::int64_t{1} << 38);  // more than there is room for
  EXPECT_EQ(dsl::plan_of(y, far + x(dsl::slice(0, 1))).elements, std::int64_t{1} << 38);
  EXPECT_THROW(dsl::plan_of(kept, x(dsl::slice(0, 7)) + x(dsl::slice(0, 7))), dsl::shape_error);
}

TEST_P(index_spaces, an_element_is_written_once) {
  dsl::array<double> x = dsl::arange<double>(10), fresh;
  dsl::array<double, 2> m = dsl::zeros<double>(4, 6);
  const dsl::array<double> four = dsl::ones<double>(4), two = dsl::ones<double>(2);
  const dsl::array<double, 2> block = dsl::ones<double>(2, 3), whole = dsl::ones<double>(4, 6);
  EXPECT_NE(refused([&] { dsl::tie(x, x) = both_signs(x); }).find("stands twice"), std::string::npos);
  EXPECT_NE(refused([&] { dsl::tie(fresh, fresh) = both_signs(x); }).find("stands twice"), std::string::npos);
  EXPECT_FALSE(fresh.has_memory());

  using dsl::slice;
  const auto refuse = [&](auto first, auto second, const auto& of) { return refused([&] { dsl::tie(first, second) = both_signs(of); }).find("in common") != std::string::npos; };
  EXPECT_TRUE(refuse(x(slice(0, 4)), x(slice(3, 7)), four));
  EXPECT_TRUE(refuse(x(slice(0, 4)), x(slice(3, dsl::end, -1)), four));
  EXPECT_TRUE(refuse(x(slice(0, 6, 3)), x(slice(1, 4, 2)), two));                                  // 0 3, 1 3
  EXPECT_TRUE(refuse(m(slice(0, 2), slice(0, 3)), m(slice(1, 3), slice(2, 5)), block));            // one corner
  EXPECT_TRUE(refuse(m(1, slice(0, 4)), m(slice(), 2), four));                                     // a row and a column
  auto row = m(0, slice()), column = m(slice(), 5);
  EXPECT_NE(refused([&] { dsl::tie(row, column) = std::tuple{dsl::sum(whole, axis(0)), dsl::sum(whole, axis(1))}; }).find("in common"), std::string::npos);
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(m.copy_to_host(), std::vector<double>(24));

  // Those that only lie between each other's elements.
  EXPECT_FALSE(refuse(x(slice(0, 8, 2)), x(slice(1, 9, 2)), four));
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{1, -1, 1, -1, 1, -1, 1, -1, 8, 9}));
  EXPECT_FALSE(refuse(x(slice(0, 6, 3)), x(slice(2, 5, 2)), two));  // 0 3, 2 4
  EXPECT_FALSE(refuse(m(slice(), 0), m(slice(), 1), four));
  EXPECT_FALSE(refuse(m(slice(0, 2), slice(0, 3)), m(slice(2, 4), slice(0, 3)), block));
  EXPECT_FALSE(refuse(m(slice(0, 2), slice(0, 3)), m(slice(0, 2), slice(3, 6)), block));
  EXPECT_EQ(m.copy_to_host(), (std::vector<double>{1, 1, 1, -1, -1, -1, 1, 1, 1, -1, -1, -1, -1, -1, -1, 0, 0, 0, -1, -1, -1, 0, 0, 0}));
}

TEST_P(index_spaces, dot_stretches_neither) {
  const dsl::array<double, 2> a = dsl::ones<double>(3, 4);
  const dsl::array<double> r = dsl::arange<double>(4), one = dsl::ones<double>(1), five = dsl::ones<double>(5);
  dsl::scalar<double> s;
  EXPECT_EQ(dsl::dot(five, five).value(), 5);
  s = dsl::dot(five * dsl::sum(a), five);  // the operands of a reduction inside are not the dot's
  EXPECT_EQ(s.value(), 60);
  EXPECT_EQ(refused([&] { (void)dsl::dot(one, five).value(); }), "dot of shapes (1) and (5): it multiplies element with element and stretches neither");
  EXPECT_THROW((void)dsl::dot(five, r).value(), dsl::shape_error);
  EXPECT_THROW(s = dsl::dot(one * dsl::sum(a), five), dsl::shape_error);
  EXPECT_THROW((void)dsl::vdot(a, r).value(), dsl::shape_error);
  EXPECT_THROW((void)dsl::vdot(dsl::reshape(a, 12, 1), dsl::reshape(a, 1, 12)).value(), dsl::shape_error);
  EXPECT_EQ(dsl::vdot(dsl::reshape(a, 1, 12), dsl::reshape(a, 12)).value(), 12);
  EXPECT_EQ(s.value(), 60);
}

// A formula of arrays that makes one value of them.
TEST_P(index_spaces, one_value_of_a_formula) {
  const dsl::array<double> x = dsl::arange<double>(4);
  const auto t = dsl::vectorize([](auto x) { return dsl::sum(x * x); })(x);
  dsl::scalar<double> s = t;
  EXPECT_EQ(s.value(), 14);
  s = t + 1.0;
  EXPECT_EQ(s.value(), 15);
  EXPECT_EQ(t.value(), 14);
  dsl::array<double> y = dsl::zeros<double>(2);
  y(1) = t;
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{0, 14}));
}

// What statements are compared with: a table of numbers that broadcasts.
struct table {
  std::int64_t rows = 1, columns = 1;
  std::vector<double> values{0};
  double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>((rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j))]; }
  bool operator==(const table&) const = default;
};
template <class F, class... Tables>
table formula(const F& f, const Tables&... t) {
  table made{1, 1, {}};
  ((made.rows = t.rows == 1 ? made.rows : t.rows, made.columns = t.columns == 1 ? made.columns : t.columns), ...);
  for (std::int64_t i = 0; i < made.rows; ++i)
    for (std::int64_t j = 0; j < made.columns; ++j) made.values.push_back(f(t.at(i, j)...));
  return made;
}
// Along axis 0 or 1, or, for -1, of all elements.
table folded(const table& t, int along = -1) {
  table sums{along == 1 ? t.rows : 1, along == 0 ? t.columns : 1, {}};
  sums.values.resize(static_cast<std::size_t>(sums.rows * sums.columns));
  for (std::int64_t i = 0; i < t.rows; ++i)
    for (std::int64_t j = 0; j < t.columns; ++j) sums.values[static_cast<std::size_t>((along == 1 ? i : 0) * sums.columns + (along == 0 ? j : 0))] += t.at(i, j);
  return sums;
}
table odd_of(const table& t) { return formula([](double a) { return 100 / std::floor(a / 3); }, t); }
table times(const table& a, const table& b) { return formula(std::multiplies<>{}, a, b); }
table plus(const table& a, const table& b) { return formula(std::plus<>{}, a, b); }

// Statements drawn at random: shapes, which operands two expressions have in common, targets with and without memory, and some of them of
// a shape that does not fit, whereupon nothing may have changed.
class drawn_statements {
 public:
  explicit drawn_statements(unsigned seed) : engine_(seed) {}

  void draw() {
    draw_table(a_, 3, 49, 2), draw_table(b_, -100, 50, 2);
    w_.rows = one_in(3) ? 1 : a_.rows, w_.columns = one_in(3) ? 1 : a_.columns, fill(w_, -3, 7, 1);
    y_.rows = 1, y_.columns = extent(), fill(y_, 0, 9, 1);
    v_.rows = 1, v_.columns = b_.columns, fill(v_, 0, 9, 1);
    A = on_device_as<std::int64_t>(a_), N = on_device_as<std::int64_t>(b_), W = on_device_as<double>(w_);
    y = dsl::to_device(y_.values), v = dsl::to_device(v_.values);
    s = s_ = pick(1, 9), t = t_ = pick(1, 9);
    k = dsl::array<double>(), l = dsl::array<double>(), e = dsl::array<double, 2>(), o = dsl::array<double, 2>();
  }

  void run(int statement) {
    const table odds = odd_of(a_), products = times(odds, w_);
    switch (statement) {
      case 0:
        dsl::tie(s, t) = std::tuple{dsl::sum(odd(A) * W), dsl::sum(negative(N))};
        return expect(s, folded(products)), expect(t, folded(b_));
      case 1:
        dsl::tie(s, t) = std::tuple{dsl::sum(odd(A)), dsl::sum(negative(N))};
        return expect(s, folded(odds)), expect(t, folded(b_));
      case 2: {  // the first two read the same array, or two of one type
        const bool same = one_in(2);
        const table other = same ? a_ : drawn(3, 49, 2);
        const auto C = same ? A : on_device_as<std::int64_t>(other);
        dsl::scalar<double> greatest;
        if (other.values.empty()) return;
        dsl::tie(s, greatest, t) = std::tuple{dsl::sum(odd(A)), dsl::max(odd(C)), dsl::sum(negative(N))};
        const table o = odd_of(other);
        return expect(s, folded(odds)), expect(greatest, {1, 1, {*std::max_element(o.values.begin(), o.values.end())}}), expect(t, folded(b_));
      }
      case 3:
        return along_axes(odds.columns, b_.rows, [&] { dsl::tie(k, l) = std::tuple{dsl::sum(odd(A) * W, axis(0)), dsl::sum(negative(N), axis(1))}; },
                          [&] { expect(k, folded(products, 0)), expect(l, folded(b_, 1)); });
      case 4:
        return along_axes(a_.rows, b_.columns, [&] { dsl::tie(k, l) = std::tuple{dsl::sum(odd(A), axis(1)), dsl::sum(negative(N), axis(0))}; },
                          [&] { expect(k, folded(odds, 1)), expect(l, folded(b_, 0)); });
      case 5:  // inside an expression
        k = y * dsl::sum(odd(A) * W) / (dsl::sum(negative(N)) - 1.0);
        return expect(k, formula([&](double each) { return each * folded(products).values[0] / (folded(b_).values[0] - 1); }, y_));
      case 6:  // what one writes another reads
        dsl::tie(v, s) = std::tuple{dsl::sum(negative(N), axis(0)) + t, dsl::sum(v) * s + t};
        return expect(v, plus(folded(b_, 0), {1, 1, {t_}})), expect(s, {1, 1, {folded(v_).values[0] * s_ + t_}});
      case 7:
        dsl::tie(s, t) = std::tuple{dsl::sum(odd(A)) + t, dsl::sum(W) + s};
        return expect(s, {1, 1, {folded(odds).values[0] + t_}}), expect(t, {1, 1, {folded(w_).values[0] + s_}});
      case 8:
        if (one_in(2)) e = dsl::full<double>(7, a_.rows, a_.columns);
        dsl::tie(e, o) = std::tuple{odd(A) * W, odd(A) + W};
        return expect(e, products), expect(o, plus(odds, w_));
      case 9: {
        const std::int64_t count = extent(), from = pick(0, 900'000);
        const dsl::array<double> far = dsl::arange<double>(from + count);
        const dsl::array<std::int64_t> i = dsl::arange<std::int64_t>(count);
        if (from + count == 0) return;
        dsl::tie(s, t) = std::tuple{dsl::sum(dsl::take(far, i + from)), dsl::sum(negative(N))};
        return expect(s, {1, 1, {static_cast<double>(count * from + count * (count - 1) / 2)}}), expect(t, folded(b_));
      }
    }
  }

 private:
  std::int64_t pick(std::int64_t from, std::int64_t to) { return std::uniform_int_distribution<std::int64_t>(from, to)(engine_); }
  bool one_in(int n) { return pick(1, n) == 1; }
  std::int64_t extent() {
    constexpr std::int64_t some[] = {0, 1, 1, 2, 3, 5, 31, 32, 33, 64, 100, 257};
    return some[pick(0, 11)];
  }
  void fill(table& t, std::int64_t first, std::int64_t count, std::int64_t step) {
    t.values.resize(static_cast<std::size_t>(t.rows * t.columns));
    for (double& x : t.values) x = static_cast<double>(first + step * pick(0, count - 1));
  }
  void draw_table(table& t, std::int64_t first, std::int64_t count, std::int64_t step) { t.rows = extent(), t.columns = extent(), fill(t, first, count, step); }
  table drawn(std::int64_t first, std::int64_t count, std::int64_t step) {
    table t;
    draw_table(t, first, count, step);
    return t;
  }
  template <class T>
  static dsl::array<T, 2> on_device_as(const table& t) {
    return dsl::array<T, 2>(dsl::reshape(dsl::to_device(std::vector<T>(t.values.begin(), t.values.end())), t.rows, t.columns));
  }

  template <class Target>
  static void expect(const Target& got, const table& want) {
    std::vector<double> host;
    if constexpr (Target::rank == 0) host = {got.value()};
    else host = got.copy_to_host();
    ASSERT_EQ(host.size(), want.values.size());
    double largest = 1;
    for (const double x : want.values) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < host.size(); ++i) ASSERT_NEAR(host[i], want.values[i], 1e-11 * largest);
  }
  // Targets of these extents, with memory or without, and at times one that does not fit.
  template <class Run, class Check>
  void along_axes(std::int64_t first, std::int64_t second, const Run& run, const Check& check) {
    const bool wrong = one_in(4), first_is_wrong = one_in(2);
    if (one_in(2) || (wrong && first_is_wrong)) k = dsl::full<double>(7, first + (wrong && first_is_wrong ? 1 : 0));
    if (one_in(2) || (wrong && !first_is_wrong)) l = dsl::full<double>(8, second + (wrong && !first_is_wrong ? 1 : 0));
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

TEST_P(index_spaces, drawn_at_random) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    drawn_statements each(seed);
    for (int statement = 0; statement < 10; ++statement) {
      each.draw();
      SCOPED_TRACE("seed " + std::to_string(seed) + ", statement " + std::to_string(statement));
      each.run(statement);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

}  // namespace
