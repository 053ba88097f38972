// The examples of docs/structs.md do what is said of them.
#include <docs/structs/structs.inc>

#include <filesystem>

#include "../on_device.hpp"

namespace {

struct structs_doc : on_device {};
ON_EVERY_DEVICE(structs_doc);

TEST_P(structs_doc, structure_of_arrays) {
#include <docs/structs/structs-2.inc>
  EXPECT_NEAR(p.position(999).value(), 100.1, 0.01);
  particle<dsl::array<float>, dsl::array<float>> q;
  EXPECT_EQ(dsl::load_checkpoint("run", q), 1000);
  EXPECT_TRUE(std::filesystem::exists("run/0.position.npy") &&
              std::filesystem::exists("run/1.velocity.npy"));
  EXPECT_EQ(q.position.copy_to_host(), p.position.copy_to_host());
  std::filesystem::remove_all("run");
}

TEST_P(structs_doc, array_of_structs) {
#include <docs/structs/arrays-of-structs.inc>
  static_assert(std::is_same_v<decltype(members), particle<dsl::view<float>, dsl::view<double>>>);
  EXPECT_EQ(host[7].position, 1);
  EXPECT_EQ(host[7].velocity, 0);
}

}  // namespace
