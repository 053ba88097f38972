// Further loops of several phases, drawn at random.
#include "phases_random.hpp"

namespace {

ON_EVERY_DEVICE(random_phases);

TEST_P(random_phases, with_neighbours_in_three_dimensions) {
  rounds(40, 4, {strategy::tiled}, [](drawing& d) {
    run_chain<3, 2, boundary::clamp, true, false>(
        d, {d.one_of({3, 12, 13, 14}), d.one_of({12, 14, 16}), d.one_of({4, 13, 18, 24})});
  });
}

TEST_P(random_phases, of_half_precision) {
  rounds(25, 6, {strategy::one_block, strategy::cooperative},
         [](drawing& d) { run_centred<dsl::half>(d, d.one_of({1, 7, 64, 513}), 4e-3L); });
}

}  // namespace
