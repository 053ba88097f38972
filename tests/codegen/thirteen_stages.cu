// A step of Fehlberg's 13-stage method over the coupled fields: a formula of many hundred nodes, traced and compiled with default
// limits.
#include "../rk4.hpp"

#include <dsl/ode.hpp>

struct thirteen_stages;

void step(dsl::array<c32, 2>& F, dsl::array<c32, 2>& G, const dsl::scalar<c32>& delta, float h) {
  dsl::tie(F, G) = dsl::ode::fehlberg8<thirteen_stages>(coupled_fields)(F, G, delta, h);
}
