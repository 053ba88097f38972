// A loss of which those reductions are evaluated whose values its gradient reads.
#pragma once

#include <dsl/lang/gradient_sweep.hpp>

namespace dsl::detail {

/// The value of a region of given operands: the region's expression as one function.
template <class E>
struct region_function {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = typename calls_of<E>::type;
  template <class... S> static constexpr auto trace(tracer& t, const S&... s) {
    return region_value<E>::template trace<0>(t, tuple<S...>(s...));
  }
};

/// Evaluates what a loss and its gradient both compute. The last region of a loss has reductions
/// among its operands, and the regions of their elements may have further cuts. Of these two levels
/// the cuts are evaluated on whose values the weights in their region depend. Cuts inside them are
/// not: the statement that evaluates a cut computes them. V: views of the variables.
template <class... V>
struct evaluated_loss {
  /// The loss in which such cuts are `evaluated_cut`s. Does not wait.
  template <class Loss>
  static auto of(const Loss& loss) {
    return region<true, false>(loss);
  }

 private:
  // Whether the weight of an operand K that may read a variable depends on operand I.
  template <class E, std::size_t I, std::size_t... K>
  static constexpr bool is_read(std::index_sequence<K...>) {
    return ([] {
      if constexpr (may_read<std::tuple_element_t<K, region_operands_t<E>>, V...>)
        return weights_read<E, I, K>();
      else return false;
    }() || ...);
  }
  template <class E, std::size_t... K>
  static constexpr bool has_cuts(std::index_sequence<K...>) {
    return (is_cut<std::tuple_element_t<K, region_operands_t<E>>> || ...);
  }

  // The expression E of a region. `All`: all its cuts are evaluated, because the weight of its
  // value depends on that value, and so on all of them.
  template <bool Outermost, bool All, class E>
  static auto region(const E& e) {
    constexpr std::make_index_sequence<region_size<E>> numbers{};
    if constexpr (!may_read<E, V...> || !has_cuts<E>(numbers)) {
      return e;
    } else {
      const auto operands = region_operands(e);
      const auto with = [&]<std::size_t K>() {
        constexpr bool is_needed = All || is_read<E, K>(numbers);
        return part<Outermost, is_needed>(get<K>(operands));
      };
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        if constexpr (is_cut<E>) return with.template operator()<0>();
        else return make_checked_expression<region_function<E>>(with.template operator()<K>()...);
      }(numbers);
    }
  }
  template <bool Outermost, bool Evaluate, class X>
  static auto part(const X& x) {
    if constexpr (!is_cut<X>) {
      return x;
    } else if constexpr (Outermost && may_read<X, V...>) {
      return part<false, Evaluate>(inside(x));
    } else if constexpr (Evaluate) {
      return with_values(x, as_operand(eval(x)));
    } else {
      return x;
    }
  }
  template <class X>
  static X inside(const X& x) {
    return x;
  }
  template <class F, int R, class... X>
  static auto inside(const reduction<F, R, X...>& e) {
    constexpr bool is_linear = is_sum<F> || std::same_as<F, mean_function>;
    return map_operands(e, [](const auto& x) { return region<false, !is_linear>(x); });
  }
};

}  // namespace dsl::detail
