// Adjacent elements that a thread takes side by side.
#pragma once

#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// Hides from nvcc how a value was computed, so that values computed from it are neither recomputed
/// nor moved out of a branch.
template <class Word> DSL_DETAIL_FN void keep_in_register([[maybe_unused]] Word& value) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
#if DSL_DETAIL_ON_DEVICE
  if constexpr (sizeof(Word) == 4) asm volatile("" : "+r"(value));
  else asm volatile("" : "+l"(value));
#endif
}

/// Elements as they are in memory, loaded and stored at once.
template <class T, int N> struct alignas(sizeof(T) * N >= 16 ? 16 : sizeof(T) * N) pack {
  T lane[N];
};

/// Elements of any type, in 32-bit words.
template <int Words> struct [[gnu::may_alias]] alignas(Words < 4 ? 4 * Words : 16) word_pack {
  std::uint32_t word[Words];
};

/// The lanes of one operand. Elements smaller than a register stay packed in words until they are
/// used: unpacked on loading, they would wait for one operand's load before the next one starts.
template <class T, int N, bool InWords = (sizeof(T) < 4 && sizeof(T) * N >= 4)>
class lane_values {
 public:
  DSL_DETAIL_FN T at(int l) const { return lane_[l]; }
  DSL_DETAIL_FN void set(int l, T value) { lane_[l] = value; }
  /// Loads all lanes from an address aligned like a pack.
  template <class Memory>
  DSL_DETAIL_FN void load(const Memory& memory, const T* from) {
    const auto all = memory.template load<pack<T, N>>(from);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < N; ++l) lane_[l] = all.lane[l];
  }

 private:
  T lane_[N];
};
template <class T, int N>
class lane_values<T, N, true> {
  using bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
  static constexpr int in_word = 4 / static_cast<int>(sizeof(T));
  using words = word_pack<N / in_word>;
  DSL_DETAIL_FN static int shift_of(int l) { return l % in_word * 8 * static_cast<int>(sizeof(T)); }

 public:
  DSL_DETAIL_FN T at(int l) const {
    const auto element = static_cast<bits>(words_.word[l / in_word] >> shift_of(l));
    if constexpr (std::is_same_v<T, bool>) return element != 0;
    else return __builtin_bit_cast(T, element);
  }
  /// Lanes must be set from 0 upwards.
  DSL_DETAIL_FN void set(int l, T value) {
    const std::uint32_t element = static_cast<std::uint32_t>(__builtin_bit_cast(bits, value))
                                  << shift_of(l);
    words_.word[l / in_word] = l % in_word == 0 ? element : words_.word[l / in_word] | element;
  }
  template <class Memory>
  DSL_DETAIL_FN void load(const Memory& memory, const T* from) {
    words_ = memory.template load<words>(from);
  }

 private:
  words words_;
};

/// The lane type of a formula's input: elements read from an array keep their memory type.
template <std::uint32_t Head>
using lane_type =
    std::conditional_t<head{Head}.code() == op::load || head{Head}.code() == op::neighbour,
                       memory_t<head{Head}.type()>, value_t<head{Head}.type()>>;
template <std::uint32_t Head, int Lanes> struct input_lanes {
  lane_values<lane_type<Head>, Lanes> values;
};
template <std::uint32_t Head, int Lanes> DSL_DETAIL_FN auto& operand_lanes(
    input_lanes<Head, Lanes>& i) {
  return i.values;
}
template <std::uint32_t Head, int Lanes> DSL_DETAIL_FN const auto& operand_lanes(
    const input_lanes<Head, Lanes>& i) {
  return i.values;
}

/// The position of a thread's lanes.
struct lane_place {
  int count = 0;           // Existing lanes.
  std::int64_t first = 0;  // Linear: the first element.
  // Strided: the position in the tile.
  std::int32_t column = 0, row = 0;
  bool in_vectors = false;  // All operands are read in whole vectors.
  // The group's number among those that are read together; `column` and `row` are the first one's.
  std::int32_t further = 0;
};

/// Lanes as operands of a formula, and their position.
template <class Eval, int Lanes, class Numbers = typename Eval::input_numbers> struct lane_group;
template <class Eval, int Lanes, std::size_t... I>
struct lane_group<Eval, Lanes, std::index_sequence<I...>>
    : input_lanes<Eval::template input_head<I>, Lanes>..., lane_place {
  /// The formula's inputs for one lane.
  DSL_DETAIL_FN typename Eval::inputs lane(int l) const {
    typename Eval::inputs in;
    ((input_of<Eval::template input_head<I>>(in) =
          static_cast<value_t<head{Eval::template input_head<I>}.type()>>(
              operand_lanes<Eval::template input_head<I>>(*this).at(l))),
     ...);
    return in;
  }

  /// Calls compute(group, lane) for each lane. With `TellsIt`, the compiler is told if positions
  /// start at a multiple of four: it then finds that four lanes draw from one block of random bits,
  /// and computes that block once.
  template <bool TellsIt, class Compute>
  DSL_DETAIL_FN void each_lane(const Compute& compute) const {
    if constexpr (TellsIt) {
      if (has_aligned_positions())
        return with_aligned_positions().template each_lane<false>(compute);
    }
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Lanes; ++l) compute(*this, l);
  }

 private:
  // Whether each operand that counts positions counts by ones from a multiple of four (or of the
  // number of lanes, if smaller).
  DSL_DETAIL_FN bool has_aligned_positions() const {
    return (... && is_aligned<Eval::template input_head<I>>());
  }
  // The same positions, as sums from which the compiler sees that.
  DSL_DETAIL_FN lane_group with_aligned_positions() const {
    lane_group g = *this;
    (align<Eval::template input_head<I>>(g), ...);
    return g;
  }
  static constexpr int together = Lanes < 4 ? Lanes : 4;
  template <std::uint32_t Head>
  DSL_DETAIL_FN bool is_aligned() const {
    if constexpr (head{Head}.code() != op::index) return true;
    else {
      const auto& positions = operand_lanes<Head>(*this);
      return positions.at(0) % together == 0 &&
             positions.at(Lanes - 1) - positions.at(0) == Lanes - 1;
    }
  }
  template <std::uint32_t Head>
  DSL_DETAIL_FN void align(lane_group& g) const {
    if constexpr (head{Head}.code() == op::index) {
      const auto& positions = operand_lanes<Head>(*this);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < Lanes; ++l)
        operand_lanes<Head>(g).set(
            l,
            (positions.at(l / together * together) & ~std::int64_t{together - 1}) | l % together);
    }
  }
};

}  // namespace dsl::detail
