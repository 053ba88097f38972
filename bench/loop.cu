// Measures time loops by every strategy: the wall time of a call of iterate and of the wait for its
// end.
#include "rk4_by_hand.hpp"
#include "works.hpp"

namespace bench {
namespace {

const rows loops([] {
  using dsl::strategy;
  for (const std::int64_t side : {4, 64, 512, 513, 1021, 1024, 2048, 2053, 3162}) {
    constexpr int steps = 100;
    work w = loop_of(steps, side);
    w.by("dsl", iterated(steps, side));
    w.by("dsl launches", iterated(steps, side, strategy::launches));
    w.by("dsl graph", iterated(steps, side, strategy::graph));
    if (side <= 64) w.by("dsl one block", iterated(steps, side, strategy::one_block));
    if (side >= 64 && side <= 1024)
      w.by("dsl cooperative", iterated(steps, side, strategy::cooperative));
    if (side >= 512) w.by("dsl streamed", iterated(steps, side, strategy::streamed));
    if (side * side <= most_in_registers) {
      w.by("hand, cooperative", [side] {
        const auto x = std::make_shared<fields>(side);
        const auto sums = dsl::array<c32>(sums_in_registers).view();
        const int n = static_cast<int>(side * side);
        return job{[=] {
                     launch_rk4_loop_by_hand(x->F.data(), x->G.data(), x->delta.data(), sums.data(),
                                             step_size, n, steps);
                   },
                   x->F, [=] { x->start(); }};
      });
    }
    w.by("hand", [side] {
      const auto x = std::make_shared<fields>(side);
      const auto sum = std::make_shared<rk4_by_hand_sum>(side * side);
      const auto run = [=] {
        for (int k = 0; k < steps; ++k) {
          launch_rk4_by_hand(x->F.data(), x->G.data(), x->delta.data(), step_size, side * side);
          sum->launch(x->F.data(), x->delta.data());
        }
      };
      return job{run, x->F, [=] { x->start(); }};
    });
  }
  for (const std::int64_t side : {4, 512, 1024}) {
    for (const int steps : {1, 64, 256, 1000, 4000}) {
      loop_of(steps, side)
          .by("dsl", iterated(steps, side))
          .by("dsl launches", iterated(steps, side, strategy::launches))
          .by("dsl graph", iterated(steps, side, strategy::graph));
    }
  }
});

}  // namespace
}  // namespace bench
