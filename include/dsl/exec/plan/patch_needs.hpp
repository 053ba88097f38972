// What a program needs of its operands to be taken by patches.
#pragma once

#include <cstdint>

namespace dsl::detail {

struct patch_needs {
  static constexpr int most_slots = 8;
  int rows = 0, planes = 1;           // of a patch; no rows: there are no near neighbours
  int before[3] = {}, after[3] = {};  // how far is read, along axes counted from the right
  int slots = 0;
  struct {
    int slot;
    std::uint32_t axes;
  } of[most_slots + 1] = {};  // operands, and a bit for each axis along which is read beside

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
