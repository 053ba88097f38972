// Random losses: dsl::gradient beside central differences of the same loss in long doubles, which
// a small evaluator computes here, without dsl.
//
// A loss is written once, for arrays of dsl and for `values`. Its structure is a type; shapes,
// coefficients (some of them 0, which switches terms off), axes, distances, boundaries, positions
// and elements are drawn.
#pragma once

#include "../on_device.hpp"

#include <dsl/by_key.hpp>
#include <dsl/scan.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

namespace random_losses {

using sizes = std::vector<std::int64_t>;
inline std::int64_t count(const sizes& shape) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  return n;
}

/// Numbers in row-major order.
struct values {
  sizes shape;
  std::vector<long double> at;

  explicit values(sizes s = {}, long double x = 0)
      : shape(std::move(s)), at(static_cast<std::size_t>(count(shape)), x) {}
  int rank() const { return static_cast<int>(shape.size()); }
  long double operator[](std::int64_t i) const { return at[static_cast<std::size_t>(i)]; }
};
template <class X> inline constexpr bool is_values = std::same_as<X, values>;

/// The elements of x that `from(position)` gives for each position of a shape.
template <class From>
values gathered(const sizes& shape, const values& x, const From& from) {
  values made(shape);
  sizes position(shape.size(), 0);
  for (long double& to : made.at) {
    const std::int64_t i = from(position);
    to = i < 0 ? 0 : x[i];
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++position[d] < shape[d]) break;
      position[d] = 0;
    }
  }
  return made;
}
inline std::int64_t offset(const sizes& shape, const sizes& position) {
  std::int64_t at = 0;
  const std::size_t skipped = position.size() - shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d)
    at = at * shape[d] + (shape[d] == 1 ? 0 : position[d + skipped]);
  return at;
}
inline values broadcast(const values& x, const sizes& shape) {
  if (x.shape == shape) return x;
  return gathered(shape, x, [&](const sizes& p) { return offset(x.shape, p); });
}
inline sizes together(const sizes& a, const sizes& b) {
  sizes all = a.size() < b.size() ? b : a;
  for (const sizes* each : {&a, &b})
    for (std::size_t d = 0; d < each->size(); ++d)
      if ((*each)[d] != 1) all[all.size() - each->size() + d] = (*each)[d];
  return all;
}
template <class F>
values map(values x, const F& f) {
  for (long double& v : x.at) v = f(v);
  return x;
}
template <class F>
values join(const values& a, const values& b, const F& f) {
  const sizes shape = together(a.shape, b.shape);
  values x = broadcast(a, shape);
  const values y = broadcast(b, shape);
  for (std::size_t i = 0; i < x.at.size(); ++i) x.at[i] = f(x.at[i], y.at[i]);
  return x;
}

#define LOSS_OPERATOR(sign)                                                               \
  inline values operator sign(const values& a, const values& b) {                         \
    return join(a, b, [](long double x, long double y) { return x sign y; });             \
  }                                                                                       \
  inline values operator sign(const values& a, double b) { return a sign values({}, b); } \
  inline values operator sign(double a, const values& b) { return values({}, a) sign b; }
LOSS_OPERATOR(+)
LOSS_OPERATOR(-)
LOSS_OPERATOR(*)
LOSS_OPERATOR(/)
LOSS_OPERATOR(>)
#undef LOSS_OPERATOR
#define LOSS_FUNCTION(name, code)                      \
  inline values name(const values& a) {                \
    return map(a, [](long double x) { return code; }); \
  }
LOSS_FUNCTION(sin, std::sin(x))
LOSS_FUNCTION(exp, std::exp(x))
LOSS_FUNCTION(tanh, std::tanh(x))
LOSS_FUNCTION(log, std::log(x))
LOSS_FUNCTION(sqrt, std::sqrt(x))
LOSS_FUNCTION(abs, std::abs(x))
LOSS_FUNCTION(square, x* x)
#undef LOSS_FUNCTION
inline values max(const values& a, const values& b) {
  return join(a, b, [](long double x, long double y) { return std::max(x, y); });
}
inline values where(const values& c, const values& a, const values& b) {
  const sizes shape = together(c.shape, together(a.shape, b.shape));
  values x = broadcast(a, shape);
  const values y = broadcast(b, shape), chosen = broadcast(c, shape);
  for (std::size_t i = 0; i < x.at.size(); ++i)
    if (chosen.at[i] == 0) x.at[i] = y.at[i];
  return x;
}

/// Calls f(first, stride, n) for the elements of each row along an axis, for result number i.
template <class F>
void for_each_row(const sizes& shape, int axis, const F& f) {
  std::int64_t inner = 1, outer = 1;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    (d < axis   ? outer
     : d > axis ? inner
                : outer) *= d == axis ? 1 : shape[static_cast<std::size_t>(d)];
  const std::int64_t n = shape[static_cast<std::size_t>(axis)];
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) f(o * n * inner + i, inner, n, o * inner + i);
}
/// Reduces each row by f(a vector of its elements); the axis stays with extent 1.
template <class F>
values reduced(const values& x, int axis, const F& f) {
  sizes shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = 1;
  values made(shape);
  for_each_row(x.shape, axis,
               [&](std::int64_t first, std::int64_t stride, std::int64_t n, std::int64_t to) {
                 std::vector<long double> row;
                 for (std::int64_t k = 0; k < n; ++k) row.push_back(x[first + k * stride]);
                 made.at[static_cast<std::size_t>(to)] = f(row);
               });
  return made;
}
using row = std::vector<long double>;
inline long double sum_of(const row& r) {
  long double s = 0;
  for (const long double x : r) s += x;
  return s;
}
inline long double prod_of(const row& r) {
  long double p = 1;
  for (const long double x : r) p *= x;
  return p;
}
inline long double mean_of(const row& r) { return sum_of(r) / static_cast<long double>(r.size()); }
inline long double max_of(const row& r) { return *std::max_element(r.begin(), r.end()); }
inline long double min_of(const row& r) { return *std::min_element(r.begin(), r.end()); }
inline long double norm_of(const row& r) {
  long double s = 0;
  for (const long double x : r) s += x * x;
  return std::sqrt(s);
}
inline long double var_of(const row& r) {
  const long double m = mean_of(r);
  long double s = 0;
  for (const long double x : r) s += (x - m) * (x - m);
  return s / static_cast<long double>(r.size());
}
// For arrays of dsl, for symbols in its formulas, and for values: of all elements; along an axis,
// which stays with extent 1; along an axis that goes.
#define LOSS_REDUCTION(name)                                        \
  template <class X>                                                \
  constexpr auto name(const X& x) {                                 \
    if constexpr (is_values<X>) return values({}, name##_of(x.at)); \
    else return dsl::name(x);                                       \
  }                                                                 \
  template <class X>                                                \
  auto name##_kept(const X& x, int axis) {                          \
    if constexpr (is_values<X>) return reduced(x, axis, name##_of); \
    else return dsl::name(x, dsl::axis(axis), dsl::keep_dims);      \
  }                                                                 \
  template <class X>                                                \
  auto name##_along(const X& x, int axis) {                         \
    if constexpr (is_values<X>) {                                   \
      values made = reduced(x, axis, name##_of);                    \
      made.shape.erase(made.shape.begin() + axis);                  \
      return made;                                                  \
    } else {                                                        \
      return dsl::name(x, dsl::axis(axis));                         \
    }                                                               \
  }
LOSS_REDUCTION(sum)
LOSS_REDUCTION(prod)
LOSS_REDUCTION(mean)
LOSS_REDUCTION(max)
LOSS_REDUCTION(min)
LOSS_REDUCTION(norm)
LOSS_REDUCTION(var)
#undef LOSS_REDUCTION

/// A scan along an axis by f(sum so far, element), without the element itself if `exclusive`.
template <class F>
values scanned(const values& x, int axis, bool exclusive, long double first, const F& f) {
  values made = x;
  for_each_row(x.shape, axis,
               [&](std::int64_t at, std::int64_t stride, std::int64_t n, std::int64_t) {
                 long double before = first;
                 for (std::int64_t k = 0; k < n; ++k, at += stride) {
                   const long double y = f(before, x[at]);
                   made.at[static_cast<std::size_t>(at)] = exclusive ? before : y;
                   before = y;
                 }
               });
  return made;
}
template <class X>
auto cumsum(const X& x, int axis) {
  if constexpr (is_values<X>)
    return scanned(x, axis, false, 0, [](long double a, long double b) { return a + b; });
  else return dsl::cumsum(x, dsl::axis(axis));
}
template <class X>
auto sums_before(const X& x, int axis) {
  if constexpr (is_values<X>)
    return scanned(x, axis, true, 0, [](long double a, long double b) { return a + b; });
  else return dsl::cumsum(x, dsl::axis(axis), dsl::exclusive);
}
/// All elements in row-major order.
template <class X>
auto cumsum_of_all(const X& x) {
  if constexpr (is_values<X>) {
    values line = x;
    line.shape = {count(x.shape)};
    return cumsum(line, 0);
  } else {
    return dsl::cumsum(x);
  }
}
template <class X>
auto cumprod(const X& x, int axis) {
  if constexpr (is_values<X>)
    return scanned(x, axis, false, 1, [](long double a, long double b) { return a * b; });
  else return dsl::cumprod(x, dsl::axis(axis));
}
template <class X>
auto cummax(const X& x, int axis) {
  if constexpr (is_values<X>)
    return scanned(x, axis, false, -1e9L,
                   [](long double a, long double b) { return std::max(a, b); });
  else return dsl::scan([](auto a, auto b) { return max(a, b); })(x, dsl::axis(axis));
}

/// Where element i of n is found beyond the ends; -1: 0.
inline std::int64_t position_beyond(dsl::boundary beyond, std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) {
    if (beyond == dsl::boundary::zero) return -1;
    if (beyond == dsl::boundary::clamp || n == 1) return i < 0 ? 0 : n - 1;
    if (beyond == dsl::boundary::wrap) i += i < 0 ? n : -n;
    else i = i < 0 ? -i : 2 * (n - 1) - i;
  }
  return i;
}
template <class X>
constexpr auto shift(const X& x, int distance, dsl::boundary beyond, int axis) {
  if constexpr (is_values<X>) {
    const auto along = static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis);
    return gathered(x.shape, x, [&](sizes p) {
      p[along] = position_beyond(beyond, p[along] - distance, x.shape[along]);
      return p[along] < 0 ? -1 : offset(x.shape, p);
    });
  } else {
    return dsl::shift(x, distance, beyond, axis);
  }
}
template <class X>
auto transposed(const X& x) {
  if constexpr (is_values<X>)
    return gathered({x.shape.rbegin(), x.shape.rend()}, x,
                    [&](const sizes& p) { return offset(x.shape, {p.rbegin(), p.rend()}); });
  else return dsl::transpose(x);
}
template <class X>
auto flipped(const X& x, int axis) {
  if constexpr (is_values<X>) {
    const auto along = static_cast<std::size_t>(axis);
    return gathered(x.shape, x, [&](sizes p) {
      p[along] = x.shape[along] - 1 - p[along];
      return offset(x.shape, p);
    });
  } else {
    return dsl::flip(x, axis);
  }
}
/// x(slice(first, end, step)) along the first axis, in bounds.
template <class X>
auto sliced(const X& x, int first, int last, int step) {
  if constexpr (is_values<X>) {
    sizes shape = x.shape;
    shape[0] = std::max<std::int64_t>(0, (last - first + step - 1) / step);
    return gathered(shape, x, [&](sizes p) {
      p[0] = first + p[0] * step;
      return offset(x.shape, p);
    });
  } else {
    return x(dsl::slice(first, last, step));
  }
}
template <class X>
auto in_line(const X& x) {
  if constexpr (is_values<X>) {
    values line = x;
    line.shape = {count(x.shape)};
    return line;
  } else {
    return dsl::ravel(x);
  }
}
template <class X, class Like>
auto broadcast_as(const X& x, const Like& like) {
  if constexpr (is_values<X>) return broadcast(x, like.shape);
  else return dsl::broadcast_to(x, like.extents());
}

/// Positions as data of both.
struct positions {
  std::vector<std::int64_t> host;
  dsl::array<std::int64_t> device;
};
/// Positions beyond an end give the element at that end; negative ones count from the end.
inline std::int64_t position_within(std::int64_t i, std::int64_t n) {
  return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n - 1);
}
/// In row-major order.
template <class X>
auto taken(const X& x, const positions& i) {
  if constexpr (is_values<X>) {
    values made({static_cast<std::int64_t>(i.host.size())});
    for (std::size_t k = 0; k < i.host.size(); ++k)
      made.at[k] = x[position_within(i.host[k], count(x.shape))];
    return made;
  } else {
    return dsl::take(x, i.device);
  }
}
template <class X>
auto taken(const X& x, const positions& i, int axis) {
  if constexpr (is_values<X>) {
    const auto along = static_cast<std::size_t>(axis);
    sizes shape = x.shape;
    shape[along] = static_cast<std::int64_t>(i.host.size());
    return gathered(shape, x, [&](sizes p) {
      p[along] = position_within(i.host[static_cast<std::size_t>(p[along])], x.shape[along]);
      return offset(x.shape, p);
    });
  } else {
    return dsl::take(x, i.device, axis);
  }
}
/// A formula f of its arguments, given by value.
template <class F, class... X>
auto formula(const F& f, const X&... x) {
  if constexpr ((is_values<X> || ...)) return f(x...);
  else return dsl::vectorize(f)(x...);
}

/// A C++ number beside other arguments of a formula.
template <class X>
auto values_or_number(const X&, double x) {
  if constexpr (is_values<X>) return values({}, x);
  else return x;
}

/// What is drawn for a loss. All variables broadcast together: a x b x n.
struct drawn {
  std::mt19937_64 engine;
  std::int64_t a, b, n;
  double c[8];
  int axis[3], distance[3];            // axis: 0 or 1.
  dsl::boundary beyond[3], linear[3];  // linear: zero or wrap.
  positions any, down;                 // Some beyond the ends.

  explicit drawn(unsigned seed) : engine(seed) {
    const std::int64_t extents[] = {1, 2, 3, 5, 7};
    a = extents[below(3)];
    b = extents[below(5)];
    n = extents[below(5)];
    for (double& x : c) x = below(4) == 0 ? 0 : real(-1.5, 1.5);
    for (int k = 0; k < 3; ++k) {
      axis[k] = below(2);
      distance[k] = below(9) - 4;
      beyond[k] = static_cast<dsl::boundary>(below(4));
      linear[k] = below(2) == 0 ? dsl::boundary::zero : dsl::boundary::wrap;
    }
    any = draw_positions(11, b * n);
    down = draw_positions(4, std::min(b, n));
  }
  int below(int most) { return static_cast<int>(engine() % static_cast<unsigned>(most)); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  positions draw_positions(int many, std::int64_t among) {
    positions made;
    for (int k = 0; k < many; ++k) made.host.push_back(below(static_cast<int>(3 * among)) - among);
    made.device = dsl::to_device(made.host);
    return made;
  }
};

// Kinds of variables.
template <int Rank> struct kind_of_rank { static constexpr int rank = Rank; };
struct cube : kind_of_rank<3> {
  static sizes shape(const drawn& d) { return {d.a, d.b, d.n}; }
};
struct slab : kind_of_rank<3> {
  static sizes shape(const drawn& d) { return {d.a, 1, d.n}; }
};
struct matrix : kind_of_rank<2> {
  static sizes shape(const drawn& d) { return {d.b, d.n}; }
};
struct square_matrix : kind_of_rank<2> {
  static sizes shape(const drawn& d) { return {d.n, d.n}; }
};
struct column : kind_of_rank<2> {
  static sizes shape(const drawn& d) { return {d.b, 1}; }
};
struct line : kind_of_rank<1> {
  static sizes shape(const drawn& d) { return {d.n}; }
};
struct number : kind_of_rank<0> {
  static sizes shape(const drawn&) { return {}; }
};

/// Elements that T represents.
template <class T, class Kind>
values draw(drawn& d) {
  values x(Kind::shape(d));
  for (long double& v : x.at) v = static_cast<T>(d.real(-1, 1));
  return x;
}
template <class T, class Kind>
auto on_device(const values& x) {
  std::vector<T> host;
  for (const long double v : x.at) host.push_back(static_cast<T>(v));
  if constexpr (Kind::rank == 0) {
    return dsl::scalar<T>(host[0]);
  } else {
    dsl::extents<Kind::rank> shape;
    std::copy(x.shape.begin(), x.shape.end(), shape.begin());
    dsl::array<T, Kind::rank> made(shape);
    made = dsl::reshape(dsl::to_device(host), shape);
    return made;
  }
}
template <class X>
std::vector<long double> elements_of(const X& x) {
  if constexpr (X::rank == 0) {
    return {x.value()};
  } else {
    const auto host = x.copy_to_host();
    return {host.begin(), host.end()};
  }
}

/// Compares the value of a loss, its gradient with respect to variables of these kinds, and its
/// derivative in a direction with the reference.
template <class T, class... Kinds, class F>
void check(unsigned seed, const F& loss) {
  SCOPED_TRACE("loss of line " + std::to_string(seed / 1000) + ", number " +
               std::to_string(seed % 1000));
  drawn d(seed);
  std::tuple host{draw<T, Kinds>(d)...};
  std::tuple x =
      std::apply([](const auto&... v) { return std::tuple{on_device<T, Kinds>(v)...}; }, host);
  const auto value = [&] {
    return std::apply([&](const auto&... v) { return loss(d, v...).at[0]; }, host);
  };
  const double within = sizeof(T) == 4 ? 3e-4 : 2e-9;
  const auto expect = [&](long double found, long double wanted, long double scale) {
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(wanted),
                within * static_cast<double>(1 + scale));
  };
  std::tuple found{on_device<T, Kinds>(values(Kinds::shape(d)))...};
  std::apply(
      [&](const auto&... v) {
        const auto of = loss(d, v...);
        expect(dsl::eval(of).value(), value(), std::abs(value()));
        std::apply([&](auto&... g) { dsl::tie(g...) = dsl::gradient(of, v...); }, found);
      },
      x);
  constexpr long double h = 1e-6L;
  std::vector<long double> gradient, direction;
  std::vector<long double*> moved;
  const auto compare = [&](values& v, const auto& of) {
    const std::vector<long double> g = elements_of(of);
    ASSERT_EQ(g.size(), v.at.size());
    std::vector<long double> wanted;
    long double scale = 0;
    for (long double& each : v.at) {
      const long double at = each;
      each = at + h;
      const long double above = value();
      each = at - h;
      wanted.push_back((above - value()) / (2 * h));
      each = at;
      scale = std::max(scale, std::abs(wanted.back()));
      moved.push_back(&each);
      direction.push_back(d.real(-1, 1));
    }
    for (std::size_t i = 0; i < g.size(); ++i) {
      SCOPED_TRACE("element " + std::to_string(i) + " of " + std::to_string(g.size()));
      expect(g[i], wanted[i], scale);
    }
    gradient.insert(gradient.end(), g.begin(), g.end());
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (compare(std::get<I>(host), std::get<I>(found)), ...);
  }(std::index_sequence_for<Kinds...>{});
  const auto move = [&](long double by) {
    for (std::size_t i = 0; i < moved.size(); ++i) *moved[i] += by * direction[i];
    return value();
  };
  const long double above = move(h), below = move(-2 * h);
  long double by_gradient = 0, scale = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    by_gradient += gradient[i] * direction[i];
    scale += std::abs(gradient[i]);
  }
  expect(by_gradient, (above - below) / (2 * h), scale);
}

}  // namespace random_losses

/// A loss of `many` draws: T, kinds of variables, then the formula of what is drawn (d) and of the
/// variables, by `const auto&`.
#define RANDOM_LOSSES(many, T, kinds, ...)                            \
  for (unsigned loss_number = 0; loss_number < (many); ++loss_number) \
  random_losses::check<T, RANDOM_LOSS_KINDS kinds>(1000 * __LINE__ + loss_number, __VA_ARGS__)
#define RANDOM_LOSS_KINDS(...) __VA_ARGS__
