// Backwards through a loss: from the weight of its value to the gradients of its variables.
#pragma once

#include <dsl/lang/expression_shape.hpp>
#include <dsl/lang/gradient_memory.hpp>
#include <dsl/lang/may_read.hpp>
#include <dsl/lang/reduction_weights.hpp>

namespace dsl::detail {

/// Whether an expression has no scan that reads a variable and whose derivative is not known
/// (lang/scan_gradient.hpp).
template <class E, class... V> inline constexpr bool scans_have_derivatives = true;
template <class F, class... X, class... V>
inline constexpr bool scans_have_derivatives<expression<F, X...>, V...> =
    (scans_have_derivatives<X, V...> && ...);
template <class F, int R, class... X, class... V>
inline constexpr bool scans_have_derivatives<reduction<F, R, X...>, V...> =
    (scans_have_derivatives<X, V...> && ...);

/// Throws value_error: no gradient goes through an operation on whole arrays.
[[noreturn]] void throw_no_gradient_of_operation();

/// Computes the gradients of a loss, part by part: backwards from its value through the regions
/// between its reductions. V: views of the variables.
template <class... V>
class gradient_sweep {
 public:
  gradient_sweep(variable_gradient* variables, device where)
      : variables_(variables), where_(where) {}

  /// Notes which variables an expression reads. Throws value_error.
  template <class E>
  void note_variables(const E& e) {
    for (const operand& o : leaves_of<E>(e).at)
      if (variable_gradient* const v = find(o)) v->occurs = true;
    visit_arguments(e, [&](const auto& x) { this->note_variables(x); });
  }

  /// Adds the contributions of an expression whose value has the given weight for each element of
  /// `shape`.
  template <class E, class Weight, std::size_t R>
  void add(const E& e, const Weight& weight, const std::array<std::int64_t, R>& shape) {
    if constexpr (may_read<E, V...>) {
      if (!reads_variable(e)) return;
      if constexpr (is_cut<E>) cross(e, weight);
      else add_region(e, weight, shape);
    }
  }

 private:
  variable_gradient* find(const operand& o) {
    return variable_of(o, variables_, static_cast<int>(sizeof...(V)));
  }
  template <class E>
  bool reads_variable(const E& e) {
    bool reads = false;
    for (const operand& o : leaves_of<E>(e).at) reads = reads || find(o) != nullptr;
    visit_arguments(e, [&](const auto& x) { reads = reads || reads_variable(x); });
    return reads;
  }

  template <class E, dtype D, int Rank>
  struct of_kind {
    template <std::size_t K> using operand_type = std::tuple_element_t<K, region_operands_t<E>>;
    template <std::size_t K> static constexpr bool holds = [] {
      using X = operand_type<K>;
      if constexpr (may_read<X, V...>) return trace_t<X>::type.type == D && result_rank<X> == Rank;
      else return false;
    }();
  };
  template <class E>
  struct of_variables {
    template <std::size_t K> static constexpr bool holds =
        may_read<std::tuple_element_t<K, region_operands_t<E>>, V...>;
  };
  template <class X>
  bool is_wanted(const X& x) {
    if constexpr (may_read<X, V...>) return reads_variable(x);
    else return false;
  }
  // Whether the weight of a wanted operand depends on the value of operand I.
  template <class E, std::size_t I, std::size_t... K>
  static bool reads_value([[maybe_unused]] const bool* wanted, std::index_sequence<K...>) {
    if constexpr (is_cut<std::tuple_element_t<I, region_operands_t<E>>>)
      return ((wanted[K] && weights_read<E, I, K>()) || ...);
    else return true;
  }
  template <class E>
  struct of_cut {
    template <std::size_t K> static constexpr bool holds =
        is_cut<std::tuple_element_t<K, region_operands_t<E>>> &&
        may_read<std::tuple_element_t<K, region_operands_t<E>>, V...>;
  };

  // What a region's operands contribute to: a variable's gradient, or the weight of a cut.
  template <std::size_t Count>
  struct receivers {
    gradient_part part[Count > 0 ? Count : 1];
    variable_gradient of_cut[Count > 0 ? Count : 1];
  };

  template <class E, class Weight, std::size_t R>
  void add_region(const E& e, const Weight& weight, const std::array<std::int64_t, R>& shape) {
    constexpr std::size_t count = region_size<E>;
    const auto operands = region_operands(e);
    bool wanted[count]{};
    using numbers = std::make_index_sequence<count>;
    const auto held = [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((wanted[K] = is_wanted(get<K>(operands))), ...);
      return tuple{evaluated_operand(get<K>(operands),
                                     reads_value<E, K>(wanted, chosen<of_variables<E>>(numbers{})),
                                     where_)...};
    }(numbers{});
    const auto values = unpack([](const auto&... x) { return tuple{as_operand(x)...}; }, held);
    receivers<count> to;
    std::int64_t own[max_rank];
    std::copy(shape.begin(), shape.end(), own);
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (find_receiver<K>(get<K>(operands), get<K>(values), to, own, static_cast<int>(R)), ...);
    }(std::make_index_sequence<count>{});
    add_kinds<E, dtype::float16, R>(weight, values, to);
    add_kinds<E, dtype::bfloat16, R>(weight, values, to);
    add_kinds<E, dtype::float32, R>(weight, values, to);
    add_kinds<E, dtype::float64, R>(weight, values, to);
    add_kinds<E, dtype::complex64, R>(weight, values, to);
    add_kinds<E, dtype::complex128, R>(weight, values, to);
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (cross_cut<K>(get<K>(operands), get<K>(values), to), ...);
    }(chosen<of_cut<E>>(std::make_index_sequence<count>{}));
  }
  template <std::size_t K, class X, class Value, class To>
  void find_receiver(const X& x, const Value& value, To& to, const std::int64_t* shape, int rank) {
    if constexpr (may_read<X, V...>) {
      operand o, *at = &o;
      add_leaves(value, at);
      if constexpr (is_cut<X>) {
        if (!reads_variable(x)) return;
        variable_gradient& w = to.of_cut[K];
        w.variable = o;
        w.elements = element_count(o.extents, o.rank, 1);
        w.memory = buffer_ref::allocate(o.extents, o.rank,
                                        static_cast<std::size_t>(size_of(o.type)), where_);
        w.origin = static_cast<char*>(w.memory.data());
        to.part[K] = part_of(w, o, shape, rank);
      } else if (variable_gradient* const v = find(o); v != nullptr && !is_moved_out(value)) {
        to.part[K] = part_of(*v, o, shape, rank);
      }
    }
  }
  template <class E, dtype D, std::size_t R, class Weight, class Values, class To>
  void add_kinds(const Weight& weight, const Values& values, To& to) {
    constexpr auto all = std::make_index_sequence<region_size<E>>{};
    if constexpr (R == 0) {
      add_arrays<E, D, 0>(weight, values, to, chosen<of_kind<E, D, 0>>(all));
    } else {
      // Operands of another rank are seldom the same part of a variable.
      [&]<std::size_t... Less>(std::index_sequence<Less...>) {
        (add_arrays<E, D, static_cast<int>(R)>(
             weight, values, to, chosen<of_kind<E, D, static_cast<int>(R - Less)>>(all)),
         ...);
      }(std::make_index_sequence<R>{});
      add_single_values<E, D>(weight, values, to, chosen<of_kind<E, D, 0>>(all));
    }
  }

  template <class T, int R>
  static view<T, R> elements_of_part(const gradient_part& p) {
    return {p.of->memory, reinterpret_cast<T*>(p.origin), first_of<R>(p.extents),
            first_of<R>(p.strides)};
  }

  // Contributions to arrays: one statement for all operands that contribute to the same part.
  template <class E, dtype D, int R, class Weight, class Values, class To, std::size_t... K>
  void add_arrays(const Weight& weight, const Values& values, To& to, std::index_sequence<K...>) {
    if constexpr (sizeof...(K) > 0) {
      const std::size_t numbers[] = {K...};
      bool done[sizeof...(K)]{};
      for (std::size_t i = 0; i < sizeof...(K); ++i) {
        const gradient_part& part = to.part[numbers[i]];
        if (done[i] || part.of == nullptr) continue;
        bool flags[sizeof...(K)]{};
        for (std::size_t k = i; k < sizeof...(K); ++k)
          if (to.part[numbers[k]] == part) flags[k] = done[k] = true;
        add_part<E, D, R, K...>(part, flags, weight, values);
      }
    }
  }
  template <class E, dtype D, int R, std::size_t... K, std::size_t N, class Weight, class Values>
  void add_part(const gradient_part& part, const bool (&flags)[N], const Weight& weight,
                const Values& values) {
    using T = element_t<D>;
    const auto term = [&]<std::size_t... J, std::size_t... I>(std::index_sequence<J...>,
                                                              std::index_sequence<I...>) {
      return make_checked_expression<region_gradient<E, D, K...>>(
          value_leaf<bool>{flags[J]}..., displacement_of(get<K>(values))..., weight,
          as_read<E, I>(get<I>(values), std::index_sequence<K...>{})...);
    }(std::make_index_sequence<N>{}, std::make_index_sequence<region_size<E>>{});
    if constexpr (R > 0) {
      if (part.summed != 0) {
        const reduction<sum_function, R, std::remove_const_t<decltype(term)>> sum{
            {}, {term}, part.summed};
        return add_to_part<T, R>(part, sum);
      }
    }
    add_to_part<T, R>(part, term);
  }
  // An operand of lower rank whose elements a statement does not read, only their shape, is one
  // element for all: that can be laid out beside any others.
  template <class E, std::size_t I, class X, std::size_t... K>
  static auto as_read(const X& x, std::index_sequence<K...>) {
    if constexpr (is_view_leaf<X> && X::rank > 0 && X::rank < result_rank<E>) {
      constexpr bool is_read = (weights_read<E, I, K>() || ...);
      if constexpr (!is_read) return X(x.owner(), x.origin(), x.extents(), {});
      else return x;
    } else {
      return x;
    }
  }
  // The first contribution is written; others are added, from memory of their own, so that there
  // is one kernel for both.
  template <class T, int R, class Contribution>
  void add_to_part(const gradient_part& part, const Contribution& contribution) {
    const bool adds = begin_part(part);
    const view<T, R> target = elements_of_part<T, R>(part);
    if (!adds) return assign(target, contribution);
    if constexpr (R == 0) {
      scalar<T> added(T{}, where_);
      assign(added.view(), contribution);
      assign(target, apply_function<op::add>(target, added));
    } else {
      array<T, R> added(target.extents(), where_);
      assign(added.view(), contribution);
      assign(target, apply_function<op::add>(target, added));
    }
  }
  // The shift back. Along an axis of one element, which the region may have broadcast, a shift
  // gives that element, or zeros.
  template <class T, int R>
  static displacement_leaf displacement_of(const neighbour_leaf<T, R>& leaf) {
    const bool is_one = leaf.of.extent(leaf.axis) == 1;
    if (!is_one) require_linear(leaf.distance, leaf.beyond);
    return {is_one ? 0 : -leaf.distance, R - 1 - leaf.axis, leaf.beyond};
  }
  template <class X>
  static bool is_moved_out(const X& x) {
    if constexpr (is_neighbour_leaf<X>)
      return x.of.extent(x.axis) == 1 && x.beyond == boundary::zero && x.distance != 0;
    else return false;
  }
  template <class X>
  static value_leaf<bool> displacement_of(const X&) {
    return {false};
  }

  // Contributions to single values: the sums over all elements, in one statement.
  template <class E, dtype D, class Weight, class Values, class To, std::size_t... K>
  void add_single_values(const Weight& weight, const Values& values, To& to,
                         std::index_sequence<K...>) {
    if constexpr (sizeof...(K) > 0) {
      using T = element_t<D>;
      if (!((to.part[K].of != nullptr) || ...)) return;
      const auto sums = unpack(
          [&](const auto&... x) {
            // A weight of rows is evaluated: beside it the sums would be taken for those of rows.
            return make_checked_expression<region_sums<E, D, K...>>(evaluate_reductions(weight),
                                                                    x...);
          },
          values);
      tuple<std::conditional_t<(K >= 0), scalar<T>, void>...> found{
          scalar<T>((static_cast<void>(K), T{}), where_)...};
      unpack([&](auto&... s) { dsl::tie(s...) = sums; }, found);
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        (add_value(to.part[K], get<J>(found)), ...);
      }(std::index_sequence_for<std::integral_constant<std::size_t, K>...>{});
    }
  }
  template <class T>
  void add_value(const gradient_part& part, const scalar<T>& value) {
    if (part.of == nullptr) return;
    gradient_part one = part;
    one.rank = 0;
    add_to_part<T, 0>(one, as_operand(value));
  }

  // ---- from the weight of a cut to the regions before it
  template <std::size_t K, class X, class Value, class To>
  void cross_cut(const X& x, const Value& value, To& to) {
    if (to.part[K].of == nullptr || !to.of_cut[K].is_written) return;
    using T = std::remove_const_t<typename Value::value_type>;
    const variable_gradient& w = to.of_cut[K];
    dsl::extents<Value::rank> strides = row_major(value.extents());
    cross(x, view<const T, Value::rank>(w.memory, reinterpret_cast<const T*>(w.origin),
                                        value.extents(), strides));
  }
  template <class F, int R, class X, class... P, class Weight>
  void cross(const reduction<F, R, X, P...>& e, const Weight& weight) {
    const X& x = get<0>(e.operands);
    constexpr std::size_t rank = X::rank;
    const auto shape = shape_of_expression(x);
    const auto aligned = beside_elements<X::rank>(weight, e.axes);
    if constexpr (requires { F::same_elements; }) {
      const auto& y = get<1>(e.operands);
      add(x, factor_of_product<F, true>(y, aligned), shape);
      add(y, factor_of_product<F, false>(x, aligned), shape);
    } else if constexpr (is_sum<F>) {
      add(x, of_each_element(aligned, shape), shape);
    } else if constexpr (std::same_as<F, mean_function>) {
      std::int64_t count = 1;
      for (std::size_t d = 0; d < rank; ++d) count *= (e.axes >> d & 1) != 0 ? shape[d] : 1;
      add(x, scaled(of_each_element(aligned, shape), 1.0 / static_cast<double>(count)), shape);
    } else {
      const auto adjoint = unpack(
          [&](const auto&, const auto&... p) {
            return adjoint_of_reduction<F, R>(evaluate_reductions(x), aligned, e.axes, p...);
          },
          e.operands);
      add(x, adjoint, shape);
    }
  }

  // A formula that reduces its arguments, or takes elements of them.
  template <class Name, class F, class... X, class Weight>
  void cross(const expression<formula<Name, F>, X...>& e, const Weight& weight) {
    cross_formula<F>(e.operands, weight, shape_of_elements(e), std::index_sequence_for<X...>{});
  }
  template <class Name, class F, auto Takes, class... X, class Weight>
  void cross(const expression<formula<Name, taking<F, Takes>>, X...>& e, const Weight& weight) {
    constexpr std::size_t own = sizeof...(X) - 3 * static_cast<std::size_t>(Takes.taken_count);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      cross_formula<F>(tuple{argument_of_taking(get<I>(e.operands))...}, weight,
                       shape_of_elements(e), std::index_sequence<I...>{});
    }(std::make_index_sequence<own>{});
  }
  template <class X>
  static X argument_of_taking(const X& x) {
    return x;
  }
  template <class T, int R>
  static view<const T, R> argument_of_taking(const table_leaf<T, R>& x) {
    return x.of;
  }
  template <class F, class... X, class Weight, class Shape, std::size_t... I>
  void cross_formula(const tuple<X...>& arguments, const Weight& weight, const Shape& shape,
                     std::index_sequence<I...>) {
    const auto held =
        unpack([](const auto&... x) { return tuple{in_memory_operand(x)...}; }, arguments);
    const auto call = [&]<class G>(std::type_identity<G>, const auto&... first) {
      return unpack([&](const auto&... h) { return vectorized<unnamed, G>{}(first..., h...); },
                    held);
    };
    using takes = takes_of<decltype(call(std::type_identity<F>{})),
                           ((may_read<X, V...> ? std::uint64_t{1} << I : std::uint64_t{0}) | ...)>;
    if constexpr (takes::reads.count > 0) {
      const auto adjoint = call(std::type_identity<taken_adjoint<F, takes>>{}, weight);
      all_taken_weights<takes, std::tuple_size_v<Shape>> taken;
      unpack([&](auto&... to) { dsl::tie(to...) = adjoint; }, targets_of_taken(taken));
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        const auto add_one = [&]<std::size_t N>() {
          constexpr auto argument = static_cast<std::size_t>(takes::reads.at[N].argument);
          const auto& x = get<argument>(held);
          auto sum = gradient_like(x, where_);
          sum = typename decltype(sum)::value_type{};
          add_taken<takes::reads.at[N].axis>(sum, get<N>(taken));
          add(get<argument>(arguments), as_operand(sum), x.extents());
        };
        (add_one.template operator()<K>(), ...);
      }(takes::numbers);
    }
    const auto add_own = [&]<std::size_t K>(const auto& x) {
      using type = std::remove_cvref_t<decltype(x)>;
      if constexpr (may_read<type, V...> && (takes::tables >> K & 1) == 0) {
        const auto adjoint = call(std::type_identity<argument_adjoint<F, K, true>>{}, weight);
        if constexpr (type::rank == 0) add(x, adjoint, std::array<std::int64_t, 0>{});
        else add(x, adjoint, shape);
      }
    };
    (add_own.template operator()<I>(get<I>(arguments)), ...);
  }
  // lang/scan_gradient.hpp
  template <class E, class Weight>
    requires is_materialized<E>
  void cross(const E& e, const Weight& weight) {
    if constexpr (requires { e.operand; }) {
      const auto of_elements = weight_of_scanned(e, weight, where_);
      add(e.operand, as_operand(of_elements), of_elements.extents());
    } else {
      throw_no_gradient_of_operation();
    }
  }
  template <class E, class T, int R, class Weight>
  void cross(const evaluated_cut<E, T, R>& e, const Weight& weight) {
    cross(e.operand, weight);
  }
  // A value that is shifted: its weight is the shift back.
  template <class X, class Weight>
  void cross(const expression<shifted_value, X, displacement_leaf>& e, const Weight& weight) {
    const displacement_leaf& by = get<1>(e.operands);
    require_linear(by.distance, by.beyond);
    const auto shape = shape_of_expression(get<0>(e.operands));
    const device_guard guard(where_);
    add(get<0>(e.operands),
        shift(broadcast_weight(weight, shape), -by.distance, by.beyond, X::rank - 1 - by.axis),
        shape);
  }
  // Elements that are taken: their weights are added to the elements at these positions.
  template <dtype D, class T, int R, class Index, class... Rest, class Weight>
  void cross(const expression<gather_function<D>, address_leaf<T, R>, Index, Rest...>& e,
             const Weight& weight) {
    const view<const T, R>& from = get<0>(e.operands).of;
    operand o, *at = &o;
    add_leaves(get<0>(e.operands), at);
    variable_gradient* const found = find(o);
    if (found == nullptr) return;  // Only the positions depend on a variable.
    variable_gradient& of = *found;
    const std::int64_t count = get<2>(e.operands).value, stride = get<3>(e.operands).value;
    require_taken_within(of, o, count, stride);
    gradient_part whole;
    whole.of = &of;
    begin_part_of_any(whole);
    const auto origin = static_cast<std::int64_t>((o.word[0] - of.variable.word[0]) / sizeof(T));
    const auto within = vectorize([](auto first, auto i, auto n, auto step) {
      const auto from_start = where(i < 0, i + n, i);
      return first + max(min(from_start, n - 1), 0) * step;
    });
    const index_leaf<R> first{origin, from.extents(), from.strides()};
    const view<T, 1> all(of.memory, reinterpret_cast<T*>(of.origin), {of.elements}, {1});
    scatter_add(
        all,
        within(first, cast<std::int64_t>(evaluate_reductions(get<1>(e.operands))), count, stride),
        weight);
  }
  static void begin_part_of_any(gradient_part& whole) {
    whole.rank = 1;
    whole.extents[0] = 0;  // Not all elements, so that it begins with zeros.
    begin_part(whole);
  }

  variable_gradient* variables_;
  device where_;
};

}  // namespace dsl::detail
