// Reduces pairs of a key and an accumulator in buckets, each with as many groups as fit in a table.
#pragma once

#include <dsl/exec/by_key/by_key_table.hpp>

namespace dsl::detail {

/// One thread of the kernels that make tables of pairs.
template <class PassReductions, bool Counts, class Memory, class Team>
struct by_key_buckets {
  using reductions = reductions_of<PassReductions>;
  using accumulators = typename reductions::accumulators;
  static constexpr int vectors = sizeof(accumulators) > 16 ? 4 : sizeof(accumulators) > 8 ? 8 : 16;
  using table = by_key_table<PassReductions, Counts, vectors, Memory, Team>;
  const by_key_parameters& given;
  Memory memory;
  Team team;

  /// Finds the beginning of each bucket and the end of the last one, one thread for each.
  DSL_DETAIL_KERNEL_FN void find_bounds() const {
    const std::int64_t bucket = team.block() * team.threads() + team.thread();
    if (bucket > given.pairs.buckets) return;
    std::int64_t first = 0, left = given.pairs.count;
    while (left > 0) {
      const std::int64_t half = left / 2;
      const bool is_before = bucket_of(first + half) < bucket;
      first = is_before ? first + half + 1 : first;
      left = is_before ? left - half - 1 : half;
    }
    memory.store(given.pairs.bounds + bucket, first);
  }

  /// Makes a table of each bucket's pairs in the block's slice.
  DSL_DETAIL_KERNEL_FN void accumulate() const {
    const by_key_pairs& p = given.pairs;
    std::int64_t first = team.block() * p.slice;
    const std::int64_t behind = first + p.slice, end = behind < p.count ? behind : p.count;
    table t(given, memory, team);
    if (first >= end) return;
    DSL_DETAIL_ROLLED
    for (std::int64_t bucket = bucket_of(first); first < end && bucket < p.buckets; ++bucket) {
      const std::int64_t next = memory.template load<std::int64_t>(p.bounds + bucket + 1),
                         last = next < end ? next : end;
      if (first == last) continue;
      t.clear();
      add(t, first, last, static_cast<unsigned>(bucket << p.log2_span));
      t.leave(static_cast<accumulators*>(given.partials) + team.block() * given.span +
              (bucket << p.log2_span));
      team.synchronize();
      first = last;
    }
  }

 private:
  struct pair_words { unsigned key[vectors], value[vectors]; };

  DSL_DETAIL_KERNEL_FN std::int64_t bucket_of(std::int64_t i) const {
    return memory.template load<std::uint32_t>(given.pairs.sorted_keys + i) >>
           given.pairs.log2_span;
  }

  DSL_DETAIL_KERNEL_FN void add(table& t, std::int64_t first, std::int64_t last,
                                unsigned first_group) const {
    const std::int64_t together = team.threads() * vectors;
    std::int64_t at = first + team.warp() * Team::warp_size * vectors + team.lane();
    pair_words words;
    read(words, at, last);
    DSL_DETAIL_ROLLED
    for (std::int64_t left = last - first; left > 0; left -= together) {
      typename table::batch b;
      DSL_DETAIL_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const bool exists = at + v * Team::warp_size < last && words.key[v] < given.groups;
        t.put(b, v, exists, words.key[v] - first_group);
        if constexpr (!Counts) {
          b.element[v] = reductions::identities();
          if (exists) b.element[v] = accumulator_of(words.value[v]);
        }
      }
      at += together;
      // The loads are in flight while the previous pairs are added.
      read(words, at, last);
      t.template add<vectors>(b);
    }
  }
  DSL_DETAIL_KERNEL_FN void read(pair_words& to, std::int64_t at, std::int64_t last) const {
    DSL_DETAIL_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const std::int64_t i = at + v * Team::warp_size;
      to.key[v] = i < last ? memory.template load<std::uint32_t>(given.pairs.sorted_keys + i) : 0;
      if constexpr (!Counts)
        to.value[v] =
            i < last ? memory.template load<std::uint32_t>(given.pairs.sorted_values + i) : 0;
    }
  }
  DSL_DETAIL_KERNEL_FN accumulators accumulator_of(std::uint32_t value) const {
    if constexpr (sizeof(accumulators) == sizeof value) {
      accumulators a;
      memcpy(&a, &value, sizeof a);
      return a;
    } else {
      return memory.template load<accumulators>(
          static_cast<const accumulators*>(given.pairs.accumulators) + value);
    }
  }
};

}  // namespace dsl::detail
