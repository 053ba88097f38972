// Further rows of bench_host: reductions by key, gathered elements and a recurrence, with plain
// loops as peers.
#include <complex>

#include <dsl/by_key.hpp>
#include <dsl/scan.hpp>

#include "by_hand_host.hpp"
#include "by_key.hpp"

namespace bench {
namespace {

using keys_and_values = keyed<std::int32_t>;
constexpr std::int64_t n = 1'000'000;

auto work_on_keys(const char* name, std::int64_t groups, double bytes,
                  result (*out)(const keys_and_values&)) {
  return work_by_key<std::int32_t>(name, dsl::dtype::float32, n, groups, bytes, out);
}
constexpr auto of_groups = [](const keys_and_values& x) -> result { return x.sums; };

const rows by_keys([] {
  for (const std::int64_t groups : {10, 1000, 1009, 100'000}) {
    work_on_keys("sum_by", groups, 8, of_groups)
        .within(1e-3)
        .by("dsl",
            [](const keys_and_values& x) {
              dsl::assign(x.sums, dsl::sum_by(x.keys, x.values, x.groups));
            })
        .by("hand", [](const keys_and_values& x) {
          by_hand::fill(x.sums.data(), 0, x.groups);
          by_hand::add_by_key(x.sums.data(), x.keys.data(), x.values.data(), x.n);
        });
    work_on_keys("scatter_add", groups, 8, of_groups)
        .within(1e-3)
        .by("dsl",
            [](const keys_and_values& x) {
              dsl::assign(x.sums, 1.f);
              dsl::scatter_add(x.sums, x.keys, x.values);
            })
        .by("hand", [](const keys_and_values& x) {
          by_hand::fill(x.sums.data(), 1, x.groups);
          by_hand::add_by_key(x.sums.data(), x.keys.data(), x.values.data(), x.n);
        });
  }
  for (const std::int64_t groups : {10, 1000, 10'000})  // Groups small enough that none is empty.
    work_on_keys("std by key", groups, 8, of_groups)
        .within(1e-2)
        .by("dsl",
            [](const keys_and_values& x) {
              dsl::assign(x.sums, dsl::reduce_by(x.keys, x.values, x.groups,
                                                 [](auto v) { return dsl::std(v); }));
            })
        .by("hand", [](const keys_and_values& x) {
          by_hand::deviations_by_key(x.sums.data(), x.keys.data(), x.values.data(), x.n, x.groups);
        });
  for (const bool near : {true, false}) {
    const auto keys = [near](std::int64_t count) {
      return keys_and_values(count, near ? 1000 : count).keys;
    };
    map<float>(near ? "take(a, one of 1000)" : "take(a, one of all)", n, 3, "by key")
        .by("dsl",
            [keys](const arrays<float>& x) {
              return [x, at = keys(x.n)] { x.out = dsl::take(x.a, at); };
            })
        .by("hand", [keys](const arrays<float>& x) {
          return [x, at = keys(x.n)] { by_hand::take(x.out.data(), x.a.data(), at.data(), x.n); };
        });
  }
});

// y(i) = 0.9 y(i - 1) + 0.1 a(i), as in docs/scans.md: a scan of functions that compute a value
// from the previous one.
const rows recurrences([] {
  using namespace std::complex_literals;
  for (const std::int64_t n : {1'000'000, 999'983})
    map<double>("0.9 * y + 0.1 * a", n, 2, "scan")
        .within(1e-12)
        .by("dsl",
            [](const arrays<double>& x) {
              const auto compose = dsl::scan([](auto f, auto g) {
                return real(g) * real(f) + 1i * (real(g) * imag(f) + imag(g));
              });
              return [x, compose, functions = dsl::array<std::complex<double>>(x.n)]() mutable {
                functions = compose(0.9 + 1i * (0.1 * x.a));
                x.out = imag(functions);
              };
            })
        .by("hand",
            [](const arrays<double>& x) { by_hand::weighted(x.out.data(), x.a.data(), x.n); });
});

}  // namespace
}  // namespace bench
