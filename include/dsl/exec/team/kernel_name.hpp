// The name that profilers show for a kernel: the one given to vectorize, or one made of the
// formula's operations.
#pragma once

#include <dsl/ir/evaluate.hpp>
#include <dsl/ir/pass.hpp>

namespace dsl {

namespace kernels {

/// The name of an unnamed kernel: its formula's operations (types of `dsl::ops`) in evaluation
/// order.
template <class... Operations> struct formula;

}  // namespace kernels

namespace detail {

struct unnamed;

/// A word of such a name: an operation of the table, another action of a kernel, or a functor that
/// it calls.
enum class name_word : int {
  last_operation = 0xff,
  fill,
  copy,
  cast,
  take,
  random,
  sum,
  prod,
  all,
  any,
  reduce,
  cumsum,
  cumprod,
  scan,
  more,
  functor
};
constexpr name_word word_of(op code) { return static_cast<name_word>(code); }

template <name_word Word> struct type_of_word;

}  // namespace detail

// Operations as types: profilers print a template argument that is a type by name, an enumerator by
// number.
#define DSL_DETAIL_WORD(name, word)                                  \
  namespace ops {                                                    \
  struct name;                                                       \
  }                                                                  \
  namespace detail {                                                 \
  template <> struct type_of_word<word> { using type = ops::name; }; \
  }
#define DSL_OPERATOR(name, ...) DSL_DETAIL_WORD(name, word_of(op::name))
#define DSL_FUNCTION(name, ...) DSL_DETAIL_WORD(name, word_of(op::name))
#define DSL_FAST(name, ...) DSL_DETAIL_WORD(fast_##name, word_of(op::fast_##name))
#include <dsl/ir/ops.inc>
DSL_DETAIL_WORD(fill, name_word::fill)
DSL_DETAIL_WORD(copy, name_word::copy)
DSL_DETAIL_WORD(cast, name_word::cast)
DSL_DETAIL_WORD(take, name_word::take)
DSL_DETAIL_WORD(random, name_word::random)
DSL_DETAIL_WORD(sum, name_word::sum)
DSL_DETAIL_WORD(prod, name_word::prod)
DSL_DETAIL_WORD(all, name_word::all)
DSL_DETAIL_WORD(any, name_word::any)
DSL_DETAIL_WORD(reduce, name_word::reduce)
DSL_DETAIL_WORD(cumsum, name_word::cumsum)
DSL_DETAIL_WORD(cumprod, name_word::cumprod)
DSL_DETAIL_WORD(scan, name_word::scan)
DSL_DETAIL_WORD(more, name_word::more)
#undef DSL_DETAIL_WORD

namespace detail {

constexpr name_word word_of_reduction(op joins) {
  switch (joins) {
    case op::add: return name_word::sum;
    case op::multiply: return name_word::prod;
    case op::min: return word_of(op::min);
    case op::max: return word_of(op::max);
    case op::logical_and: return name_word::all;
    case op::logical_or: return name_word::any;
    default: return name_word::reduce;
  }
}
constexpr name_word word_of_scan(op joins) {
  return joins == op::add        ? name_word::cumsum
         : joins == op::multiply ? name_word::cumprod
                                 : name_word::scan;
}
// A combining rule is named by its last operation.
constexpr op joining_operation(const program_view& rule) {
  return rule.nodes > 0 ? head{rule.heads[rule.nodes - 1]}.code() : op::load;
}

/// The words of a kernel's name: its first eight operations, then `more`.
struct name_words {
  static constexpr int most = 8;
  name_word at[most + 1]{};
  int count = 0;

  constexpr void add(name_word word) {
    if (count <= most) at[count] = count < most ? word : name_word::more;
    if (count <= most) ++count;
  }
  constexpr void add_program(const program_view& p) {
    for (int i = 0; i < p.nodes; ++i) {
      const op code = head{p.heads[i]}.code();
      if (code == op::gather) add(name_word::take);
      if (code >= op::random_bits && code <= op::random_normal) add(name_word::random);
      if (code == op::call)
        add(static_cast<name_word>(static_cast<int>(name_word::functor) +
                                   static_cast<int>(p.payloads[i] & 0xffff)));
      if (code > op::result) add(word_of(code));
    }
  }
  // The word for a formula without operations: fill, copy or cast.
  constexpr void add_move(const program_view& p) {
    name_word found = name_word::fill;
    for (int i = 0; i < p.nodes; ++i) {
      const op code = head{p.heads[i]}.code();
      if (code == op::convert) found = name_word::cast;
      else if (code <= op::index && found == name_word::fill) found = name_word::copy;
    }
    add(found);
  }
};
template <class... Pass>
constexpr name_words words_of_passes(const Pass&... pass) {
  name_words made;
  const auto add = [&made](const pass_view& p) {
    made.add_program(p.elements);
    for (int i = 0; i < p.reductions; ++i)
      made.add(word_of_reduction(joining_operation(p.rules[i])));
    made.add_program(p.results);
  };
  (add(pass), ...);
  if (made.count == 0) (made.add_move(pass.elements), ...);
  return made;
}
constexpr name_words words_of_scan(const program_view& elements, const program_view& rule) {
  name_words made;
  made.add_program(elements);
  made.add(word_of_scan(joining_operation(rule)));
  return made;
}

template <class Call> struct functor_of_call;
template <class F, dtype... Arguments> struct functor_of_call<call<F, Arguments...>> {
  using type = F;
};
template <class F,
          dtype... Arguments> struct functor_of_call<call<functor_object<F>, Arguments...>> {
  using type = F;
};

// The type for a word: a functor is looked up among the program's calls.
template <class Program, name_word Word> struct type_in_program : type_of_word<Word> {};
template <std::uint64_t Key, class... Calls, name_word Word>
  requires(Word >= name_word::functor)
struct type_in_program<program<Key, Calls...>, Word>
    : functor_of_call<std::tuple_element_t<static_cast<std::size_t>(Word) -
                                               static_cast<std::size_t>(name_word::functor),
                                           tuple<Calls...>>> {};

template <class Words, class Program, class Numbers> struct named_formula;
template <class Words, class Program, std::size_t... I>
struct named_formula<Words, Program, std::index_sequence<I...>> {
  using type = kernels::formula<typename type_in_program<Program, Words::value.at[I]>::type...>;
};
template <class Words, class Program>
using named_formula_t = typename named_formula<
    Words, Program, std::make_index_sequence<static_cast<std::size_t>(Words::value.count)>>::type;

template <class Pass> struct pass_name {
  static constexpr name_words value = words_of_passes(Pass::view());
};
template <class Elements, class Rule> struct scan_name {
  static constexpr name_words value = words_of_scan(Elements::view(), Rule::view());
};

// nvcc's host compiler reads a kernel's template arguments as they were spelled, aliases included,
// and before the definition of a program's nodes. So a name made of the nodes is spelled anew here,
// from its parts; a kernel's other arguments are numbers, types without nodes, and passes.
template <class Kernel, class... Operations>
const void* kernel_with_name(std::type_identity<kernels::formula<Operations...>>) {
  return Kernel::template with_name<kernels::formula<Operations...>>();
}

/// Names a pass's kernels: `Name`, or one made of the pass's operations if it is `unnamed`.
template <class Name, class Pass>
struct named_by_pass {
  template <class Kernel>
  static const void* entry() {
    if constexpr (!std::is_same_v<Name, unnamed>) return Kernel::template with_name<Name>();
    else
      return kernel_with_name<Kernel>(
          std::type_identity<named_formula_t<pass_name<Pass>, typename Pass::elements>>{});
  }
};
/// The same for a scan. For the kernel that combines the totals of the others, `Elements` is
/// no_program.
template <class Elements, class Rule>
struct named_by_scan {
  template <class Kernel>
  static const void* entry() {
    return kernel_with_name<Kernel>(
        std::type_identity<named_formula_t<scan_name<Elements, Rule>, Elements>>{});
  }
};

}  // namespace detail
}  // namespace dsl
