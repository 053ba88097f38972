// The examples of docs/structs.md: they stand here as they stand there, and do what is said of them.
// clang-format off
#include <dsl/dsl.hpp>
#include <dsl/hana.hpp>

template <class X, class V> struct particle { BOOST_HANA_DEFINE_STRUCT(particle, (X, position), (V, velocity)); };
// clang-format on

#include <filesystem>

#include "../doc_examples.hpp"
#include "../on_device.hpp"

namespace {

struct structs_doc : on_device {};
ON_EVERY_DEVICE(structs_doc);

TEST_P(structs_doc, structure_of_arrays) {
  // clang-format off
const auto drift = dsl::vectorize([](auto p, auto h) {
  p.position = p.position + h * p.velocity;
  return p;
});

particle<dsl::array<float>, dsl::array<float>> p{dsl::zeros<float>(1000), dsl::ones<float>(1000)};
dsl::tie(p) = drift(p, 0.1f);                       // one kernel for all members
dsl::iterate(1000, drift, dsl::state(p), 0.1f);     // a loop's variable
dsl::save_checkpoint("run", 1000, p);               // 0.position.npy, 1.velocity.npy, steps.npy
  // clang-format on
  EXPECT_NEAR(p.position(999).value(), 100.1, 0.01);
  particle<dsl::array<float>, dsl::array<float>> q;
  EXPECT_EQ(dsl::load_checkpoint("run", q), 1000);
  EXPECT_TRUE(std::filesystem::exists("run/0.position.npy") && std::filesystem::exists("run/1.velocity.npy"));
  EXPECT_EQ(q.position.copy_to_host(), p.position.copy_to_host());
  std::filesystem::remove_all("run");
}

TEST_P(structs_doc, array_of_structs) {
  // clang-format off
std::vector<particle<float, double>> host(1000);
auto all = dsl::to_device(host);
auto members = dsl::members(all);                   // particle<dsl::view<float>, dsl::view<double>>; of a const array they only read
members.position += 1;
host = all.copy_to_host();
  // clang-format on
  static_assert(std::is_same_v<decltype(members), particle<dsl::view<float>, dsl::view<double>>>);
  EXPECT_EQ(host[7].position, 1);
  EXPECT_EQ(host[7].velocity, 0);
}

TEST(structs_doc, every_example_is_compiled) { expect_examples_in(__FILE__, "structs.md", 3); }

}  // namespace
