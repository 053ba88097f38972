// The text of explain, and the names of reductions.
#include <dsl/scan.hpp>

#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <sstream>

#include "../on_device.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/calibration.hpp"

// Names of reductions; the first 32 characters of a name are shown.
struct length_of;
namespace other_names {
template <class T> struct a_name_of_32_characters_followed_by_more;
}  // namespace other_names

namespace {

using namespace dsl::detail;

// A reduction's formula, without a kernel.
template <class E>
std::string word(const E& e) {
  using T = dsl::element_t<std::tuple_element_t<0, outputs_of<E>>::type.type>;
  using pass = typename lowered<types_of_targets<dsl::scalar<T>>, E>::one_pass::spelled;
  static constexpr pass_view view = pass::view();
  operand leaves[leaf_count<E> + 1], *at = leaves;
  add_leaves(e, at);
  *at = position_operand();
  return spell_pass(view, leaves);
}

template <class T>
struct words : testing::Test {
  dsl::array<T> x{dsl::extents<1>{4}, dsl::backend::host};
};
using dtypes = testing::Types<bool, std::int8_t, std::int64_t, dsl::half, float, double>;
TYPED_TEST_SUITE(words, dtypes);

TYPED_TEST(words, are_the_users) {
  const auto& x = this->x;
  EXPECT_EQ(word(dsl::sum(x)), "sum(a)");
  EXPECT_EQ(word(dsl::prod(x)), "prod(a)");
  EXPECT_EQ(word(dsl::mean(x)), "mean(a)");
  EXPECT_EQ(word(dsl::var(x)), "var(a)");
  EXPECT_EQ(word(dsl::std(x, dsl::ddof(1))), "std(a, ddof(1))");
  EXPECT_EQ(word(dsl::norm(x)), "norm(a)");
  EXPECT_EQ(word(dsl::any(x)), "any(a)");
  EXPECT_EQ(word(dsl::all(x)), "all(a)");
  EXPECT_EQ(word(dsl::argmin(x)), "argmin(a)");
  EXPECT_EQ(word(dsl::argmax(x)), "argmax(a)");
  if constexpr (!std::is_same_v<TypeParam, bool>) {
    EXPECT_EQ(word(dsl::min(x)), "min(a)");
    EXPECT_EQ(word(dsl::max(x)), "max(a)");
    EXPECT_EQ(word(dsl::ptp(x)), "max(a) - min(a)");
    EXPECT_EQ(word(dsl::count_nonzero(x)), "count_nonzero(a)");
    EXPECT_EQ(word(2 * dsl::mean(x * x) + 1), "2 * mean(a * a) + 1");
  }
}

template <class T>
struct words_without_nan : words<T> {};
using floating_dtypes = testing::Types<dsl::half, float, double>;
TYPED_TEST_SUITE(words_without_nan, floating_dtypes);

TYPED_TEST(words_without_nan, are_the_users) {
  const auto& x = this->x;
  EXPECT_EQ(word(dsl::nansum(x)), "nansum(a)");
  EXPECT_EQ(word(dsl::nanprod(x)), "nanprod(a)");
  EXPECT_EQ(word(dsl::nanmin(x)), "nanmin(a)");
  EXPECT_EQ(word(dsl::nanmax(x)), "nanmax(a)");
  EXPECT_EQ(word(dsl::nanmean(x)), "nanmean(a)");
  EXPECT_EQ(word(dsl::nanvar(x)), "nanvar(a)");
  EXPECT_EQ(word(dsl::nanstd(x, dsl::ddof(2))), "nanstd(a, ddof(2))");
  EXPECT_EQ(word(dsl::nanargmin(x)), "nanargmin(a)");
  EXPECT_EQ(word(dsl::nanargmax(x)), "nanargmax(a)");
}

TEST(words_of_complex, are_the_users) {
  const dsl::array<std::complex<float>> x(dsl::extents<1>{4}, dsl::backend::host);
  EXPECT_EQ(word(dsl::mean(x)), "mean(a)");
  EXPECT_EQ(word(dsl::var(x)), "var(a)");
  EXPECT_EQ(word(dsl::norm(x)), "norm(a)");
  EXPECT_EQ(word(dsl::min(x)), "min(a)");
  EXPECT_EQ(word(dsl::max(x)), "max(a)");
  EXPECT_EQ(word(dsl::nanmin(x)), "nanmin(a)");
  EXPECT_EQ(word(dsl::nanmax(x)), "nanmax(a)");
  EXPECT_EQ(word(dsl::argmin(x)), "argmin(a)");
  EXPECT_EQ(word(dsl::argmax(x)), "argmax(a)");
}

TEST(words_of_formulas, have_numbers_as_they_were_written) {
  using namespace std::complex_literals;
  const dsl::array<float> x(dsl::extents<1>{4}, dsl::backend::host);
  const dsl::array<std::complex<double>> z(dsl::extents<1>{4}, dsl::backend::host);
  EXPECT_EQ(word(dsl::sum(0.1f * x + 16777217)), "sum(0.1 * a + 16777217)");
  EXPECT_EQ(word(dsl::sum(-2i * x + 1i)), "sum((-2i) * a + 1i)");
  EXPECT_EQ(word(dsl::sum(-2i * z + (1.5 - 3i))), "sum((-2i) * a + (1.5 - 3i))");
  const auto traced = dsl::vectorize([](auto v) { return dsl::sum(-2i * v + (1.5 - 3i)); });
  EXPECT_EQ(word(traced(z)), "sum((-2i) * a + (1.5 - 3i))");
}

TEST(words_of_formulas, name_equal_arrays_once) {
  const dsl::array<float> x(dsl::extents<1>{4}, dsl::backend::host),
      y(dsl::extents<1>{4}, dsl::backend::host);
  EXPECT_EQ(word(dsl::sum(y - x * y)), "sum(a - b * a)");
  EXPECT_EQ(word(dsl::sum(x * x(dsl::slice(0, dsl::end, -1)))), "sum(a * b)");
}

TEST(words_of_formulas, are_names_of_reductions_only_where_these_were_called) {
  const dsl::array<float> x(dsl::extents<1>{4}, dsl::backend::host);
  EXPECT_EQ(word(sqrt(dsl::sum(x * x))), "sqrt(sum(a * a))");
  EXPECT_EQ(word(sqrt(dsl::sum(abs2(x)))), "sqrt(sum(abs2(a)))");
  EXPECT_EQ(word(dsl::norm<2>(x)), "norm(a)");
  EXPECT_EQ(word(dsl::norm<1>(x)), "norm<1>(a)");
  EXPECT_EQ(word(dsl::norm<dsl::inf>(x)), "norm<inf>(a)");
  EXPECT_EQ(word(dsl::sum(x) / 4), "sum(a) / 4");
  EXPECT_EQ(word(dsl::sum(where(isnan(x), 0, x))), "sum(where(isnan(a), 0, a))");
  EXPECT_EQ(word(dsl::dot(x, 2 * x)), "sum(a * (2 * a))");
}

TEST(words_of_formulas, are_the_names_of_users_reductions) {
  const dsl::array<float> x(dsl::extents<1>{4}, dsl::backend::host);
  const auto hypotenuse = [](auto a, auto b) { return hypot(a, b); };
  EXPECT_EQ(word(dsl::reduce(hypotenuse)(x)), "reduce(a)");
  EXPECT_EQ(word(dsl::reduce<length_of>(hypotenuse)(x)), "length_of(a)");
  EXPECT_EQ(word(2 * dsl::reduce<length_of>(hypotenuse, 1.0f)(x + 1)), "2 * length_of(a + 1)");
  using long_name = other_names::a_name_of_32_characters_followed_by_more<int>;
  EXPECT_EQ(word(dsl::reduce<long_name>(hypotenuse)(x)), "a_name_of_32_characters_followed(a)");
}

struct explained : testing::Test {
  explained() : guard(dsl::backend::sim) {
    a = dsl::arange<float>(1001);
    m = dsl::reshape(a(dsl::slice(0, 1000)), 10, 100);
    y = dsl::zeros<float>(1000);
  }
  dsl::device_guard guard;
  dsl::array<float> a, y;
  dsl::array<float, 2> m;
  std::string text_of(const dsl::explanation& e) {
    std::ostringstream out;
    out << e;
    return out.str();
  }
  // Returns the lines that begin with a word.
  static std::vector<std::string> lines(const dsl::explanation& e, const std::string& begin) {
    std::istringstream in(e.text().c_str());
    std::vector<std::string> found;
    for (std::string line; std::getline(in, line);)
      if (line.starts_with(begin)) found.push_back(line.substr(begin.size()));
    return found;
  }
};

TEST_F(explained, names_reductions_in_every_kernel_of_a_statement) {
  const auto of_rows = dsl::axis(1);
  dsl::scalar<float> s;
  EXPECT_EQ(lines(dsl::explain(s, dsl::sum(dsl::mean(m, of_rows))), "kernel "),
            (std::vector<std::string>{"1: mean(a, axis(1))", "2: out = sum(mean(a, axis(1)))"}));
  const auto length = dsl::reduce<length_of>([](auto u, auto v) { return hypot(u, v); });
  EXPECT_EQ(lines(dsl::explain(s, dsl::max(length(m, of_rows))), "kernel "),
            (std::vector<std::string>{"1: length_of(a, axis(1))",
                                      "2: out = max(length_of(a, axis(1)))"}));
}

TEST_F(explained, says_what_one_kernel_does) {
  const auto x = a(dsl::slice(0, 1000)), shifted = a(dsl::slice(1, 1001));
  EXPECT_EQ(text_of(dsl::explain(y, exp(x) + 2 * exp(x) * shifted)),
            "out = exp(a) + 2 * exp(a) * b\n"
            "one kernel on sim\n"
            "  program\n"
            "    %1   = exp(a)   float32\n"
            "    %2   = exp(a)   float32\n"
            "    %3   = 2 * %2   float32\n"
            "    %4   = %3 * b   float32\n"
            "    %5   = %1 + %4  float32    -> out\n"
            "  operands\n"
            "    a    float32 (1000)  read     vectors of 16 bytes\n"
            "    b    float32 (1000)  read     element by element: misaligned, 4 bytes beyond a "
            "multiple of 16\n"
            "    out  float32 (1000)  written  vectors of 16 bytes\n"
            "  path       linear: every array is contiguous along one dimension\n"
            "  launch     1000 elements, grid 2 x block 128, 4 lanes a thread\n"
            "  cost       reads 4 and writes 4 bytes an element, 19 flops: 2.38 flops a byte; 8 kB "
            "in all\n"
            "  predicted  none: times of sim say nothing of a device's\n");
}

TEST_F(explained, marks_what_is_shared) {
  const auto twice = dsl::vectorize([](auto x) {
    const auto e = exp(x);
    return e * e + e;
  });
  const auto e = dsl::explain(y, twice(a(dsl::slice(0, 1000))));
  const auto found = lines(e, "    %1   = ");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "exp(a)   float32    shared: used 2 times");
  EXPECT_NE(std::string(e.dot().c_str()).find("peripheries=2"), std::string::npos);
}

TEST_F(explained, says_why_there_are_several_kernels) {
  const auto x = a(dsl::slice(0, 1000));
  const auto e = dsl::explain(y, x / dsl::norm(a));  // x has one element more
  EXPECT_EQ(lines(e, "kernel "), (std::vector<std::string>{"1: norm(b)", "2: out = a / norm(b)"}));
  EXPECT_EQ(lines(e, "  why        "),
            (std::vector<std::string>{"it needs norm(b), which takes all elements of kernel 1"}));
  EXPECT_TRUE(text_of(e).starts_with("out = a / norm(b)\n2 kernels on sim\n"));
  const auto by_way = dsl::explain(y, dsl::flip(y) + x);
  EXPECT_EQ(lines(by_way, "kernel "),
            (std::vector<std::string>{"1: out = a + b", "2: copy to out"}));
  EXPECT_EQ(lines(by_way, "  why        "),
            (std::vector<std::string>{
                "out shares memory with what is read, so it is computed in a temporary"}));
  dsl::scalar<float> s = 0.0f, t = 0.0f;
  const auto apart = dsl::explain(dsl::tie(s, t), std::tuple{dsl::sum(x), dsl::max(a)});
  EXPECT_EQ(lines(apart, "kernel "),
            (std::vector<std::string>{"1: out1 = sum(a)", "2: out2 = max(b)"}));
  EXPECT_EQ(lines(apart, "  why        "),
            (std::vector<std::string>{"its index space is (1001), that of kernel 1 is (1000)"}));
}

TEST_F(explained, names_axes_and_the_operand_that_is_written) {
  dsl::array<float, 2> out(10, 100);
  EXPECT_TRUE(text_of(dsl::explain(out, m - dsl::mean(m, dsl::axis(1), dsl::keep_dims)))
                  .starts_with("out = a - mean(a, axis(1))\n"));
  dsl::array<float> rows;
  EXPECT_TRUE(text_of(dsl::explain(rows, dsl::std(m, dsl::axis(1))))
                  .starts_with("out = std(a, axis(1))\n"));
  EXPECT_FALSE(rows.has_memory());
  EXPECT_TRUE(text_of(dsl::explain(m, m * 2)).starts_with("a = a * 2\n"));
}

TEST_F(explained, says_how_operands_are_reached) {
  dsl::array<float, 2> out(10, 100);
  const auto how = [&](const auto& e) { return lines(dsl::explain(out, e), "    a ")[0]; };
  EXPECT_NE(how(dsl::flip(m, 1) + 1).find("element by element: reversed"), std::string::npos);
  EXPECT_NE(how(dsl::transpose(dsl::reshape(m, 100, 10)) + 1)
                .find("element by element: strided, 10 elements apart"),
            std::string::npos);
  EXPECT_NE(how(a(dsl::slice(0, 100)) + 0 * m).find("broadcast, vectors of 16 bytes"),
            std::string::npos);
  EXPECT_NE(how(dsl::shift(m, 40, dsl::boundary::wrap, 1) + 1)
                .find("shifted along the innermost dimension"),
            std::string::npos);
  EXPECT_NE(how(dsl::shift(m, 1, dsl::boundary::wrap, 1) + 1)
                .find("in shared memory, with what lies around a block's tile"),
            std::string::npos);
  const auto wide = dsl::cast<double>(m);
  dsl::array<double, 2> doubles(10, 100);
  EXPECT_NE(lines(dsl::explain(doubles, wide), "    a ")[0].find("vectors of 8 bytes"),
            std::string::npos);
}

TEST_F(explained, knows_scans_and_loops) {
  const auto x = a(dsl::slice(0, 1000));
  EXPECT_TRUE(text_of(dsl::explain(y, dsl::cumsum(x * 2)))
                  .starts_with("out = cumsum(a * 2)\none kernel on sim\n"));
  const auto step = dsl::vectorize([](auto v, auto total) {
    const auto next = v + total;
    return std::tuple{next, dsl::mean(next)};
  });
  dsl::scalar<float> total = 1.0f;
  const auto e = dsl::explain(step, dsl::state(y, total));
  EXPECT_TRUE(text_of(e).starts_with("a = a + b; b = mean(a + b)\na step on sim, ")) << e;
}

TEST_F(explained, lists_phases_on_the_same_rows_as_one_kernel) {
  const auto x = a(dsl::slice(0, 1000));
  const auto e = dsl::explain(y, x / dsl::norm(x));
  EXPECT_TRUE(text_of(e).starts_with("out = a / norm(a)\none kernel on sim\n"));
  EXPECT_EQ(lines(e, "    %1   = "),
            (std::vector<std::string>{"norm(a)      float32    -> norm(a)"}));
  EXPECT_EQ(lines(e, "    %2   = "), (std::vector<std::string>{"a / norm(a)  float32    -> out"}));
  const auto path = lines(e, "  path       ");
  ASSERT_EQ(path.size(), 1u);
  EXPECT_TRUE(path[0].starts_with("rows: 1 row of 1000 elements on chip: ")) << path[0];
}

TEST_F(explained, tells_how_rows_of_few_elements_are_shared_out) {
  const auto path_of = [](std::int64_t elements) {
    dsl::array<float, 2> all = dsl::ones<float>(1000, elements);
    return lines(dsl::explain(all, all - dsl::mean(all, dsl::axis(1), dsl::keep_dims)),
                 "  path       rows: ");
  };
  using path = std::vector<std::string>;
  EXPECT_EQ(path_of(3), path{"1000 rows of 3 elements on chip: 1 thread a row, 512 rows a block, 3 "
                             "vectors of 1 a thread in shared memory"});
  EXPECT_EQ(path_of(8), path{"1000 rows of 8 elements on chip: 2 threads a row, 128 rows a block, "
                             "1 vector of 4 a thread in registers"});
}

TEST_F(explained, runs_nothing) {
  dsl::array<float> fresh;
  dsl::explain(fresh, a + 1);
  EXPECT_FALSE(fresh.has_memory());
  dsl::explain(y, a(dsl::slice(0, 1000)) + 1);
  EXPECT_EQ(y.copy_to_host(), std::vector<float>(1000, 0));
  EXPECT_THROW(dsl::explain(y, a + 1), dsl::shape_error);
  dsl::array<float> none(0);
  EXPECT_EQ(text_of(dsl::explain(none, none + 1)), "nothing runs: there are no elements\n");
}

TEST_F(explained, graph_is_one_that_graphviz_reads) {
  const auto x = a(dsl::slice(0, 1000));
  const auto e = dsl::explain(y, exp(x - dsl::max(a)) / dsl::sum(exp(x - dsl::max(x))));
  const std::string dot = e.dot().c_str();
  EXPECT_TRUE(dot.starts_with("digraph explanation {"));
  EXPECT_NE(dot.find("subgraph cluster_4"), std::string::npos);
  if (std::system("command -v dot >/dev/null 2>&1") != 0) GTEST_SKIP() << "no Graphviz";
  FILE* const graphviz = popen("dot -Tplain >/dev/null", "w");
  std::fputs(dot.c_str(), graphviz);
  EXPECT_EQ(pclose(graphviz), 0);
}

TEST_F(explained, errors_of_later_passes_speak_the_users_words) {
  dsl::array<float> wrong(7);
  const auto x = a(dsl::slice(0, 1000));
  try {
    wrong = x / dsl::norm(x);
    FAIL();
  } catch (const dsl::shape_error& error) {
    EXPECT_STREQ(error.what(),
                 "an expression of shape (1000) cannot be assigned to shape (7): a / norm(a)");
  }
}

TEST(explained_runs, are_collected_one_after_another) {
  const dsl::device_guard on(dsl::backend::sim);
  const auto x = dsl::ones<float>(100);
  dsl::array<float> y = x + 1;
  const explained_runs outer;
  {
    const explained_runs inner;
    y = x + 1;
    y = x + 1;
    EXPECT_EQ(inner.count(), 2);
    EXPECT_TRUE(std::isnan(inner[0].seconds()));
  }
  EXPECT_EQ(outer.count(), 0);
}

TEST(explained_on_host, predicts_more_time_for_more_elements) {
  const dsl::device_guard on(dsl::backend::host);
  const auto seconds = [](std::int64_t n) {
    const auto x = dsl::ones<float>(n);
    dsl::array<float> y(n);
    return dsl::explain(y, x + 1).seconds();
  };
  const double few = seconds(1 << 10), many = seconds(1 << 22);
  EXPECT_GT(few, 0);
  EXPECT_GT(many, few);
}

// In a child process: the variable is read once.
TEST(DSL_EXPLAIN, program) {
  if (std::getenv("DSL_EXPLAIN") == nullptr) GTEST_SKIP() << "run by the next test";
  const dsl::device_guard on(dsl::backend::sim);
  const auto x = dsl::ones<float>(100);
  dsl::array<float> y(100);
  for (int k = 0; k < 3; ++k) y = x + 1;
  for (int k = 0; k < 3; ++k) y = x / dsl::norm(x);
  for (int k = 0; k < 3; ++k) y = dsl::cumsum(x);
}
TEST(DSL_EXPLAIN, prints_each_expression_once) {
  char self[1000] = "";
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const auto output_with = [&](const std::string& value) {
    const std::string command = "DSL_EXPLAIN=" + value + " '" + self +
                                "' --gtest_filter=DSL_EXPLAIN.program 2>&1 >/dev/null";
    FILE* const program = popen(command.c_str(), "r");
    std::string all;
    for (int c; (c = std::fgetc(program)) != EOF;) all += static_cast<char>(c);
    pclose(program);
    return all;
  };
  const auto count = [](const std::string& all, const std::string& what) {
    int n = 0;
    for (std::size_t at = all.find(what); at != all.npos; at = all.find(what, at + 1)) ++n;
    return n;
  };
  const std::string printed = output_with("1");
  EXPECT_EQ(count(printed, "out = a + 1\none kernel"), 1) << printed;
  EXPECT_EQ(count(printed, "out = a / norm(a)\none kernel"), 1);
  EXPECT_EQ(count(printed, "out = cumsum(a)\none kernel"), 1);
  EXPECT_EQ(output_with("0"), "");
}

TEST(measured_curve, is_a_line_between_points) {
  measured_curve curve;
  curve.add(100, 1);
  curve.add(200, 2);
  curve.add(400, 6);
  EXPECT_EQ(curve(0), 1);
  EXPECT_EQ(curve(150), 1.5);
  EXPECT_EQ(curve(300), 4);
  EXPECT_EQ(curve(600), 10);
  EXPECT_EQ(curve.bandwidth(), 50);
}

TEST(calibrated_sizes, are_dense_about_the_cache) {
  const auto sizes = calibrated_sizes(32 << 20, 256 << 20);
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_EQ(sizes.front(), 64 << 10);
  EXPECT_EQ(sizes.back(), 256 << 20);
  EXPECT_EQ(std::count_if(sizes.begin(), sizes.end(),
                          [](std::int64_t s) { return s >= 32 << 20 && s < 64 << 20; }),
            4);
}

}  // namespace
