// Structs in loops, inside others, and arrays of them.
#include "../on_device.hpp"
#include "particles.hpp"

namespace {

struct all_structure : on_device {};
ON_EVERY_DEVICE(all_structure);

TEST_P(all_structure, takes_memory_and_other_targets) {
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

TEST_P(all_structure, inside_another_and_inside_another_formula) {
  cloud<particles, dsl::scalar<double>> c{some_particles(10), {}, {}};
  dsl::tie(c.energy) =
      dsl::vectorize([](auto c) { return dsl::sum(climbed(c.particles) + 0 * c.steps); })(c);
  EXPECT_EQ(c.energy.value(), 40);
}

TEST_P(all_structure, is_a_loops_variable) {
  for (const dsl::strategy how : {dsl::strategy::automatic, dsl::strategy::launches}) {
    particles p = some_particles(1000);
    dsl::iterate(50, dsl::vectorize(fly), dsl::state(p), 0.25, how);
    double h = 0, c = 2;
    for (int k = 0; k < 50; ++k) {
      h += 0.25 * c;
      c -= 9.75 * 0.25;
    }
    EXPECT_EQ(p.height(999).value(), h);
    EXPECT_EQ(p.climb(0).value(), c);
  }
}

TEST_P(all_structure, has_histories_by_name) {
  cloud<particles, dsl::scalar<double>> c{some_particles(100), 0.0, 0.0};
  dsl::scalar<std::int64_t> count = 0;
  const auto step = dsl::vectorize([](auto c, auto count, auto h) {
    c.particles = fly(c.particles, h);
    c.energy = dsl::sum(c.particles.climb);
    c.steps = c.steps + 1;
    return std::tuple{c, count + 2};
  });
  const auto [of_cloud, counts, recorded] =
      dsl::iterate(8, step, dsl::state(c, count), 0.5, dsl::until(c.steps >= 6.0),
                   dsl::record([](auto c, auto count) { return c.energy * 2 + count; }));
  const std::vector<double> energy = of_cloud.energy.copy_to_host(),
                            steps = of_cloud.steps.copy_to_host(), twice = recorded.copy_to_host();
  for (std::size_t k = 0; k < 8; ++k) {
    const double e = 100 * (2 - 9.75 * 0.5 * static_cast<double>(k + 1));
    EXPECT_EQ(energy[k], k < 6 ? e : 0);
    EXPECT_EQ(steps[k], k < 6 ? static_cast<double>(k + 1) : 0);
    EXPECT_EQ(twice[k], k < 6 ? 2 * e + 2 * static_cast<double>(k + 1) : 0);
  }
  EXPECT_EQ(counts.copy_to_host()[5], 12);
  EXPECT_EQ(count.value(), 12);
}

TEST_P(all_structure, arrays_of_structs_in_structs) {
  std::vector<tagged_body<body<float, double>, std::int32_t>> host(33);
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = {static_cast<std::int32_t>(i), {0.5f, 1.5}};
  const auto bodies = dsl::to_device(host);
  const auto all = dsl::members(bodies);
  EXPECT_EQ(dsl::sum(all.number * all.it.mass + all.it.charge).value(),
            0.5 * 32 * 33 / 2 + 1.5 * 33);
}

TEST_P(all_structure, arrays_of_structs_give_their_members) {
  std::vector<body<float, double>> host(1001);
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = {static_cast<float>(i), 2.0 * static_cast<double>(i)};
  auto bodies = dsl::to_device(host);
  static_assert(std::is_same_v<decltype(dsl::members(std::as_const(bodies))),
                               body<dsl::view<const float>, dsl::view<const double>>>);
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

}  // namespace
