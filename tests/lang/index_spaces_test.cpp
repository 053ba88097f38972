// Several expressions in one statement, each over its own index space, and the state after an
// error.
#include "drawn_statements.hpp"

#include <tuple>

namespace {

using dsl::axis;

constexpr auto both_signs = dsl::vectorize([](auto a) { return std::tuple{a, -a}; });

ON_EVERY_DEVICE(index_spaces);

// No elements: a sum is 0 even if another reduction of the statement needs elements.
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
  const dsl::view<const double, 1> window(y.view().owner(), y.data() + 4, {10},
                                          {1});  // beyond the array's memory
  dsl::scalar<double> s;
  s = dsl::sum(dsl::take(window, i));
  EXPECT_EQ(s.value(), 15);
  EXPECT_THROW(s = dsl::sum(dsl::take(window, i + 1)), dsl::memory_error);
}

// A dsl::scalar is a target of one expression and an operand of another.
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
  dsl::scalar<double> s = 3.0, count;
  const auto sums = [](auto& first, auto& second, const dsl::array<double, 2>& of_first,
                       const dsl::array<double, 2>& of_second) {
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
  EXPECT_THROW((dsl::tie(a, s) = std::tuple{x + x, dsl::sum(m)}),
               dsl::shape_error);  // arrays and reductions, two index spaces
  EXPECT_THROW((dsl::tie(a, s) = std::tuple{dsl::sum(m, axis(0)), dsl::sum(never)}),
               dsl::memory_error);
  EXPECT_THROW((dsl::tie(a, s) = std::tuple{dsl::sum(m, axis(0)), dsl::sum(p, axis(0, 2))}),
               dsl::shape_error);
  // The second target is larger than any memory.
  dsl::array<double, 2> huge;
  const auto far =
      dsl::broadcast_to(x(dsl::slice(0, 1)), std::int64_t{1} << 22, std::int64_t{1} << 22, 1);
  EXPECT_THROW((dsl::tie(a, huge) = std::tuple{dsl::sum(m, axis(0)), dsl::sum(far, axis(2))}),
               dsl::memory_error);
  EXPECT_THROW(huge = x + x, dsl::shape_error);  // two dimensions for a target of one
  // The second kernel would need more blocks than a grid can have.
  if (has_grid()) {
    const auto endless = dsl::broadcast_to(x(dsl::slice(0, 1)), std::int64_t{1} << 50);
    EXPECT_THROW((dsl::tie(s, count) = std::tuple{dsl::sum(x), dsl::sum(endless)}),
                 dsl::shape_error);
  }
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
  EXPECT_EQ(std::string(dsl::plan_of(y, x + x).describe().c_str()),
            dsl::plan_of(kept, x + x).describe().c_str());
  EXPECT_FALSE(y.has_memory());
  const auto far =
      dsl::broadcast_to(x(dsl::slice(0, 1)), std::int64_t{1} << 38);  // larger than the memory
  EXPECT_EQ(dsl::plan_of(y, far + x(dsl::slice(0, 1))).elements, std::int64_t{1} << 38);
  EXPECT_THROW(dsl::plan_of(kept, x(dsl::slice(0, 7)) + x(dsl::slice(0, 7))), dsl::shape_error);
}

TEST_P(index_spaces, an_element_is_written_once) {
  dsl::array<double> x = dsl::arange<double>(10), fresh;
  dsl::array<double, 2> m = dsl::zeros<double>(4, 6);
  const dsl::array<double> four = dsl::ones<double>(4), two = dsl::ones<double>(2);
  const dsl::array<double, 2> block = dsl::ones<double>(2, 3), whole = dsl::ones<double>(4, 6);
  EXPECT_NE(refused([&] { dsl::tie(x, x) = both_signs(x); }).find("stands twice"),
            std::string::npos);
  EXPECT_NE(refused([&] { dsl::tie(fresh, fresh) = both_signs(x); }).find("stands twice"),
            std::string::npos);
  EXPECT_FALSE(fresh.has_memory());

  using dsl::slice;
  const auto refuse = [&](auto first, auto second, const auto& of) {
    return refused([&] { dsl::tie(first, second) = both_signs(of); }).find("in common") !=
           std::string::npos;
  };
  EXPECT_TRUE(refuse(x(slice(0, 4)), x(slice(3, 7)), four));
  EXPECT_TRUE(refuse(x(slice(0, 4)), x(slice(3, dsl::end, -1)), four));
  EXPECT_TRUE(refuse(x(slice(0, 6, 3)), x(slice(1, 4, 2)), two));  // elements 0 3 and 1 3
  EXPECT_TRUE(
      refuse(m(slice(0, 2), slice(0, 3)), m(slice(1, 3), slice(2, 5)), block));  // one corner
  EXPECT_TRUE(refuse(m(1, slice(0, 4)), m(slice(), 2), four));  // a row and a column
  auto row = m(0, slice()), column = m(slice(), 5);
  EXPECT_NE(refused([&] {
              dsl::tie(row, column) =
                  std::tuple{dsl::sum(whole, axis(0)), dsl::sum(whole, axis(1))};
            }).find("in common"),
            std::string::npos);
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(m.copy_to_host(), std::vector<double>(24));

  // Views whose elements interleave, without a common one.
  EXPECT_FALSE(refuse(x(slice(0, 8, 2)), x(slice(1, 9, 2)), four));
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{1, -1, 1, -1, 1, -1, 1, -1, 8, 9}));
  EXPECT_FALSE(refuse(x(slice(0, 6, 3)), x(slice(2, 5, 2)), two));  // elements 0 3 and 2 4
  EXPECT_FALSE(refuse(m(slice(), 0), m(slice(), 1), four));
  EXPECT_FALSE(refuse(m(slice(0, 2), slice(0, 3)), m(slice(2, 4), slice(0, 3)), block));
  EXPECT_FALSE(refuse(m(slice(0, 2), slice(0, 3)), m(slice(0, 2), slice(3, 6)), block));
  EXPECT_EQ(m.copy_to_host(), (std::vector<double>{1,  1,  1,  -1, -1, -1, 1,  1,  1,  -1, -1, -1,
                                                   -1, -1, -1, 0,  0,  0,  -1, -1, -1, 0,  0,  0}));
}

TEST_P(index_spaces, dot_stretches_neither) {
  const dsl::array<double, 2> a = dsl::ones<double>(3, 4);
  const dsl::array<double> r = dsl::arange<double>(4), one = dsl::ones<double>(1),
                           five = dsl::ones<double>(5);
  dsl::scalar<double> s;
  EXPECT_EQ(dsl::dot(five, five).value(), 5);
  s = dsl::dot(five * dsl::sum(a), five);  // the operands of the inner reduction are not the dot's
  EXPECT_EQ(s.value(), 60);
  EXPECT_EQ(refused([&] { (void)dsl::dot(one, five).value(); }),
            "dot of shapes (1) and (5): it multiplies element with element and stretches neither");
  EXPECT_THROW((void)dsl::dot(five, r).value(), dsl::shape_error);
  EXPECT_THROW(s = dsl::dot(one * dsl::sum(a), five), dsl::shape_error);
  EXPECT_THROW((void)dsl::vdot(a, r).value(), dsl::shape_error);
  EXPECT_THROW((void)dsl::vdot(dsl::reshape(a, 12, 1), dsl::reshape(a, 1, 12)).value(),
               dsl::shape_error);
  EXPECT_EQ(dsl::vdot(dsl::reshape(a, 1, 12), dsl::reshape(a, 12)).value(), 12);
  EXPECT_EQ(s.value(), 60);
}

// A formula of arrays that gives one value.
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

TEST_P(index_spaces, drawn_at_random) { run_drawn_statements<0, 3, 5, 6, 8>(); }

}  // namespace
