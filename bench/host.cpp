// Further rows of bench_host: maps, shapes and loops.
#include "by_hand_host.hpp"
#include "works.hpp"

namespace bench {
namespace {

template <class T> void functions(std::int64_t n) {
  using x_t = arrays<T>;
  exponential<T>(n).by("hand", [](const x_t& x) { by_hand::exp(x.out.data(), x.a.data(), x.n); });
  sine<T>(n).by("hand", [](const x_t& x) { by_hand::sin(x.out.data(), x.a.data(), x.n); });
  power<T>(n).by("hand",
                 [](const x_t& x) { by_hand::pow(x.out.data(), x.a.data(), x.b.data(), x.n); });
  map<T>("a * a + a", n, 2)
      .by("dsl", [](const x_t& x) { x.out = x.a * x.a + x.a; })
      .by("hand", [](const x_t& x) { by_hand::square_and_add(x.out.data(), x.a.data(), x.n); });
}

template <class T> void shapes(std::int64_t n) {
  const shape of{n, n};
  heat_by_slices<T>(of).by(
      "hand", [](const rectangle<T>& x) { by_hand::heat(x.out.data(), x.m.data(), x.rows); });
  heat_by_shift<T>(of);
  work_on_rectangle<T>("neighbours by shift", of, 2 * sizeof(T))
      .by("dsl", [](const rectangle<T>& x) {
        x.out = dsl::shift(x.m, 1, dsl::boundary::zero, 1) +
                dsl::shift(x.m, -1, dsl::boundary::zero, 1);
      });
}

const rows maps([] {
  for (const std::int64_t n : {1'000, 100'000, 9'999'991, 10'000'000}) {
    three_operands(n)
        .by("hand",
            [](const arrays<float>& x) {
              by_hand::three_operands(x.out.data(), x.a.data(), x.b.data(), x.c.data(), x.n);
            })
        .by("par_unseq", [](const arrays<float>& x) {
          par_unseq::three_operands(x.out.data(), x.a.data(), x.b.data(), x.c.data(), x.n);
        });
    power<float>(n).by("hand", [](const arrays<float>& x) {
      by_hand::pow(x.out.data(), x.a.data(), x.b.data(), x.n);
    });
    black_scholes(n).within(1e-5).by("hand", [](const arrays<float>& x) {
      by_hand::black_scholes(x.out.data(), target<float>(slot::second_out, x.n).data(), x.a.data(),
                             x.b.data(), x.c.data(), rate, volatility, x.n);
    });
    dot(n)
        .within(1e-3)
        .by("hand",
            [](const reduced<float>& x) {
              *x.out.data() = by_hand::dot(x.a.data(), x.b.data(), x.n);
            })
        .by("par_unseq", [](const reduced<float>& x) {
          *x.out.data() = par_unseq::dot(x.a.data(), x.b.data(), x.n);
        });
  }
  for (const std::int64_t n : {65'536, 65'537}) {
    functions<float>(n);
    functions<double>(n);
  }
});

const rows squares([] {
  using x_t = rectangle<float>;
  for (const std::int64_t n : {1024, 1021}) {
    const auto row = [n](const char* name, double bytes, auto call) {
      work_on_rectangle<float>(name, {n, n}, bytes).by("dsl", call);
    };
    row("m + m", 8, [](const x_t& x) { x.out = x.m + x.m; });
    row("m + row", 8, [](const x_t& x) { x.out = x.m + x.row; });
    row("m + col", 8, [](const x_t& x) { x.out = x.m + x.column; });
    row("m + transpose(m)", 8, [](const x_t& x) { x.out = x.m + dsl::transpose(x.m); });
    row("m + flip(m, 1)", 8, [](const x_t& x) { x.out = x.m + dsl::flip(x.m, 1); });
    row("a + b[:, ::2]", 12, [n](const x_t& x) {
      x.out = x.m + dsl::reshape(operand<float>(slot::b, 2 * n * n), n, 2 * n)(
                        dsl::slice(), dsl::slice(0, dsl::end, 2));
    });
    shapes<float>(n);
    shapes<double>(n);
  }
});

const rows loops([] {
  constexpr int steps = 10;
  for (const std::int64_t side : {64, 512, 513, 3162, 3163}) {
    loop_of(steps, side).by("dsl", iterated(steps, side)).by("hand", [side] {
      const auto x = std::make_shared<fields>(side);
      return job{[=] {
                   by_hand::rk4_steps(x->F.data(), x->G.data(), x->delta.data(), step_size,
                                      side * side, steps);
                 },
                 x->F, [=] { x->start(); }};
    });
  }
});

}  // namespace
}  // namespace bench
