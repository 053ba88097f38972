// Folding: values that many elements become, and how threads and blocks combine theirs.
#pragma once

#include <dsl/exec/arguments.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// The values of a fold.
template <class Fold> using fold_state = typename evaluator<typename Fold::combine>::results;

/// Two states as the inputs of a rule.
template <class Fold>
struct state_pair {
  const fold_state<Fold>&a, &b;
  typename evaluator<typename Fold::combine>::inputs in;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_FN void read() {
    if constexpr (N < Fold::values) input_of<Head>(in) = nth<N>(a);
    else input_of<Head>(in) = nth<N - Fold::values>(b);
  }
};

template <class Fold>
DSL_DETAIL_FN fold_state<Fold> combine(const fold_state<Fold>& a, const fold_state<Fold>& b) {
  using rule = evaluator<typename Fold::combine>;
  state_pair<Fold> from{a, b, {}};
  rule::read(from);
  return rule::compute(from.in);
}

template <class Fold> using values_of_fold = std::make_index_sequence<static_cast<std::size_t>(Fold::values)>;

template <class Fold, std::size_t... K>
DSL_DETAIL_FN fold_state<Fold> identity_of(std::index_sequence<K...>) {
  fold_state<Fold> s;
  ((nth<static_cast<int>(K)>(s) = from_literal<value_t<Fold::combine::output(static_cast<int>(K)).type()>>(Fold::identity(static_cast<int>(K)))), ...);
  return s;
}
template <class Fold> DSL_DETAIL_FN fold_state<Fold> identity() { return identity_of<Fold>(values_of_fold<Fold>{}); }

/// The state that one element is.
template <class Fold, class Results, std::size_t... K>
DSL_DETAIL_FN fold_state<Fold> state_of(const Results& element, std::index_sequence<K...>) {
  fold_state<Fold> s;
  ((nth<static_cast<int>(K)>(s) = nth<Fold::first + static_cast<int>(K)>(element)), ...);
  return s;
}

template <int J, class State> struct accumulator { State state; };
template <int J, class State> DSL_DETAIL_FN State& nth_fold(accumulator<J, State>& a) { return a.state; }
template <int J, class State> DSL_DETAIL_FN const State& nth_fold(const accumulator<J, State>& a) { return a.state; }

template <class Folds, class Numbers> struct accumulators_of;
template <class... F, std::size_t... J>
struct accumulators_of<foldings<F...>, std::index_sequence<J...>> : accumulator<static_cast<int>(J), fold_state<F>>... {};

/// All folds of a pass.
template <class Folds> struct folds_of;
template <class... F>
struct folds_of<foldings<F...>> {
  static constexpr int count = sizeof...(F);
  using numbers = std::index_sequence_for<F...>;
  using accumulators = accumulators_of<foldings<F...>, numbers>;

  DSL_DETAIL_FN static accumulators identities() { return identities(numbers{}); }
  /// What one element is.
  template <class Results>
  DSL_DETAIL_FN static accumulators of_element(const Results& element) { return of_element(element, numbers{}); }
  DSL_DETAIL_FN static void add(accumulators& to, const accumulators& other) { add(to, other, numbers{}); }
  /// Calls each<Fold, number>() for each.
  template <class Each>
  DSL_DETAIL_FN static void visit(Each&& each) { visit(each, numbers{}); }

 private:
  template <std::size_t... J>
  DSL_DETAIL_FN static accumulators identities(std::index_sequence<J...>) {
    accumulators a;
    ((nth_fold<static_cast<int>(J)>(a) = identity<F>()), ...);
    return a;
  }
  template <class Results, std::size_t... J>
  DSL_DETAIL_FN static accumulators of_element(const Results& element, std::index_sequence<J...>) {
    accumulators a;
    ((nth_fold<static_cast<int>(J)>(a) = state_of<F>(element, values_of_fold<F>{})), ...);
    return a;
  }
  template <std::size_t... J>
  DSL_DETAIL_FN static void add(accumulators& to, const accumulators& other, std::index_sequence<J...>) {
    ((nth_fold<static_cast<int>(J)>(to) = combine<F>(nth_fold<static_cast<int>(J)>(to), nth_fold<static_cast<int>(J)>(other))), ...);
  }
  template <class Each, std::size_t... J>
  DSL_DETAIL_FN static void visit(Each& each, std::index_sequence<J...>) {
    (each.template operator()<F, static_cast<int>(J)>(), ...);
  }
};

/// Threads that share a result combine their parts in a fixed order: within a warp by halves, that is with the thread `step` further for
/// step 16, 8, ..., then the warps' values one after another. `sharing::owned_by` says which thread has the result.
DSL_DETAIL_FN bool halves_at(int step, const sharing& threads) { return step >= threads.distance() && step < threads.span(); }
DSL_DETAIL_FN bool goes_across_warps(const sharing& threads) { return threads.log2_parts > 0 && threads.span() > 32; }

/// After the halves: which threads' values a result's owner combines, the first one's and then others `step` apart.
struct warp_leaders { int first, step, count; };
DSL_DETAIL_FN warp_leaders leaders_of(int owner, const sharing& threads) {
  const int step = threads.distance() > 32 ? threads.distance() : 32;
  return {(owner >> threads.log2_distance << (threads.log2_distance + threads.log2_parts)) + (owner & (threads.distance() - 1)), step, threads.span() / step};
}

}  // namespace dsl::detail
