// The host's loop for elements that are reduced to one result: strip by strip, in registers.
#pragma once

#include <dsl/exec/host/half_lanes.hpp>
#include <dsl/exec/reduce/reduction.hpp>

namespace dsl::detail {

/// Elements that are reduced side by side, each into its own accumulator: as many as fit in
/// registers. Strips are reduced in segments, one after another, and segments pairwise, like
/// NumPy's sums: of 16,384 elements at most 26 are added one after another.
inline constexpr int strip_lanes = 32;

DSL_DETAIL_BEGIN_LOOPS
template <class Pass>
class strips {
  using program = typename Pass::elements;
  using eval = evaluator<program>;
  using reductions = reductions_of<typename Pass::reductions>;
  using accumulators = typename reductions::accumulators;

  // The lanes of a strip, local to a loop so that the compiler keeps them in registers.
  template <class Reduction, class Numbers = values_of_reduction<Reduction>> struct lanes_of;
  template <class Reduction, std::size_t... K>
  struct lanes_of<Reduction, std::index_sequence<K...>>
      : numbered<static_cast<int>(K),
                 std::array<value_t<Reduction::combine::output(static_cast<int>(K)).type()>,
                            strip_lanes>>... {
    DSL_DETAIL_FN accumulator_of<Reduction> at(int l) const {
      accumulator_of<Reduction> s;
      ((nth<static_cast<int>(K)>(s) = nth<static_cast<int>(K)>(*this)[static_cast<std::size_t>(l)]),
       ...);
      return s;
    }
    DSL_DETAIL_FN void set(int l, const accumulator_of<Reduction>& s) {
      ((nth<static_cast<int>(K)>(*this)[static_cast<std::size_t>(l)] = nth<static_cast<int>(K)>(s)),
       ...);
    }
  };
  template <class Reductions, class Numbers> struct strip_of;
  template <class... F, std::size_t... J>
  struct strip_of<pass_reductions<F...>, std::index_sequence<J...>>
      : accumulator<static_cast<int>(J), lanes_of<F>>... {};

  // Whether a reduction has values and their positions, like argmin. A position goes with its
  // value, and among equal values the first one wins: so a later element changes nothing unless it
  // changes the value. That is quick to see, and the number of the strip where it was last seen,
  // which is as wide as the value, stands for the position.
  template <class Reduction>
  static constexpr bool seeks = [] {
    if (Reduction::values != 2) return false;
    const reference at = program::output(Reduction::first + 1);
    for (int i = 0; i < program::nodes; ++i)
      if (const head h{program::data.heads[i]};
          h.code() == op::index && h.type() == at.type() && h.slot() == at.slot())
        return true;
    return false;
  }();
  template <class... F> static constexpr bool any_seeks(pass_reductions<F...>) {
    return (seeks<F> || ...);
  }

 public:
  using strip = strip_of<typename Pass::reductions, typename reductions::numbers>;
  static constexpr bool seeks_positions = any_seeks(typename Pass::reductions{});

 private:
  static constexpr int strips_a_segment = seeks_positions ? 64 : 16, most_partials = 24;

  template <class V>
  DSL_DETAIL_FN static auto bits_of(V v) {
    if constexpr (std::same_as<V, bool>) return static_cast<unsigned char>(v);
    else if constexpr (std::floating_point<V>) return math::to_integer(v);
    else return v;
  }
  template <class V>
  DSL_DETAIL_FN static bool differ(V a, V b) {
    if constexpr (is_complex<V>) return differ(a.re, b.re) || differ(a.im, b.im);
    else return bits_of(a) != bits_of(b);
  }
  template <class V>
  static auto place_of(V v) {
    if constexpr (is_complex<V>) return bits_of(v.re);
    else return bits_of(v);
  }
  // The strip in which each lane's value was last seen.
  template <class Reduction> struct places {
    decltype(place_of(nth<0>(accumulator_of<Reduction>{}))) at[strip_lanes];
  };
  template <class Reductions, class Numbers> struct places_of;
  template <class... F, std::size_t... J>
  struct places_of<pass_reductions<F...>, std::index_sequence<J...>>
      : accumulator<static_cast<int>(J), places<F>>... {};
  using all_places = places_of<typename Pass::reductions, typename reductions::numbers>;

  // The 16-bit floats of a segment.
  using shorts = short_inputs<program, strips_a_segment * strip_lanes>;
  struct source {
    const void* const* in;
    std::int64_t at;
    const shorts& wide;
    std::int64_t lane;
    typename eval::inputs element;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      using T = std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>;
      if constexpr (shorts::has(Head)) input_of<Head>(element) = wide.template at<Head>(lane);
      else if constexpr (Code == op::index)
        input_of<Head>(element) = *static_cast<const std::int64_t*>(in[N]) + at;
      else
        input_of<Head>(element) = static_cast<const T*>(
            in[column_of<program, Code, N, Head>()])[Code <= op::address ? at : 0];
    }
  };
  // Element number `lane` of the segment that begins at `first`.
  DSL_DETAIL_FN static typename eval::results compute(const void* const* in, std::int64_t first,
                                                      const shorts& wide, std::int64_t lane) {
    source from{in, first + lane, wide, lane, {}};
    eval::read(from);
    return eval::compute(from.element);
  }
  struct add_element {
    const typename eval::results& element;
    strip& sums;
    int l;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      auto& mine = nth_accumulator<J>(sums);
      mine.set(l, combine<Reduction>(mine.at(l), accumulator_of_element<Reduction>(
                                                     element, values_of_reduction<Reduction>{})));
    }
  };
  struct add_strip_element {
    const typename eval::results& element;
    strip& sums;
    all_places& seen;
    // The strip's number.
    int l, number;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Reduction>) {
        accumulator_of<Reduction> a = nth_accumulator<J>(sums).at(l),
                                  b = accumulator_of_element<Reduction>(
                                      element, values_of_reduction<Reduction>{});
        nth<1>(a) = 0;
        nth<1>(b) = nth<1>(identity<Reduction>());  // Positions before and after any other.
        const auto value = nth<0>(combine<Reduction>(a, b));
        auto& place = nth_accumulator<J>(seen).at[l];
        place = differ(value, nth<0>(a))
                    ? static_cast<std::remove_reference_t<decltype(place)>>(number)
                    : place;
        nth<0>(nth_accumulator<J>(sums))[static_cast<std::size_t>(l)] = value;
      } else {
        add_element{element, sums, l}.template operator()<Reduction, J>();
      }
    }
  };
  // No element is worse than the identity's value: if that is the result, the first element is.
  struct clear_places {
    all_places& seen;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Reduction>)
        for (int l = 0; l < strip_lanes; ++l) nth_accumulator<J>(seen).at[l] = 0;
    }
  };
  struct set_positions {
    const void* const* in;
    std::int64_t first;
    const shorts& wide;
    const all_places& seen;
    strip& sums;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      if constexpr (seeks<Reduction>)
        for (int l = 0; l < strip_lanes; ++l) {
          const std::int64_t lane =
              strip_lanes * static_cast<std::int64_t>(nth_accumulator<J>(seen).at[l]) + l;
          nth<1>(nth_accumulator<J>(sums))[static_cast<std::size_t>(l)] =
              nth<1>(accumulator_of_element<Reduction>(compute(in, first, wide, lane),
                                                       values_of_reduction<Reduction>{}));
        }
    }
  };
  struct clear_strip {
    strip& sums;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      for (int l = 0; l < strip_lanes; ++l) nth_accumulator<J>(sums).set(l, identity<Reduction>());
    }
  };
  // Clears all lanes outside [begin, end).
  struct clear_others {
    strip& sums;
    int begin, end;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      for (int l = 0; l < strip_lanes; ++l)
        nth_accumulator<J>(sums).set(
            l, choose((l >= begin) & (l < end), nth_accumulator<J>(sums).at(l),
                      identity<Reduction>(), values_of_reduction<Reduction>{}));
    }
    template <class State, std::size_t... K>
    DSL_DETAIL_FN static State choose(bool condition, const State& yes, const State& no,
                                      std::index_sequence<K...>) {
      State s;
      ((nth<static_cast<int>(K)>(s) =
            math::select(condition, nth<static_cast<int>(K)>(yes), nth<static_cast<int>(K)>(no))),
       ...);
      return s;
    }
  };
  struct add_strip {
    strip &to, &other;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      for (int l = 0; l < strip_lanes; ++l)
        nth_accumulator<J>(to).set(
            l, combine<Reduction>(nth_accumulator<J>(to).at(l), nth_accumulator<J>(other).at(l)));
    }
  };
  template <class Reduction, int J, int Half>
  DSL_DETAIL_FN static void join_halves(strip& sums) {
    auto& mine = nth_accumulator<J>(sums);
    DSL_DETAIL_NO_UNROLL
    for (int l = 0; l < Half; ++l) mine.set(l, combine<Reduction>(mine.at(l), mine.at(l + Half)));
    if constexpr (Half > 1) join_halves<Reduction, J, Half / 2>(sums);
  }
  struct join_strip {
    strip& from;
    accumulators& to;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      join_halves<Reduction, J, strip_lanes / 2>(from);
      nth_accumulator<J>(to) =
          combine<Reduction>(nth_accumulator<J>(to), nth_accumulator<J>(from).at(0));
    }
  };
  DSL_DETAIL_FN static void reduce_segment(const void* const* in, std::int64_t first, int count,
                                           strip& sums) {
    all_places seen;
    shorts wide;
    wide.read(in, first, 0, 1, count * strip_lanes);
    reductions::visit(clear_strip{sums});
    reductions::visit(clear_places{seen});
    for (int s = 0; s < count; ++s) {
      DSL_DETAIL_INDEPENDENT
      for (int l = 0; l < strip_lanes; ++l)
        reductions::visit(
            add_strip_element{compute(in, first, wide, s * strip_lanes + l), sums, seen, l, s});
    }
    reductions::visit(set_positions{in, first, wide, seen, sums});
  }

 public:
  /// Adds an element to lane l, if no reduction seeks a position.
  DSL_DETAIL_FN static void add(strip& sums, int l, const typename eval::results& element) {
    reductions::visit(add_element{element, sums, l});
  }

  /// Reduces `length` elements from `first` on. If there are more than one strip, the remainder at
  /// the end is read together with some elements before it, which do not count; if there are fewer,
  /// a whole strip is read, whatever follows them. in[k] is operand k (elements; the first
  /// position; a scalar's value).
  DSL_DETAIL_FN static accumulators reduce(const void* const* in, std::int64_t first,
                                           std::int64_t length) {
    accumulators joined = reductions::identities();
    if (length <= 0) return joined;
    // The partial results of 2^k segments each, one for each set bit of the number of segments, the
    // longest first.
    strip partials[most_partials];
    int held = 0;
    for (std::int64_t left = length, count, segments = 1; left > 0;
         left -= count * strip_lanes, first += count * strip_lanes, ++segments) {
      count = left < strip_lanes                      ? 1
              : left / strip_lanes < strips_a_segment ? left / strip_lanes
                                                      : strips_a_segment;
      const std::int64_t again =
          left < strip_lanes && length > strip_lanes ? strip_lanes - left : 0;
      strip mine;
      reduce_segment(in, first - again, static_cast<int>(count), mine);
      if (left < strip_lanes)
        reductions::visit(
            clear_others{mine, static_cast<int>(again), static_cast<int>(again + left)});
      partials[held++] = mine;
      const bool last = left <= count * strip_lanes;
      for (std::int64_t pairs = segments;
           held > 1 && (pairs % 2 == 0 || last || held == most_partials); pairs /= 2, --held)
        reductions::visit(add_strip{partials[held - 2], partials[held - 1]});
    }
    reductions::visit(join_strip{partials[0], joined});
    return joined;
  }
};
DSL_DETAIL_END_LOOPS

}  // namespace dsl::detail
