// Values that blocks of a kernel leave for each other in device memory.
#pragma once

#include <dsl/ir/config.hpp>

#include <cstddef>
#include <cstring>

namespace dsl::detail {

struct alignas(16) quad { unsigned x, y, z, w; };

/// Bytes that a value takes there.
constexpr std::size_t tagged_bytes(std::size_t value) { return (value + 11) / 12 * sizeof(quad); }

/// A value in words of 16 bytes, with a number in each that says whose it is or what kind. Words
/// are written and read whole, so that whoever sees the number in all of them has the value, and no
/// fence is needed. What the value leaves of a word is the number as well, and compared: of a word
/// in which something is not used, ptxas (CUDA 13.0) reads the rest in pieces, one after another.
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
  /// 0 where they differ.
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

/// The cells in which each of so many blocks leaves its value of a step. Even and odd steps have
/// cells of their own, for a block may be one step ahead of another.
template <class T>
DSL_DETAIL_FN tagged<T>* cells_of_step(void* cells, unsigned step, unsigned blocks) {
  return static_cast<tagged<T>*>(cells) + (step & 1) * blocks;
}

}  // namespace dsl::detail
