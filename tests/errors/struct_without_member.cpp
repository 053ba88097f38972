// wanted by both: speed
#include <dsl/dsl.hpp>
#include <dsl/hana.hpp>
template <class X, class V> struct particle { BOOST_HANA_DEFINE_STRUCT(particle, (X, position), (V, velocity)); };
void missing(particle<dsl::array<double>, dsl::array<double>> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) {
    p.speed = p.velocity;
    return p;
  })(p);
}
