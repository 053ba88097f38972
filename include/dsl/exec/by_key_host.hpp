// Reductions by key on the host: what is done with a block of evaluated elements.
#pragma once

#include <dsl/exec/by_key_parts.hpp>
#include <dsl/exec/host.hpp>

namespace dsl::detail {

/// Loops as data. A table has an accumulator for each group.
struct by_key_table_code {
  void (*clear)(void* table, std::int64_t groups);
  /// Adds n elements, whose keys come first, to a table; those of no group are left out. What is of all elements has a table of
  /// one group, to which each belongs.
  void (*add)(const void* const* columns, int n, void* table, std::int64_t groups);
  void (*join)(void* table, const void* other, std::int64_t groups);
  /// Computes results of a table, to[i] for the first group's, `step` elements apart; in[k] is operand k, a scalar's value.
  void (*finish)(const void* table, std::int64_t groups, const void* const* in, void* const* to, const std::int64_t* step);
};
struct by_key_host_code {
  double nanoseconds;          // of a core for an element's arithmetic
  block_function elements[3];  // gives the keys, and each of the values that are reduced
  by_key_table_code of_groups, of_all;
};

/// The elements' outputs as targets.
template <class Numbers> struct target_words_of;
template <std::size_t... K> struct target_words_of<std::index_sequence<K...>> {
  using type = words<target_word::make(false, static_cast<int>(K)).word...>;
};

/// The loops of some results of a pass.
template <class Pass, class Results, bool OfAll>
class by_key_host_table {
  using elements = typename Pass::elements;
  using reductions = typename Results::reductions;
  using accumulators = typename Results::accumulators;

  template <class Reduction, int J, std::size_t... K>
  DSL_DETAIL_FN static void read(accumulators& a, const void* const* columns, int i, std::index_sequence<K...>) {
    ((nth<static_cast<int>(K)>(nth_accumulator<J>(a)) =
          static_cast<const memory_t<elements::output(Reduction::first + static_cast<int>(K)).type()>*>(
              columns[Reduction::first + static_cast<int>(K)])[i]),
     ...);
  }

  static void clear(void* table, std::int64_t groups) {
    for (std::int64_t i = 0; i < groups; ++i) static_cast<accumulators*>(table)[i] = reductions::identities();
  }
  static void add(const void* const* columns, int n, void* table, std::int64_t groups) {
    const auto* const keys = static_cast<const memory_t<elements::output(0).type()>*>(columns[0]);
    for (int i = 0; i < n; ++i) {
      const std::int64_t group = OfAll ? 0 : std::int64_t{keys[i]};
      if (static_cast<std::uint64_t>(group) >= static_cast<std::uint64_t>(groups)) continue;
      accumulators mine;
      reductions::visit(
          [&]<class Reduction, int J>() { read<Reduction, J>(mine, columns, i, values_of_reduction<Reduction>{}); });
      reductions::add(static_cast<accumulators*>(table)[group], mine);
    }
  }
  static void join(void* table, const void* other, std::int64_t groups) {
    for (std::int64_t i = 0; i < groups; ++i)
      reductions::add(static_cast<accumulators*>(table)[i], static_cast<const accumulators*>(other)[i]);
  }

  template <class In>
  struct totals_source {
    const accumulators& totals;
    const void* const* in;
    In values;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      if constexpr (Code == op::reduced)
        input_of<Head>(values) = Results::template value_of<value_t<D>, (N & 0xffff), (N >> 16)>(totals);
      else input_of<Head>(values) = *static_cast<const std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>*>(in[N]);
    }
  };
  template <class Values, std::size_t... I>
  DSL_DETAIL_FN static void store(const Values& values, void* const* to, const std::int64_t* step, std::int64_t at,
                                  std::index_sequence<I...>) {
    ((static_cast<memory_t<Pass::results::output(Results::first + static_cast<int>(I)).type()>*>(to[I])[at * step[I]] =
          static_cast<memory_t<Pass::results::output(Results::first + static_cast<int>(I)).type()>>(
              nth<Results::first + static_cast<int>(I)>(values))),
     ...);
  }
  static void finish(const void* table, std::int64_t groups, const void* const* in, void* const* to, const std::int64_t* step) {
    using after = evaluator<typename Pass::results>;
    for (std::int64_t i = 0; i < groups; ++i) {
      totals_source<typename after::inputs> from{static_cast<const accumulators*>(table)[i], in, {}};
      after::read(from);
      store(after::compute(from.values), to, step, i,
            std::make_index_sequence<static_cast<std::size_t>(Results::end - Results::first)>{});
    }
  }

 public:
  static constexpr by_key_table_code code() { return {&clear, &add, &join, &finish}; }
};

template <class Pass, int Groups>
class by_key_host_loop {
  using elements = typename Pass::elements;
  using stored = pass_with<elements, no_program, typename target_words_of<std::make_index_sequence<elements::outputs>>::type,
                           pass_reductions<>>;
  using of_all = results_of_all<Pass, Groups>;

 public:
  static constexpr by_key_host_code code() {
    const host_code of = host_loop<stored>::code();
    by_key_host_code made{of.nanoseconds,
                          {of.block[0], of.block[1], of.block[2]},
                          by_key_host_table<Pass, results_of_groups<Pass, Groups>, false>::code(),
                          {}};
    if constexpr (of_all::reductions::count > 0) made.of_all = by_key_host_table<Pass, of_all, true>::code();
    return made;
  }
};

}  // namespace dsl::detail
