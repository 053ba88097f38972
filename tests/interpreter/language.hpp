// The language at run time: formulas whose operations and dtypes are data become the graphs that
// symbols build at compile time.
#pragma once

#include "interpreter.hpp"

#include <dsl/ir/op.hpp>

#include <utility>

namespace interpreter {

/// A node and its dtype: a symbol whose dtype is known at run time.
struct value {
  int node;
  dsl::weak_dtype type;
};

/// Makes the same nodes as the language: promotion, conversions, comparisons with scalars, folding
/// and simplification.
class traced {
 public:
  value operand(dsl::op how, dsl::dtype type,
                int number);  // load, load_scalar or value; the last is weak
  value literal(dsl::dtype type, dsl::detail::literal bits);
  value cast(dsl::dtype to, value a);
  /// Throws std::runtime_error if the row is not defined for these dtypes.
  value apply(dsl::op code, const value* x);

  /// Whether, since the last call, a literal was outside the dtype of its computation: a compile
  /// error in the language.
  bool refused() { return std::exchange(graph_.literal_outside, false); }
  int size() const { return graph_.size(); }
  /// The program of the nodes that `outputs` depend on.
  dsl::detail::frozen_programs program(const std::vector<value>& outputs) const;

  traced() { graph_.notes_literals = true; }

 private:
  value converted(dsl::dtype to, value a);
  value clip_bound(dsl::dtype to, value bound, bool upper);
  int emit(dsl::op code, dsl::dtype result, const int* nodes, const dsl::dtype* types);

  dsl::detail::graph graph_;
};

/// Makes a separate node for every operation and conversion, without sharing, folding or
/// simplification.
class written_out {
 public:
  value operand(dsl::op how, dsl::dtype type, int number);
  value literal(dsl::dtype type, dsl::detail::literal bits);
  value cast(dsl::dtype to, value a) { return converted(to, a); }
  value apply(dsl::op code, const value* x);
  dsl::detail::frozen_programs program(const std::vector<value>& outputs) const;

 private:
  value converted(dsl::dtype to, value a);
  value put(dsl::op code, dsl::weak_dtype type, std::uint64_t payload);
  std::uint64_t place(value v) const { return places_[static_cast<std::size_t>(v.node)].word; }

  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> payloads_;
  std::vector<dsl::detail::reference> places_;
  int used_[dsl::dtype_count] = {};
};

/// The first of the frozen programs.
inline dsl::detail::program_view view_of(const dsl::detail::frozen_programs& f) {
  return {&f.heads[0], &f.payloads[0], f.heads.size(), &f.outputs[0], f.outputs.size()};
}

}  // namespace interpreter
