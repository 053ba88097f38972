// Structs as operands and targets, in errors and files, and arrays of them.
#include "../on_device.hpp"
#include "../scratch_folder.hpp"
#include "particles.hpp"

#include <complex>
#include <filesystem>

namespace {

struct structure : on_device {};
ON_EVERY_DEVICE(structure);

TEST_P(structure, is_updated_by_one_kernel) {
  for (const std::int64_t n : {1, 255, 1000}) {
    particles p = some_particles(n);
    const std::vector<double> before = p.position.copy_to_host();
    dsl::tie(p) = dsl::vectorize(fly)(p, 0.5);
    EXPECT_EQ(dsl::plan_of(dsl::tie(p), dsl::vectorize(fly)(p, 0.5)).elements, n);
    const std::vector<double> position = p.position.copy_to_host(),
                              height = p.height.copy_to_host(), climb = p.climb.copy_to_host();
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(position[i], before[i] + 0.5);
      EXPECT_EQ(height[i], 1);
      EXPECT_EQ(climb[i], 2 - 9.75 * 0.5);
    }
  }
}

TEST_P(structure, integers_in_it_fit_what_they_meet) {
  const auto small = dsl::ones<std::uint8_t>(3);
  const auto f = dsl::vectorize([](auto x, auto c) { return x * c.strength + c.drag; });
  EXPECT_EQ(dsl::eval(f(small, field<int>{100, 5})).copy_to_host()[2], 105);
  EXPECT_THROW(f(small, field<int>{2, 300}), dsl::overflow_error);
}

TEST_P(structure, names_its_members_in_errors) {
  const cloud<particles, dsl::scalar<double>> c{some_particles(10), {}, {}};
  const column x = dsl::ones<double>(10);
  column wrong(3);
  try {
    wrong = dsl::vectorize(
        [](auto x, auto c, auto y) { return x + c.particles.climb * c.energy - y; })(x, c, wrong);
    FAIL();
  } catch (const dsl::shape_error& e) {
    EXPECT_NE(std::string(e.what()).find("a + b.particles.climb * b.energy - c"), std::string::npos)
        << e.what();
  }
}

TEST_P(structure, is_in_a_checkpoint_by_name) {
  const scratch_folder scratch;
  const std::string folder = scratch.folder;
  const cloud<particles, dsl::scalar<double>> c{some_particles(10), 3.0, 4.0};
  dsl::save_checkpoint(folder, 7, c, c.energy);
  for (const char* file : {"0.particles.position.npy", "3.particles.climb.npy", "4.energy.npy",
                           "5.steps.npy", "6.npy", "steps.npy"})
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
}

TEST_P(structure, is_an_accumulator) {
  // The charge of the heaviest, and its mass.
  const auto heaviest = dsl::reduce(
      [](auto a, auto b) {
        a.charge = dsl::where(b.mass > a.mass, b.charge, a.charge);
        a.mass = max(a.mass, b.mass);
        return a;
      },
      body<double, int>{0.5, -1},
      [](auto m, auto q) { return body<decltype(m), decltype(q)>{m, q}; });
  const dsl::array<int> q = dsl::arange<int>(1009);
  dsl::scalar<double> mass;
  dsl::scalar<int> charge;
  dsl::tie(mass, charge) = heaviest(dsl::cast<double>(q * 37 % 1009), q);
  EXPECT_EQ(mass.value(), 1008);
  EXPECT_EQ(charge.value() * 37 % 1009, 1008);
  dsl::tie(mass, charge) = heaviest(dsl::zeros<double>(0), 1);
  EXPECT_EQ(mass.value(), 0.5);
  EXPECT_EQ(charge.value(), -1);
}

struct plain {
  std::int16_t x;
  std::int32_t k;
  double d;
  std::complex<float> z;
};

TEST_P(structure, members_of_structs_that_are_no_templates) {
  auto all = dsl::to_device(std::vector<plain>{{1, 2, 3, {4, 5}}, {4, 5, 6, {7, 8}}});
  dsl::member(all, &plain::d) =
      dsl::member(all, &plain::x) + dsl::member(all, &plain::k) * dsl::member(all, &plain::d);
  dsl::member(all, &plain::z) = conj(dsl::member(all, &plain::z));
  EXPECT_EQ(all.copy_to_host()[1].d, 34);
  EXPECT_EQ(all.copy_to_host()[1].z, std::complex<float>(7, -8));
}

struct uneven {
  std::complex<double> z;
  float x;
  float y;
};
struct shifted {
  double x;
  std::complex<double> z;
  double y;
};

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
