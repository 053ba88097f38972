// Halves in the host's loops. GCC 12 makes no vector instruction of a conversion, and in integers one takes as long as ten additions.
// So some elements at a time are converted by the processor's own instructions, to floats that the loop reads, and from floats that
// it has written. They give the same bits as half.hpp.
#pragma once

#include <dsl/exec/neighbours.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// The instruction sets of the host's loops as numbers: 1 (AVX2, and F16C, which all processors with AVX2 have) and 2 (AVX-512)
/// convert halves.
template <int Set> inline constexpr int halves_at_once = Set == 1 ? 8 : 16;

// What NaN is of either sign: all NaN are the largest halves of their sign that a processor makes, as integers.
struct alignas(32) half_nans {
  std::int16_t positive[16];
  std::uint16_t negative[16];
};
inline constexpr half_nans nans_of_halves = [] {
  half_nans n{};
  for (int i = 0; i < 16; ++i) {
    n.positive[i] = 0x7e00;
    n.negative[i] = 0xfe00;
  }
  return n;
}();

#if DSL_DETAIL_X86_LEVELS && !DSL_DETAIL_ON_DEVICE
// In assembler, for a function that is inlined into loops of all instruction sets may use the instructions of none.
template <int Set>
inline __attribute__((always_inline)) void widen(const half* from, float* to) {
  auto& floats = *reinterpret_cast<float(*)[halves_at_once<Set>]>(to);
  const auto& halves = *reinterpret_cast<const half(*)[halves_at_once<Set>]>(from);
  if constexpr (Set == 1)
    asm("vcvtph2ps %1, %%ymm0\n\t"
        "vmovups %%ymm0, %0"
        : "=m"(floats)
        : "m"(halves)
        : "xmm0");
  else
    asm("vcvtph2ps %1, %%zmm0\n\t"
        "vmovups %%zmm0, %0"
        : "=m"(floats)
        : "m"(halves)
        : "xmm0");
}
template <int Set>
inline __attribute__((always_inline)) void narrow(const float* from, half* to) {
  const auto& floats = *reinterpret_cast<const float(*)[halves_at_once<Set>]>(from);
  auto& halves = *reinterpret_cast<half(*)[halves_at_once<Set>]>(to);
  if constexpr (Set == 1)
    asm("vmovups %1, %%ymm0\n\t"
        "vcvtps2ph $0, %%ymm0, %%xmm0\n\t"  // to nearest
        "vpminsw %2, %%xmm0, %%xmm0\n\t"
        "vpminuw %3, %%xmm0, %%xmm0\n\t"
        "vmovdqu %%xmm0, %0"
        : "=m"(halves)
        : "m"(floats), "m"(nans_of_halves.positive), "m"(nans_of_halves.negative)
        : "xmm0");
  else
    asm("vmovups %1, %%zmm0\n\t"
        "vcvtps2ph $0, %%zmm0, %%ymm0\n\t"
        "vpminsw %2, %%ymm0, %%ymm0\n\t"
        "vpminuw %3, %%ymm0, %%ymm0\n\t"
        "vmovdqu %%ymm0, %0"
        : "=m"(halves)
        : "m"(floats), "m"(nans_of_halves.positive), "m"(nans_of_halves.negative)
        : "xmm0");
}
/// After the last conversion: without it what follows, compiled for x86-64, would be slow on some processors.
inline __attribute__((always_inline)) void end_of_halves() {
  asm volatile("vzeroupper" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
               "xmm12", "xmm13", "xmm14", "xmm15");
}
#endif

// Some operands' lanes.
template <int Count, int Lanes> struct float_lanes { alignas(64) float of[Count][Lanes]; };
template <int Lanes> struct float_lanes<0, Lanes> {};

/// What a program reads of arrays of halves, as floats, `Lanes` elements at a time. Set 0: nothing, each is converted by itself.
template <class Program, int Set, int Lanes>
class half_inputs {
  static constexpr int count_before(int node) {
    int n = 0;
    for (int i = 0; i < node; ++i) n += has(Program::data.heads[i]) ? 1 : 0;
    return n;
  }

 public:
  static constexpr bool has(std::uint32_t input) {
    return Set > 0 && head{input}.code() <= op::index && head{input}.type() == dtype::float16;
  }
  static constexpr int operands = count_before(Program::nodes);

  /// `count` elements, a multiple of 16, from `first` on; into lanes from `lane` on. GCC takes it to write to all memory.
  DSL_DETAIL_FN void read(const void* const* in, std::int64_t first, int count, int lane = 0) {
    reader each{*this, in, first, count, lane};
    if constexpr (operands > 0) evaluator<Program>::read(each);
  }
  template <std::uint32_t Head> DSL_DETAIL_FN float at(int lane) const { return floats_.of[number_of<Head>][lane]; }

 private:
  template <std::uint32_t Head> static constexpr int number_of = count_before(node_with(Program::view(), Head));
  struct reader {
    half_inputs& to;
    const void* const* in;
    std::int64_t first;
    int count, lane;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      if constexpr (has(Head)) {
        const half* const from = static_cast<const half*>(in[column_of<Program, Code, N, Head>()]) + first;
        for (int l = 0; l < count; l += halves_at_once<Set>) widen<Set>(from + l, to.floats_.of[number_of<Head>] + lane + l);
      }
    }
  };
  float_lanes<operands, Lanes> floats_;
};

/// What a pass writes to arrays of halves, likewise.
template <class Pass, int Set, int Lanes>
class half_outputs {
  static constexpr int count_before(int target) {
    int n = 0;
    for (int i = 0; i < target; ++i) n += has(i) ? 1 : 0;
    return n;
  }

 public:
  static constexpr bool has(int target) {
    const target_word t{Pass::target_words[target]};
    return Set > 0 && !t.is_result() && Pass::elements::output(t.output()).type() == dtype::float16;
  }
  static constexpr int operands = count_before(Pass::targets);

  template <int Target> DSL_DETAIL_FN float& at(int lane) { return floats_.of[count_before(Target)][lane]; }
  DSL_DETAIL_FN void write(void* const* out, std::int64_t first, int count) const { write_each(out, first, count, targets{}); }

 private:
  using targets = std::make_index_sequence<Pass::targets>;
  template <std::size_t... I>
  DSL_DETAIL_FN void write_each(void* const* out, std::int64_t first, int count, std::index_sequence<I...>) const {
    (write_one<static_cast<int>(I)>(out, first, count), ...);
  }
  template <int I>
  DSL_DETAIL_FN void write_one(void* const* out, std::int64_t first, int count) const {
    if constexpr (has(I)) {
      half* const to = static_cast<half*>(out[I]) + first;
      for (int l = 0; l < count; l += halves_at_once<Set>) narrow<Set>(floats_.of[count_before(I)] + l, to + l);
    }
  }
  float_lanes<operands, Lanes> floats_;
};

/// The set for a pass in the loops of an instruction set: 0 where there are no halves.
template <class Pass>
constexpr int half_set(int level) {
  return half_inputs<typename Pass::elements, 1, 64>::operands + half_outputs<Pass, 1, 64>::operands > 0 ? level : 0;
}

}  // namespace dsl::detail
