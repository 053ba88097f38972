// The RK4 step as host.sh compiles it: with or without a sum.
#include "../rk4.hpp"

void step(dsl::array<c32, 2>& F, dsl::array<c32, 2>& G, const dsl::scalar<c32>& d, float h,
          [[maybe_unused]] dsl::scalar<c32>& sum) {
#if WITH_SUM
  const auto reducing = dsl::vectorize([](auto F, auto G, auto d, auto h) {
    const auto [Fn, Gn] = rk4_fields(F, G, d, h);
    return std::tuple{Fn, Gn, dsl::sum(Fn)};
  });
  dsl::tie(F, G, sum) = reducing(F, G, d, h);
#else
  dsl::tie(F, G) = dsl::vectorize(rk4_fields)(F, G, d, h);
#endif
}
