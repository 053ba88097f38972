// Measures derivatives: of a formula, of rows, of a loss in arrays, of time loops, and the loops
// alone beside theirs. Peers are in Python: JAX and torch.compile (peer/derivatives.py).
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "works.hpp"

namespace bench {
namespace {

// ---- a formula: the price of a call by Black and Scholes, with five Greeks

constexpr auto call_price = [](auto stock, auto strike, auto years, auto rate, auto volatility) {
  const auto normal = [](auto d) { return 0.5f * erfc(-0.70710678f * d); };
  auto deviation = volatility * sqrt(years);
  auto d = (log(stock / strike) + rate * years) / deviation + 0.5f * deviation;
  return stock * normal(d) - strike * exp(-rate * years) * normal(d - deviation);
};
constexpr auto price_and_greeks =
    dsl::vectorize([](auto stock, auto strike, auto years, auto rate, auto volatility) {
      const auto [price, delta, theta, rho, vega] =
          dsl::value_and_grad<0, 2, 3, 4>(call_price)(stock, strike, years, rate, volatility);
      auto gamma = dsl::grad<0>(dsl::grad<0>(call_price))(stock, strike, years, rate, volatility);
      return std::tuple{price, delta, gamma, vega, -theta, rho};
    });

/// The six results lie in one piece of memory, each aligned.
struct options {
  explicit options(std::int64_t n)
      : n(n),
        stride((n + 63) / 64 * 64),
        stock(operand<float>(slot::a, n)),
        strike(operand<float>(slot::b, n)),
        years(operand<float>(slot::c, n)),
        all(target<float>(slot::out, 6 * stride)) {}
  dsl::view<float> out(int k) const { return all(dsl::slice(k * stride, k * stride + n)); }
  std::int64_t n, stride;
  dsl::view<const float> stock, strike, years;
  dsl::view<float> all;
};

const rows formulas([] {
  for (const std::int64_t n : {1 << 27, (1 << 27) + 1})
    work("derivatives", dsl::dtype::float32, std::to_string(n), "Black-Scholes with five Greeks",
         36.0 * static_cast<double>(n))
        .by("dsl", [=] {
          const auto x = std::make_shared<options>(n);
          return job{[=] {
                       const auto price = x->out(0), delta = x->out(1), gamma = x->out(2),
                                  vega = x->out(3), theta = x->out(4), rho = x->out(5);
                       dsl::tie(price, delta, gamma, vega, theta, rho) =
                           price_and_greeks(x->stock, x->strike, x->years, rate, volatility);
                     },
                     x->all};
        });
});

// ---- rows: the cross-entropy of a softmax with one label a row

constexpr auto log_sum_exp = [](auto x) {
  auto most = dsl::stop_gradient(dsl::max(x));
  return most + log(dsl::sum(exp(x - most)));
};

const rows of_rows_on_chip([] {
  add_copy("derivatives", shape_of(8192, 8192), 8192 * 8192);
  for (const auto [height, width] : {shape{8192, 8192}, {8191, 8193}}) {
    const auto label = [](const matrix& x) {
      return dsl::expand_dims(operand<std::int32_t>(slot::c, x.height), 1);
    };
    const auto place = [](const matrix& x) { return dsl::arange<std::int32_t>(x.width); };
    work_on_matrix("derivatives", "gradient of softmax cross-entropy of rows", height, width,
                   2 * bytes_of_matrix(height, width), whole)
        .by("dsl",
            [=](const matrix& x) {
              x.out = dsl::apply_along_axis(dsl::grad<0>(log_sum_exp), dsl::axis(1), x.m) -
                      dsl::cast<float>(place(x) == label(x));
            })
        .by("dsl gradient",
            [=](const matrix& x) {
              const auto most = dsl::max(x.m, dsl::axis(1), dsl::keep_dims);
              const auto total = dsl::sum(exp(x.m - most), dsl::axis(1), dsl::keep_dims);
              x.out = dsl::gradient(
                  dsl::sum(most + log(total)) - dsl::sum(where(place(x) == label(x), x.m, 0)), x.m);
            })
        .by("dsl closed form", [=](const matrix& x) {
          const auto shifted = exp(x.m - dsl::max(x.m, dsl::axis(1), dsl::keep_dims));
          x.out = shifted / dsl::sum(shifted, dsl::axis(1), dsl::keep_dims) -
                  dsl::cast<float>(place(x) == label(x));
        });
  }
});

// ---- a loss in arrays: logistic regression

struct regression {
  regression(std::int64_t points, std::int64_t features)
      : x(dsl::reshape(operand<float>(slot::a, points * features), points, features)),
        label(dsl::eval(where(operand<float>(slot::b, points) > 1, 1.0f, -1.0f))),
        w(dsl::eval(0.1f * (operand<float>(slot::c, features) - 1))),
        dw(features),
        all(features + 2) {}
  dsl::view<const float, 2> x;
  dsl::array<float> label, w, dw, all;
  dsl::scalar<float> b = 0.5f, db, loss;
};

const rows regressions([] {
  for (const auto [points, features] : {shape{1'000'000, 50}, {999'983, 51}})
    work("derivatives", dsl::dtype::float32, shape_of(points, features),
         "logistic regression, loss and gradient",
         4.0 * static_cast<double>(points * (features + 1)))
        .by("dsl", [=] {
          const auto r = std::make_shared<regression>(points, features);
          return job{[=] {
                       const auto z = dsl::sum(r->x * r->w, dsl::axis(1)) + r->b;
                       const auto loss = dsl::mean(logaddexp(0.0f, -r->label * z));
                       dsl::tie(r->loss, r->dw, r->db) = dsl::value_and_gradient(loss, r->w, r->b);
                     },
                     r->all,
                     {},
                     [=] {
                       r->all(dsl::slice(0, features)) = r->dw;
                       r->all(dsl::slice(features, features + 1)) = r->db;
                       r->all(dsl::slice(features + 1, features + 2)) = r->loss;
                     }};
        });
});

// ---- time loops

/// A row by `run(state)`, which gives the derivatives of a loop; its result are those with respect
/// to the first field.
template <class State, class Run> std::function<job()> of_loop(std::int64_t side, Run run) {
  return [=] {
    using found = decltype(run(std::declval<State&>()));
    const auto x = std::make_shared<State>(side);
    const auto place = std::make_shared<std::optional<found>>();
    const auto out = std::make_shared<typename State::field>(side, side);
    return job{[=] { place->emplace(run(*x)); }, out->view(), [=] { x->start(); },
               [=] { *out = (*place)->template state<0>(); }};
  };
}

struct coupled_state : fields {
  using fields::fields;
  using field = dsl::array<c32, 2>;
};

const rows loops_of_fields([] {
  constexpr int steps = 100;
  for (const std::int64_t side : {512, 513}) {
    const c32 scale(1.0f / static_cast<float>(side * side));
    const auto of = [=](const char* name, double bytes) {
      return work("derivatives", dsl::dtype::complex64, shape_of(side, side), name,
                  bytes * static_cast<double>(steps * side * side), timing::call)
          .within(1e-3);
    };
    of("100 RK4 steps, sum(F) fed back", 32).by("dsl", iterated(steps, side));
    of("100 RK4 steps, sum(F) fed back, gradient", 80)
        .by("dsl", of_loop<coupled_state>(side, [=](coupled_state& x) {
              return dsl::iterate_gradient(
                  steps, coupled, [](auto F, auto, auto) { return dsl::sum(abs2(F)); },
                  dsl::state(x.F, x.G, x.delta), step_size, scale);
            }));
  }
});

constexpr auto heat_step = dsl::vectorize([](auto u) {
  const auto ring = dsl::boundary::wrap;
  return u + 0.1f * (dsl::shift(u, 1, ring, 0) + dsl::shift(u, -1, ring, 0) +
                     dsl::shift(u, 1, ring, 1) + dsl::shift(u, -1, ring, 1) - 4 * u);
});
struct plate {
  using field = dsl::array<float, 2>;
  explicit plate(std::int64_t side) : side(side), u(side, side) {}
  void start() { u = dsl::reshape(operand<float>(slot::a, side * side), side, side); }
  std::int64_t side;
  field u;
};

const rows loops_of_heat([] {
  constexpr int steps = 1000;
  for (const std::int64_t side : {1024, 1025}) {
    const auto of = [=](const char* name, double bytes) {
      return work("derivatives", dsl::dtype::float32, shape_of(side, side), name,
                  bytes * static_cast<double>(steps * side * side), timing::call)
          .within(1e-3);
    };
    of("1000 steps of heat", 8).by("dsl", [=] {
      const auto x = std::make_shared<plate>(side);
      return job{[=] { dsl::iterate(steps, heat_step, dsl::state(x->u)); }, x->u,
                 [=] { x->start(); }};
    });
    const auto in_memory = [=](std::int64_t bytes) {
      return of_loop<plate>(side, [=](plate& x) {
        return dsl::iterate_gradient(
            steps, heat_step, [](auto u) { return 0.5f * dsl::sum(u * u); }, dsl::state(x.u),
            dsl::memory_limit(bytes));
      });
    };
    of("1000 steps of heat, gradient", 16)
        .by("dsl", in_memory(0))
        .by("dsl 256 MiB", in_memory(std::int64_t{1} << 28));
  }
});

}  // namespace
}  // namespace bench
