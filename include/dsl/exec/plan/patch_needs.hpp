// The patch that a program's neighbours require of a thread.
#pragma once

#include <cstdint>

namespace dsl::detail {

struct patch_needs {
  static constexpr int most_slots = 8;
  // Extents of a patch; 0 rows: the program has no near neighbours.
  int rows = 0, planes = 1;
  // How far before and after an element is read, along axes counted from the right.
  int before[3] = {}, after[3] = {};
  int slots = 0;
  struct {
    int slot;
    std::uint32_t axes;
    // Operands, and a bit for each axis along which their neighbours are read.
  } of[most_slots + 1] = {};

  constexpr void note(int slot, const int (&at)[3]) {
    int k = 0;
    while (k < slots && of[k].slot != slot) ++k;
    if (k == slots) {
      if (slots > most_slots) return;
      of[slots++].slot = slot;
    }
    for (int axis = 0; axis < 3; ++axis) {
      if (at[axis] != 0) of[k].axes |= 1u << axis;
      if (-at[axis] > before[axis]) before[axis] = -at[axis];
      if (at[axis] > after[axis]) after[axis] = at[axis];
    }
  }
};

}  // namespace dsl::detail
