// Arrays whose neighbours a kernel reads from tiles with halos in shared memory.
#pragma once

#include <atomic>

#include <dsl/exec/plan/plan.hpp>
#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// The arrays of a pass that are read by halos, and the operands that read from each.
struct found_halos {
  struct array {
    // Partly filled in: lay_out_halos adds the fields that depend on the plan's tiles.
    halo_tile tile;
    // Elements of the halo along each axis, before and after the tile together.
    std::int64_t reach[halo_tile::axes];
    bool may_be_in_vectors, is_written;
  };
  struct place {
    int array = -1;
    // Offset of the operand's element from the first one copied, in elements.
    std::int64_t at[halo_tile::axes];
  };
  struct step {
    int axis = 0;
    // Distance to the neighbour: bytes along axis 0, rows along axis 1, planes along axis 2.
    std::int64_t bytes = 0;
  };
  std::atomic<int> owners{1};
  int count = 0;
  int before = 0;  // Elements by which a row's first tile begins before the row.
  // Bytes from row to row and from plane to plane in shared memory.
  std::uint32_t pitch = 0, plane = 0;
  array arrays[halo_tiles::most];
  place places[max_inputs];
  step steps[max_inputs];
};

/// Finds the arrays of a pass that has a kernel by halos. Null if its neighbours or slices are too
/// far away, or if the operands' layout does not suit the kernel.
counted_ref<found_halos> find_halos(const geometry& g, const operand* operands, int inputs,
                                    int count, const pass_traits& pass);

/// Lays out shared memory for tiles of the given extents, in elements. Returns its bytes.
int lay_out_halos(found_halos& found, int width, int height, int planes);
/// The arrays in the form in which the kernel takes them.
halo_tiles tiles_of_halos(const found_halos& found);
/// Byte offset in shared memory of input k's element at the corner of the block's tile.
std::uint32_t place_in_halo(const found_halos& found, int k);
/// The displacement of input k's step, in bytes of shared memory.
std::int32_t step_in_halo(const found_halos& found, int k);

}  // namespace dsl::detail
