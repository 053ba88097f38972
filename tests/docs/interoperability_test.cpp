// The examples of docs/interoperability.md, and of docs/functors.md on members, do what is said of
// them; the one with Thrust is in thrust.cpp.
#include <docs/interoperability/boostodeint.inc>
#include <docs/interoperability/cuda-array-interface.inc>
#include <docs/interoperability/dlpack.inc>

#include <array>
#include <cmath>
#include <complex>
#include <filesystem>
#include <memory>
#include <span>

#include "../on_device.hpp"
#include "../scratch_folder.hpp"
#include "../spanned.hpp"

#include <docs/functors/members.inc>
#include <docs/interoperability/functors-with-members.inc>

namespace {

struct interoperability_doc : on_device {};
ON_EVERY_DEVICE(interoperability_doc);

TEST_P(interoperability_doc, pointers) {
  std::vector<double> memory(12);
  for (std::size_t i = 0; i < 12; ++i) memory[i] = static_cast<double>(i * i);
  const auto their_values = [&] { return memory.data(); };
#include <docs/interoperability/pointers.inc>
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(memory[i], static_cast<double>(i + 1));
  EXPECT_EQ(m.copy_to_host(), memory);
  EXPECT_EQ(column.copy_to_host(), (std::vector<double>{2, 6, 10}));
  EXPECT_EQ(turned.copy_to_host(), dsl::transpose(m).copy_to_host());
}

TEST_P(interoperability_doc, lifetime) {
#include <docs/interoperability/lifetime-and-order.inc>
  EXPECT_EQ(y.copy_to_host(), std::vector<float>(1000, 5));
  EXPECT_EQ(owner.use_count(), 2);
}

TEST_P(interoperability_doc, containers) {
#include <docs/interoperability/containers.inc>
  EXPECT_EQ(weights[99], 1);
  EXPECT_EQ(scales, (std::array<float, 3>{1, 3, 4}));
}

TEST_P(interoperability_doc, mdspan) {
  struct matrix_of_theirs : spanned<double, 2> {
    matrix_of_theirs(double* p, int rows, int columns)
        : spanned{p, {rows, columns}, {{1, rows}, true}} {}
  };
  std::vector<double> memory(6);
  double* const values = memory.data();
#include <docs/interoperability/stdmdspan.inc>
  EXPECT_EQ(memory, (std::vector<double>{0, 0, 1, 1, 2, 2}));
}

TEST_P(interoperability_doc, streams) {
  dsl::array<float> x = dsl::ones<float>(10), y(10);
  void* const theirs = nullptr;
  {
#include <docs/interoperability/streams-made-elsewhere.inc>
  }
  EXPECT_EQ(y.copy_to_host(), std::vector<float>(10, 2));
}

TEST_P(interoperability_doc, copies) {
  const std::vector<float> odd_ones(500, 7);
#include <docs/interoperability/copies.inc>
  EXPECT_EQ(host[998], 7);
  EXPECT_EQ(host[999], 1.5f);
}

TEST_P(interoperability_doc, page_locked_memory) {
  dsl::array<float> x(1000);
#include <docs/interoperability/page-locked-memory.inc>
  EXPECT_EQ(out[999], 9);
}

TEST_P(interoperability_doc, copies_beside_kernels) {
  struct lane {
    explicit lane(std::int64_t batch) : x(batch), y(batch) {}
    dsl::stream stream;
    dsl::array<float> x, y;
  };
  constexpr std::int64_t n = 1003, batch = 100;
  dsl::pinned_array<float> in(n), out(n);
  for (std::int64_t i = 0; i < n; ++i) in[i] = static_cast<float>(i) / n;
  std::vector<lane> lanes;
  for (int i = 0; i < 3; ++i) lanes.emplace_back(batch);
#include <docs/interoperability/copies-beside-kernels.inc>
  for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(out[i], std::exp(in[i]), 1e-6);
}

TEST_P(interoperability_doc, functors) {
  const dsl::array<float> x = dsl::to_device(std::vector<float>{1, 4, 10'000});
  const auto y = dsl::eval(dsl::vectorize(clamped_power{1.5f, 100})(x)).copy_to_host();
  EXPECT_NEAR(y[1], 8, 1e-5);
  EXPECT_EQ(y[2], 100);
}

TEST_P(interoperability_doc, members_of_functors) {
  const dsl::array<float> x = dsl::to_device(std::vector<float>{0, 0.25f, 0.5f, 0.75f, 1});
  const auto inside = [&](float low, float high) {
    return dsl::sum(dsl::vectorize(within{low, high})(x)).value();
  };
  EXPECT_EQ(inside(0.25f, 0.75f), 2);
  EXPECT_EQ(inside(-1, 2), 5);
}

TEST_P(interoperability_doc, dlpack) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  std::int64_t shape[] = {2, 3};
  bool deleted = false;
  dsl::dlpack::managed_tensor_versioned of_theirs{
      {1, 0},
      &deleted,
      [](auto* t) { *static_cast<bool*>(t->manager_ctx) = true; },
      0,
      {memory.data(), {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0}};
  auto* const tensor = &of_theirs;
  {
#include <docs/interoperability/dlpack-2.inc>
    given->deleter(given);
    EXPECT_FALSE(deleted);
  }
  EXPECT_TRUE(deleted);
  EXPECT_EQ(memory[5], 12);
}

TEST_P(interoperability_doc, cuda_array_interface) {
  std::vector<float> memory(12, 2);
  float* const pointer = memory.data();
  dsl::array<float> x(5);
#include <docs/interoperability/cuda-array-interface-2.inc>
  EXPECT_EQ(memory[11], 4);
  EXPECT_EQ(ours.shape[0], 5);
}

TEST_P(interoperability_doc, npz_files) {
  const current_scratch_folder here;
  const dsl::array<std::complex<float>, 2> F = dsl::zeros<std::complex<float>>(2, 3),
                                           G = dsl::ones<std::complex<float>>(2, 3);
#include <docs/interoperability/npz-files.inc>
  EXPECT_EQ(G_again.copy_to_host(), G.copy_to_host());
}

TEST_P(interoperability_doc, odeint) {
  dsl::array<double> y = dsl::ones<double>(10);
  {
#include <docs/interoperability/boostodeint-2.inc>
  }
  EXPECT_NEAR(y(9).value(), std::exp(-0.5), 1e-10);
}

}  // namespace
