// One operation compiled as a program of its own, in every form in which the back ends run it.
#pragma once

#include "signature.hpp"

#include <dsl/exec/host/host.hpp>

#include <vector>

namespace interpreter {

/// An operation's code. Operands and results are columns of values, aligned to 64 bytes.
struct node_code {
  std::uint64_t key;
  /// One element at a time, as in the simulator's threads and in kernels.
  void (*scalar)(int count, const void* const* in, void* out);
  /// The host's loop for each instruction set. The count is a multiple of 64.
  dsl::detail::block_function block[3];
};

/// Slot of a value among the earlier values of its dtype. Stands outside one_node because clang
/// evaluates a class's constants before it has read the member functions after them.
template <dtype... Types> constexpr int slot_among(dtype type, std::size_t before) {
  constexpr dtype types[] = {Types...};
  int n = 0;
  for (std::size_t i = 0; i < before; ++i) n += types[i] == type ? 1 : 0;
  return n;
}

/// A program: loads of the operands, the operation, and the conversion to `Stored` if that is
/// another dtype.
template <op Code, dtype Result, dtype Stored, dtype... Operand> struct one_node {
  static constexpr int slot(dtype type, std::size_t before) {
    return slot_among<Operand...>(type, before);
  }
  static constexpr int made = slot_among<Operand...>(Result, sizeof...(Operand)),
                       stored = slot_among<Operand...>(Stored, sizeof...(Operand));

  template <std::size_t... I> static auto spell(std::index_sequence<I...>) {
    using namespace dsl::detail;
    constexpr std::uint64_t payload =
        (0 | ... | reference::make(Operand, slot(Operand, I)).placed(I));
    constexpr int operands = sizeof...(I);
    if constexpr (Stored == Result)
      return program_with<program_nodes<operands + 1, 1>{
          {head::make(op::load, Operand, slot(Operand, I)).word...,
           head::make(Code, Result, made).word},
          {I..., payload},
          {reference::make(Result, made).word}}>{};
    else
      return program_with<program_nodes<operands + 2, 1>{
          {head::make(op::load, Operand, slot(Operand, I)).word...,
           head::make(Code, Result, made).word, head::make(op::convert, Stored, stored).word},
          {I..., payload, reference::make(Result, made).word},
          {reference::make(Stored, stored).word}}>{};
  }
  using one_program = decltype(spell(std::make_index_sequence<sizeof...(Operand)>{}));
  using pass =
      dsl::detail::pass_with<one_program, dsl::detail::no_program,
                             dsl::detail::words<dsl::detail::target_word::make(false, 0).word>,
                             dsl::detail::pass_reductions<>>;
  using eval = dsl::detail::evaluator<one_program>;

  struct source {
    const void* const* in;
    int at;
    typename eval::inputs element;
    template <op, dtype D, int N, std::uint32_t Head> void read() {
      dsl::detail::input_of<Head>(element) =
          static_cast<const dsl::detail::memory_t<D>*>(in[N])[at];
    }
  };
  static void scalar(int count, const void* const* in, void* out) {
    using T = dsl::detail::memory_t<Stored>;
    for (int i = 0; i < count; ++i) {
      source from{in, i, {}};
      eval::read(from);
      static_cast<T*>(out)[i] = static_cast<T>(dsl::detail::nth<0>(eval::compute(from.element)));
    }
  }

  static node_code code(std::uint64_t key) {
    constexpr dsl::detail::host_code host = dsl::detail::host_loop<pass>::code();
    return {key, &scalar, {host.block[0], host.block[1], host.block[2]}};
  }
};

template <dtype Family, std::size_t... I> void add_code(std::vector<node_code>& to,
                                                        std::index_sequence<I...>) {
  static constexpr signature_list list = compiled_signatures_of(Family);
  const auto add = [&to]<std::size_t N>() {
    constexpr signature s = list.of[N];
    constexpr dtype result = value_dtype(s.result);
    if constexpr (s.arity == 1)
      to.push_back(one_node<s.code, s.result, result, s.operand[0]>::code(s.key()));
    else if constexpr (s.arity == 2)
      to.push_back(one_node<s.code, s.result, result, s.operand[0], s.operand[1]>::code(s.key()));
    else
      to.push_back(
          one_node<s.code, s.result, result, s.operand[0], s.operand[1], s.operand[2]>::code(
              s.key()));
  };
  (add.template operator()<I>(), ...);
}

/// Adds the code of a dtype's operations; for 16-bit dtypes also of their loads and stores.
template <dtype Family> void add_code(std::vector<node_code>& to) {
  add_code<Family>(to, std::make_index_sequence<compiled_signatures_of(Family).count>{});
  if constexpr (constexpr dtype value = value_dtype(Family); value != Family) {
    to.push_back(one_node<op::convert, value, value, Family>::code(
        signature{op::load, Family, 0, {}}.key()));
    to.push_back(one_node<op::positive, Family, Family, value>::code(
        signature{op::positive, Family, 1, {value}}.key()));
  }
}

// Each is compiled in its own file.
void add_code_of_8_bits(std::vector<node_code>& to);
void add_code_of_16_bits(std::vector<node_code>& to);
void add_code_of_32_bits(std::vector<node_code>& to);
void add_code_of_64_bits(std::vector<node_code>& to);
void add_code_of_float(std::vector<node_code>& to);
void add_code_of_double(std::vector<node_code>& to);
void add_code_of_complex(std::vector<node_code>& to);

}  // namespace interpreter
