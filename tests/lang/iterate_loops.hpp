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
