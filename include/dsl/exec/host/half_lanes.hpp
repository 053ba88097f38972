// 16-bit floats in the host's loops. GCC 12 does not vectorise conversions of halves, and with
// integer instructions one takes as long as ten additions. So the library converts some hundred at
// a time to floats that the loop reads, and from floats that it has written.
#pragma once

#include <dsl/exec/stencil/neighbours.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

// lib/host/halves.cpp

/// Converts `rows` rows of `count` elements, a multiple of 16, to consecutive floats. The rows
/// begin `stride` elements apart. Returns `to`: GCC knows that this pointer does not alias a loop's
/// own arrays, which can then stay in registers.
const float* widen(const half* from, std::int64_t stride, int rows, int count, float* to);
const float* widen(const bfloat16* from, std::int64_t stride, int rows, int count, float* to);
/// Rounds `count` elements, a multiple of 16, as half.hpp does.
void narrow(const float* from, int count, half* to);
void narrow(const float* from, int count, bfloat16* to);

// The lanes of some operands.
template <int Count, int Lanes> struct float_lanes { alignas(64) float of[Count][Lanes]; };
template <int Lanes> struct float_lanes<0, Lanes> {};

/// A program's inputs in arrays of 16-bit floats, up to `Lanes` elements of each at a time.
template <class Program, int Lanes>
class short_inputs {
  static constexpr int count_before(int node) {
    int n = 0;
    for (int i = 0; i < node; ++i) n += has(Program::data.heads[i]) ? 1 : 0;
    return n;
  }
  template <std::uint32_t Head> static constexpr int number_of =
      count_before(node_with(Program::view(), Head));

 public:
  static constexpr bool has(std::uint32_t input) {
    return head{input}.code() <= op::index && is_widened(head{input}.type());
  }
  static constexpr int operands = count_before(Program::nodes);

  /// Converts rows of elements from `first` on, as `widen` does.
  DSL_DETAIL_FN void read(const void* const* in, std::int64_t first, std::int64_t stride, int rows,
                          int count) {
    if constexpr (operands > 0) {
      reader each{*this, in, first, stride, rows, count};
      evaluator<Program>::read(each);
    }
  }
  template <std::uint32_t Head> DSL_DETAIL_FN float at(std::int64_t lane) const {
    return at_[number_of<Head>][lane];
  }

 private:
  struct reader {
    short_inputs& to;
    const void* const* in;
    std::int64_t first, stride;
    int rows, count;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      if constexpr (has(Head))
        to.at_[number_of<Head>] =
            widen(static_cast<const memory_t<D>*>(in[column_of<Program, Code, N, Head>()]) + first,
                  stride, rows, count, to.floats_.of[number_of<Head>]);
    }
  };
  float_lanes<operands, Lanes> floats_;
  const float* at_[operands > 0 ? operands : 1];
};

/// A pass's outputs in arrays of 16-bit floats, likewise.
template <class Pass, int Lanes>
class short_outputs {
  static constexpr dtype type_of(int target) {
    return Pass::elements::output(target_word{Pass::target_words[target]}.output()).type();
  }
  static constexpr int count_before(int target) {
    int n = 0;
    for (int i = 0; i < target; ++i) n += has(i) ? 1 : 0;
    return n;
  }
  template <int Target> static constexpr int number_of = count_before(Target);

 public:
  static constexpr bool has(int target) {
    return !target_word{Pass::target_words[target]}.is_result() && is_widened(type_of(target));
  }
  static constexpr int operands = count_before(Pass::targets);

  template <int Target> DSL_DETAIL_FN float& at(int lane) {
    return floats_.of[number_of<Target>][lane];
  }
  /// Writes `count` elements from `first` on.
  DSL_DETAIL_FN void write(void* const* out, std::int64_t first, int count) const {
    write_each(out, first, count, std::make_index_sequence<Pass::targets>{});
  }

 private:
  template <std::size_t... I>
  DSL_DETAIL_FN void write_each(void* const* out, std::int64_t first, int count,
                                std::index_sequence<I...>) const {
    (write_one<static_cast<int>(I)>(out, first, count), ...);
  }
  template <int I>
  DSL_DETAIL_FN void write_one(void* const* out, std::int64_t first, int count) const {
    if constexpr (has(I))
      narrow(floats_.of[number_of<I>], count, static_cast<memory_t<type_of(I)>*>(out[I]) + first);
  }
  float_lanes<operands, Lanes> floats_;
};

}  // namespace dsl::detail
