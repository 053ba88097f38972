// Rows of bench_host that compile quickly: maps and sums, with plain loops as peers.
// bench_host_quick has only these.
#include "by_hand_host.hpp"
#include "works.hpp"

namespace bench {
namespace {

const rows quick([] {
  for (const std::int64_t n : {1'000, 100'000, 9'999'991, 10'000'000}) {
    add_copy("map", std::to_string(n), n);
    add<float>(n)
        .by("hand",
            [](const arrays<float>& x) { by_hand::add(x.out.data(), x.a.data(), x.b.data(), x.n); })
        .by("par_unseq", [](const arrays<float>& x) {
          par_unseq::add(x.out.data(), x.a.data(), x.b.data(), x.n);
        });
    exponential<float>(n)
        .by("hand", [](const arrays<float>& x) { by_hand::exp(x.out.data(), x.a.data(), x.n); })
        .by("par_unseq",
            [](const arrays<float>& x) { par_unseq::exp(x.out.data(), x.a.data(), x.n); });
    sum<float>(n)
        .by("hand", [](const reduced<float>& x) { *x.out.data() = by_hand::sum(x.a.data(), x.n); })
        .by("par_unseq",
            [](const reduced<float>& x) { *x.out.data() = par_unseq::sum(x.a.data(), x.n); })
        .within(1e-4);
  }
});

}  // namespace
}  // namespace bench
