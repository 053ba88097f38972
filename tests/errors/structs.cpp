// wanted: a symbol keeps its dtype
// wanted: the members of a struct that is an operand are arrays
// wanted: as many targets as the right side has values
// wanted: a target is an array, a view or a scalar in device memory, not a C++ scalar
// wanted: a struct is an argument of a formula
// lines: 15
#include <dsl/dsl.hpp>
#include <dsl/hana.hpp>
template <class X, class V> struct particle { BOOST_HANA_DEFINE_STRUCT(particle, (X, position), (V, velocity)); };
struct other {};
struct magnitude {
  DSL_FN double operator()(double v) const { return v; }
};
void dtype(particle<dsl::array<int>, dsl::array<double>> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) {
    p.position = p.position + p.velocity;
    return p;
  })(p);
}
void member(particle<dsl::array<int>, other> p, dsl::array<int> x) {
  x = dsl::vectorize([](auto p) { return p.position; })(p);
}
void missing(particle<dsl::array<double>, dsl::array<double>> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) { return p.position; })(p);
}
void value(particle<dsl::array<double>, double> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) { return p; })(p);
}
void functor(particle<dsl::array<double>, double> p, dsl::array<double> x) { x = dsl::vectorize(magnitude{})(p); }
