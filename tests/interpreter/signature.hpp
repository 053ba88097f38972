// The operations with the dtypes of their operands and results, listed from the op table.
#pragma once

#include "../table_rows.hpp"

#include <dsl/ir/program.hpp>

#include <cstdint>
#include <string_view>

namespace interpreter {

using dsl::dtype;
using dsl::op;

struct signature {
  op code{};
  dtype result{};
  int arity = 0;
  dtype operand[3]{};

  /// A unique number of the signature.
  constexpr std::uint64_t key() const {
    std::uint64_t k = static_cast<std::uint64_t>(code) | static_cast<std::uint64_t>(result) << 8;
    for (int i = 0; i < arity; ++i)
      k |= (static_cast<std::uint64_t>(operand[i]) + 1) << (12 + 5 * i);
    return k;
  }
};

struct signature_list {
  static constexpr std::size_t most = 200;
  signature of[most]{};
  std::size_t count = 0;
  constexpr void add(const signature& s) {
    for (std::size_t i = 0; i < count; ++i)
      if (of[i].key() == s.key()) return;
    if (count == most) throw "signature_list::most";
    of[count++] = s;
  }
};

/// Whether a row's scalar code asks for the result's dtype. That of the others is the same for the
/// 16-bit dtypes as for float32, in which they are computed.
constexpr bool uses_dtype(op code) {
  switch (code) {
    // clang-format off
#define ROW_CODE(name, text) \
  case op::name: return std::string_view(text).find("<D>") != std::string_view::npos;
#define DSL_OPERATOR(name, token, numpy, arity, operands, result, domain, flops, complex_flops, code) ROW_CODE(name, #code)
#define DSL_FUNCTION(name, numpy, arity, operands, result, domain, flops, complex_flops, code) ROW_CODE(name, #code)
#include <dsl/ir/ops.inc>
#undef ROW_CODE
    // clang-format on
    default: return false;
  }
}

constexpr bool converts(dtype from, dtype to) {
  return from != to && (dsl::kind_of(from) != dsl::kind::complex ||
                        dsl::kind_of(to) == dsl::kind::complex || to == dtype::boolean);
}

/// Adds the signature of a row whose first operand is of dtype `a`, if its operands need no
/// conversion.
constexpr void add_row(signature_list& to, op code, dtype family, dtype a, dtype b, dtype c) {
  const dsl::signature found = dsl::resolve(code, {a}, {b}, {c});
  const int arity = dsl::info(code).arity;
  const dtype given[] = {a, b, c};
  bool taken = found.valid, of_family = false;
  for (int i = 0; i < arity; ++i) {
    taken = taken && found.operand[i] == given[i];
    of_family = of_family || (given[i] == family &&
                              (i > 0 || dsl::info(code).operands != dsl::op_operands::selection));
  }
  if (taken && of_family)
    to.add({code, found.result.type, arity, {a, arity > 1 ? b : a, arity > 2 ? c : a}});
}

/// Every operation that computes with a dtype: the rows of the table and the conversions from it.
constexpr signature_list signatures_of(dtype family) {
  signature_list all;
  const dtype real = dsl::real_of(family);
  // Signed integers and uint64 are compared without conversion.
  const dtype other = dsl::kind_of(family) == dsl::kind::integer && dsl::info(family).is_signed
                          ? dtype::uint64
                          : real;
  for (const op code : all_rows) {
    const dsl::op_info& row = dsl::info(code);
    if (row.operands == dsl::op_operands::selection) {
      for (const dtype b : {family, real})
        for (const dtype c : {family, real}) add_row(all, code, family, dtype::boolean, b, c);
    } else if (row.operands == dsl::op_operands::scaled) {
      for (int b = 0; b <= static_cast<int>(dtype::uint32); ++b)
        add_row(all, code, family, family, static_cast<dtype>(b), family);
    } else {
      for (const dtype a : {family, other})
        for (const dtype b : {family, other}) add_row(all, code, family, a, b, family);
    }
  }
  for (int to = 0; to < dsl::dtype_count; ++to)
    if (converts(family, static_cast<dtype>(to)))
      all.add({op::convert, static_cast<dtype>(to), 1, {family}});
  if (family == dtype::float32) all.add({op::complex, dtype::complex64, 2, {family, family}});
  if (family == dtype::float64) all.add({op::complex, dtype::complex128, 2, {family, family}});
  return all;
}

/// The dtype of a value between operations: float for the 16-bit dtypes.
constexpr dtype value_dtype(dtype type) {
  return type == dtype::float16 || type == dtype::bfloat16 ? dtype::float32 : type;
}

/// The signature under which an operation's code is compiled. Other signatures with the same code
/// share it.
constexpr signature compiled_signature(signature s) {
  for (int i = 0; i < s.arity; ++i) s.operand[i] = value_dtype(s.operand[i]);
  if (s.code != op::convert && !uses_dtype(s.code)) s.result = value_dtype(s.result);
  return s;
}

/// The signatures of a dtype that are compiled.
constexpr signature_list compiled_signatures_of(dtype family) {
  const signature_list all = signatures_of(family);
  const bool is_short = value_dtype(family) != family;
  signature_list own;
  for (std::size_t i = 0; i < all.count; ++i) {
    const signature s = compiled_signature(all.of[i]);
    if (!is_short || uses_dtype(s.code)) own.add(s);
  }
  // Conversions between the 16-bit dtypes, and from them to float32: the value is already a float.
  if (family == dtype::float32) own.add({op::convert, dtype::float32, 1, {dtype::float32}});
  return own;
}

}  // namespace interpreter
