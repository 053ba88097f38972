// Packing and unpacking of strided operands on the host.
#pragma once

#include <algorithm>
#include <cstring>

#include <dsl/exec/operand.hpp>

namespace dsl::detail {

// Moves `count` elements between a strided operand and a packed column.
template <class Move>
void along(const geometry& g, const walk& w, std::int64_t first, std::int64_t count, const Move& move) {
  const std::int64_t inner = g.extents[g.rank - 1], step = w.strides[g.rank - 1];
  for (std::int64_t done = 0; done < count;) {
    std::int64_t rest = (first + done) / inner, offset = (first + done) % inner * step;
    const std::int64_t run = std::min(count - done, inner - (first + done) % inner);
    for (int d = g.rank - 2; d >= 0; --d) offset += rest % g.extents[d] * w.strides[d], rest /= g.extents[d];
    move(done, offset, step, run);
    done += run;
  }
}

inline void gather_neighbours(unsigned char* column, const operand& o, const geometry& g, const walk& w, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::size_t>(size_of(o.type));
  const auto* const base = reinterpret_cast<const unsigned char*>(o.word[0]);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = first + i, offset = 0;
    bool zero = w.axis < 0 && inside(o.beyond, -o.distance, 1) < 0;
    for (int d = g.rank - 1; d >= 0; --d) {
      std::int64_t at = rest % g.extents[d];
      rest /= g.extents[d];
      if (d == w.axis) at = inside(o.beyond, at - o.distance, g.extents[d]), zero = at < 0;
      offset += at * w.strides[d];
    }
    unsigned char* const to = column + static_cast<std::size_t>(i) * size;
    if (zero) std::memset(to, 0, size);
    else std::memcpy(to, base + offset * static_cast<std::int64_t>(size), size);
  }
}

inline void gather(unsigned char* column, const operand& o, const geometry& g, const walk& w, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::size_t>(size_of(o.type));
  if (o.kind == operand_kind::neighbour) return gather_neighbours(column, o, g, w, first, count);
  along(g, w, first, count, [&](std::int64_t at, std::int64_t offset, std::int64_t step, std::int64_t run) {
    if (o.kind >= operand_kind::address) {
      const std::int64_t unit = o.kind == operand_kind::address ? o.size : 1;
      for (std::int64_t i = 0; i < run; ++i)
        reinterpret_cast<std::int64_t*>(column)[at + i] = static_cast<std::int64_t>(o.word[0]) + (offset + i * step) * unit;
      return;
    }
    const auto* from = reinterpret_cast<const unsigned char*>(o.word[0]) + offset * static_cast<std::int64_t>(size);
    if (step == 1) std::memcpy(column + static_cast<std::size_t>(at) * size, from, static_cast<std::size_t>(run) * size);
    else
      for (std::int64_t i = 0; i < run; ++i)
        std::memcpy(column + static_cast<std::size_t>(at + i) * size, from + i * step * static_cast<std::int64_t>(size), size);
  });
}

inline void scatter(const unsigned char* column, const operand& o, const geometry& g, const walk& w, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::size_t>(size_of(o.type));
  along(g, w, first, count, [&](std::int64_t at, std::int64_t offset, std::int64_t step, std::int64_t run) {
    auto* to = reinterpret_cast<unsigned char*>(o.word[0]) + offset * static_cast<std::int64_t>(size);
    if (step == 1) std::memcpy(to, column + static_cast<std::size_t>(at) * size, static_cast<std::size_t>(run) * size);
    else
      for (std::int64_t i = 0; i < run; ++i)
        std::memcpy(to + i * step * static_cast<std::int64_t>(size), column + static_cast<std::size_t>(at + i) * size, size);
  });
}

}  // namespace dsl::detail
