// Reductions by key on the host: the work on a block of evaluated elements.
#pragma once

#include <dsl/exec/by_key/by_key_parts.hpp>
#include <dsl/exec/host/host.hpp>

namespace dsl::detail {

/// Loops as data. A table has an accumulator for each group.
struct by_key_table_code {
  void (*clear)(void* table, std::int64_t groups);
  /// Adds n elements to a table; the first column has their keys. Elements of no group are ignored.
  /// The table for all elements has one group, to which every element belongs.
  void (*add)(const void* const* columns, int n, void* table, std::int64_t groups);
  void (*join)(void* table, const void* other, std::int64_t groups);
  /// Computes the results of a table into to[i], `step[i]` elements apart; in[k] is operand k, a
  /// scalar's value.
  void (*finish)(const void* table, std::int64_t groups, const void* const* in, void* const* to,
                 const std::int64_t* step);
};
struct by_key_host_code {
  double nanoseconds;  // Core time of an element's arithmetic.
  // Computes keys and values that are not in memory; null if all are.
  block_function elements[3];
  // The column of each: an operand's number, `computed_column` or `no_column`.
  const int* columns;
  by_key_table_code of_groups, of_all;
};
inline constexpr int computed_column = -1, no_column = -2;

/// The column of an output of the element program: an operand in memory, none for a constant, or a
/// computed one.
template <class Elements>
constexpr int column_of_output(int output) {
  constexpr program_view p = Elements::view();
  const int node = node_of(p, p.output(output));
  switch (head{p.heads[node]}.code()) {
    case op::load: return static_cast<int>(p.payloads[node]);
    case op::constant: return no_column;
    default: return computed_column;
  }
}
template <class Elements, class Numbers> struct output_columns;
template <class Elements, std::size_t... K> struct output_columns<Elements,
                                                                  std::index_sequence<K...>> {
  static constexpr int of[] = {column_of_output<Elements>(static_cast<int>(K))...};
};

/// The outputs that have to be computed, as targets.
template <class Elements, int K = 0, std::uint64_t... Words>
constexpr auto computed_targets() {
  if constexpr (K == Elements::outputs) return std::type_identity<words<Words...>>{};
  else if constexpr (column_of_output<Elements>(K) != computed_column)
    return computed_targets<Elements, K + 1, Words...>();
  else return computed_targets<Elements, K + 1, Words..., target_word::make(false, K).word>();
}

DSL_DETAIL_BEGIN_LOOPS
/// The loops for some of a pass's results.
template <class Pass, class Results, bool OfAll>
class by_key_host_table {
  using elements = typename Pass::elements;
  using reductions = typename Results::reductions;
  using accumulators = typename Results::accumulators;

  // A constant is not read: then little is left of a rule that takes single elements, such as a
  // variance's.
  template <int Output>
  DSL_DETAIL_FN static auto element(const void* const* columns, int i) {
    constexpr program_view p = elements::view();
    constexpr int node = node_of(p, p.output(Output));
    constexpr dtype type = p.output(Output).type();
    if constexpr (head{p.heads[node]}.code() == op::constant)
      return from_bits<value_t<type>>(p.payloads[node]);
    else return static_cast<const memory_t<type>*>(columns[Output])[i];
  }
  template <class Reduction, int J, std::size_t... K>
  DSL_DETAIL_FN static void read(accumulators& a, const void* const* columns, int i,
                                 std::index_sequence<K...>) {
    ((nth<static_cast<int>(K)>(nth_accumulator<J>(a)) =
          element<Reduction::first + static_cast<int>(K)>(columns, i)),
     ...);
  }

  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void clear(void* table, std::int64_t groups) {
    for (std::int64_t i = 0; i < groups; ++i)
      static_cast<accumulators*>(table)[i] = reductions::identities();
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  DSL_DETAIL_PARTS_APART
  static void add(const void* const* given, int n, void* table, std::int64_t groups) {
    // Copied, because as far as the compiler knows a store to the table might change `given`.
    const void* columns[elements::outputs];
    for (int k = 0; k < elements::outputs; ++k) columns[k] = given[k];
    for (int i = 0; i < n; ++i) {
      const std::int64_t group = OfAll ? 0 : std::int64_t{element<0>(columns, i)};
      if (static_cast<std::uint64_t>(group) >= static_cast<std::uint64_t>(groups)) continue;
      accumulators mine;
      reductions::visit([&]<class Reduction, int J>() {
        read<Reduction, J>(mine, columns, i, values_of_reduction<Reduction>{});
      });
      reductions::add(static_cast<accumulators*>(table)[group], mine);
    }
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void join(void* table, const void* other, std::int64_t groups) {
    for (std::int64_t i = 0; i < groups; ++i)
      reductions::add(static_cast<accumulators*>(table)[i],
                      static_cast<const accumulators*>(other)[i]);
  }

  template <class In>
  struct totals_source {
    const accumulators& totals;
    const void* const* in;
    In values;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      if constexpr (Code == op::reduced)
        input_of<Head>(values) =
            Results::template value_of<value_t<D>, (N & 0xffff), (N >> 16)>(totals);
      else
        input_of<Head>(values) =
            *static_cast<const std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>*>(
                in[N]);
    }
  };
  template <class Values, std::size_t... I>
  DSL_DETAIL_FN static void store(const Values& values, void* const* to, const std::int64_t* step,
                                  std::int64_t at, std::index_sequence<I...>) {
    ((static_cast<memory_t<Pass::results::output(Results::first + static_cast<int>(I)).type()>*>(
          to[I])[at * step[I]] =
          static_cast<memory_t<Pass::results::output(Results::first + static_cast<int>(I)).type()>>(
              nth<Results::first + static_cast<int>(I)>(values))),
     ...);
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void finish(const void* table, std::int64_t groups, const void* const* in, void* const* to,
                     const std::int64_t* step) {
    using after = evaluator<typename Pass::results>;
    for (std::int64_t i = 0; i < groups; ++i) {
      totals_source<typename after::inputs> from{
          static_cast<const accumulators*>(table)[i], in, {}};
      after::read(from);
      store(after::compute(from.values), to, step, i,
            std::make_index_sequence<static_cast<std::size_t>(Results::end - Results::first)>{});
    }
  }

 public:
  static constexpr by_key_table_code code() { return {&clear, &add, &join, &finish}; }
};

DSL_DETAIL_END_LOOPS

template <class Pass, int Groups>
class by_key_host_loop {
  using elements = typename Pass::elements;
  using computed = typename decltype(computed_targets<elements>())::type;
  using of_all = results_of_all<Pass, Groups>;

 public:
  static constexpr by_key_host_code code() {
    by_key_host_code made{};
    made.columns = output_columns<elements, std::make_index_sequence<elements::outputs>>::of;
    made.of_groups = by_key_host_table<Pass, results_of_groups<Pass, Groups>, false>::code();
    if constexpr (!std::is_same_v<computed, words<>>) {
      const host_code of =
          host_loop<pass_with<elements, no_program, computed, pass_reductions<>>>::code();
      made.nanoseconds = of.nanoseconds;
      for (int level = 0; level < 3; ++level) made.elements[level] = of.block[level];
    }
    if constexpr (of_all::reductions::count > 0)
      made.of_all = by_key_host_table<Pass, of_all, true>::code();
    return made;
  }
};

}  // namespace dsl::detail
