// The cost of a program for one element.
#pragma once

#include <dsl/ir/pass.hpp>

namespace dsl {

/// Nominal floating point operations (ops.inc), and elements and bytes moved. A scalar operand
/// costs nothing. Reads of an array count once, however often it occurs in the expression and
/// however many of its neighbours are read: repeated reads come from the caches.
struct cost { int flops = 0, loads = 0, stores = 0, load_bytes = 0, store_bytes = 0; };

namespace detail {

constexpr int flops_of_node(const program_view& p, int i) {
  const op code = head{p.heads[i]}.code();
  const op_info& row = info(code);
  int complex_operands = 0;
  for (int k = 0; k < row.arity; ++k)
    complex_operands += kind_of(reference::of(p.payloads[i], k).type()) == kind::complex ? 1 : 0;
  if (complex_operands > 0 && complex_operands == row.arity) return row.complex_flops;
  const bool real_with_complex =
      complex_operands > 0 && (code == op::multiply || code == op::divide);
  return real_with_complex ? 2 * row.flops : row.flops;
}
constexpr int flops_of(const program_view& p) {
  int flops = 0;
  for (int i = 0; i < p.nodes; ++i) flops += flops_of_node(p, i);
  return flops;
}

/// Estimated GPU instructions for one element, to a factor of about two. A function of doubles
/// counts as a hundred.
constexpr int instructions_of(const program_view& p) {
  constexpr int function = 8;
  int all = 0;
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    const dtype type = head{p.heads[i]}.type();
    const bool wide = real_of(type) == dtype::float64;
    const int each = info(code).flops >= function ? (wide ? 12 : 4)
                     : code == op::divide || code == op::reciprocal || code == op::sqrt
                         ? (wide ? 20 : 8)
                         : 1;
    all += each * flops_of_node(p, i);
  }
  return all;
}

/// Estimated nanoseconds of arithmetic for one element on one core with 512-bit vectors, to a
/// factor of about three: from some tenths of a nanosecond to some for a function, some hundredths
/// for another operation. The cost of a functor is unknown; 10 ns is assumed.
constexpr double core_nanoseconds_of(const program_view& p) {
  constexpr double of_flop = 0.03, of_flop_in_function = 0.1, of_functor = 10;
  constexpr int function = 8;
  double all = 0;
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    const op_info& row = info(h.code());
    const int flops = kind_of(h.type()) == kind::complex ? row.complex_flops : row.flops,
              vectors = size_of(h.type()) < 8 ? 1 : 2;
    all += h.code() == op::call
               ? of_functor
               : flops * vectors * (row.flops >= function ? of_flop_in_function : of_flop);
  }
  return all;
}
constexpr double core_nanoseconds_of(const pass_view& p) {
  double all = core_nanoseconds_of(p.elements);
  for (int j = 0; j < p.reductions; ++j) all += core_nanoseconds_of(p.rules[j]);
  return all;
}

/// `array_of(i)` returns the number of the first operand that reads the same array as operand i.
template <class ArrayOf>
constexpr cost cost_of(const pass_view& p, const ArrayOf& array_of) {
  cost c;
  const auto reads = [&p](int i) {
    const op code = head{p.elements.heads[i]}.code();
    return code == op::load || (code == op::neighbour && path_of(p.elements, i).base == op::load);
  };
  for (int i = 0; i < p.elements.nodes; ++i) {
    const head h{p.elements.heads[i]};
    bool counts = h.code() == op::gather || reads(i);
    for (int k = 0; counts && h.code() != op::gather && k < i; ++k)
      counts = !(reads(k) &&
                 array_of(operand_read(p.elements, k)) == array_of(operand_read(p.elements, i)));
    if (counts) {
      ++c.loads;
      c.load_bytes += size_of(h.type());
    }
  }
  c.flops = flops_of(p.elements);
  for (int j = 0; j < p.reductions; ++j) c.flops += flops_of(p.rules[j]);
  for (int i = 0; i < p.target_count; ++i)
    if (!p.is_result(i)) {
      ++c.stores;
      c.store_bytes += size_of(p.type(i));
    }
  return c;
}

}  // namespace detail
}  // namespace dsl
