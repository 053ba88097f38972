// Accumulators: the values that a reduction combines, and how threads and blocks combine theirs.
#pragma once

#include <dsl/exec/team/arguments.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// The accumulator of a reduction.
template <class Reduction> using accumulator_of =
    typename evaluator<typename Reduction::combine>::results;

/// Two accumulators as the inputs of a combining rule.
template <class Reduction>
struct accumulator_pair {
  const accumulator_of<Reduction>&a, &b;
  typename evaluator<typename Reduction::combine>::inputs in;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_FN void read() {
    if constexpr (N < Reduction::values) input_of<Head>(in) = nth<N>(a);
    else input_of<Head>(in) = nth<N - Reduction::values>(b);
  }
};

template <class Reduction>
DSL_DETAIL_FN accumulator_of<Reduction> combine(const accumulator_of<Reduction>& a,
                                                const accumulator_of<Reduction>& b) {
  using rule = evaluator<typename Reduction::combine>;
  accumulator_pair<Reduction> from{a, b, {}};
  rule::read(from);
  return rule::compute(from.in);
}

template <class Reduction> using values_of_reduction =
    std::make_index_sequence<static_cast<std::size_t>(Reduction::values)>;

template <class Reduction, std::size_t... K>
DSL_DETAIL_FN accumulator_of<Reduction> identity_of(std::index_sequence<K...>) {
  accumulator_of<Reduction> s;
  ((nth<static_cast<int>(K)>(s) =
        from_literal<value_t<Reduction::combine::output(static_cast<int>(K)).type()>>(
            Reduction::identity(static_cast<int>(K)))),
   ...);
  return s;
}
template <class Reduction> DSL_DETAIL_FN accumulator_of<Reduction> identity() {
  return identity_of<Reduction>(values_of_reduction<Reduction>{});
}

/// The accumulator for a single element.
template <class Reduction, class Results, std::size_t... K>
DSL_DETAIL_FN accumulator_of<Reduction> accumulator_of_element(const Results& element,
                                                               std::index_sequence<K...>) {
  accumulator_of<Reduction> s;
  ((nth<static_cast<int>(K)>(s) = nth<Reduction::first + static_cast<int>(K)>(element)), ...);
  return s;
}

/// The node that computes a value.
constexpr int node_of(const program_view& p, reference value) {
  int i = 0;
  while (i < p.nodes - 1 &&
         (head{p.heads[i]}.type() != value.type() || head{p.heads[i]}.slot() != value.slot()))
    ++i;
  return i;
}
/// The number of the operand that such a node reads.
constexpr int input_number(const program_view& p, reference value) {
  return static_cast<int>(p.payloads[node_of(p, value)]);
}

/// Whether a reduction adds integers that were widened from 8 or 16 bits: the sum of a thread's
/// lanes then fits in 32 bits.
template <class Reduction, class Elements>
inline constexpr bool adds_narrow_integers = [] {
  const program_view rule = Reduction::combine::view(), elements = Elements::view();
  const int i = node_of(elements, Elements::output(Reduction::first));
  if (Reduction::values != 1 || rule.nodes != 3 || head{rule.heads[2]}.code() != op::add)
    return false;
  const dtype from = head{elements.heads[i]}.code() == op::convert
                         ? reference::of(elements.payloads[i], 0).type()
                         : dtype::float64;
  return kind_of(from) <= kind::integer && size_of(from) <= 2;
}();

constexpr bool compares(op code) { return code >= op::equal && code <= op::greater_equal; }

/// The value of a reduction that counts elements and that its rule only compares with the other
/// accumulator's or selects; -1: none. Among adjacent elements it may be counted from the first
/// one: the numbers are then known at compile time, and a rule such as argmax's need not compare
/// them.
template <class Reduction, class Elements>
inline constexpr int counting_value = [] {
  const program_view rule = Reduction::combine::view(), elements = Elements::view();
  for (int v = 0; v < Reduction::values; ++v) {
    const int counted = node_of(elements, Elements::output(Reduction::first + v)),
              chosen = node_of(rule, rule.output(v));
    bool counts = head{elements.heads[counted]}.code() == op::index &&
                  head{rule.heads[chosen]}.code() == op::where;
    const auto is_one = [&](int i, int k) {
      const int from = node_of(rule, reference::of(rule.payloads[i], k));
      return head{rule.heads[from]}.code() == op::value &&
             static_cast<int>(rule.payloads[from]) % Reduction::values == v;
    };
    for (int i = 0; i < rule.nodes; ++i) {
      const op code = head{rule.heads[i]}.code();
      int used = 0;
      for (int k = 0; k < operand_count(code); ++k) used += is_one(i, k) ? 1 : 0;
      counts = counts &&
               (used == 0 || (used == 2 && (compares(code) || (i == chosen && !is_one(i, 0)))));
    }
    if (counts) return v;
  }
  return -1;
}();

/// Adds the first `count` of N adjacent elements. Accumulators of more than 8 bytes are first
/// combined among these elements: that takes fewer instructions, but makes sums of single values
/// slower (docs/lab.md). `step`: the increment of a counting operand between elements, more
/// than 0.
template <class Reduction, class Elements, class Results, int N, class Step>
DSL_DETAIL_FN void add_lanes(accumulator_of<Reduction>& to, const Results (&of)[N], int count,
                             const Step& step) {
  constexpr int counting = counting_value<Reduction, Elements>;
  const auto element = [&](int l) {
    auto one = accumulator_of_element<Reduction>(of[l], values_of_reduction<Reduction>{});
    if constexpr (counting >= 0) nth<counting>(one) = l;
    return one;
  };
  if constexpr (adds_narrow_integers<Reduction, Elements>) {
    std::int32_t mine = 0;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < N; ++l)
      if (l < count) mine += static_cast<std::int32_t>(nth<Reduction::first>(of[l]));
    nth<0>(to) =
        math::add(nth<0>(to), static_cast<std::remove_cvref_t<decltype(nth<0>(to))>>(mine));
  } else if constexpr (sizeof(to) > 8) {
    auto mine = element(0);
    DSL_DETAIL_UNROLL
    for (int l = 1; l < N; ++l)
      if (l < count) mine = combine<Reduction>(mine, element(l));
    if constexpr (counting >= 0) {
      constexpr int operand =
          input_number(Elements::view(), Elements::output(Reduction::first + counting));
      nth<counting>(mine) =
          nth<Reduction::first + counting>(of[0]) + nth<counting>(mine) * step(operand);
    }
    to = combine<Reduction>(to, mine);
  } else {
    DSL_DETAIL_UNROLL
    for (int l = 0; l < N; ++l)
      if (l < count) to = combine<Reduction>(to, element(l));
  }
}

template <int J, class State> struct accumulator { State state; };
template <int J, class State> DSL_DETAIL_FN State& nth_accumulator(accumulator<J, State>& a) {
  return a.state;
}
template <int J, class State> DSL_DETAIL_FN const State& nth_accumulator(
    const accumulator<J, State>& a) {
  return a.state;
}

template <class Reductions, class Numbers> struct accumulators_of;
template <class... F, std::size_t... J>
struct accumulators_of<pass_reductions<F...>, std::index_sequence<J...>>
    : accumulator<static_cast<int>(J), accumulator_of<F>>... {};

/// All reductions of a pass.
template <class Reductions> struct reductions_of;
template <class... F>
struct reductions_of<pass_reductions<F...>> {
  static constexpr int count = sizeof...(F);
  using numbers = std::index_sequence_for<F...>;
  using accumulators = accumulators_of<pass_reductions<F...>, numbers>;
  /// Bytes of the largest accumulator.
  static constexpr std::size_t most_bytes = [] {
    std::size_t most = 0;
    ((most = sizeof(accumulator_of<F>) > most ? sizeof(accumulator_of<F>) : most), ...);
    return most;
  }();

  DSL_DETAIL_FN static accumulators identities() { return identities(numbers{}); }
  /// The accumulators for a single element.
  template <class Results>
  DSL_DETAIL_FN static accumulators of_element(const Results& element) {
    return of_element(element, numbers{});
  }
  DSL_DETAIL_FN static void add(accumulators& to, const accumulators& other) {
    add(to, other, numbers{});
  }
  /// Adds the first `count` of N adjacent elements.
  template <class Elements, class Results, int N, class Step>
  DSL_DETAIL_FN static void add_lanes(accumulators& to, const Results (&of)[N], int count,
                                      const Step& step) {
    visit([&]<class Reduction, int J>() {
      detail::add_lanes<Reduction, Elements>(nth_accumulator<J>(to), of, count, step);
    });
  }
  /// Calls each<Reduction, number>() for each reduction.
  template <class Each>
  DSL_DETAIL_FN static void visit(Each&& each) {
    visit(each, numbers{});
  }

 private:
  template <std::size_t... J>
  DSL_DETAIL_FN static accumulators identities(std::index_sequence<J...>) {
    accumulators a;
    ((nth_accumulator<static_cast<int>(J)>(a) = identity<F>()), ...);
    return a;
  }
  template <class Results, std::size_t... J>
  DSL_DETAIL_FN static accumulators of_element(const Results& element, std::index_sequence<J...>) {
    accumulators a;
    ((nth_accumulator<static_cast<int>(J)>(a) =
          accumulator_of_element<F>(element, values_of_reduction<F>{})),
     ...);
    return a;
  }
  template <std::size_t... J>
  DSL_DETAIL_FN static void add(accumulators& to, const accumulators& other,
                                std::index_sequence<J...>) {
    ((nth_accumulator<static_cast<int>(J)>(to) = combine<F>(
          nth_accumulator<static_cast<int>(J)>(to), nth_accumulator<static_cast<int>(J)>(other))),
     ...);
  }
  template <class Each, std::size_t... J>
  DSL_DETAIL_FN static void visit(Each& each, std::index_sequence<J...>) {
    (each.template operator()<F, static_cast<int>(J)>(), ...);
  }
};

/// Threads that share a result combine their accumulators in a fixed order: within a warp by
/// halves, that is with the thread `step` further for half a warp, a quarter, ..., then the warps'
/// values one after another. `sharing::owned_by` says which thread has the result.
DSL_DETAIL_FN bool halves_at(int step, const sharing& threads) {
  return step >= threads.distance() && step < threads.span();
}
DSL_DETAIL_FN bool goes_across_warps(const sharing& threads, int warp_size) {
  return threads.log2_threads > 0 && threads.span() > warp_size;
}

/// After the halves: the threads whose values a result's owner combines: the first one, and `count`
/// in all, `step` apart.
struct warp_leaders { int first, step, count; };
DSL_DETAIL_FN warp_leaders leaders_of(int owner, const sharing& threads, int warp_size) {
  const int step = threads.distance() > warp_size ? threads.distance() : warp_size;
  return {(owner >> threads.log2_distance << (threads.log2_distance + threads.log2_threads)) +
              (owner & (threads.distance() - 1)),
          step, threads.span() / step};
}

/// Combines each thread's accumulators with those of the thread `step` further in its warp.
template <class Reductions, class Team>
DSL_DETAIL_KERNEL_FN void combine_with_lane(typename Reductions::accumulators& sums, int step,
                                            const Team& team) {
  Reductions::visit([&]<class Reduction, int J>() {
    nth_accumulator<J>(sums) = combine<Reduction>(nth_accumulator<J>(sums),
                                                  team.shift_down(nth_accumulator<J>(sums), step));
  });
}
/// The accumulators of the next thread of the warp.
template <class Reductions, class Team>
DSL_DETAIL_KERNEL_FN typename Reductions::accumulators next_of_warp(
    const typename Reductions::accumulators& mine, const Team& team) {
  typename Reductions::accumulators next = mine;
  Reductions::visit([&]<class Reduction, int J>() {
    nth_accumulator<J>(next) = team.shift_down(nth_accumulator<J>(mine), 1);
  });
  return next;
}
/// The sum of a number over this lane of the warp and the lanes before it.
template <class T, class Team>
DSL_DETAIL_KERNEL_FN T sum_up_to_lane(T sum, const Team& team) {
  DSL_DETAIL_UNROLL
  for (int step = 1; step < Team::warp_size; step *= 2) {
    const T before = team.shift_up(sum, step);
    if (team.lane() >= step) sum += before;
  }
  return sum;
}
/// Combines the accumulators of a warp's threads: its first lane gets the result.
template <class Reductions, class Team>
DSL_DETAIL_KERNEL_FN void combine_warp(typename Reductions::accumulators& sums, const Team& team) {
  DSL_DETAIL_UNROLL
  for (int step = Team::warp_size / 2; step > 0; step /= 2)
    combine_with_lane<Reductions>(sums, step, team);
}

}  // namespace dsl::detail
