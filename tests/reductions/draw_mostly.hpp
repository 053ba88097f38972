// Values of which most are the same, for what tells equal elements apart by their place.
#pragma once

#include <vector>

namespace reduction {

/// Fills `v` with `usual`, and with one of `others` at random places: often, rarely or hardly ever,
/// as `draw` says, which is the seed too.
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
