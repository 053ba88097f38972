// Arrays that a kernel reads beside its elements from tiles in shared memory.
#pragma once

#include <atomic>

#include <dsl/exec/plan/plan.hpp>
#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// The arrays, and which operands are read in them.
struct found_halos {
  struct array {
    halo_tile tile;                       // but for what depends on the plan's tiles
    std::int64_t reach[halo_tile::axes];  // how much more is brought than there are elements
    bool may_be_in_vectors, is_written;
  };
  struct place {
    int array = -1;
    std::int64_t at[halo_tile::axes];  // from where what is brought begins
  };
  struct step {
    int axis = 0;
    std::int64_t bytes =
        0;  // to the place that is read, along the first axis; along the others rows and planes
  };
  std::atomic<int> owners{1};
  int count = 0;
  int before = 0;  // elements of the first tile that do not exist
  std::uint32_t pitch = 0,
                plane = 0;  // of what is brought: from row to row, from plane to plane, in bytes
  array arrays[halo_tiles::most];
  place places[max_inputs];
  step steps[max_inputs];
};

/// Finds them for a pass that has a kernel by halos; null where its neighbours, or slices, are not
/// near, or the operands do not lie as the kernel needs it.
counted_ref<found_halos> find_halos(const geometry& g, const operand* operands, int inputs,
                                    int count, const pass_traits& pass);

/// What blocks bring for tiles of a plan: fills in the rest, and gives the bytes of shared memory.
int lay_out_halos(found_halos& found, int width, int height, int planes);
/// As the kernel takes them.
halo_tiles tiles_of_halos(const found_halos& found);
/// Where input k's element at the corner of the block's tile is found there.
std::uint32_t place_in_halo(const found_halos& found, int k);
/// How far the step of input k leads there.
std::int32_t step_in_halo(const found_halos& found, int k);

}  // namespace dsl::detail
