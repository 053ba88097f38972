// Helpers of the tests of time loops.
#pragma once

#include "../on_device.hpp"

#include <tuple>

struct iterate : on_device {
  /// The strategies that a loop with reductions can be given on this device.
  static std::vector<dsl::strategy> strategies() {
    switch (dsl::device::current().kind) {
      case dsl::backend::cuda:
        return {dsl::strategy::automatic, dsl::strategy::launches,    dsl::strategy::graph,
                dsl::strategy::one_block, dsl::strategy::cooperative, dsl::strategy::streamed};
      case dsl::backend::sim:
        return {dsl::strategy::automatic, dsl::strategy::launches, dsl::strategy::one_block,
                dsl::strategy::cooperative, dsl::strategy::streamed};
      default: return {dsl::strategy::automatic, dsl::strategy::launches};
    }
  }
};

inline constexpr auto grow =
    dsl::vectorize([](auto x, auto, auto h) { return std::tuple{x + h, dsl::sum(x)}; });

/// Calls use(strategy) with each strategy that this device has.
template <class Use>
void with_strategies(std::initializer_list<dsl::strategy> all, const Use& use) {
  use(dsl::strategy::automatic);
  use(dsl::strategy::launches);
  if (!on_device::has_grid()) return;
  for (const dsl::strategy how : all) {
    SCOPED_TRACE("strategy " + std::to_string(static_cast<int>(how)));
    try {
      use(how);
    } catch (const dsl::device_error& e) {
      EXPECT_TRUE(std::string(on_device::name()).ends_with("-3")) << e.what();
    }
  }
}
