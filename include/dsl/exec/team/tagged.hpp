// Values that a kernel's blocks exchange through device memory.
#pragma once

#include <dsl/ir/config.hpp>

#include <cstddef>
#include <cstring>

namespace dsl::detail {

struct alignas(16) quad { unsigned x, y, z, w; };

/// Bytes of a value of the given size in tagged form.
constexpr std::size_t tagged_bytes(std::size_t value) { return (value + 11) / 12 * sizeof(quad); }

/// A value in words of 16 bytes, each with a tag that says whose value it is, or of which kind.
/// Words are written and read whole, so a reader that finds the tag in every word has the whole
/// value, without a fence. Unused payload is filled with the tag and compared as well: if part of a
/// word is unused, ptxas (CUDA 13.0) splits the load into several.
template <class T>
struct tagged {
  static constexpr int words = static_cast<int>(tagged_bytes(sizeof(T)) / sizeof(quad)),
                       used = static_cast<int>((sizeof(T) + 3) / 4);
  quad word[words];

  tagged() = default;
  DSL_DETAIL_FN tagged(const T& value, unsigned tag) {
    unsigned payload[3 * words];
    DSL_DETAIL_UNROLL
    for (int i = 0; i < 3 * words; ++i) payload[i] = tag;
    memcpy(payload, &value, sizeof(T));
    DSL_DETAIL_UNROLL
    for (int i = 0; i < words; ++i)
      word[i] = {payload[3 * i], payload[3 * i + 1], payload[3 * i + 2], tag};
  }
  /// The tag, or 0 if the words disagree.
  DSL_DETAIL_FN unsigned tag() const {
    unsigned payload[3 * words];
    unpack(payload);
    bool same = true;
    DSL_DETAIL_UNROLL
    for (int i = 1; i < words; ++i) same = same && word[i].w == word[0].w;
    DSL_DETAIL_UNROLL
    for (int i = used; i < 3 * words; ++i) same = same && payload[i] == word[0].w;
    return same ? word[0].w : 0;
  }
  DSL_DETAIL_FN T value() const {
    unsigned payload[3 * words];
    unpack(payload);
    T value;
    memcpy(&value, payload, sizeof(T));
    return value;
  }

 private:
  DSL_DETAIL_FN void unpack(unsigned (&payload)[3 * words]) const {
    DSL_DETAIL_UNROLL
    for (int i = 0; i < words; ++i) {
      payload[3 * i] = word[i].x;
      payload[3 * i + 1] = word[i].y;
      payload[3 * i + 2] = word[i].z;
    }
  }
};

/// The cells in which each of `blocks` blocks leaves its value of an exchange. Even and odd
/// exchanges have separate cells, because a block may be one exchange ahead of another. `Bytes`: of
/// the largest value of any exchange.
template <class T, std::size_t Bytes = sizeof(T)>
DSL_DETAIL_FN tagged<T>* cells_of_exchange(void* cells, unsigned number, unsigned blocks) {
  constexpr auto words = static_cast<unsigned>(tagged_bytes(Bytes) / sizeof(quad));
  return reinterpret_cast<tagged<T>*>(static_cast<quad*>(cells) + (number & 1) * blocks * words);
}

}  // namespace dsl::detail
