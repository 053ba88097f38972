// A step of Fehlberg's 13-stage method of order 8 (NASA TR R-287, 1968, table X) over the coupled fields: a formula of many hundred
// nodes, traced and compiled with default limits.
#include <array>

#include "../rk4.hpp"

static constexpr double a[13][12] = {
    {},
    {2. / 27},
    {1. / 36, 1. / 12},
    {1. / 24, 0, 1. / 8},
    {5. / 12, 0, -25. / 16, 25. / 16},
    {1. / 20, 0, 0, 1. / 4, 1. / 5},
    {-25. / 108, 0, 0, 125. / 108, -65. / 27, 125. / 54},
    {31. / 300, 0, 0, 0, 61. / 225, -2. / 9, 13. / 900},
    {2, 0, 0, -53. / 6, 704. / 45, -107. / 9, 67. / 90, 3},
    {-91. / 108, 0, 0, 23. / 108, -976. / 135, 311. / 54, -19. / 60, 17. / 6, -1. / 12},
    {2383. / 4100, 0, 0, -341. / 164, 4496. / 1025, -301. / 82, 2133. / 4100, 45. / 82, 45. / 164, 18. / 41},
    {3. / 205, 0, 0, 0, 0, -6. / 41, -3. / 205, -3. / 41, 3. / 41, 6. / 41},
    {-1777. / 4100, 0, 0, -341. / 164, 4496. / 1025, -289. / 82, 2193. / 4100, 51. / 82, 33. / 164, 12. / 41, 0, 1},
};
static constexpr double b[13] = {0, 0, 0, 0, 0, 34. / 105, 9. / 35, 9. / 35, 9. / 280, 9. / 280, 0, 41. / 840, 41. / 840};

struct thirteen_stages;

void step(dsl::array<c32, 2>& F, dsl::array<c32, 2>& G, const dsl::scalar<c32>& delta, float h) {
  const auto f = dsl::vectorize<thirteen_stages>([](auto F, auto G, auto d, auto h) {
    std::array<decltype(F), 13> KF{}, KG{};
    for (std::size_t i = 0; i < 13; ++i) {
      auto Fi = F, Gi = G;
      for (std::size_t j = 0; j < i; ++j)
        if (a[i][j] != 0) Fi = Fi + h * a[i][j] * KF[j], Gi = Gi + h * a[i][j] * KG[j];
      KF[i] = dF(Fi, Gi, d), KG[i] = dG(Fi, d);
    }
    for (std::size_t i = 0; i < 13; ++i)
      if (b[i] != 0) F = F + h * b[i] * KF[i], G = G + h * b[i] * KG[i];
    return std::tuple{F, G};
  });
  dsl::tie(F, G) = f(F, G, delta, h);
}
