// The inputs of the host's loops: a pass's elements, and the formula's value for one of them.
#pragma once

#include <dsl/exec/host/gathered.hpp>
#include <dsl/exec/host/strips.hpp>
#include <dsl/exec/map/kernel.hpp>

namespace dsl::detail {

DSL_DETAIL_BEGIN_LOOPS
/// The formula of a pass, for one of the elements that a loop reads.
template <class Pass>
class host_elements {
 protected:
  using program = typename Pass::elements;
  using eval = evaluator<program>;

  // 16-bit floats are read and written this many elements at a time. With 256, GCC would unroll the
  // whole loop for AVX-512.
  static constexpr int short_lanes = 512;
  using shorts_in = short_inputs<program, short_lanes>;
  using shorts_out = short_outputs<Pass, short_lanes>;
  // Integers that all elements share are read before a loop: as far as the compiler knows, the
  // loop's stores could change them, and a divisor's inverse would be computed for each element.
  // With complex numbers read before the loop too, the RK4 step takes 2.3 times as long.
  template <op Code, dtype D> static constexpr bool read_before =
      Code > op::index&& kind_of(D) == kind::integer;
  struct shared_source {
    const void* const* in;
    typename eval::inputs value;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      if constexpr (read_before<Code, D>)
        input_of<Head>(value) =
            *static_cast<const value_t<D>*>(in[column_of<program, Code, N, Head>()]);
    }
  };
  DSL_DETAIL_FN static typename eval::inputs shared_of(const void* const* in) {
    shared_source from{in, {}};
    eval::read(from);
    return from.value;
  }
  template <class T> DSL_DETAIL_FN static const T& load(const T* from) { return *from; }
  // GCC does not vectorise loops that load a bool.
  DSL_DETAIL_FN static bool load(const bool* from) {
    return *reinterpret_cast<const unsigned char*>(from) != 0;
  }
  struct source {
    const void* const* in;
    std::int64_t at;
    const typename eval::inputs& shared;
    const shorts_in& wide;
    int lane;
    typename eval::inputs element;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      using T = std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>;
      if constexpr (read_before<Code, D>) input_of<Head>(element) = input_of<Head>(shared);
      else if constexpr (shorts_in::has(Head))
        input_of<Head>(element) = wide.template at<Head>(lane);
      else
        input_of<Head>(element) =
            load(static_cast<const T*>(in[column_of<program, Code, N, Head>()]) +
                 (Code <= op::index ? at : 0));
    }
  };
  DSL_DETAIL_FN static typename eval::results compute(const void* const* in, std::int64_t at,
                                                      const typename eval::inputs& shared,
                                                      const shorts_in& wide, int lane) {
    source from{in, at, shared, wide, lane, {}};
    eval::read(from);
    return eval::compute(from.element);
  }

  // Gathers: the addresses of some lanes, then the loads, then the formula.
  using gathered_lanes = gathered<program>;
  template <int Round>
  DSL_DETAIL_FN static auto compute_round(const void* const* in, std::int64_t at,
                                          const typename eval::inputs& shared,
                                          const shorts_in& wide, int l, gathered_lanes& elements) {
    source from{in, at, shared, wide, l, {}};
    eval::read(from);
    return eval::compute_reading(from.element,
                                 typename gathered_lanes::template round<Round>{elements, l});
  }
  template <int Round = 0>
  DSL_DETAIL_FN static void gather(const void* const* in, std::int64_t first,
                                   const typename eval::inputs& shared, const shorts_in& wide,
                                   gathered_lanes& elements) {
    if constexpr (Round < gathered_lanes::rounds) {
      DSL_DETAIL_INDEPENDENT
      for (int l = 0; l < gathered_lanes::lanes; ++l)
        compute_round<Round>(in, first + l, shared, wide, l, elements);
      elements.template read<Round>();
      gather<Round + 1>(in, first, shared, wide, elements);
    }
  }
};
DSL_DETAIL_END_LOOPS

}  // namespace dsl::detail
