// Statements of each kind on the printed device, against the host.
#include <dsl/random.hpp>

#include <complex>

#include "printed_statements.hpp"

// NOLINTBEGIN: a row each
TEST_F(opencl_statements, views_and_broadcasts) {
  const auto line = [](std::int64_t n) { return dsl::eval(dsl::arange<float>(n) * 0.5f - 3); };
  const auto square = [](std::int64_t r, std::int64_t c) {
    return dsl::array<float, 2>(
        dsl::reshape(dsl::eval(dsl::arange<float>(r * c) * 0.5f - 3), r, c));
  };
  SAME(line(100)(dsl::slice(0, dsl::end, 3)) + 1);
  SAME(dsl::flip(line(77)) * 2);
  SAME(dsl::transpose(square(13, 29)) + square(29, 13));
  SAME(square(13, 29) + line(29));
  SAME(square(13, 29)(dsl::slice(1, -1), dsl::slice(2, 20, 3)) - 0.5f);
  SAME(dsl::cast<dsl::half>(line(100)) * dsl::half(0.5f));
  SAME(dsl::cast<dsl::bfloat16>(line(100)) / 3);
  SAME(line(1));
}

TEST_F(opencl_statements, taken_elements) {
  const auto line = [](std::int64_t n) { return dsl::eval(dsl::arange<float>(n) * 0.5f - 3); };
  const auto square = [](std::int64_t r, std::int64_t c) {
    return dsl::array<double, 2>(
        dsl::reshape(dsl::eval(dsl::arange<double>(r * c) * 0.5 - 3), r, c));
  };
  const auto places = [](std::int64_t n) { return dsl::eval(dsl::arange<int>(n) * 7 % 23 - 5); };
  SAME(dsl::take(line(20), places(60)));
  SAME(dsl::take(dsl::flip(line(20)), places(60)) * 2);
  SAME(dsl::take(square(7, 9), places(5), 0));
  SAME(dsl::take(square(7, 9), places(5), 1));
  const auto pick = dsl::vectorize([](auto u, auto i) { return dsl::take(u, i) + u; });
  SAME(pick(line(30), places(30)));
}

// In the quick tests, opencl_tests reduces, and acceptance programs do the others.
#ifdef DSL_TEST_ALL
TEST_F(opencl_statements, neighbours) {
  const auto line = [](std::int64_t n) { return dsl::eval(dsl::arange<float>(n) * 0.5f - 3); };
  const auto square = [](std::int64_t r, std::int64_t c) {
    return dsl::array<float, 2>(
        dsl::reshape(dsl::eval(dsl::arange<float>(r * c) * 0.5f - 3), r, c));
  };
  using dsl::boundary;
  for (const boundary wall : {boundary::zero, boundary::wrap, boundary::clamp, boundary::reflect}) {
    SAME(dsl::shift(line(50), 1, wall) + dsl::shift(line(50), -1, wall));
    SAME(dsl::shift(line(5), 12, wall));
    SAME(dsl::shift(square(9, 11), 2, wall, 0) - dsl::shift(square(9, 11), -3, wall, 1));
    SAME(dsl::shift(dsl::shift(square(9, 11), 1, wall, 0), 1, wall, 1));
    SAME(dsl::shift(dsl::transpose(square(9, 11)), 1, wall, 0) + 1);
  }
  const auto laplace = dsl::vectorize(
      [](auto u) { return dsl::shift(u, 1) + dsl::shift(u, -1) + dsl::shift(u * u, 2) - 2 * u; });
  SAME(laplace(line(40)));
}

TEST_F(opencl_statements, random_numbers) {
  const dsl::random::key key(7);
  SAME(dsl::random::bits(key, 1001));
  SAME(dsl::random::uniform<float>(key, 1001));
  SAME(dsl::random::uniform<double>(key.fold(3), 1001));
  SAME(dsl::random::integers<int>(key, -5, 1000, 501));
  SAME(dsl::random::integers<std::int64_t>(key, -5, 1000000000000, 501));
  SAME(dsl::random::permutation(key, 1000));
  SAME(dsl::random::normal<float>(key, 1001));
  SAME(dsl::random::exponential<float>(key, 1001));
  SAME(dsl::random::normal<double>(key, 501));
  SAME(dsl::random::exponential<double>(key, 501));
}

TEST_F(opencl_statements, sums_of_everything) {
  for (const std::int64_t n : {1, 2, 255, 257, 5000, 300001}) {
    const auto integers = [n] { return dsl::eval(dsl::arange<std::int64_t>(n) * 37 % 1001 - 500); };
    const auto reals = [n] {
      return dsl::eval(dsl::cast<float>(dsl::arange<std::int64_t>(n) % 101) * 0.25f);
    };
    SAME(dsl::sum(integers()));
    SAME(dsl::min(integers()));
    SAME(dsl::argmax(integers()));
    SAME(dsl::argmin(reals()));
    SAME(dsl::any(integers() > 499));
    SAME(dsl::all(integers() > -501));
    expect_same("sum", [&] { return dsl::sum(reals()); }, 4);
    expect_same("mean of squares", [&] { return dsl::mean(reals() * reals()); }, 8);
    expect_same("var", [&] { return dsl::var(reals()); }, 64);
    expect_same("norm", [&] { return dsl::norm(reals()); }, 8);
    expect_same("dot", [&] { return dsl::dot(reals(), reals()); }, 8);
    expect_same("skew", [&] { return dsl::skew(dsl::cast<double>(reals())); }, 64);
    // The least number and where it first is.
    constexpr auto first_least = dsl::reduce(
        [](auto a, auto b) {
          auto [x, at] = a;
          auto [y, place] = b;
          auto later = (y < x) | ((y == x) & (place < at));
          return std::tuple{dsl::where(later, y, x), dsl::where(later, place, at)};
        },
        std::tuple{std::int64_t{7}, -1}, [](auto x, auto at) { return std::tuple{x, at}; },
        [](auto a) { return std::get<0>(a) * 1000000 + std::get<1>(a); });
    SAME(first_least(-integers(), dsl::arange<int>(n)));
  }
  SAME(dsl::sum(dsl::zeros<float>(0)));
}

TEST_F(opencl_statements, reductions_along_axes) {
  for (const auto& [r, c] : {std::pair<std::int64_t, std::int64_t>{3, 5},
                             {1, 300},
                             {300, 1},
                             {64, 1000},
                             {1000, 64},
                             {5, 20000},
                             {20000, 5}}) {
    const auto m = [r = r, c = c] {
      return dsl::array<std::int64_t, 2>(
          dsl::reshape(dsl::eval(dsl::arange<std::int64_t>(r * c) * 37 % 1001 - 500), r, c));
    };
    SAME(dsl::sum(m(), dsl::axis(0)));
    SAME(dsl::sum(m(), dsl::axis(1)));
    SAME(dsl::max(dsl::transpose(m()), dsl::axis(0)));
    SAME(dsl::argmin(m(), dsl::axis(0)));
    SAME(dsl::argmax(m(), dsl::axis(1)));
    expect_same("var of rows", [&] { return dsl::var(dsl::cast<double>(m()), dsl::axis(1)); }, 64);
    expect_same(
        "var of columns", [&] { return dsl::var(dsl::cast<double>(m()), dsl::axis(0)); }, 64);
  }
  const auto cube = [] {
    return dsl::array<std::int64_t, 3>(
        dsl::reshape(dsl::eval(dsl::arange<std::int64_t>(7 * 8 * 9) * 37 % 1001), 7, 8, 9));
  };
  SAME(dsl::sum(cube(), dsl::axis(1)));
  SAME(dsl::sum(dsl::transpose(cube()) + dsl::eval(dsl::transpose(cube()))));
  SAME(dsl::sum(dsl::shift(cube(), 1, dsl::boundary::wrap, 1) * cube(), dsl::axis(2)));
  SAME(dsl::sum(cube(), dsl::axis(0, 2)));
  SAME(dsl::prod(dsl::cast<double>(cube() % 3 + 1), dsl::axis(1)));
}
#endif

TEST_F(opencl_statements, elements_beside_sums) {
  const auto both = dsl::vectorize([](auto x) { return std::tuple{x * 2, dsl::sum(x)}; });
  for (const std::int64_t n : {1, 1000, 50000}) {
    std::vector<std::int64_t> elements[2];
    std::int64_t total[2];
    for (int d = 0; d < 2; ++d) {
      const dsl::device_guard guard{dsl::device(d == 0 ? "host" : "host-opencl")};
      const auto x = dsl::eval(dsl::arange<std::int64_t>(n) * 3);
      dsl::array<std::int64_t> y(n);
      dsl::scalar<std::int64_t> s;
      dsl::tie(y, s) = both(x);
      elements[d] = y.copy_to_host();
      total[d] = s.value();
    }
    EXPECT_EQ(elements[0], elements[1]);
    EXPECT_EQ(total[0], total[1]);
  }
}

TEST_F(opencl_statements, several_outputs_of_several_dtypes) {
  for (const std::int64_t n : {1, 63, 1000}) {
    std::vector<double> of[2];
    for (int d = 0; d < 2; ++d) {
      const dsl::device_guard guard{dsl::device(d == 0 ? "host" : "host-opencl")};
      const auto x = dsl::eval(dsl::arange<double>(n) * 0.375 - 20), y = dsl::eval(dsl::flip(x));
      dsl::array<double> product(n);
      dsl::array<bool> less(n);
      dsl::array<dsl::half> halves(n);
      const auto keep = [&](const auto& a) {
        for (const auto v : a.copy_to_host()) of[d].push_back(static_cast<double>(v));
      };
      dsl::tie(product, less) =
          dsl::vectorize([](auto a, auto b) { return std::tuple{a * b, a < b}; })(x, y);
      halves = dsl::cast<dsl::half>(x / 3);
      keep(product);
      keep(less);
      for (const dsl::half h : halves.copy_to_host())
        of[d].push_back(static_cast<double>(static_cast<float>(h)));
    }
    EXPECT_EQ(of[0], of[1]);
  }
}

TEST_F(opencl_statements, same_bits_in_each_run) {
  const dsl::device_guard guard{dsl::device("host-opencl")};
  const auto x = dsl::eval(1 / (dsl::arange<float>(200000) + 1));
  const float first = dsl::scalar<float>(dsl::sum(x)).value();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(dsl::scalar<float>(dsl::sum(x)).value(), first);
}
// NOLINTEND
