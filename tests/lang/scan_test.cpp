// Scans: every kind of dtype, size, axis and layout against a sequential loop in higher precision.
#include "scan_reference.hpp"

#include <limits>
#include <numeric>

// The same modulo 2^16, in the halves of an unsigned integer: exact for every grouping.
struct compose_exactly {
  DSL_FN std::uint32_t operator()(std::uint32_t f, std::uint32_t g) const {
    const std::uint32_t a = f >> 16, b = f & 0xffff, c = g >> 16, d = g & 0xffff;
    return (c * a & 0xffff) << 16 | ((c * b + d) & 0xffff);
  }
};

namespace {

ON_EVERY_DEVICE(scans);

// Elements of 1, 2, 4 and 16 bytes; integers are summed in 64 bits.
TEST_P(scans, sums) {
  sums_of_dtype<std::int8_t, std::int64_t, std::int64_t, false>(0);
  sums_of_dtype<std::uint16_t, std::uint64_t, std::uint64_t, false>(0);
  sums_of_dtype<std::int32_t, std::int64_t, std::int64_t>(0);
  sums_of_dtype<float, float, double>(2e-4);
  sums_of_dtype<std::complex<double>, std::complex<double>, std::complex<long double>, false>(
      1e-11);
}
TEST_P(scans, sixteen_bits_are_summed_in_float) { sums_of_sixteen_bits<dsl::half>(); }

TEST_P(scans, products) {
  const auto a = dsl::to_device(std::vector<std::int32_t>{3, -1, 2, 5, 0, 7});
  EXPECT_EQ(dsl::eval(dsl::cumprod(a)).copy_to_host(),
            (std::vector<std::int64_t>{3, -3, -6, -30, 0, 0}));
  EXPECT_EQ(dsl::eval(dsl::cumprod(a, dsl::exclusive)).copy_to_host(),
            (std::vector<std::int64_t>{1, 3, -3, -6, -30, 0}));
  std::vector<double> host;
  for (int i = 0; i < 20000; ++i) host.push_back(1 + ((i * 37) % 11 - 5) * 1e-4);
  const auto want = reference<long double>(
      host, flat(host.size()), [](long double x, long double y) { return x * y; }, false, false,
      1.0L);
  expect_near(dsl::eval(dsl::cumprod(dsl::to_device(host))).copy_to_host(), want, 1e-11, "product");
}

TEST_P(scans, along_every_axis_of_every_shape) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {1, 1, 1},    {3, 5, 7},    {2, 1, 9},    {1, 33, 1},   {4, 129, 3}, {2, 3, 1025},
      {70, 64, 8},  {9, 17, 130}, {1, 5000, 2}, {3, 2, 4100}, {0, 3, 2},   {2, 0, 3},
      {1, 1, 9000}, {9000, 1, 1}, {1, 9000, 1}, {4000, 3, 5}};
  for (const auto& shape : shapes) {
    const auto host = values_of<std::int32_t>(shape[0] * shape[1] * shape[2]);
    const auto a = dsl::to_device(host);
    const auto x = dsl::reshape(a, shape[0], shape[1], shape[2]);
    for (int axis = -3; axis < 3; ++axis)
      for (const bool exclusive : {false, true}) {
        dsl::array<std::int64_t, 3> got;
        if (exclusive) got = dsl::cumsum(x, dsl::exclusive, dsl::axis(axis));
        else got = dsl::cumsum(x, dsl::axis(axis));
        ASSERT_EQ(got.extents(), x.extents());
        ASSERT_EQ(got.copy_to_host(),
                  sums<std::int64_t>(host, along(shape, axis < 0 ? axis + 3 : axis), exclusive))
            << shape[0] << ' ' << shape[1] << ' ' << shape[2] << ", axis " << axis
            << (exclusive ? ", exclusive" : "");
      }
    ASSERT_EQ(dsl::eval(dsl::cumsum(x)).copy_to_host(),
              sums<std::int64_t>(host, flat(host.size())));
  }
}

TEST_P(scans, large_matrices_along_both_axes) {
  const std::int64_t less = simulated() ? 4 : 1;
  const std::vector<std::vector<std::int64_t>> shapes = {{100000 / less, 8}, {8, 100000 / less},
                                                         {700, 900 / less},  {260, 4096 / less},
                                                         {40000 / less, 3},  {3, 40001 / less}};
  for (const auto& shape : shapes) {
    const auto host = values_of<std::int32_t>(shape[0] * shape[1]);
    const auto a = dsl::to_device(host);
    for (int axis = 0; axis < 2; ++axis) {
      dsl::array<std::int64_t, 2> got =
          dsl::cumsum(dsl::reshape(a, shape[0], shape[1]), dsl::axis(axis));
      ASSERT_EQ(got.copy_to_host(), sums<std::int64_t>(host, along(shape, axis)))
          << shape[0] << ' ' << shape[1] << ", axis " << axis;
    }
  }
}

// Equal numbers all round in the same direction: each prefix is within 5e-6 of the exact sum, at
// any distance from the beginning.
TEST_P(scans, sums_of_equal_numbers_at_every_position) {
  struct shape { std::int64_t rows, columns; };
  const std::int64_t less = simulated() ? 10 : 1;
  for (const auto& [rows, columns] :
       {shape{1, 3'000'000 / less}, {2, 300'000 / less}, {100'000 / less, 3}, {20'000 / less, 70}})
    for (int axis = rows == 1 ? 1 : 0; axis < 2; ++axis) {
      const double c = 0.3f;
      const auto a = dsl::full<float>(0.3f, rows, columns);
      dsl::array<float, 2> sums = dsl::cumsum(a, dsl::axis(axis)),
                           before = dsl::cumsum(a, dsl::axis(axis), dsl::exclusive);
      const auto h = sums.copy_to_host(), e = before.copy_to_host();
      double off = 0;
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double place = static_cast<double>(axis == 0 ? i / columns : i % columns);
        off = std::max({off, std::abs(h[at] / ((place + 1) * c) - 1),
                        place > 0 ? std::abs(e[at] / (place * c) - 1) : std::abs(e[at])});
      }
      EXPECT_LE(off, 5e-6) << rows << " x " << columns << ", axis " << axis;
    }
}

// Every operand's layout gives the same numbers.
TEST_P(scans, operands_and_targets_of_any_layout) {
  const std::vector<std::int64_t> shape = {13, 34, 67};
  const std::int64_t n = 13 * 34 * 67;
  const auto host = values_of<std::int32_t>(n), turned = values_of<std::int32_t>(n, 2);
  const auto a = dsl::to_device(host), b = dsl::to_device(turned);
  auto padded = dsl::zeros<std::int32_t>(13, 34, 71);
  padded(dsl::slice(), dsl::slice(), dsl::slice(3, 70)) = dsl::reshape(a, 13, 34, 67);
  auto spread = dsl::zeros<std::int32_t>(13, 34, 2 * 67);
  spread(dsl::slice(), dsl::slice(), dsl::slice(1, dsl::end, 2)) = dsl::reshape(a, 13, 34, 67);
  const auto row = dsl::to_device(values_of<std::int32_t>(67, 3)),
             column = dsl::to_device(values_of<std::int32_t>(34, 4));
  const auto row_host = row.copy_to_host(), column_host = column.copy_to_host();
  const auto transposed = dsl::transpose(dsl::reshape(b, 67, 34, 13));

  std::vector<std::int32_t> mixed;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t z = i / (34 * 67), y = i / 67 % 34, x = i % 67;
    mixed.push_back(host[static_cast<std::size_t>(i)] * row_host[static_cast<std::size_t>(x)] +
                    column_host[static_cast<std::size_t>(y)] -
                    turned[static_cast<std::size_t>((x * 34 + y) * 13 + z)]);
  }
  const auto formula = [&](const auto& x) {
    return x * row + dsl::reshape(column, 34, 1) - transposed;
  };
  for (int axis = 0; axis < 3; ++axis) {
    const auto want = sums<std::int64_t>(host, along(shape, axis));
    const auto check = [&](const auto& scan, const std::vector<std::int64_t>& wanted,
                           const char* what) {
      dsl::array<std::int64_t, 3> fresh = scan;
      ASSERT_EQ(fresh.copy_to_host(), wanted) << what << ", axis " << axis;
      // Targets: every second element, a transposed array, and memory misaligned by one element.
      auto wide = dsl::zeros<std::int64_t>(13, 34, 134);
      wide(dsl::slice(), dsl::slice(), dsl::slice(0, dsl::end, 2)) = scan;
      ASSERT_EQ(wide(dsl::slice(), dsl::slice(), dsl::slice(0, dsl::end, 2)).copy_to_host(), wanted)
          << what << ", strided target, axis " << axis;
      dsl::array<std::int64_t, 3> across(67, 34, 13);
      dsl::transpose(across) = scan;
      ASSERT_EQ(dsl::transpose(across).copy_to_host(), wanted)
          << what << ", transposed target, axis " << axis;
      dsl::array<std::int64_t> memory(n + 1);
      const auto off = dsl::reshape(memory(dsl::slice(1, dsl::end)), 13, 34, 67);
      off = scan;
      ASSERT_EQ(off.copy_to_host(), wanted) << what << ", misaligned target, axis " << axis;
    };
    check(dsl::cumsum(padded(dsl::slice(), dsl::slice(), dsl::slice(3, 70)), dsl::axis(axis)), want,
          "misaligned");
    check(dsl::cumsum(spread(dsl::slice(), dsl::slice(), dsl::slice(1, dsl::end, 2)),
                      dsl::axis(axis)),
          want, "strided");
    check(
        dsl::cumsum(transposed, dsl::axis(axis)),
        [&] {
          std::vector<std::int32_t> straight;
          for (std::int64_t i = 0; i < n; ++i)
            straight.push_back(
                turned[static_cast<std::size_t>((i % 67 * 34 + i / 67 % 34) * 13 + i / (34 * 67))]);
          return sums<std::int64_t>(straight, along(shape, axis));
        }(),
        "transposed");
    check(dsl::cumsum(formula(dsl::reshape(a, 13, 34, 67)), dsl::axis(axis)),
          sums<std::int64_t>(mixed, along(shape, axis)), "mixed");
    check(dsl::cumsum(dsl::flip(dsl::flip(dsl::reshape(a, 13, 34, 67))), dsl::axis(axis)), want,
          "flipped twice");
  }
  dsl::array<std::int64_t> all = dsl::cumsum(formula(dsl::reshape(a, 13, 34, 67)));
  EXPECT_EQ(all.copy_to_host(), sums<std::int64_t>(mixed, flat(mixed.size())));
  dsl::array<std::int64_t> spaced(3 * n);
  spaced(dsl::slice(0, dsl::end, 3)) = dsl::cumsum(transposed);
  std::vector<std::int32_t> straight;
  for (std::int64_t i = 0; i < n; ++i)
    straight.push_back(
        turned[static_cast<std::size_t>((i % 67 * 34 + i / 67 % 34) * 13 + i / (34 * 67))]);
  EXPECT_EQ(spaced(dsl::slice(0, dsl::end, 3)).copy_to_host(),
            sums<std::int64_t>(straight, flat(straight.size())));
}

TEST_P(scans, backwards) {
  const auto a = dsl::to_device(std::vector<int>{1, 2, 3, 4});
  EXPECT_EQ(dsl::eval(dsl::cumsum(dsl::flip(a))).copy_to_host(),
            (std::vector<std::int64_t>{4, 7, 9, 10}));
  dsl::array<std::int64_t> c(4);
  dsl::flip(c) = dsl::cumsum(dsl::flip(a));  // sums from each to the end
  EXPECT_EQ(c.copy_to_host(), (std::vector<std::int64_t>{10, 9, 7, 4}));
}

TEST_P(scans, a_scalar_is_one_element) {
  dsl::scalar<float> s = 3.0f;
  dsl::array<float> c = dsl::cumsum(s);
  EXPECT_EQ(c.copy_to_host(), std::vector<float>{3});
}

TEST_P(scans, in_place_and_overlapping) {
  const auto host = values_of<std::int64_t>(34567);
  const auto want = sums<std::int64_t>(host, flat(host.size()));
  auto a = dsl::to_device(host);
  a = dsl::cumsum(a);
  EXPECT_EQ(a.copy_to_host(), want);
  a = dsl::to_device(host);
  a = dsl::cumsum(dsl::flip(a));
  EXPECT_EQ(
      a.copy_to_host(),
      sums<std::int64_t>(std::vector<std::int64_t>(host.rbegin(), host.rend()), flat(host.size())));
  a = dsl::to_device(host);
  a(dsl::slice(1, dsl::end)) = dsl::cumsum(a(dsl::slice(0, -1)));  // one element further
  const auto got = a.copy_to_host();
  EXPECT_EQ(got[0], host[0]);
  for (std::size_t i = 1; i < got.size(); ++i) ASSERT_EQ(got[i], want[i - 1]) << i;
  a = dsl::to_device(host);
  a = dsl::cumsum(a + a(5));  // every element uses one of the target's
  std::vector<std::int64_t> more = host;
  for (auto& x : more) x += host[5];
  EXPECT_EQ(a.copy_to_host(), sums<std::int64_t>(more, flat(more.size())));
  for (int axis = 0; axis < 2; ++axis) {
    const auto square = values_of<std::int64_t>(300 * 300);
    dsl::array<std::int64_t, 2> m = dsl::reshape(dsl::to_device(square), 300, 300) + 0;
    m = dsl::cumsum(m, dsl::axis(axis));
    EXPECT_EQ(m.copy_to_host(), sums<std::int64_t>(square, along({300, 300}, axis)));
    m = dsl::reshape(dsl::to_device(square), 300, 300) + 0;
    m = dsl::cumsum(dsl::transpose(m), dsl::axis(axis));
    std::vector<std::int64_t> turned;
    for (std::size_t i = 0; i < square.size(); ++i)
      turned.push_back(square[i % 300 * 300 + i / 300]);
    EXPECT_EQ(m.copy_to_host(), sums<std::int64_t>(turned, along({300, 300}, axis)));
  }
}

TEST_P(scans, an_init_goes_before_each_row_once) {
  const auto add = dsl::scan([](auto a, auto b) { return a + b; }, 100);
  const auto a = dsl::to_device(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  const auto m = dsl::reshape(a, 2, 3);
  EXPECT_EQ(dsl::eval(add(a)).copy_to_host(),
            (std::vector<std::int32_t>{101, 103, 106, 110, 115, 121}));
  EXPECT_EQ(dsl::eval(add(a, dsl::exclusive)).copy_to_host(),
            (std::vector<std::int32_t>{100, 101, 103, 106, 110, 115}));
  EXPECT_EQ(dsl::eval(add(m, dsl::axis(1))).copy_to_host(),
            (std::vector<std::int32_t>{101, 103, 106, 104, 109, 115}));
  EXPECT_EQ(dsl::eval(add(m, dsl::axis(0))).copy_to_host(),
            (std::vector<std::int32_t>{101, 102, 103, 105, 107, 109}));
  EXPECT_EQ(dsl::eval(add(m, dsl::axis(0), dsl::exclusive)).copy_to_host(),
            (std::vector<std::int32_t>{100, 100, 100, 101, 102, 103}));
  // The init is weak: float32 stays, but a real init makes float64 of integers.
  static_assert(
      std::is_same_v<decltype(dsl::eval(dsl::scan([](auto x, auto y) { return x + y; }, 0.5)(a))),
                     dsl::array<double, 1>>);
  for (const auto& shape :
       std::vector<std::vector<std::int64_t>>{{5000, 7}, {7, 5000}, {1, 34567}, {100000, 8}})
    for (int axis = 0; axis < 2; ++axis)
      for (const bool exclusive : {false, true}) {
        const auto host = values_of<std::int32_t>(shape[0] * shape[1]);
        const auto x = dsl::to_device(host);
        dsl::array<std::int32_t, 2> got;
        if (exclusive)
          got = add(dsl::reshape(x, shape[0], shape[1]), dsl::axis(axis), dsl::exclusive);
        else got = add(dsl::reshape(x, shape[0], shape[1]), dsl::axis(axis));
        ASSERT_EQ(got.copy_to_host(), reference<std::int32_t>(host, along(shape, axis),
                                                              std::plus<>(), exclusive, true, 100))
            << shape[0] << ' ' << axis;
      }
}

TEST_P(scans, the_order_is_that_of_the_elements) {
  std::mt19937 engine(3);
  for (const std::int64_t n : scan_sizes()) {
    std::vector<std::uint32_t> host;
    for (std::int64_t i = 0; i < n; ++i)
      host.push_back(engine() | 0x10000u);  // odd factors, or all products become 0
    const auto a = dsl::to_device(host);
    const auto join = [](std::uint32_t f, std::uint32_t g) { return compose_exactly{}(f, g); };
    EXPECT_EQ(dsl::eval(dsl::scan(compose_exactly{})(a)).copy_to_host(),
              reference<std::uint32_t>(host, flat(host.size()), join, false, false, 0u))
        << n;
    const auto traced = dsl::scan(
        [](auto f, auto g) {
          const auto factor = g >> 16;
          return (factor * (f >> 16)) << 16 | ((factor * (f & 0xffff) + (g & 0xffff)) & 0xffff);
        },
        0x00010007);
    dsl::array<std::uint32_t> got = traced(a, dsl::exclusive);
    EXPECT_EQ(got.copy_to_host(),
              reference<std::uint32_t>(host, flat(host.size()), join, true, true, 0x00010007u))
        << n;
  }
  for (const auto& shape :
       std::vector<std::vector<std::int64_t>>{{50000, 3}, {3, 50000}, {300, 301}})
    for (int axis = 0; axis < 2; ++axis) {
      std::vector<std::uint32_t> host;
      for (std::int64_t i = 0; i < shape[0] * shape[1]; ++i) host.push_back(engine() | 0x10000u);
      const auto a = dsl::to_device(host);
      dsl::array<std::uint32_t, 2> got =
          dsl::scan(compose_exactly{})(dsl::reshape(a, shape[0], shape[1]), dsl::axis(axis));
      EXPECT_EQ(got.copy_to_host(), reference<std::uint32_t>(host, along(shape, axis),
                                                             compose_exactly{}, false, false, 0u))
          << shape[0] << ' ' << axis;
    }
}

TEST_P(scans, nan_stays_from_where_it_is_in_its_row) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> host(3 * 5000, 1);
  host[5000 + 4321] = nan;
  const auto a = dsl::to_device(host);
  const auto got = dsl::eval(dsl::cumsum(dsl::reshape(a, 3, 5000), dsl::axis(1))).copy_to_host();
  const auto across = dsl::eval(dsl::cumsum(dsl::reshape(a, 3, 5000), dsl::axis(0))).copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) {
    ASSERT_EQ(std::isnan(got[i]), i / 5000 == 1 && i % 5000 >= 4321) << i;
    ASSERT_EQ(std::isnan(across[i]), i / 5000 >= 1 && i % 5000 == 4321) << i;
    if (i / 5000 != 1) {
      ASSERT_EQ(got[i], static_cast<float>(i % 5000 + 1));
    }
  }
}

TEST_P(scans, the_first_element_is_itself) {
  const auto got =
      dsl::eval(dsl::cumsum(dsl::to_device(std::vector<double>{-0.0, -0.0}))).copy_to_host();
  EXPECT_TRUE(std::signbit(got[0]) && std::signbit(got[1]));
}

// In the simulator with a new order of blocks and warps each time.
TEST_P(scans, are_the_same_every_time) {
  const std::int64_t n = simulated() ? 200'000 : 1'000'000;
  const auto a = dsl::to_device(random_floats(n + 3));
  dsl::array<float> first = dsl::cumsum(a * a);
  const auto want = first.copy_to_host();
  const auto m = dsl::reshape(a(dsl::slice(0, n)), n / 8, 8);
  const auto columns = dsl::eval(dsl::cumsum(m, dsl::axis(0))).copy_to_host();
  for (const char* seed : {"1", "2", "3"}) {
    const simulated_order order(seed);
    ASSERT_EQ(dsl::eval(dsl::cumsum(a * a)).copy_to_host(), want);
    ASSERT_EQ(dsl::eval(dsl::cumsum(m, dsl::axis(0))).copy_to_host(), columns);
  }
}

#if defined(__CUDACC__)
TEST(scans_on_cuda, are_captured_into_a_graph) {
  if (dsl::devices().front().kind != dsl::backend::cuda) GTEST_SKIP() << "no GPU";
  const dsl::device_guard device{dsl::device("cuda")};
  const dsl::stream stream;
  const dsl::stream_guard guard(stream);
  const auto host = values_of<std::int64_t>(3 * 34567);
  auto a = dsl::to_device(host);
  const auto m = dsl::reshape(a, 34567, 3);
  dsl::array<std::int64_t> all(a.size());
  dsl::array<std::int64_t, 2> columns(34567, 3);
  const auto scan_both = [&] {
    all = dsl::cumsum(a);
    columns = dsl::cumsum(m, dsl::axis(0));
  };
  scan_both();
  stream.synchronize();
  const auto native = static_cast<cudaStream_t>(stream.native());
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  scan_both();
  ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int k = 1; k < 4; ++k) {
    a = a + 1;
    ASSERT_EQ(cudaGraphLaunch(ready, native), cudaSuccess);
    auto more = host;
    for (auto& x : more) x += k;
    EXPECT_EQ(all.copy_to_host(), sums<std::int64_t>(more, flat(more.size())));
    EXPECT_EQ(columns.copy_to_host(), sums<std::int64_t>(more, along({34567, 3}, 0)));
  }
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
#endif

TEST_P(scans, shapes_and_axes_that_do_not_fit) {
  const auto a = dsl::to_device(std::vector<float>(6, 1));
  const auto m = dsl::reshape(a, 2, 3);
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const dsl::shape_error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  const std::string axes = ": axes are 0 to 1, or -2 to -1 from the end";
  EXPECT_EQ(message([&] { dsl::cumsum(m, dsl::axis(2)); }),
            "scan of shape (2, 3): there is no axis 2" + axes);
  EXPECT_EQ(message([&] { dsl::cumsum(m + 1, dsl::axis(-3)); }),
            "scan of shape (2, 3): there is no axis -3" + axes);
  // If the shape is known only after evaluation, the error states the rank.
  const auto deviations = m - dsl::mean(m, dsl::axis(1), dsl::keep_dims);
  EXPECT_EQ(message([&] { dsl::cumsum(deviations, dsl::axis(2)); }),
            "scan of 2 dimensions: there is no axis 2" + axes);
  EXPECT_EQ(message([&] { dsl::max(deviations, dsl::axis(2)); }),
            "a reduction of 2 dimensions: there is no axis 2" + axes);
  dsl::array<float, 2> wrong = dsl::zeros<float>(3, 2);
  EXPECT_EQ(message([&] { wrong = dsl::cumsum(m, dsl::axis(0)); }),
            "a scan of shape (2, 3) cannot be assigned to shape (3, 2)");
  dsl::array<float> five = dsl::zeros<float>(5);
  EXPECT_EQ(message([&] { five = dsl::cumsum(m); }),
            "a scan of shape (6) cannot be assigned to shape (5)");
  EXPECT_EQ(five.copy_to_host(), std::vector<float>(5, 0));
  dsl::array<float> never;
  EXPECT_THROW(dsl::array<float>{dsl::cumsum(never)}, dsl::memory_error);
}

}  // namespace
