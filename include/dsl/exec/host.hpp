// The host back end: the program in a loop that GCC vectorises, compiled for three widths, of which one is chosen at run time.
#pragma once

#include <dsl/exec/kernel.hpp>

namespace dsl::detail {

/// Evaluates `padded` consecutive elements, of which the first `valid` count. in[k] is operand k (elements or positions; a scalar's
/// single value); out[i] is where output i's elements go, or a reduction's value.
using block_function = void (*)(int padded, int valid, const void* const* in, void* const* out);

/// A program's loop as data: for each instruction set, and for the reductions' values (16 bytes each).
struct host_code {
  block_function block[3];  // the compiler's default; x86-64-v3 (AVX2, FMA); x86-64-v4 (AVX-512)
  void (*combine)(void* const* to, const void* const* from);
  void (*store)(int output, void* to, const void* value);  // a reduction's value as an element
};

template <class Program>
class host_loop {
  using eval = evaluator<Program>;
  using outputs = std::make_index_sequence<Program::outputs>;

  struct source {
    const void* const* in;
    int at;
    typename eval::inputs element;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      using T = std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>;
      input_of<Head>(element) = static_cast<const T*>(in[N])[Code <= op::address || Code == op::index ? at : 0];
    }
  };

  template <int I>
  DSL_DETAIL_FN static void write(const typename eval::results& r, void* const* out, void* const* sums, int at) {
    constexpr output_word o = Program::output(I);
    if constexpr (o.is_stored()) static_cast<memory_t<o.type()>*>(out[I])[at] = static_cast<memory_t<o.type()>>(nth<I>(r));
    else static_cast<value_t<o.type()>*>(sums[I])[at] = nth<I>(r);
  }
  template <std::size_t... I>
  DSL_DETAIL_FN static void write_all(const typename eval::results& r, void* const* out, void* const* sums, int at, std::index_sequence<I...>) {
    (write<static_cast<int>(I)>(r, out, sums, at), ...);
  }

  static constexpr int width = 16;  // partial sums kept apart, so that a sum vectorises without reordering
  template <int I>
  DSL_DETAIL_FN static void reduce(int padded, int valid, void* values, void* out) {
    constexpr output_word o = Program::output(I);
    if constexpr (!o.is_stored()) {
      using V = value_t<o.type()>;
      V* const v = static_cast<V*>(values);
      for (int l = valid; l < padded; ++l) v[l] = identity<o.reduction(), V>();
      for (int l = width; l < padded; l += width)
        for (int w = 0; w < width; ++w) v[w] = combine<o.reduction()>(v[w], v[l + w]);
      for (int half = width / 2; half > 0; half /= 2)
        for (int w = 0; w < half; ++w) v[w] = combine<o.reduction()>(v[w], v[w + half]);
      *static_cast<V*>(out) = v[0];
    }
  }

  template <std::size_t... I>
  DSL_DETAIL_FN static void run(int padded, int valid, const void* const* in, void* const* out, std::index_sequence<I...>) {
    constexpr int columns = reduces(Program::view()) ? host_block : 1;
    struct buffer { alignas(64) unsigned char bytes[columns * 16]; };
    buffer values[Program::outputs];
    void* const sums[] = {values[I].bytes...};
    padded &= ~63;  // tells the compiler that no loop needs a remainder
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
    for (int l = 0; l < padded; ++l) {
      source from{in, l, {}};
      eval::read(from);
      write_all(eval::compute(from.element), out, sums, l, outputs{});
    }
    (reduce<static_cast<int>(I)>(padded, valid, sums[I], out[I]), ...);
  }

  DSL_DETAIL_TARGET("sse2") static void v2(int padded, int valid, const void* const* in, void* const* out) { run(padded, valid, in, out, outputs{}); }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET("arch=x86-64-v3") static void v3(int padded, int valid, const void* const* in, void* const* out) { run(padded, valid, in, out, outputs{}); }
  DSL_DETAIL_TARGET("arch=x86-64-v4,prefer-vector-width=512")
  static void v4(int padded, int valid, const void* const* in, void* const* out) { run(padded, valid, in, out, outputs{}); }
#endif

  template <std::size_t... I>
  static void combine_all(void* const* to, const void* const* from, std::index_sequence<I...>) {
    (combine_one<static_cast<int>(I)>(to[I], from[I]), ...);
  }
  template <int I>
  static void combine_one(void* to, const void* from) {
    constexpr output_word o = Program::output(I);
    using V = value_t<o.type()>;
    if constexpr (!o.is_stored()) *static_cast<V*>(to) = combine<o.reduction()>(*static_cast<V*>(to), *static_cast<const V*>(from));
  }
  static void combine_values(void* const* to, const void* const* from) { combine_all(to, from, outputs{}); }

  template <std::size_t... I>
  static void store_at(int output, void* to, const void* value, std::index_sequence<I...>) {
    ((output == static_cast<int>(I) ? store_one<static_cast<int>(I)>(to, value) : void()), ...);
  }
  template <int I>
  static void store_one(void* to, const void* value) {
    constexpr output_word o = Program::output(I);
    *static_cast<memory_t<o.type()>*>(to) = static_cast<memory_t<o.type()>>(*static_cast<const value_t<o.type()>*>(value));
  }
  static void store_value(int output, void* to, const void* value) { store_at(output, to, value, outputs{}); }

 public:
  static constexpr host_code code() {
#if DSL_DETAIL_X86_LEVELS
    return {{&v2, &v3, &v4}, &combine_values, &store_value};
#else
    return {{&v2, &v2, &v2}, &combine_values, &store_value};
#endif
  }
};

}  // namespace dsl::detail
