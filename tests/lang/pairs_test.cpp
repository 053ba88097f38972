// Reductions over operands that are broadcast against each other, compared with sums in higher
// precision.
#include "../exec/layouts.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct pairs : on_device {};
ON_EVERY_DEVICE(pairs);

struct draw {
  std::mt19937& engine;
  int operator()(int n) const { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
};

// The shape with extent 1 in every dimension that is not kept.
dsl::extents<3> stretched(dsl::extents<3> shape, int kept) {
  for (int d = 0; d < 3; ++d)
    if ((kept >> d & 1) == 0) shape[static_cast<std::size_t>(d)] = 1;
  return shape;
}

// Integers: a result sums exactly its own elements, each once.
TEST_P(pairs, of_any_operands_along_any_axis) {
  std::mt19937 engine(17);
  const draw pick{engine};
  int by_pairs = 0;
  for (int round = 0; round < 60; ++round) {
    dsl::extents<3> shape{1 + pick(3), 10 + pick(200), 50 + pick(round % 10 == 0 ? 1500 : 300)};
    std::swap(shape[0], shape[static_cast<std::size_t>(pick(3))]);
    std::swap(shape[1], shape[static_cast<std::size_t>(pick(3))]);
    // Mostly, one operand varies along a dimension in which another is constant.
    const int first = pick(8), second = pick(4) == 0 ? pick(8) : 7 & ~first,
              third = pick(8) == 0   ? pick(8)
                      : pick(2) == 0 ? first
                                     : second;
    const operand<std::int32_t, 3> a(stretched(shape, first), engine, false),
        c(stretched(shape, third), engine, false);
    const operand<std::int16_t, 3> b(stretched(shape, second), engine, false);
    for (std::size_t d = 0; d < 3; ++d)
      shape[d] = std::max({a.view.extents()[d], b.view.extents()[d], c.view.extents()[d]});
    const int axis = pick(4);
    auto kept = shape;
    if (axis < 3) kept[static_cast<std::size_t>(axis)] = 1;
    else kept = {1, 1, 1};
    const operand<std::int64_t, 3> out(kept, engine, false);
    dsl::scalar<std::int64_t> total;
    std::vector<std::int64_t> want = out.host;
    std::int64_t want_total = 0;
    for_each<3>(out.view.extents(),
                [&](const auto& at) { want[static_cast<std::size_t>(out.place(at))] = 0; });
    for_each<3>(shape, [&](const auto& at) {
      const auto of = [&](const auto& x) {
        return static_cast<std::int64_t>(x.host[static_cast<std::size_t>(x.place(at))]);
      };
      const std::int64_t each = of(a) * of(b) - of(c);
      want[static_cast<std::size_t>(out.place(at))] += each;
      want_total += each;
    });
    const auto formula = a.view * b.view - c.view;
    dsl::launch launch;
    if (simulated() && pick(3) == 0) launch.block = 32 << pick(4);
    if (axis < 3) {
      out.view = dsl::sum(formula, dsl::axis(axis), dsl::keep_dims);
      ASSERT_EQ(out.memory.copy_to_host(), want) << round;
      by_pairs += dsl::plan_of(out.view, dsl::sum(formula, dsl::axis(axis), dsl::keep_dims)).path ==
                          std::string("pairs")
                      ? 1
                      : 0;
    } else {
      total = dsl::sum(formula);
      ASSERT_EQ(total.value(), want_total) << round;
      by_pairs += dsl::plan_of(total, dsl::sum(formula)).path == std::string("pairs") ? 1 : 0;
    }
  }
  if (simulated()) {
    EXPECT_GT(by_pairs, 10);
  }
}

std::vector<double> random_numbers(std::size_t n, std::mt19937& engine) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> v(n);
  for (double& x : v) x = uniform(engine);
  return v;
}
template <class T> std::vector<T> as(const std::vector<double>& v) { return {v.begin(), v.end()}; }

template <int K> constexpr auto pull =
    dsl::vectorize([](auto xi, auto yi, auto xj, auto yj, auto mj) {
      auto dx = xj - xi;
      auto dy = yj - yi;
      auto r = rsqrt(dx * dx + dy * dy + 0.01f);
      auto w = mj * r * r * r;
      if constexpr (K == 0) return dx * w;
      else return dy * w;
    });

// Bodies that attract others: two sums in one kernel, of operands of several dtypes, along either
// axis.
TEST_P(pairs, sums_of_forces) {
  std::mt19937 engine(18);
  for (const auto& [n, m] : {std::pair{16, 64}, {300, 1031}, {1000, 127}, {17, 4097}}) {
    const auto rows = static_cast<std::size_t>(n), columns = static_cast<std::size_t>(m);
    const auto xi = as<float>(random_numbers(rows, engine)),
               yi = as<float>(random_numbers(rows, engine)),
               xj = as<float>(random_numbers(columns, engine)),
               yj = as<float>(random_numbers(columns, engine));
    const auto mj = random_numbers(columns, engine);
    const auto x = dsl::to_device(xi), y = dsl::to_device(yi), to_x = dsl::to_device(xj),
               to_y = dsl::to_device(yj);
    const auto mass = dsl::to_device(mj);
    dsl::array<double> fx, fy;
    const auto forces = [&](const auto& xi, const auto& yi, const auto& xj, const auto& yj,
                            const auto& mj, int axis) {
      dsl::tie(fx, fy) = std::tuple{dsl::sum(pull<0>(xi, yi, xj, yj, mj), dsl::axis(axis)),
                                    dsl::sum(pull<1>(xi, yi, xj, yj, mj), dsl::axis(axis))};
    };
    for (const int axis : {0, 1}) {
      const auto own = [&](const auto& v) {
        return dsl::reshape(v, axis == 1 ? n : 1, axis == 1 ? 1 : n);
      };
      const auto other = [&](const auto& v) {
        return dsl::reshape(v, axis == 1 ? 1 : m, axis == 1 ? m : 1);
      };
      forces(own(x), own(y), other(to_x), other(to_y), other(mass), axis);
      const auto got_x = fx.copy_to_host(), got_y = fy.copy_to_host();
      for (std::size_t i = 0; i < rows; ++i) {
        double want_x = 0, want_y = 0, size = 0;
        for (std::size_t j = 0; j < columns; ++j) {
          const double dx = double(xj[j]) - xi[i], dy = double(yj[j]) - yi[i],
                       w = mj[j] * std::pow(dx * dx + dy * dy + 0.01f, -1.5);
          want_x += dx * w;
          want_y += dy * w;
          size += std::abs(w);
        }
        ASSERT_NEAR(got_x[i], want_x, 1e-6 * size) << axis << " " << i;
        ASSERT_NEAR(got_y[i], want_y, 1e-6 * size) << axis << " " << i;
      }
    }
  }
}

// The nearest of many points; among equally near ones the first; a NaN is nearest.
TEST_P(pairs, nearest_neighbours) {
  std::mt19937 engine(19);
  for (const auto& [n, m] : {std::pair{20, 100}, {300, 1031}, {31, 3000}}) {
    std::vector<float> p(static_cast<std::size_t>(n)), q(static_cast<std::size_t>(m));
    for (float& x : p) x = static_cast<float>(engine() % 500);
    for (float& x : q) x = static_cast<float>(engine() % 500);
    if (m == 3000) q[2900] = std::numeric_limits<float>::quiet_NaN();
    const auto a = dsl::to_device(p), b = dsl::to_device(q);
    dsl::array<std::int64_t> nearest;
    dsl::array<float> distance;
    for (const int axis : {0, 1}) {
      const auto d = abs(dsl::reshape(a, axis == 1 ? n : 1, axis == 1 ? 1 : n) -
                         dsl::reshape(b, axis == 1 ? 1 : m, axis == 1 ? m : 1));
      dsl::tie(nearest, distance) =
          std::tuple{dsl::argmin(d, dsl::axis(axis)), dsl::min(d, dsl::axis(axis))};
      const auto at = nearest.copy_to_host();
      const auto far = distance.copy_to_host();
      for (std::size_t i = 0; i < p.size(); ++i) {
        std::size_t want = 0;
        for (std::size_t j = 1; j < q.size() && !std::isnan(q[want]); ++j)
          if (std::isnan(q[j]) || std::abs(p[i] - q[j]) < std::abs(p[i] - q[want])) want = j;
        ASSERT_EQ(at[i], static_cast<std::int64_t>(want)) << axis << " " << i;
        ASSERT_TRUE(far[i] == std::abs(p[i] - q[want]) || std::isnan(q[want])) << axis << " " << i;
      }
    }
  }
}

// Quotients and roots of pairs have the bits of single ones, also for operands too large or too
// small for the quick forms. Scaled to integers, so that their sums show any difference.
TEST_P(pairs, quotients_and_roots_to_the_bit) {
  const auto numbers = dsl::vectorize([](auto x, auto y, auto to_product, auto scale, auto one) {
    auto p = x * to_product * y;
    auto back = 1 / scale;
    return std::tuple{x / y, 1 / p * (scale * scale), sqrt(p) * back, rsqrt(p) * scale,
                      one / p * (scale * scale)};
  });
  const auto sums = dsl::vectorize([](auto x, auto y, auto to_product, auto scale, auto one) {
    auto p = x * to_product * y;
    auto back = 1 / scale;
    const auto whole = [](auto v) { return dsl::sum(dsl::cast<std::int64_t>(v * 67108864.0f)); };
    return std::tuple{whole(x / y), whole(1 / p * (scale * scale)), whole(sqrt(p) * back),
                      whole(rsqrt(p) * scale), whole(one / p * (scale * scale))};
  });
  std::mt19937 engine(23);
  const std::int64_t n = 50, m = dsl::device::current().kind == dsl::backend::cuda ? 20'000 : 1031;
  std::vector<float> one(static_cast<std::size_t>(n)), other(static_cast<std::size_t>(m));
  for (const auto& [operands, product] :
       {std::pair{0, 0}, {62, 0}, {-62, 0}, {0, 35}, {0, -35}, {31, -31}, {0, 62}, {0, -63}}) {
    for (float& x : one) x = std::ldexp(1 + static_cast<float>(engine() >> 9) / 8388608, operands);
    for (float& y : other)
      y = std::ldexp(1 + static_cast<float>(engine() >> 9) / 8388608, operands);
    const auto x = dsl::reshape(dsl::to_device(one), n, 1),
               y = dsl::reshape(dsl::to_device(other), 1, m);
    const float to_product = std::ldexp(1.0f, 2 * (product - operands)),
                scale = std::ldexp(1.0f, product);
    dsl::array<float, 2> value[5];
    dsl::scalar<std::int64_t> total[5];
    for (const float one : {1.0f, 1.5f}) {
      dsl::tie(value[0], value[1], value[2], value[3], value[4]) =
          numbers(x, y, to_product, scale, one);
      dsl::tie(total[0], total[1], total[2], total[3], total[4]) =
          sums(x, y, to_product, scale, one);
      for (int k = 0; k < 5; ++k) {
        std::int64_t want = 0;
        for (const float v : value[k].copy_to_host())
          want += static_cast<std::int64_t>(v * 67108864.0f);
        EXPECT_EQ(total[k].value(), want)
            << "number " << k << ", operands of 2^" << operands << ", product 2^" << 2 * product;
        EXPECT_GT(want, n * m * 16777216);
      }
    }
  }
}

// One operand for which the quick form of a reciprocal has no value, among others for which it has
// one.
TEST_P(pairs, reciprocals_of_any_number) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::int64_t n = 20, m = 1031;
  std::vector<float> one(static_cast<std::size_t>(n), 1.0f), other(static_cast<std::size_t>(m));
  for (std::size_t j = 0; j < other.size(); ++j) other[j] = 1 + static_cast<float>(j) / 1031;
  for (const float rare : {0.0f, -0.0f, 0x1p-149f, -0x1p-127f, 0x1p-126f, 0x1p126f, 0x1.8p126f,
                           -0x1.8p127f, infinity, -infinity}) {
    other[700] = rare;
    const auto x = dsl::reshape(dsl::to_device(one), n, 1),
               y = dsl::reshape(dsl::to_device(other), 1, m);
    dsl::array<float> least, greatest;
    dsl::tie(least, greatest) =
        std::tuple{dsl::min(1 / (x * y), dsl::axis(1)), dsl::max(1 / (x * y), dsl::axis(1))};
    const float quotient = 1 / rare, first = 1 / other[0], last = 1 / other.back();
    for (const float v : least.copy_to_host()) EXPECT_EQ(v, std::min(quotient, last)) << rare;
    for (const float v : greatest.copy_to_host()) EXPECT_EQ(v, std::max(quotient, first)) << rare;
  }
}

}  // namespace
