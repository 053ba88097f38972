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

inline void gather(unsigned char* column, const operand& o, const geometry& g, const walk& w, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::size_t>(size_of(o.type));
  along(g, w, first, count, [&](std::int64_t at, std::int64_t offset, std::int64_t step, std::int64_t run) {
    if (o.kind == operand_kind::index) {
      for (std::int64_t i = 0; i < run; ++i)
        reinterpret_cast<std::int64_t*>(column)[at + i] = static_cast<std::int64_t>(o.word[0]) + offset + i * step;
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
