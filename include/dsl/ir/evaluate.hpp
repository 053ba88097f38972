// Runs a program for one element. The compiler resolves everything but the scalar operations.
#pragma once

#include <array>

#include <dsl/ir/complex_number.hpp>
#include <dsl/ir/functor_object.hpp>
#include <dsl/ir/program.hpp>
#include <dsl/ir/quick.hpp>
#include <dsl/ir/random.hpp>
#include <dsl/ir/tuple.hpp>

namespace dsl::detail {

// Values of one dtype, the K-th so many. They are indexed by constants only, so that they live in
// registers.
inline constexpr int slots_together = 512;
template <dtype D, int K, int N> struct slots { value_t<D> at[N]; };
// The same in a variable of its own.
template <class Slots> struct slots_elsewhere { Slots& slots; };

template <class T> struct result_types {
  using list = tuple<T>;
  static constexpr bool many = false;
};
template <class... T> struct result_types<std::tuple<T...>> {
  using list = tuple<T...>;
  static constexpr bool many = true;
};

/// A functor call of a program: the dtypes of its arguments and the type of its result.
template <class F, dtype... Args>
struct call {
  using positions = std::make_index_sequence<sizeof...(Args)>;
  using results = result_types<std::remove_cvref_t<decltype(F{}(argument_t<Args>{}...))>>;
  static constexpr int result_count = std::tuple_size_v<typename results::list>;
  template <int K> static constexpr dtype result_dtype =
      dtype_v<std::tuple_element_t<K, typename results::list>>;

  // The name is a hint for the user: nvcc's message names this function if the functor's operator
  // lacks DSL_FN.
  DSL_DETAIL_FN static auto call_operator_marked_DSL_FN(argument_t<Args>&... x) {
    return F{}(x...);
  }
};

template <class Call, int N, class Arguments> struct frame;
template <class F, dtype... Args, int N, std::size_t... K>
struct frame<call<F, Args...>, N, std::index_sequence<K...>> {
  struct arguments : numbered<static_cast<int>(K), argument_t<Args>>... {
  } in;
  decltype(F{}(argument_t<Args>{}...)) out;
  // Whether to call: used by a call that is not always made.
  bool condition;
  static constexpr int argument_count = sizeof...(Args);

  template <int I, class T> DSL_DETAIL_FN static T& at(numbered<I, T>& n) { return n.value; }
  DSL_DETAIL_FN void run() {
    out = call<F, Args...>::call_operator_marked_DSL_FN(at<static_cast<int>(K)>(in)...);
  }
  template <int I> DSL_DETAIL_FN auto result() const {
    if constexpr (call<F, Args...>::results::many) return std::get<I>(out);
    else return out;
  }
};

template <class Calls, class Numbers> struct frames;
template <class... Calls, std::size_t... N>
struct frames<tuple<Calls...>, std::index_sequence<N...>>
    : frame<Calls, static_cast<int>(N), typename Calls::positions>... {};

template <dtype D, int K, int N>
DSL_DETAIL_FN constexpr slots<D, K, N>& slots_of(slots<D, K, N>& s) {
  return s;
}
template <dtype D, int K, int N>
DSL_DETAIL_FN constexpr slots<D, K, N>& slots_of(const slots_elsewhere<slots<D, K, N>>& s) {
  return s.slots;
}
template <dtype D, int Slot, class Values> DSL_DETAIL_FN constexpr auto& value_in(Values& v) {
  return slots_of<D, Slot / slots_together>(v).at[Slot % slots_together];
}
template <int N, class Call, class A> DSL_DETAIL_FN frame<Call, N, A>& frame_of(
    frame<Call, N, A>& f) {
  return f;
}

// Nodes with these operations are inputs: the caller sets their values.
constexpr bool reads_operand(op code) { return code <= op::count; }

// A function of the node alone, not of the program: equal nodes of different programs share the
// function.
template <std::uint32_t Head, std::uint64_t Payload, class Values>
DSL_DETAIL_FN void step(Values& v) {
  constexpr head h{Head};
  constexpr op code = h.code();
  constexpr reference x = reference::of(Payload, 0), y = reference::of(Payload, 1),
                      z = reference::of(Payload, 2);
  using R = value_t<h.type()>;
  if constexpr (code == op::argument) {
    constexpr argument_payload place_in_call{Payload};
    auto& f = frame_of<place_in_call.call()>(v);
    constexpr int position = place_in_call.position();
    const auto& given = value_in<x.type(), x.slot()>(v);
    if constexpr (position == std::remove_reference_t<decltype(f)>::argument_count) {
      f.condition = given;
    } else {
      auto& place = f.template at<position>(f.in);
      using T = std::remove_cvref_t<decltype(place)>;
      place = static_cast<T>(given);
    }
  } else if constexpr (code == op::call) {
    auto& f = frame_of<static_cast<int>(Payload & 0xffff)>(v);
    if constexpr (static_cast<int>(Payload >> 32) >
                  std::remove_reference_t<decltype(f)>::argument_count) {
      f.out = {};
      if (f.condition) f.run();
    } else {
      f.run();
    }
  } else if constexpr (!reads_operand(code) && !is_step(code)) {
    R& r = value_in<h.type(), h.slot()>(v);
    if constexpr (code == op::constant) {
      r = from_bits<R>(Payload);
    } else if constexpr (code == op::convert) {
      r = math::convert_to<h.type()>(value_in<x.type(), x.slot()>(v));
    } else if constexpr (code == op::complex) {
      r = R{value_in<x.type(), x.slot()>(v), value_in<y.type(), y.slot()>(v)};
    } else if constexpr (code == op::gather) {
      using T = memory_t<h.type()>;
      const T* const at = reinterpret_cast<const T*>(value_in<x.type(), x.slot()>(v)) +
                          value_in<y.type(), y.slot()>(v);
      if constexpr (requires { v.reader; }) r = v.reader->template read<Head>(at);
      else if constexpr (requires { v.memory; }) r = v.memory->template load<T>(at);
      else r = *at;
    } else if constexpr (code == op::result) {
      r = to_value(frame_of<static_cast<int>(Payload >> 16 & 0xffff)>(v)
                       .template result<static_cast<int>(Payload >> 32)>());
    } else if constexpr (has_quick_form(code, h.type()) && requires { v.range; }) {
      constexpr bool shared = Values::is_shared(x);
      if constexpr (info(code).arity == 1)
        r = quickly<code, shared>(v.range, value_in<x.type(), x.slot()>(v));
      else
        r = quickly<code, shared>(v.range, value_in<x.type(), x.slot()>(v),
                                  value_in<y.type(), y.slot()>(v));
    } else if constexpr (info(code).arity == 1) {
      r = scalar_code<code>::template apply<R, h.type()>(value_in<x.type(), x.slot()>(v));
    } else if constexpr (divides_integers(code, h.type()) && (Payload & by_shared_divisor) != 0 &&
                         math::inverts<R>) {
      r = scalar_code<code>::template apply<R, h.type()>(
          value_in<x.type(), x.slot()>(v),
          math::shared_divisor<R>(value_in<y.type(), y.slot()>(v)));
    } else if constexpr (info(code).arity == 2) {
      r = scalar_code<code>::template apply<R, h.type()>(value_in<x.type(), x.slot()>(v),
                                                         value_in<y.type(), y.slot()>(v));
    } else {
      r = scalar_code<code>::template apply<R, h.type()>(value_in<x.type(), x.slot()>(v),
                                                         value_in<y.type(), y.slot()>(v),
                                                         value_in<z.type(), z.slot()>(v));
    }
  }
}

template <class Program> struct evaluator;

// An input's value, identified by its node's head.
template <std::uint32_t Head> struct input { value_t<head{Head}.type()> value; };
template <std::uint32_t Head> DSL_DETAIL_FN auto& input_of(input<Head>& i) { return i.value; }
template <std::uint32_t Head> DSL_DETAIL_FN const auto& input_of(const input<Head>& i) {
  return i.value;
}

/// Evaluates a program for one element: from `inputs` (the operands that the program reads) to
/// `results` (its outputs, in order).
template <std::uint64_t Key, class... Calls>
struct evaluator<program<Key, Calls...>> {
  using self = program<Key, Calls...>;
  static constexpr int nodes = self::nodes;
  static constexpr head head_of(int node) { return head{self::data.heads[node]}; }

  static constexpr int input_count = [] {
    int n = 0;
    for (int i = 0; i < nodes; ++i) n += reads_operand(head_of(i).code()) ? 1 : 0;
    return n;
  }();
  static constexpr auto input_nodes = [] {
    std::array<int, static_cast<std::size_t>(input_count)> found{};
    std::size_t at = 0;
    for (int i = 0; i < nodes; ++i)
      if (reads_operand(head_of(i).code())) found[at++] = i;
    return found;
  }();
  template <std::size_t I> static constexpr std::uint32_t input_head =
      self::data.heads[input_nodes[I]];
  using input_numbers = std::make_index_sequence<static_cast<std::size_t>(input_count)>;
  using output_numbers = std::make_index_sequence<static_cast<std::size_t>(self::outputs)>;

  template <class I> struct inputs_of;
  template <std::size_t... I> struct inputs_of<std::index_sequence<I...>>
      : input<input_head<I>>... {};
  template <class I> struct results_of;
  template <std::size_t... I>
  struct results_of<std::index_sequence<I...>>
      : numbered<static_cast<int>(I), value_t<self::output(static_cast<int>(I)).type()>>... {};
  using inputs = inputs_of<input_numbers>;
  using results = results_of<output_numbers>;

  /// Calls source.read<operation, dtype, operand number, head>() for each input.
  template <class Source>
  DSL_DETAIL_FN static void read(Source& source) {
    read_each(source, input_numbers{});
  }

  DSL_DETAIL_FN static results compute(inputs in) {
    nothing_else none;
    return evaluate(in, none);
  }
  /// As `compute`, compiled once and called.
  DSL_DETAIL_NOINLINE static results compute_out_of_line(inputs in) { return compute(in); }
  /// As `compute_out_of_line`; `memory` performs all reads of arrays.
  template <class Memory>
  DSL_DETAIL_NOINLINE static results compute_out_of_line(inputs in, const Memory& memory) {
    memory_of_reads<Memory> reads{&memory};
    return evaluate(in, reads);
  }
  /// As `compute`; reader.read<head>(address) performs reads from computed addresses.
  template <class Reader>
  DSL_DETAIL_FN static results compute_reading(inputs in, const Reader& reader) {
    reader_of_elements<Reader> reads{&reader};
    return evaluate(in, reads);
  }
  /// As `compute`, with the quick form of each operation that has one. `range` collects the
  /// magnitudes for which the quick forms were used.
  template <class Range>
  DSL_DETAIL_FN static results compute_quickly(inputs in, Range& range) {
    quick_range<Range> quick{range};
    const results found = evaluate(in, quick);
    range = quick.range;
    return found;
  }
  static constexpr int quick_forms = [] {
    int n = 0;
    for (int i = 0; i < nodes; ++i)
      n += has_quick_form(head_of(i).code(), head_of(i).type()) ? 1 : 0;
    return n;
  }();
  /// Whether a value is the same for all elements.
  static constexpr bool is_shared(reference r) {
    for (int i = 0; i < nodes; ++i)
      if (head_of(i).type() == r.type() && head_of(i).slot() == r.slot()) return is_scalar(i);
    return false;
  }
  static constexpr bool is_scalar(int node) {
    const op code = head_of(node).code();
    return code == op::value || code == op::load_scalar || code == op::constant ||
           (code == op::convert && is_shared(reference::of(self::data.payloads[node], 0)));
  }
  /// Whether a quotient's numerator is the same for all elements.
  static constexpr bool divides_shared = [] {
    for (int i = 0; i < nodes; ++i)
      if (head_of(i).code() == op::divide && has_quick_form(op::divide, head_of(i).type()) &&
          is_shared(reference::of(self::data.payloads[i], 0)))
        return true;
    return false;
  }();
  static constexpr bool calls = sizeof...(Calls) > 0;
  static constexpr bool gathers = [] {
    for (int i = 0; i < nodes; ++i)
      if (head_of(i).code() == op::gather) return true;
    return false;
  }();
  static constexpr bool draws = draws_bits(self::view());

 private:
  static constexpr int count(int type) {
    int n = 0;
    for (int i = 0; i < nodes; ++i) n += static_cast<int>(head_of(i).type()) == type ? 1 : 0;
    return n;
  }
  struct part {
    dtype type;
    int number, size;
  };
  static constexpr int parts_of(int type) {
    return (count(type) + slots_together - 1) / slots_together;
  }
  static constexpr int part_count = [] {
    int n = 0;
    for (int d = 0; d < dtype_count; ++d) n += parts_of(d);
    return n;
  }();
  static constexpr auto parts = [] {
    std::array<part, static_cast<std::size_t>(part_count)> all{};
    std::size_t at = 0;
    for (int d = 0; d < dtype_count; ++d)
      for (int left = count(d), k = 0; left > 0; left -= slots_together, ++k)
        all[at++] = {static_cast<dtype>(d), k, left < slots_together ? left : slots_together};
    return all;
  }();
  // nvcc keeps a variable of more bytes in memory, even if all its parts are read as registers.
  static constexpr bool are_many = [] {
    int bytes = 0;
    for (const part& p : parts) bytes += p.size * size_of(computed_in(p.type));
    return bytes > 8192;
  }();
  template <std::size_t K> using part_slots = slots<parts[K].type, parts[K].number, parts[K].size>;
  // Clang nests at most 256 operands of a fold.
  static constexpr std::size_t nodes_a_run = 128,
                               run_count = (static_cast<std::size_t>(nodes) + nodes_a_run - 1) /
                                           nodes_a_run;
  using part_numbers = std::make_index_sequence<static_cast<std::size_t>(part_count)>;
  using frames_of_calls = frames<tuple<Calls...>, std::make_index_sequence<sizeof...(Calls)>>;
  template <class K> struct values_of;
  template <std::size_t... K>
  struct values_of<std::index_sequence<K...>> : part_slots<K>..., frames_of_calls {};
  template <class... Slots> struct values_apart : slots_elsewhere<Slots>..., frames_of_calls {};

  // What some operations use beside values.
  struct nothing_else {};
  template <class Memory> struct memory_of_reads { const Memory* memory; };
  template <class Reader> struct reader_of_elements { const Reader* reader; };
  template <class Range> struct quick_range {
    Range range;
    static constexpr bool is_shared(reference r) { return evaluator::is_shared(r); }
  };
  template <class Values, class Else> struct values_with : Values, Else {};

  // `apart`: the first parts of the values, if each part is in a variable of its own.
  template <class Else, class... Slots>
  DSL_DETAIL_FN static results evaluate(const inputs& in, Else& other, Slots&... apart) {
    if constexpr (!are_many) {
      values_with<values_of<part_numbers>, Else> v;
      return evaluate_in(v, in, other);
    } else if constexpr (sizeof...(Slots) < static_cast<std::size_t>(part_count)) {
      part_slots<sizeof...(Slots)> next;
      return evaluate(in, other, apart..., next);
    } else {
      values_with<values_apart<Slots...>, Else> v{{slots_elsewhere<Slots>{apart}..., {}}, other};
      return evaluate_in(v, in, other);
    }
  }
  template <class Values, class Else>
  DSL_DETAIL_FN static results evaluate_in(Values& v, const inputs& in, Else& other) {
    static_cast<Else&>(v) = other;
    take(v, in, input_numbers{});
    run(v, std::make_index_sequence<run_count>{});
    other = v;
    return give(v, output_numbers{});
  }

  template <std::size_t First, class Values, std::size_t... I>
  DSL_DETAIL_FN static void run_from(Values& v, std::index_sequence<I...>) {
    (step<self::data.heads[First + I], self::data.payloads[First + I]>(v), ...);
  }
  static constexpr std::size_t run_length(std::size_t run) {
    const std::size_t left = static_cast<std::size_t>(nodes) - run * nodes_a_run;
    return left < nodes_a_run ? left : nodes_a_run;
  }
  template <class Values, std::size_t... Run>
  DSL_DETAIL_FN static void run(Values& v, std::index_sequence<Run...>) {
    (run_from<Run * nodes_a_run>(v, std::make_index_sequence<run_length(Run)>{}), ...);
  }
  template <class Source, std::size_t... I>
  DSL_DETAIL_FN static void read_each(Source& source, std::index_sequence<I...>) {
    (source.template read<head{input_head<I>}.code(), head{input_head<I>}.type(),
                          static_cast<int>(self::data.payloads[input_nodes[I]]), input_head<I>>(),
     ...);
  }
  template <class Values, std::size_t... I>
  DSL_DETAIL_FN static void take(Values& v, const inputs& in, std::index_sequence<I...>) {
    ((value_in<head{input_head<I>}.type(), head{input_head<I>}.slot()>(v) =
          input_of<input_head<I>>(in)),
     ...);
  }
  template <int I, class Values>
  DSL_DETAIL_FN static auto output_of(Values& v) {
    constexpr reference r = self::output(I);
    return value_in<r.type(), r.slot()>(v);
  }
  template <class Values, std::size_t... I>
  DSL_DETAIL_FN static results give(Values& v, std::index_sequence<I...>) {
    results r;
    ((nth<static_cast<int>(I)>(r) = output_of<static_cast<int>(I)>(v)), ...);
    return r;
  }
};

}  // namespace dsl::detail
