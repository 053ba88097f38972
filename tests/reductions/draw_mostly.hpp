// Values that are mostly equal, for reductions that distinguish equal elements by their place.
#pragma once

#include <vector>

namespace reduction {

/// Fills `v` with `usual` and, at random places, with one of `others`: often, rarely or very
/// rarely, depending on `draw`, which is also the seed.
template <class T>
void draw_mostly(std::vector<T>& v, T usual, const std::vector<T>& others, unsigned draw) {
  const unsigned rarity = draw % 3 == 0 ? 2 : draw % 3 == 1 ? 64 : 4096;
  unsigned state = draw;
  for (T& each : v) {
    state = state * 1'664'525 + 1'013'904'223;
    const unsigned random = state >> 8;
    each = random % rarity != 0 ? usual : others[random / rarity % others.size()];
  }
}

}  // namespace reduction
