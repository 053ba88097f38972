// The formulas of a bundle as nodes of a program, and the drawn elements of its leaves.
#pragma once

#include "../interpreter/language.hpp"

#include <dsl/ir/literal.hpp>

#include <cstring>
#include <vector>

#include "layout.hpp"
#include "reference.hpp"

namespace property {

inline dsl::dtype dsl_type(dtype t) { return static_cast<dsl::dtype>(t); }

inline dsl::op code_of(operation what) {
  switch (what) {
    // clang-format off
#define OPERATION(name, ...) case operation::name: return dsl::op::name;
#include "operations.inc"
    // clang-format on
    default: throw "no row of the table";
  }
}

struct dsl_literal {
  dsl::dtype type;
  dsl::detail::literal bits;
};
inline dsl_literal literal_of(int number) {
  static const auto all = std::apply(
      [](const auto&... l) {
        return std::vector<dsl_literal>{{dsl::dtype_v<std::remove_cvref_t<decltype(l)>>,
                                         dsl::detail::to_literal(dsl::detail::to_value(l))}...};
      },
      literals);
  return all[static_cast<std::size_t>(number)];
}

/// The nodes of a formula, as a language makes them.
template <class Language> std::vector<interpreter::value> trace(Language& to, const bundle& b,
                                                                const tree& formula) {
  std::vector<interpreter::value> made;
  for (int i = 0; i < formula.size; ++i) {
    const node& n = formula.nodes[i];
    if (n.what == operation::leaf) {
      const leaf& l = b.leaves[n.number];
      made.push_back(to.operand(l.from == source::array    ? dsl::op::load
                                : l.from == source::scalar ? dsl::op::load_scalar
                                                           : dsl::op::value,
                                dsl_type(l.type), n.number));
    } else if (n.what == operation::literal) {
      made.push_back(to.literal(literal_of(n.number).type, literal_of(n.number).bits));
    } else {
      interpreter::value x[3]{};
      for (int k = 0; k < arity(n.what); ++k) x[k] = made[static_cast<std::size_t>(n.operand[k])];
      made.push_back(n.what == operation::cast ? to.cast(dsl_type(n.type.type), x[0])
                                               : to.apply(code_of(n.what), x));
    }
  }
  return made;
}

using bytes = std::vector<unsigned char>;

/// The elements of each leaf, a scalar's single one. `values`: the same as programs hold them: a
/// 16-bit scalar by value as float.
struct drawn_operands { std::vector<bytes> elements, values; };
inline drawn_operands draw_operands(const bundle& b, int number, int count) {
  drawn_operands drawn;
  random r(static_cast<std::uint64_t>(number));
  for (int i = 0; i < b.leaf_count; ++i) {
    const leaf& l = b.leaves[i];
    bytes& elements =
        drawn.elements.emplace_back(draw_elements(r, l.type, l.from == source::array ? count : 1));
    if (l.from == source::value &&
        kind_of(l.type) == kind::integer)  // the other dtype cannot hold such an integer: an error
      for (std::size_t k = 0; k < elements.size(); ++k)
        elements[k] = k == 0 ? elements[k] & 0x7f : 0;
    bytes& values = drawn.values.emplace_back(elements);
    if (l.from == source::value && bytes_of(l.type) == 2 &&
        kind_of(l.type) == kind::real) {  // the language holds it as float
      const auto x = static_cast<float>(read(l.type, elements.data()).part[0].low);
      values.resize(sizeof x);
      const float value = read(l.type, elements.data()).part[0].is_nan() ? NAN : x;
      std::memcpy(values.data(), &value, sizeof value);
    }
  }
  return drawn;
}

}  // namespace property
