// Sums, alone and together with arrays.
#include "variance_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace {

ON_EVERY_DEVICE(reduce);

TEST_P(reduce, every_size) {
  for (const std::int64_t n : sizes()) {
    const auto h = random_floats(n);
    std::vector<std::int32_t> whole;
    for (const float x : h) whole.push_back(static_cast<std::int32_t>(x * 1e9f));
    const auto a = dsl::to_device(h);
    const auto i = dsl::to_device(whole);
    dsl::scalar<float> sum = dsl::sum(a);
    dsl::scalar<double> squares = dsl::sum(dsl::cast<double>(a) * a);
    dsl::scalar<std::int64_t> exact = dsl::sum(i);  // widened: a 32-bit sum would wrap
    double want = 0, size = 0, want_squares = 0;
    for (const float x : h) {
      want += x;
      size += std::abs(x);
      want_squares += double(x) * x;
    }
    EXPECT_NEAR(sum.value(), want, 1e-6 * size) << n;
    EXPECT_NEAR(squares.value(), want_squares, 1e-13 * want_squares) << n;
    EXPECT_EQ(exact.value(), std::accumulate(whole.begin(), whole.end(), std::int64_t{0})) << n;
  }
}

TEST_P(reduce, beside_arrays_in_one_kernel) {
  const std::int64_t n = 34567;
  const auto h = random_floats(n);
  const auto f = dsl::vectorize(
      [](auto x, auto d) { return std::tuple{x * d, dsl::sum(x * d), x > 0, dsl::sum(x > 0)}; });
  auto x = dsl::to_device(h);
  dsl::scalar<float> d = 2.0f;
  dsl::array<bool> positive;
  dsl::scalar<std::int64_t> count;
  dsl::tie(x, d, positive, count) = f(x, d);  // all blocks read d before it is written
  const auto got = x.copy_to_host();
  double sum = 0;
  std::int64_t above = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    ASSERT_EQ(got[i], 2 * h[i]);
    sum += 2 * h[i];
    above += h[i] > 0;
  }
  EXPECT_NEAR(d.value(), sum, 1e-4);  // measured: 3e-5
  EXPECT_EQ(count.value(), above);
}

// The array's only element is also an operand of the expression that follows the reduction.
TEST_P(reduce, beside_arrays_that_replace_an_operand) {
  const auto f =
      dsl::vectorize([](auto x, auto first) { return std::tuple{x + 1, dsl::sum(x) * first}; });
  for (const std::int64_t n : {1, 3, 70001}) {
    auto x = dsl::full<double>(2.0, n);
    const dsl::view<double, 0> first = x(0).view();
    dsl::scalar<double> s;
    dsl::tie(x, s) = f(x, first);
    EXPECT_EQ(s.value(), 4.0 * static_cast<double>(n));
    EXPECT_EQ(x.copy_to_host(), std::vector<double>(static_cast<std::size_t>(n), 3.0));
  }
}

TEST_P(reduce, strided_and_broadcast_operands) {
  const auto row = dsl::to_device(std::vector<double>{1, 2, 3}),
             column = dsl::to_device(std::vector<double>{1, 10});
  dsl::scalar<double> s = dsl::sum(dsl::reshape(column, 2, 1) * row);
  EXPECT_EQ(s.value(), 66);
}

// Short rows of which there are many are shared by few threads.
TEST_P(reduce, many_rows_of_every_length) {
  const std::int64_t most = dsl::device::current().kind == dsl::backend::cuda ? 70'001 : 301;
  for (const std::int64_t length : {1, 2, 3, 5, 16, 17, 24, 33, 64, 65, 100, 127, 129, 257}) {
    const std::int64_t rows = length > 129 ? (most + 2) / 3 : most;
    // A column before the rows and one behind them, so that they begin anywhere.
    const std::int64_t pitch = length + 2;
    const std::vector<float> host =
        random_floats(rows * pitch, 1, 2, static_cast<unsigned>(length));
    const dsl::array<float, 2> memory = dsl::reshape(dsl::to_device(host), rows, pitch);
    const dsl::array<float, 2> whole = memory(dsl::slice(0, rows), dsl::slice(1, length + 1));
    const auto expect = [&](const auto& x) {
      const dsl::array<float> sums = dsl::sum(x, dsl::axis(1));
      const dsl::array<float> down = dsl::sum(x, dsl::axis(0));
      const dsl::array<double> variances = dsl::var(dsl::cast<double>(x), dsl::axis(1));
      const dsl::array<std::int64_t> places = dsl::argmax(x, dsl::axis(1));
      const auto sum = sums.copy_to_host();
      const auto variance = variances.copy_to_host();
      const auto place = places.copy_to_host();
      const auto below = down.copy_to_host();
      for (std::int64_t c = 0; c < length; ++c) {
        double total = 0;
        for (std::int64_t r = 0; r < rows; ++r)
          total += host[static_cast<std::size_t>(r * pitch + 1 + c)];
        ASSERT_NEAR(below[static_cast<std::size_t>(c)], total, 1e-6 * total)
            << c << " of " << length;
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const float* const row = host.data() + r * pitch + 1;
        double total = 0, squares = 0;
        for (std::int64_t c = 0; c < length; ++c) total += row[c];
        for (std::int64_t c = 0; c < length; ++c) squares += std::pow(row[c] - total / length, 2);
        ASSERT_NEAR(sum[at], total, 1e-6 * total) << r << " of " << length;
        ASSERT_NEAR(variance[at], squares / length, 1e-12) << r << " of " << length;
        ASSERT_EQ(place[at], std::max_element(row, row + length) - row) << r << " of " << length;
      }
    };
    expect(memory(dsl::slice(0, rows), dsl::slice(1, length + 1)));
    expect(whole);
  }
}

// A thread reads several rows that are shorter than its vectors; planes are apart.
TEST_P(reduce, rows_shorter_than_a_vector) {
  const std::int64_t rows = dsl::device::current().kind == dsl::backend::cuda ? 5'003 : 1'301;
  const auto compare = [&]<class T>(T, std::int64_t length) {
    const std::int64_t pitch = length + 1, planes = 3;
    std::vector<T> host(static_cast<std::size_t>(planes * (rows + 2) * pitch));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<T>(i * 7 % 23) - 9;
    const dsl::array<T, 3> memory = dsl::reshape(dsl::to_device(host), planes, rows + 2, pitch);
    const auto x =
        memory(dsl::slice(0, planes), dsl::slice(1, rows + 1), dsl::slice(1, length + 1));
    const dsl::array<T, 2> along = dsl::sum(x, dsl::axis(2)), down = dsl::sum(x, dsl::axis(1));
    const dsl::array<T> last = dsl::sum(x, dsl::axis(0, 1));
    const dsl::scalar<T> whole = dsl::sum(x);
    const auto a = along.copy_to_host(), d = down.copy_to_host(), l = last.copy_to_host();
    std::vector<T> of_column(static_cast<std::size_t>(length));
    T total = 0;
    for (std::int64_t p = 0; p < planes; ++p) {
      std::vector<T> of_plane(static_cast<std::size_t>(length));
      for (std::int64_t r = 0; r < rows; ++r) {
        T sum = 0;
        for (std::int64_t c = 0; c < length; ++c) {
          const T v = host[static_cast<std::size_t>((p * (rows + 2) + r + 1) * pitch + c + 1)];
          sum += v;
          of_plane[static_cast<std::size_t>(c)] += v;
        }
        ASSERT_EQ(a[static_cast<std::size_t>(p * rows + r)], sum) << p << " " << r << " " << length;
        total += sum;
      }
      for (std::int64_t c = 0; c < length; ++c) {
        const auto at = static_cast<std::size_t>(c);
        ASSERT_EQ(d[static_cast<std::size_t>(p * length) + at], of_plane[at]) << p << " " << c;
        of_column[at] += of_plane[at];
      }
    }
    ASSERT_EQ(l, of_column) << length;
    ASSERT_EQ(whole.value(), total) << length;
  };
  for (const std::int64_t length : {1, 2, 3, 4}) {
    compare(float{}, length);
    compare(double{}, length);
  }
}

TEST_P(reduce, is_the_same_every_time) {
  const auto a = dsl::to_device(random_floats(1000003));
  dsl::scalar<float> first = dsl::sum(a * a);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(dsl::scalar<float>(dsl::sum(a * a)).value(), first.value());
}

// Concatenates hexadecimal digits: associative, not commutative, so the result shows the order of
// combination.
constexpr auto concatenate = dsl::reduce([](auto a, auto b) {
  auto shift = dsl::cast<std::uint64_t>(b >= 0) * 4u;
  for (int digits = 1; digits < 15; ++digits)
    shift = shift + dsl::cast<std::uint64_t>(b >= std::uint64_t{1} << 4 * digits) * 4u;
  return (a << shift) | b;
});

TEST_P(reduce, the_order_of_an_operator_that_does_not_commute) {
  const auto x =
      dsl::to_device(std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const std::uint64_t order = concatenate(x).value();
  // Host and OpenCL: 15 elements are 15 lanes or work-items; each is combined with the one 8
  // further, then 4, 2, 1. CUDA: each of 8 threads takes two elements; then threads combine with
  // those 4, 2 and 1 further.
  EXPECT_EQ(order, has_grid() ? 0x129a56de34bc78fu : 0x195d3b7f2a6e4c8u) << std::hex << order;
}

// NumPy sums pairwise, down to blocks of 128 elements with 8 partial sums each. The bound is twice
// NumPy's error or, if that is 0 by chance, two roundings of the result.
TEST_P(reduce, error_of_a_long_sum) {
  const std::int64_t n = simulated() ? 100'000 : 10'000'000;
  const auto h = random_floats(n, 0, 1);
  const auto pairwise = [&](auto&& self, std::int64_t first, std::int64_t count) -> float {
    if (count > 128)
      return self(self, first, count / 2 / 8 * 8) +
             self(self, first + count / 2 / 8 * 8, count - count / 2 / 8 * 8);
    float r[8] = {}, rest = 0;
    for (std::int64_t i = 0; i < count / 8 * 8; ++i)
      r[i % 8] += h[static_cast<std::size_t>(first + i)];
    for (std::int64_t i = count / 8 * 8; i < count; ++i)
      rest += h[static_cast<std::size_t>(first + i)];
    return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7])) + rest;
  };
  double exact = 0;
  for (const float v : h) exact += v;
  const double allowed = std::max(2 * std::abs(pairwise(pairwise, 0, n) - exact), exact * 0x1p-23);
  EXPECT_LE(std::abs(dsl::sum(dsl::to_device(h)).value() - exact), allowed);
}

// Sums of equal numbers, which all round in the same direction: the error is at most NumPy's worst
// case plus two roundings.
TEST_P(reduce, error_of_rows_of_equal_numbers) {
  for (const float c : {0.1f, 0.3f, 0.7f}) {
    const dsl::array<float> rows = dsl::sum(dsl::full<float>(c, 4, 10000), dsl::axis(1));
    const double exact = 1e4 * static_cast<double>(c),
                 bound = dsl::device::current().kind == dsl::backend::host ? 3e-7 : 1.5e-6;
    for (const float sum : rows.copy_to_host()) EXPECT_NEAR(sum / exact, 1, bound) << c;
  }
}

TEST_P(reduce, variances_of_numbers_far_from_zero) {
  std::mt19937 engine(7);
  struct shape { std::size_t rows, columns; };
  for (const auto& [rows, columns] : {shape{1, 1000}, {300, 7}, {3, 4099}, {40, 100}, {1, 65537}}) {
    const std::size_t n = rows * columns;
    const auto fill = [&](auto each) {
      std::vector<float> v(n);
      for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(each(i));
      return v;
    };
    for (const auto& [mean, deviation] :
         {std::pair{1000., 0.29}, {10000., 0.29}, {5000., 2.}, {-1e6, 3.}, {1., 1e-3}, {0., 1.}}) {
      std::normal_distribution<double> normal(mean, deviation);
      check_variances(fill([&](std::size_t) { return normal(engine); }), rows, 3e-6,
                      std::to_string(mean));
    }
    std::normal_distribution<double> normal(5000, 2);
    check_variances(fill([&](std::size_t) { return 0.1; }), rows, 0, "constant");
    check_variances(fill([](std::size_t i) { return 1e5 + static_cast<double>(i); }), rows, 3e-6,
                    "ramp");
    check_variances(fill([](std::size_t i) { return 1e5 - static_cast<double>(i / 64); }), rows,
                    3e-6, "stairs");
    // One value far from the others, at the origin.
    check_variances(fill([&](std::size_t i) { return i == 0 ? 0 : normal(engine); }), rows, 2e-5,
                    "first is 0");
    check_variances(fill([&](std::size_t i) { return i < 600 ? 0 : normal(engine); }), rows, 2e-5,
                    "600 are 0");
    check_variances(fill([&](std::size_t i) { return i + 1 == n ? 1e6 : normal(engine); }), rows,
                    2e-5, "last is far");
    check_variances(fill([&](std::size_t i) { return i % 2 == 0 ? 1e-3 : normal(engine); }), rows,
                    2e-5, "every second");
  }
}

TEST_P(reduce, errors_name_shapes_and_axes) {
  const dsl::array<float, 2> m = dsl::zeros<float>(2, 3);
  dsl::array<float> r(5);
  const auto message = [](auto&& run) -> std::string {
    try {
      run();
    } catch (const dsl::shape_error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { r = dsl::sum(m, dsl::axis(1)); }),
            "a reduction's result of shape (2) cannot be assigned to shape (5): sum(a)");
  EXPECT_EQ(
      message([&] { r = dsl::sum(m, dsl::axis(2)); }),
      "a reduction of shape (2, 3): there is no axis 2: axes are 0 to 1, or -2 to -1 from the end");
  dsl::array<float, 2> kept(2, 3);
  EXPECT_EQ(message([&] { kept = dsl::sum(m, dsl::axis(1), dsl::keep_dims); }),
            "a reduction that keeps its axes has extent 1 along axis 1 and cannot be assigned to "
            "shape (2, 3)");
  EXPECT_EQ(message([&] { (void)dsl::max(dsl::array<float>(0)).value(); }),
            "a reduction of no elements, which has no value: max(a)");
  dsl::scalar<float> s;
  dsl::array<float, 2> twice;
  EXPECT_NE(message([&] {
              dsl::tie(twice, s) = std::tuple{m * 2, dsl::sum(dsl::zeros<float>(3))};
            }).find("assign them apart"),
            std::string::npos);
}

#if defined(__CUDACC__)
// A graph may run on any stream, concurrently with the one that it was captured on, so it shares no
// scratch memory with it.
TEST(reduce_on_cuda, shares_no_scratch_with_a_graph) {
  if (dsl::devices().front().kind != dsl::backend::cuda) GTEST_SKIP() << "no GPU";
  const dsl::device_guard device{dsl::device("cuda")};
  const dsl::stream stream, other;
  const dsl::stream_guard guard(stream);
  dsl::array<double> x = dsl::arange<double>(1'000'003), z = dsl::arange<double>(777'777);
  dsl::scalar<double> sum = 0.0, apart = dsl::sum(z);
  stream.synchronize();
  const auto native = static_cast<cudaStream_t>(stream.native());
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  sum = dsl::sum(x);
  ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int k = 0; k < 200; ++k) {
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(cudaGraphLaunch(ready, static_cast<cudaStream_t>(other.native())), cudaSuccess);
    for (int i = 0; i < 5; ++i) apart = dsl::sum(z);
    ASSERT_EQ(apart.value(), 777'776.0 * 777'777.0 / 2);
    other.synchronize();
    ASSERT_EQ(sum.value(), 1'000'002.0 * 1'000'003.0 / 2);
  }
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

// On a stream that has no scratch memory yet.
TEST(reduce_on_cuda, is_captured_into_a_graph) {
  if (dsl::devices().front().kind != dsl::backend::cuda) GTEST_SKIP() << "no GPU";
  const dsl::device_guard device{dsl::device("cuda")};
  const dsl::stream stream;
  const dsl::stream_guard guard(stream);
  dsl::array<double> x = dsl::arange<double>(1'000'003), y(1'000'003);
  dsl::scalar<double> sum;
  stream.synchronize();
  const auto native = static_cast<cudaStream_t>(stream.native());
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  sum = dsl::sum(x);
  y = x / dsl::norm<dsl::inf>(x);
  ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int k = 0; k < 3; ++k) {
    ASSERT_EQ(cudaGraphLaunch(ready, native), cudaSuccess);
    EXPECT_EQ(sum.value(), (k + 1.0) * 1'000'002.0 * 1'000'003.0 / 2);
    EXPECT_EQ(y(1'000'002).value(), 1);
    x = x + dsl::arange<double>(1'000'003);
  }
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
#endif

}  // namespace
