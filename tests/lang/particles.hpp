// Structs shared by the tests of structs.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/hana.hpp>

#include <cstdint>

template <class X, class V> struct particle {
  BOOST_HANA_DEFINE_STRUCT(particle, (X, position), (X, height), (V, velocity), (V, climb));
};
template <class P, class E> struct cloud {
  BOOST_HANA_DEFINE_STRUCT(cloud, (P, particles), (E, energy), (E, steps));
};
template <class M, class Q> struct body { BOOST_HANA_DEFINE_STRUCT(body, (M, mass), (Q, charge)); };
template <class B, class I> struct tagged_body {
  BOOST_HANA_DEFINE_STRUCT(tagged_body, (I, number), (B, it));
};
template <class T> struct field { BOOST_HANA_DEFINE_STRUCT(field, (T, strength), (T, drag)); };

using column = dsl::array<double>;
using particles = particle<column, column>;

inline particles some_particles(std::int64_t n) {
  return {dsl::linspace(0.0, 1.0, n), dsl::zeros<double>(n), dsl::ones<double>(n),
          dsl::full<double>(2.0, n)};
}

inline constexpr auto fly = [](auto p, auto h) {
  p.position = p.position + h * p.velocity;
  p.height = p.height + h * p.climb;
  p.climb = p.climb - 9.75 * h;
  return p;
};

inline constexpr auto climbed = dsl::vectorize([](auto p) { return p.climb * p.climb; });
