// Works that are measured on a GPU and on the host, each with its row by dsl. The files that use
// them add peers.
#pragma once

#include <tuple>
#include <vector>

#include "../tests/rk4.hpp"
#include "row.hpp"

namespace bench {

/// The sizes of works that are measured over sizes: powers of two; and one more than some, and
/// primes, at which an array ends within a vector.
inline std::vector<std::int64_t> swept_sizes() {
  std::vector<std::int64_t> sizes;
  for (const int log2n : {10, 12, 14, 16, 18, 20, 22, 24, 26, 27, 28})
    sizes.push_back(std::int64_t{1} << log2n);
  sizes.insert(sizes.end(), {(1 << 20) - 3, (1 << 20) + 1, (1 << 27) - 39, (1 << 27) + 1});
  return sizes;
}

/// An elementwise work; a call moves `moved` elements for each element.
template <class T> work_on<arrays<T>> map(const char* name, std::int64_t n, int moved,
                                          const char* group = "map") {
  return {group, dsl::dtype_v<T>, name, n, moved * static_cast<double>(sizeof(T))};
}
/// A work that reduces `moved` arrays to one value.
template <class T, class R = T> work_on<reduced<T, R>> reduction_work(const char* name,
                                                                      std::int64_t n, int moved) {
  return {"reduction", dsl::dtype_v<T>, name, n, moved * static_cast<double>(sizeof(T))};
}

template <class T> auto add(std::int64_t n) {
  return map<T>("a + b", n, 3).by("dsl", [](const arrays<T>& x) { x.out = x.a + x.b; });
}
template <class T> auto exponential(std::int64_t n) {
  return map<T>("exp(a)", n, 2).by("dsl", [](const arrays<T>& x) { x.out = exp(x.a); });
}
template <class T> auto sine(std::int64_t n) {
  return map<T>("sin(a)", n, 2).by("dsl", [](const arrays<T>& x) { x.out = sin(x.a); });
}
template <class T> auto power(std::int64_t n) {
  return map<T>("pow(a, b)", n, 3).by("dsl", [](const arrays<T>& x) { x.out = pow(x.a, x.b); });
}
inline auto three_operands(std::int64_t n) {
  return map<float>("a * exp(-b * b) + sqrt(abs(c))", n, 4).by("dsl", [](const arrays<float>& x) {
    x.out = x.a * exp(-x.b * x.b) + sqrt(abs(x.c));
  });
}

/// Prices of a call and a put option of a stock, by strike and years, for an interest rate and a
/// volatility.
inline constexpr float rate = 0.02f, volatility = 0.3f;
inline constexpr auto option_prices = dsl::vectorize([](auto stock, auto strike, auto years) {
  const auto normal = [](auto d) { return 0.5f * erfc(-0.70710678f * d); };
  auto deviation = volatility * sqrt(years);
  auto d1 = (log(stock / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
  auto d2 = d1 - deviation;
  auto discounted = strike * exp(-rate * years);
  return std::tuple{stock * normal(d1) - discounted * normal(d2),
                    discounted * normal(-d2) - stock * normal(-d1)};
});
inline auto black_scholes(std::int64_t n) {
  return map<float>("Black-Scholes", n, 5).by("dsl", [](const arrays<float>& x) {
    const auto put = target<float>(slot::second_out, x.n);
    dsl::tie(x.out, put) = option_prices(x.a, x.b, x.c);
  });
}

template <class T, class R = T> auto sum(std::int64_t n) {
  return reduction_work<T, R>("sum(a)", n, 1).by("dsl", [](const reduced<T, R>& x) {
    x.out = dsl::sum(x.a);
  });
}
inline auto dot(std::int64_t n) {
  return reduction_work<float>("dot(a, b)", n, 2).by("dsl", [](const reduced<float>& x) {
    x.out = dsl::dot(x.a, x.b);
  });
}
inline auto variance(std::int64_t n) {
  return reduction_work<float>("var(a)", n, 1).by("dsl", [](const reduced<float>& x) {
    x.out = dsl::var(x.a);
  });
}
inline auto largest_at(std::int64_t n) {
  return reduction_work<float, std::int64_t>("argmax(a)", n, 1)
      .by("dsl", [](const reduced<float, std::int64_t>& x) { x.out = dsl::argmax(x.a); });
}

/// A matrix, and the results for its rows and columns.
struct matrix {
  matrix(std::int64_t rows, std::int64_t columns)
      : height(rows),
        width(columns),
        m(dsl::reshape(operand<float>(slot::a, rows * columns), rows, columns)),
        out(dsl::reshape(target<float>(slot::out, rows * columns), rows, columns)),
        of_rows(target<float>(slot::second_out, rows)),
        of_columns(target<float>(slot::second_out, columns)),
        at(target<std::int64_t>(slot::second_out, rows)) {}
  std::int64_t height, width;
  dsl::view<const float, 2> m;
  dsl::view<float, 2> out;
  dsl::view<float> of_rows, of_columns;
  dsl::view<std::int64_t> at;
};

/// A work on such a matrix. Calls write `out`.
class work_on_matrix {
 public:
  work_on_matrix(const char* group, const char* name, std::int64_t rows, std::int64_t columns,
                 double bytes, result (*out)(const matrix&))
      : rows_(rows),
        columns_(columns),
        out_(out),
        work_(group, dsl::dtype::float32, shape_of(rows, columns), name, bytes) {}

  template <class Call> work_on_matrix& by(const char* who, Call call) {
    work_.by(who, [rows = rows_, columns = columns_, out = out_, call] {
      const matrix x(rows, columns);
      return job{bound(x, call), out(x)};
    });
    return *this;
  }
  work_on_matrix& within(double tolerance) { return work_.within(tolerance), *this; }

 private:
  std::int64_t rows_, columns_;
  result (*out_)(const matrix&);
  work work_;
};

inline constexpr auto whole = [](const matrix& x) -> result { return x.out; };
inline constexpr auto of_rows = [](const matrix& x) -> result { return x.of_rows; };
inline constexpr auto of_columns = [](const matrix& x) -> result { return x.of_columns; };
inline constexpr auto places = [](const matrix& x) -> result { return x.at; };

/// Bytes of a matrix of floats, and of the results along an axis.
inline double bytes_of_matrix(std::int64_t rows, std::int64_t columns, std::int64_t results = 0) {
  return 4.0 * static_cast<double>(rows * columns + results);
}

inline auto sum_of_rows(std::int64_t rows, std::int64_t columns) {
  return work_on_matrix("axis", "sum of rows", rows, columns, bytes_of_matrix(rows, columns, rows),
                        of_rows)
      .by("dsl", [](const matrix& x) { x.of_rows = dsl::sum(x.m, dsl::axis(1)); });
}
inline auto sum_of_columns(std::int64_t rows, std::int64_t columns) {
  return work_on_matrix("axis", "sum of columns", rows, columns,
                        bytes_of_matrix(rows, columns, columns), of_columns)
      .by("dsl", [](const matrix& x) { x.of_columns = dsl::sum(x.m, dsl::axis(0)); });
}
inline auto largest_of_rows(std::int64_t rows, std::int64_t columns) {
  return work_on_matrix("axis", "argmax of rows", rows, columns,
                        bytes_of_matrix(rows, columns, 2 * rows), places)
      .by("dsl", [](const matrix& x) { x.at = dsl::argmax(x.m, dsl::axis(1)); });
}

/// A matrix of T, with a row, a column and neighbours.
template <class T> struct rectangle {
  rectangle(std::int64_t height, std::int64_t width)
      : rows(height),
        columns(width),
        m(dsl::reshape(operand<T>(slot::a, rows * columns), rows, columns)),
        row(operand<T>(slot::b, columns)),
        column(dsl::reshape(operand<T>(slot::c, rows), rows, 1)),
        out(dsl::reshape(target<T>(slot::out, rows * columns), rows, columns)) {}
  std::int64_t rows, columns;
  dsl::view<const T, 2> m;
  dsl::view<const T> row;
  dsl::view<const T, 2> column;
  dsl::view<T, 2> out;
};

struct shape { std::int64_t rows, columns; };
/// Rows and columns that are primes, so that no row begins as the one before.
inline constexpr shape odd_shape{10'007, 9'001};

/// A work on such a matrix; a call moves `bytes` bytes for each of its elements.
template <class T> class work_on_rectangle {
 public:
  work_on_rectangle(const char* name, shape of, double bytes, const char* group = "strided")
      : of_(of),
        work_(group, dsl::dtype_v<T>, shape_of(of.rows, of.columns), name,
              bytes * static_cast<double>(of.rows * of.columns)) {}
  template <class Call> work_on_rectangle& by(const char* who, Call call) {
    work_.by(who, [of = of_, call] {
      const rectangle<T> x(of.rows, of.columns);
      return job{bound(x, call), x.out};
    });
    return *this;
  }

 private:
  shape of_;
  work work_;
};

template <class T> auto heat_by_slices(shape of) {
  return work_on_rectangle<T>("five-point heat by slices", of, 2 * sizeof(T))
      .by("dsl", [](const rectangle<T>& x) {
        const auto in = dsl::slice(1, -1), before = dsl::slice(0, -2),
                   after = dsl::slice(2, dsl::end);
        x.out(in, in) = x.m(in, in) + T(0.1) * (x.m(before, in) + x.m(after, in) + x.m(in, before) +
                                                x.m(in, after) - 4 * x.m(in, in));
      });
}
template <class T> auto heat_by_shift(shape of) {
  return work_on_rectangle<T>("five-point heat by shift", of, 2 * sizeof(T))
      .by("dsl", [](const rectangle<T>& x) {
        const auto wall = dsl::boundary::clamp;
        x.out =
            x.m + T(0.1) * (dsl::shift(x.m, 1, wall, 0) + dsl::shift(x.m, -1, wall, 0) +
                            dsl::shift(x.m, 1, wall, 1) + dsl::shift(x.m, -1, wall, 1) - 4 * x.m);
      });
}

/// The coupled fields, with their sum fed back.
struct fields {
  explicit fields(std::int64_t side) : F(side, side), G(side, side) {}
  void start() {
    F = c32(0.01f, 0.02f);
    G = c32(0.9f);
    delta = c32(0.01f);
  }
  dsl::array<c32, 2> F, G;
  dsl::scalar<c32> delta;
};
inline constexpr float step_size = 1e-3f;

struct coupled_step;
inline constexpr auto coupled =
    dsl::vectorize<coupled_step>([](auto F, auto G, auto d, auto h, auto scale) {
      const auto [Fn, Gn] = rk4_fields(F, G, d, h);
      return std::tuple{Fn, Gn, dsl::sum(scale * Fn)};
    });

/// A loop of such steps, to which its rows are added. Its time is the wall time of a call and the
/// wait for its end.
inline work loop_of(std::int64_t steps, std::int64_t side) {
  return work("loop", dsl::dtype::complex64, shape_of(side, side),
              std::to_string(steps) + " RK4 steps, sum(F) fed back",
              32.0 * static_cast<double>(steps * side * side), timing::call)
      .within(1e-3);
}
inline std::function<job()> iterated(std::int64_t steps, std::int64_t side,
                                     dsl::strategy how = dsl::strategy::automatic) {
  return [=] {
    const auto x = std::make_shared<fields>(side);
    const c32 scale(1.0f / static_cast<float>(side * side));
    return job{[=] {
                 dsl::iterate(steps, coupled, dsl::state(x->F, x->G, x->delta), step_size, scale,
                              how);
               },
               x->F, [=] { x->start(); }};
  };
}

}  // namespace bench
