// The kernel that ode::rk4 makes of the right-hand side alone: compared, as generated.cu, with by_hand.cu.
#include "../rk4.hpp"

#include <dsl/ode.hpp>

void step(dsl::array<c32, 2>& F, dsl::array<c32, 2>& G, const dsl::scalar<c32>& d, float h) {
  dsl::tie(F, G) = dsl::ode::rk4(coupled_fields)(F, G, d, h);
}
