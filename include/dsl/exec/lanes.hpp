// Elements side by side that a thread takes at a time.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// As they lie in memory: read and written at once.
template <class T, int N> struct alignas(sizeof(T) * N >= 16 ? 16 : sizeof(T) * N) pack { T lane[N]; };

/// As operands of a formula, and where they are.
template <class Inputs, int Lanes>
struct lane_group {
  Inputs in[Lanes];
  int count = 0;                     // lanes that exist
  std::int64_t first = 0;            // linear: the first element
  std::int32_t column = 0, row = 0;  // strided: its place in the tile
  bool in_vectors = false;           // all operands are read in whole vectors
};

}  // namespace dsl::detail
