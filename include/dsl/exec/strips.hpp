// The host's loop over elements that become one: strip by strip, in registers.
#pragma once

#include <dsl/exec/fold.hpp>

namespace dsl::detail {

/// Elements that are folded side by side, each into values of its own: as many as fit into registers. Strips are folded in segments, and
/// the segments into others, so that of 16,384 elements no more than 80 are added one after another.
inline constexpr int strip_lanes = 32;

template <class Pass>
class strips {
  using program = typename Pass::elements;
  using eval = evaluator<program>;
  using folds = folds_of<typename Pass::folds>;
  using accumulators = typename folds::accumulators;

  // The lanes of a strip: a loop's own, so that the compiler keeps them in registers.
  template <class Fold, class Numbers = values_of_fold<Fold>> struct lanes_of;
  template <class Fold, std::size_t... K>
  struct lanes_of<Fold, std::index_sequence<K...>> : numbered<static_cast<int>(K), std::array<value_t<Fold::combine::output(static_cast<int>(K)).type()>, strip_lanes>>... {
    DSL_DETAIL_FN fold_state<Fold> at(int l) const {
      fold_state<Fold> s;
      ((nth<static_cast<int>(K)>(s) = nth<static_cast<int>(K)>(*this)[static_cast<std::size_t>(l)]), ...);
      return s;
    }
    DSL_DETAIL_FN void set(int l, const fold_state<Fold>& s) { ((nth<static_cast<int>(K)>(*this)[static_cast<std::size_t>(l)] = nth<static_cast<int>(K)>(s)), ...); }
  };
  template <class Folds, class Numbers> struct strip_of;
  template <class... F, std::size_t... J>
  struct strip_of<foldings<F...>, std::index_sequence<J...>> : accumulator<static_cast<int>(J), lanes_of<F>>... {};

  // Whether a fold is of values and their positions, as argmin's is. A position is taken along with its value, and of equal values the
  // first: so elements that come later change nothing unless they change the value. That is quick to see, without positions.
  template <class Fold>
  static constexpr bool seeks = [] {
    if (Fold::values != 2) return false;
    const reference at = program::output(Fold::first + 1);
    for (int i = 0; i < program::nodes; ++i)
      if (const head h{program::head_words[i]}; h.code() == op::index && h.type() == at.type() && h.slot() == at.slot()) return true;
    return false;
  }();
  template <class... F> static constexpr bool any_seeks(foldings<F...>) { return (seeks<F> || ...); }

 public:
  using strip = strip_of<typename Pass::folds, typename folds::numbers>;
  static constexpr bool seeks_positions = any_seeks(typename Pass::folds{});

 private:
  static constexpr int strips_a_segment = seeks_positions ? 8 : 32;

  template <class V>
  DSL_DETAIL_FN static auto changed_bits(V a, V b) {
    if constexpr (is_complex<V>) return changed_bits(a.re, b.re) | changed_bits(a.im, b.im);
    else if constexpr (std::floating_point<V>) return math::to_integer(a) ^ math::to_integer(b);
    else return static_cast<std::conditional_t<std::same_as<V, bool>, unsigned char, V>>(a ^ b);
  }
  template <class Fold>
  struct changes { decltype(changed_bits(nth<0>(fold_state<Fold>{}), nth<0>(fold_state<Fold>{}))) at[strip_lanes]; };
  template <class Folds, class Numbers> struct changes_of;
  template <class... F, std::size_t... J>
  struct changes_of<foldings<F...>, std::index_sequence<J...>> : accumulator<static_cast<int>(J), changes<F>>... {};
  using all_changes = changes_of<typename Pass::folds, typename folds::numbers>;

  struct source {
    const void* const* in;
    std::int64_t at;
    typename eval::inputs element;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      using T = std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>;
      if constexpr (Code == op::index) input_of<Head>(element) = *static_cast<const std::int64_t*>(in[N]) + at;
      else input_of<Head>(element) = static_cast<const T*>(in[N])[Code <= op::address ? at : 0];
    }
  };
  // A lane's part: of the folds that seek, or of the others.
  template <bool Seeking>
  struct fold_strip_element {
    const typename eval::results& element;
    strip& sums;
    int l;
    template <class Fold, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Fold> == Seeking) {
        auto& mine = nth_fold<J>(sums);
        mine.set(l, combine<Fold>(mine.at(l), state_of<Fold>(element, values_of_fold<Fold>{})));
      }
    }
  };
  struct watch_strip_element {
    const typename eval::results& element;
    const accumulators& found;
    all_changes& seen;
    int l;
    template <class Fold, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Fold>) {
        const fold_state<Fold>& a = nth_fold<J>(found);
        fold_state<Fold> b = state_of<Fold>(element, values_of_fold<Fold>{});
        nth<1>(b) = nth<1>(identity<Fold>());  // later than any
        nth_fold<J>(seen).at[l] |= changed_bits(nth<0>(a), nth<0>(combine<Fold>(a, b)));
      }
    }
  };
  struct clear_changes {
    all_changes& seen;
    template <class Fold, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Fold>)
        for (int l = 0; l < strip_lanes; ++l) nth_fold<J>(seen).at[l] = 0;
    }
  };
  struct any_change {
    const accumulators& found;
    const all_changes& seen;
    bool& any;
    template <class Fold, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Fold>) {
        std::remove_cvref_t<decltype(nth_fold<J>(seen).at[0])> bits = 0;
        for (int l = 0; l < strip_lanes; ++l) bits |= nth_fold<J>(seen).at[l];
        any = any || bits != 0 || nth<1>(nth_fold<J>(found)) == nth<1>(identity<Fold>());
      }
    }
  };
  // From lane `first` on.
  template <bool Seeking>
  struct clear_strip {
    strip& sums;
    int first;
    template <class Fold, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Fold> == Seeking)
        for (int l = 0; l < strip_lanes; ++l) nth_fold<J>(sums).set(l, choose(l < first, nth_fold<J>(sums).at(l), identity<Fold>(), values_of_fold<Fold>{}));
    }
    template <class State, std::size_t... K>
    DSL_DETAIL_FN static State choose(bool condition, const State& yes, const State& no, std::index_sequence<K...>) {
      State s;
      ((nth<static_cast<int>(K)>(s) = math::select(condition, nth<static_cast<int>(K)>(yes), nth<static_cast<int>(K)>(no))), ...);
      return s;
    }
  };
  struct add_strip {
    strip &to, &other;
    template <class Fold, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (!seeks<Fold>)
        for (int l = 0; l < strip_lanes; ++l) nth_fold<J>(to).set(l, combine<Fold>(nth_fold<J>(to).at(l), nth_fold<J>(other).at(l)));
    }
  };
  template <class Fold, int J, int Half>
  DSL_DETAIL_FN static void join_halves(strip& sums) {
    auto& mine = nth_fold<J>(sums);
    for (int l = 0; l < Half; ++l) mine.set(l, combine<Fold>(mine.at(l), mine.at(l + Half)));
    if constexpr (Half > 1) join_halves<Fold, J, Half / 2>(sums);
  }
  template <bool Seeking>
  struct join_strip {
    strip& from;
    accumulators& to;
    template <class Fold, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Fold> == Seeking) {
        join_halves<Fold, J, strip_lanes / 2>(from);
        nth_fold<J>(to) = combine<Fold>(nth_fold<J>(to), nth_fold<J>(from).at(0));
      }
    }
  };
  // `count` strips, or where there are fewer elements left than a strip has, those.
  template <bool Seeking>
  DSL_DETAIL_FN static void fold_segment(const void* const* in, std::int64_t first, std::int64_t count, std::int64_t left, strip& sums, const accumulators& found, all_changes& seen) {
    folds::visit(clear_strip<Seeking>{sums, 0});
    if constexpr (!Seeking) folds::visit(clear_changes{seen});
    for (std::int64_t s = 0; s < count; ++s, first += strip_lanes) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
      for (int l = 0; l < strip_lanes; ++l) {
        source from{in, first + l, {}};
        eval::read(from);
        const auto results = eval::compute(from.element);
        folds::visit(fold_strip_element<Seeking>{results, sums, l});
        if constexpr (!Seeking) folds::visit(watch_strip_element{results, found, seen, l});
      }
    }
    if (left < strip_lanes) folds::visit(clear_strip<Seeking>{sums, static_cast<int>(left)});
  }

 public:
  /// Folds an element into lane l, where there are no positions.
  DSL_DETAIL_FN static void add(strip& sums, int l, const typename eval::results& element) { folds::visit(fold_strip_element<false>{element, sums, l}); }

  /// The `length` elements from `first` on, folded. Reads whole strips, elements beyond the last one too. in[k] is operand k (elements; of
  /// positions the first, of a scalar the value).
  DSL_DETAIL_FN static accumulators fold(const void* const* in, std::int64_t first, std::int64_t length) {
    strip all, mine;
    if (length <= 0) folds::visit(clear_strip<false>{all, 0});
    accumulators joined = folds::identities();
    for (std::int64_t left = length, count; left > 0; left -= count * strip_lanes, first += count * strip_lanes) {
      count = left < strip_lanes ? 1 : left / strip_lanes < strips_a_segment ? left / strip_lanes : strips_a_segment;
      all_changes seen;
      fold_segment<false>(in, first, count, left, mine, joined, seen);
      if (left == length) all = mine;
      else folds::visit(add_strip{all, mine});
      if constexpr (seeks_positions) {
        bool found = false;
        folds::visit(any_change{joined, seen, found});
        if (!found) continue;
        fold_segment<true>(in, first, count, left, mine, joined, seen);
        folds::visit(join_strip<true>{mine, joined});
      }
    }
    folds::visit(join_strip<false>{all, joined});
    return joined;
  }
};

}  // namespace dsl::detail
