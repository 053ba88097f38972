// Reductions by key on the host: what is done with a block of evaluated elements.
#pragma once

#include <dsl/exec/host.hpp>

namespace dsl::detail {

/// Loops as data. A table has an accumulator for each group.
struct by_key_host_code {
  double nanoseconds;          // of a core for an element's arithmetic
  block_function elements[3];  // gives the keys, and each of the values that are reduced
  void (*clear)(void* table, std::int64_t groups);
  /// Adds n elements, whose keys come first, to a table; those of no group are left out.
  void (*add)(const void* const* columns, int n, void* table, std::int64_t groups);
  void (*join)(void* table, const void* other, std::int64_t groups);
  /// Computes results of a table; in[k] is operand k, a scalar's value.
  void (*finish)(const void* table, std::int64_t groups, const void* const* in, void* to, std::int64_t step);
};

/// The elements' outputs as targets.
template <class Numbers> struct target_words_of;
template <std::size_t... K> struct target_words_of<std::index_sequence<K...>> {
  using type = words<target_word::make(false, static_cast<int>(K)).word...>;
};

template <class Pass>
class by_key_host_loop {
  using elements = typename Pass::elements;
  using stored = pass_with<elements, no_program, typename target_words_of<std::make_index_sequence<elements::outputs>>::type,
                           pass_reductions<>>;
  using reductions = reductions_of<typename Pass::reductions>;
  using accumulators = typename reductions::accumulators;

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
      if (static_cast<std::uint64_t>(std::int64_t{keys[i]}) >= static_cast<std::uint64_t>(groups)) continue;
      accumulators mine;
      reductions::visit(
          [&]<class Reduction, int J>() { read<Reduction, J>(mine, columns, i, values_of_reduction<Reduction>{}); });
      reductions::add(static_cast<accumulators*>(table)[keys[i]], mine);
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
      if constexpr (Code == op::reduced) input_of<Head>(values) = nth<(N >> 16)>(nth_accumulator<(N & 0xffff)>(totals));
      else input_of<Head>(values) = *static_cast<const std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>*>(in[N]);
    }
  };
  static void finish(const void* table, std::int64_t groups, const void* const* in, void* to, std::int64_t step) {
    using after = evaluator<typename Pass::results>;
    using T = memory_t<Pass::results::output(0).type()>;
    for (std::int64_t i = 0; i < groups; ++i) {
      totals_source<typename after::inputs> from{static_cast<const accumulators*>(table)[i], in, {}};
      after::read(from);
      static_cast<T*>(to)[i * step] = static_cast<T>(nth<0>(after::compute(from.values)));
    }
  }

 public:
  static constexpr by_key_host_code code() {
    const host_code of = host_loop<stored>::code();
    return {of.nanoseconds, {of.block[0], of.block[1], of.block[2]}, &clear, &add, &join, &finish};
  }
};

}  // namespace dsl::detail
