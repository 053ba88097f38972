// Reductions over operands that are broadcast against each other, beside sums in higher precision.
#include "../exec/layouts.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct pairs : on_device {};
ON_EVERY_DEVICE(pairs);

struct draw {
  std::mt19937& engine;
  int operator()(int n) const { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
};

// Of a shape, with some dimensions of extent 1.
dsl::extents<3> stretched(dsl::extents<3> shape, int kept) {
  for (int d = 0; d < 3; ++d)
    if ((kept >> d & 1) == 0) shape[static_cast<std::size_t>(d)] = 1;
  return shape;
}

// Whole numbers: exactly the elements that belong to a result, each once.
TEST_P(pairs, of_any_operands_along_any_axis) {
  std::mt19937 engine(17);
  const draw pick{engine};
  int by_pairs = 0;
  for (int round = 0; round < 60; ++round) {
    dsl::extents<3> shape{1 + pick(3), 10 + pick(200), 50 + pick(round % 10 == 0 ? 1500 : 300)};
    std::swap(shape[0], shape[static_cast<std::size_t>(pick(3))]);
    std::swap(shape[1], shape[static_cast<std::size_t>(pick(3))]);
    // Mostly one operand varies along a dimension along which another one does not.
    const int first = pick(8), second = pick(4) == 0 ? pick(8) : 7 & ~first, third = pick(8) == 0 ? pick(8) : pick(2) == 0 ? first : second;
    const operand<std::int32_t, 3> a(stretched(shape, first), engine, false), c(stretched(shape, third), engine, false);
    const operand<std::int16_t, 3> b(stretched(shape, second), engine, false);
    for (std::size_t d = 0; d < 3; ++d) shape[d] = std::max({a.view.extents()[d], b.view.extents()[d], c.view.extents()[d]});
    const int axis = pick(4);
    auto kept = shape;
    if (axis < 3) kept[static_cast<std::size_t>(axis)] = 1;
    else kept = {1, 1, 1};
    const operand<std::int64_t, 3> out(kept, engine, false);
    dsl::scalar<std::int64_t> total;
    std::vector<std::int64_t> want = out.host;
    std::int64_t want_total = 0;
    for_each<3>(out.view.extents(), [&](const auto& at) { want[static_cast<std::size_t>(out.place(at))] = 0; });
    for_each<3>(shape, [&](const auto& at) {
      const auto of = [&](const auto& x) { return static_cast<std::int64_t>(x.host[static_cast<std::size_t>(x.place(at))]); };
      const std::int64_t each = of(a) * of(b) - of(c);
      want[static_cast<std::size_t>(out.place(at))] += each;
      want_total += each;
    });
    const auto formula = a.view * b.view - c.view;
    dsl::launch launch;
    if (simulated() && pick(3) == 0) launch.block = 32 << pick(4);
    if (axis < 3) {
      out.view = dsl::sum(formula, dsl::axis(axis), dsl::keep_dims);
      ASSERT_EQ(out.memory.copy_to_host(), want) << round;
      by_pairs += dsl::plan_of(out.view, dsl::sum(formula, dsl::axis(axis), dsl::keep_dims)).path == std::string("pairs") ? 1 : 0;
    } else {
      total = dsl::sum(formula);
      ASSERT_EQ(total.value(), want_total) << round;
      by_pairs += dsl::plan_of(total, dsl::sum(formula)).path == std::string("pairs") ? 1 : 0;
    }
  }
  if (simulated()) {
    EXPECT_GT(by_pairs, 10);
  }
}

}  // namespace
