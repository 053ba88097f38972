// Maps elements to unsigned integers in the same order.
#pragma once

#include <cstdint>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

/// Converts the bits of an element to a key. Unsigned integers stay as they are. In signed integers
/// and in real numbers that are not negative the sign bit is inverted, in negative real numbers all
/// bits are. NaN is the greatest key, whatever its bits are.
struct ordered_key {
  kind of;
  bool is_signed;
  int bytes;
  // Bit patterns of the dtype: its sign bit, infinity, all bits.
  std::uint64_t sign, infinity, all;

  static ordered_key of_type(dtype type) {
    const int bytes = size_of(type), exponent_bits = type == dtype::float16 ? 5
                                                     : bytes == 8           ? 11
                                                                            : 8;
    const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
    return {kind_of(type),
            kind_of(type) == kind::integer && info(type).is_signed,
            bytes,
            sign,
            sign - (sign >> exponent_bits),
            sign | (sign - 1)};
  }

  /// `joins_zeros`: whether -0 has the key of 0. `Word`: at least as large as an element.
  template <class Word>
  DSL_FN Word to_key(Word bits, bool joins_zeros) const {
    const auto its_sign = static_cast<Word>(sign), its_all = static_cast<Word>(all);
    if (of != kind::real) return is_signed ? bits ^ its_sign : bits;
    const Word magnitude = bits & ~its_sign;
    if (magnitude > static_cast<Word>(infinity)) return its_all;
    if (joins_zeros && magnitude == 0) bits = 0;
    return (bits & its_sign) != 0 ? ~bits & its_all : bits | its_sign;
  }
  DSL_FN std::uint64_t to_bits(std::uint64_t key) const {
    if (of != kind::real) return is_signed ? key ^ sign : key;
    if (key == all) return infinity | (infinity & ~(infinity << 1)) >> 1;
    return (key & sign) != 0 ? key ^ sign : ~key & all;
  }

  DSL_FN std::uint64_t load(const void* from, std::int64_t i) const {
    switch (bytes) {
      case 1: return static_cast<const std::uint8_t*>(from)[i];
      case 2: return static_cast<const std::uint16_t*>(from)[i];
      case 4: return static_cast<const std::uint32_t*>(from)[i];
      default: return static_cast<const std::uint64_t*>(from)[i];
    }
  }
  DSL_FN void store(void* to, std::int64_t i, std::uint64_t bits) const {
    switch (bytes) {
      case 1: static_cast<std::uint8_t*>(to)[i] = static_cast<std::uint8_t>(bits); break;
      case 2: static_cast<std::uint16_t*>(to)[i] = static_cast<std::uint16_t>(bits); break;
      case 4: static_cast<std::uint32_t*>(to)[i] = static_cast<std::uint32_t>(bits); break;
      default: static_cast<std::uint64_t*>(to)[i] = bits;
    }
  }
};

}  // namespace dsl::detail
