// Further rows of bench_host: reductions and scans.
#include <dsl/scan.hpp>

#include "by_hand_host.hpp"
#include "works.hpp"

namespace bench {
namespace {

const rows reductions([] {
  for (const std::int64_t n : {(1 << 24), (1 << 24) + 1}) {
    sum<float>(n).within(1e-3).by(
        "hand", [](const reduced<float>& x) { *x.out.data() = by_hand::sum(x.a.data(), x.n); });
    reduction_work<float>("min(a)", n, 1)
        .by("dsl", [](const reduced<float>& x) { x.out = dsl::min(x.a); })
        .by("hand", [](const reduced<float>& x) { *x.out.data() = by_hand::min(x.a.data(), x.n); });
    variance(n);
    largest_at(n);
    map<float>("cumsum(a)", n, 2, "scan")
        .within(1e-3)
        .by("dsl", [](const arrays<float>& x) { x.out = dsl::cumsum(x.a); })
        .by("hand", [](const arrays<float>& x) { by_hand::cumsum(x.out.data(), x.a.data(), x.n); });
  }
});

const rows axes([] {
  constexpr std::int64_t n = 1 << 24;
  for (const auto [rows, columns] : {shape{4096, 4096},
                                     {4099, 4093},
                                     {n / 8, 8},
                                     {8, n / 8},
                                     {n / 100, 100},
                                     {n / 1000, 1000}}) {
    sum_of_rows(rows, columns).within(1e-3).by("hand", [](const matrix& x) {
      by_hand::sum_of_rows(x.of_rows.data(), x.m.data(), x.height, x.width);
    });
    sum_of_columns(rows, columns).within(1e-3).by("hand", [](const matrix& x) {
      by_hand::sum_of_columns(x.of_columns.data(), x.m.data(), x.height, x.width);
    });
  }
  for (const auto [rows, columns] : {shape{4096, 4096}, {4099, 4093}, {n / 100, 100}}) {
    largest_of_rows(rows, columns);
    work_on_matrix("axis", "var of columns", rows, columns, bytes_of_matrix(rows, columns, columns),
                   of_columns)
        .by("dsl", [](const matrix& x) { x.of_columns = dsl::var(x.m, dsl::axis(0)); });
  }
});

}  // namespace
}  // namespace bench
