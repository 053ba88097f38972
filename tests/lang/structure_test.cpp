// Structs as operands, targets, variables of loops, and arrays of them.
#include <dsl/hana.hpp>

#include <cmath>
#include <complex>
#include <filesystem>

#include "../on_device.hpp"

namespace {

template <class X, class V> struct particle { BOOST_HANA_DEFINE_STRUCT(particle, (X, position), (X, height), (V, velocity), (V, climb)); };
template <class P, class E> struct cloud { BOOST_HANA_DEFINE_STRUCT(cloud, (P, particles), (E, energy), (E, steps)); };
template <class M, class Q> struct body { BOOST_HANA_DEFINE_STRUCT(body, (M, mass), (Q, charge)); };
template <class B, class I> struct tagged_body { BOOST_HANA_DEFINE_STRUCT(tagged_body, (I, number), (B, it)); };
template <class T> struct field { BOOST_HANA_DEFINE_STRUCT(field, (T, strength), (T, drag)); };

using column = dsl::array<double>;
using particles = particle<column, column>;

particles some_particles(std::int64_t n) { return {dsl::linspace(0.0, 1.0, n), dsl::zeros<double>(n), dsl::ones<double>(n), dsl::full<double>(2.0, n)}; }

constexpr auto fly = [](auto p, auto h) {
  p.position = p.position + h * p.velocity;
  p.height = p.height + h * p.climb;
  p.climb = p.climb - 9.75 * h;
  return p;
};

constexpr auto climbed = dsl::vectorize([](auto p) { return p.climb * p.climb; });

struct structure : on_device {};
ON_EVERY_DEVICE(structure);

TEST_P(structure, is_updated_by_one_kernel) {
  for (const std::int64_t n : {1, 255, 1000}) {
    particles p = some_particles(n);
    const std::vector<double> before = p.position.copy_to_host();
    dsl::tie(p) = dsl::vectorize(fly)(p, 0.5);
    EXPECT_EQ(dsl::plan_of(dsl::tie(p), dsl::vectorize(fly)(p, 0.5)).elements, n);
    const std::vector<double> position = p.position.copy_to_host(), height = p.height.copy_to_host(), climb = p.climb.copy_to_host();
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(position[i], before[i] + 0.5);
      EXPECT_EQ(height[i], 1);
      EXPECT_EQ(climb[i], 2 - 9.75 * 0.5);
    }
  }
}

TEST_P(structure, takes_memory_and_other_targets) {
  const particles p = some_particles(100);
  particle<dsl::array<double>, dsl::array<double>> q;
  dsl::scalar<double> total;
  dsl::tie(q, total) = dsl::vectorize([](auto p, auto b) {
    p.climb = 3 * p.climb * b.drag;
    return std::tuple{p, dsl::sum(p.climb - b.strength)};
  })(p, field<double>{1, 2});  // C++ values in a struct are parameters
  EXPECT_EQ(q.climb(99).value(), 12);
  EXPECT_EQ(q.position(99).value(), 1);
  EXPECT_EQ(total.value(), 1100);
}

TEST_P(structure, integers_in_it_fit_what_they_meet) {
  const auto small = dsl::ones<std::uint8_t>(3);
  const auto f = dsl::vectorize([](auto x, auto c) { return x * c.strength + c.drag; });
  EXPECT_EQ(dsl::eval(f(small, field<int>{100, 5})).copy_to_host()[2], 105);
  EXPECT_THROW(f(small, field<int>{2, 300}), dsl::overflow_error);
}

TEST_P(structure, inside_another_and_inside_another_formula) {
  cloud<particles, dsl::scalar<double>> c{some_particles(10), {}, {}};
  dsl::tie(c.energy) = dsl::vectorize([](auto c) { return dsl::sum(climbed(c.particles) + 0 * c.steps); })(c);
  EXPECT_EQ(c.energy.value(), 40);
}

TEST_P(structure, names_its_members_in_errors) {
  const cloud<particles, dsl::scalar<double>> c{some_particles(10), {}, {}};
  const column x = dsl::ones<double>(10);
  column wrong(3);
  try {
    wrong = dsl::vectorize([](auto x, auto c, auto y) { return x + c.particles.climb * c.energy - y; })(x, c, wrong);
    FAIL();
  } catch (const dsl::shape_error& e) {
    EXPECT_NE(std::string(e.what()).find("a + b.particles.climb * b.energy - c"), std::string::npos) << e.what();
  }
}

TEST_P(structure, is_a_loops_variable) {
  for (const dsl::strategy how : {dsl::strategy::automatic, dsl::strategy::launches}) {
    particles p = some_particles(1000);
    dsl::iterate(50, dsl::vectorize(fly), dsl::state(p), 0.25, how);
    double h = 0, c = 2;
    for (int k = 0; k < 50; ++k) h += 0.25 * c, c -= 9.75 * 0.25;
    EXPECT_EQ(p.height(999).value(), h);
    EXPECT_EQ(p.climb(0).value(), c);
  }
}

TEST_P(structure, has_histories_by_name) {
  cloud<particles, dsl::scalar<double>> c{some_particles(100), 0.0, 0.0};
  dsl::scalar<std::int64_t> count = 0;
  const auto step = dsl::vectorize([](auto c, auto count, auto h) {
    c.particles = fly(c.particles, h);
    c.energy = dsl::sum(c.particles.climb);
    c.steps = c.steps + 1;
    return std::tuple{c, count + 2};
  });
  const auto [of_cloud, counts, recorded] =
      dsl::iterate(8, step, dsl::state(c, count), 0.5, dsl::until(c.steps >= 6.0), dsl::record([](auto c, auto count) { return c.energy * 2 + count; }));
  const std::vector<double> energy = of_cloud.energy.copy_to_host(), steps = of_cloud.steps.copy_to_host(), twice = recorded.copy_to_host();
  for (std::size_t k = 0; k < 8; ++k) {
    const double e = 100 * (2 - 9.75 * 0.5 * static_cast<double>(k + 1));
    EXPECT_EQ(energy[k], k < 6 ? e : 0);
    EXPECT_EQ(steps[k], k < 6 ? static_cast<double>(k + 1) : 0);
    EXPECT_EQ(twice[k], k < 6 ? 2 * e + 2 * static_cast<double>(k + 1) : 0);
  }
  EXPECT_EQ(counts.copy_to_host()[5], 12);
  EXPECT_EQ(count.value(), 12);
}

TEST_P(structure, is_in_a_checkpoint_by_name) {
  const std::string folder = testing::TempDir() + "dsl_structure_test";
  std::filesystem::remove_all(folder);
  const cloud<particles, dsl::scalar<double>> c{some_particles(10), 3.0, 4.0};
  dsl::save_checkpoint(folder, 7, c, c.energy);
  for (const char* file : {"0.particles.position.npy", "3.particles.climb.npy", "4.energy.npy", "5.steps.npy", "6.npy", "steps.npy"})
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + file)) << file;
  cloud<particles, dsl::scalar<double>> d;
  dsl::scalar<double> energy;
  EXPECT_EQ(dsl::load_checkpoint(folder, d, energy), 7);
  EXPECT_EQ(d.particles.position.copy_to_host(), c.particles.position.copy_to_host());
  EXPECT_EQ(d.steps.value(), 4);
  EXPECT_EQ(energy.value(), 3);
  particles p;
  EXPECT_THROW(dsl::load_checkpoint(folder, p), dsl::file_error);  // fewer variables
  EXPECT_FALSE(p.position.has_memory());
  field<dsl::array<double>> one;
  particles other;
  EXPECT_THROW(dsl::load_checkpoint(folder, other, one, energy), dsl::file_error);  // others
  std::filesystem::remove_all(folder);
}

TEST_P(structure, arrays_of_structs_give_their_members) {
  std::vector<body<float, double>> host(1001);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = {static_cast<float>(i), 2.0 * static_cast<double>(i)};
  auto bodies = dsl::to_device(host);
  static_assert(std::is_same_v<decltype(dsl::members(std::as_const(bodies))), body<dsl::view<const float>, dsl::view<const double>>>);
  const auto all = dsl::members(std::as_const(bodies));
  EXPECT_EQ(dsl::sum(all.charge * all.mass).value(), 2.0 * 1000 * 1001 * 2001 / 6);
  auto target = dsl::members(bodies);
  dsl::tie(target) = dsl::vectorize([](auto b) {
    b.mass = b.mass + 1;
    b.charge = -b.charge;
    return b;
  })(all);
  const auto back = bodies.copy_to_host();
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].mass, host[i].mass + 1);
    EXPECT_EQ(back[i].charge, -host[i].charge);
  }
}

TEST_P(structure, arrays_of_structs_in_structs) {
  std::vector<tagged_body<body<float, double>, std::int32_t>> host(33);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = {static_cast<std::int32_t>(i), {0.5f, 1.5}};
  const auto bodies = dsl::to_device(host);
  const auto all = dsl::members(bodies);
  EXPECT_EQ(dsl::sum(all.number * all.it.mass + all.it.charge).value(), 0.5 * 32 * 33 / 2 + 1.5 * 33);
}

struct plain { std::int16_t x; std::int32_t k; double d; std::complex<float> z; };

TEST_P(structure, members_of_structs_that_are_no_templates) {
  auto all = dsl::to_device(std::vector<plain>{{1, 2, 3, {4, 5}}, {4, 5, 6, {7, 8}}});
  dsl::member(all, &plain::d) = dsl::member(all, &plain::x) + dsl::member(all, &plain::k) * dsl::member(all, &plain::d);
  dsl::member(all, &plain::z) = conj(dsl::member(all, &plain::z));
  EXPECT_EQ(all.copy_to_host()[1].d, 34);
  EXPECT_EQ(all.copy_to_host()[1].z, std::complex<float>(7, -8));
}

struct uneven { std::complex<double> z; float x; float y; };
struct shifted { double x; std::complex<double> z; double y; };

TEST_P(structure, members_that_do_not_lie_on_their_stride) {
  auto all = dsl::to_device(std::vector<shifted>(3));
  EXPECT_THROW(dsl::member(all, &shifted::z), dsl::shape_error);
  auto none = dsl::to_device(std::vector<plain>{});
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(dsl::sum(dsl::member(none, &plain::k)).value(), 0);
  EXPECT_TRUE(none.copy_to_host().empty());
  dsl::structured_array<plain> moved = std::move(none);
  EXPECT_THROW(dsl::member(none, &plain::k), dsl::memory_error);
  EXPECT_THROW(none.copy_to_host(), dsl::memory_error);
}

}  // namespace
