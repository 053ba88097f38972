// Reductions by key assigned together with other reductions.
#pragma once

#include <dsl/lang/by_key.hpp>
#include <dsl/lang/tied_apart.hpp>

#include <algorithm>
#include <array>

namespace dsl::detail {

// The indices of the expressions for which a condition holds, in order.
template <bool... Holds>
constexpr auto numbers_where() {
  constexpr std::size_t count = (std::size_t{0} + ... + (Holds ? 1 : 0));
  return []<std::size_t... I>(std::index_sequence<I...>) {
    constexpr auto found = [] {
      constexpr bool holds[] = {Holds...};
      std::array<std::size_t, count + 1> at{};
      for (std::size_t i = 0, n = 0; i < sizeof...(Holds); ++i)
        if (holds[i]) at[n++] = i;
      return at;
    }();
    return std::index_sequence<found[I]...>{};
  }(std::make_index_sequence<count>{});
}

/// Whether all reductions by key have the same keys and number of groups.
template <class... E>
bool have_one_key(const E&... e) {
  const auto& first = get<0>(tuple<const E&...>{e...});
  constexpr int leaves = leaf_count<decltype(first.keys)>;
  operand of_first[leaves + 1], *at = of_first;
  add_leaves(first.keys, at);
  const auto is_same = [&](const auto& other) {
    operand of_other[leaves + 1], *to = of_other;
    add_leaves(other.keys, to);
    return other.request.groups == first.request.groups &&
           other.request.ignores_others == first.request.ignores_others &&
           std::equal(of_first, of_first + leaves, of_other, is_one_operand);
  };
  return (is_same(e) && ...);
}
/// Whether another reduction reads the same elements as the reductions by key.
template <class Other, class... Groups>
bool reduces_keyed_elements(const tuple<Groups...>& groups, const Other& other) {
  constexpr int of_groups = leaves_of_groups<Groups...>;
  operand leaves[of_groups + leaf_count<Other>], *at = leaves;
  add_leaves(get<0>(groups).keys, at);
  unpack([&at](const auto&... g) { (add_leaves(g.values, at), ...); }, groups);
  add_leaves(other, at);
  return is_space_of_keys(leaves, of_groups, leaf_count<Other>);
}
template <class... Groups, class... All>
bool are_of_keys(const tuple<Groups...>& groups, const tuple<All...>& all) {
  if (get<0>(groups).request.groups == 0 ||
      !unpack([](const auto&... e) { return have_one_key(e...); }, groups))
    return false;
  return unpack(
      [&groups](const auto&... other) { return (reduces_keyed_elements(groups, other) && ...); },
      all);
}

template <class... T, std::size_t... I>
tuple<std::tuple_element_t<I, tuple<T...>>...> some_of(const tuple<T...>& all,
                                                       std::index_sequence<I...>) {
  return {get<I>(all)...};
}
template <class First, class... Groups>
constexpr bool keys_are_of_one_type(std::type_identity<tuple<First, Groups...>>) {
  return (std::same_as<typename by_key_of<Groups>::keys, typename by_key_of<First>::keys> && ...);
}
/// Whether an expression is one reduction of all elements of its operands, or a formula of such a
/// reduction and scalars.
template <class E>
constexpr bool reduces_once() {
  if constexpr (is_by_key<E> || is_materialized<E> || !lazy<E>) return false;
  else if constexpr (reductions_in<E> != 1) return false;
  else return result_rank<E> == 0 && std::tuple_size_v<outputs_of<E>> == 1;
}

template <class... E>
constexpr bool each_reduces_once(std::type_identity<tuple<E...>>) {
  return (reduces_once<E>() && ...);
}

template <class Groups, class All, class... Targets>
pass_by_key<Groups, All, Targets...> pass_by_key_of(const Groups&, const All&,
                                                    const tuple<Targets&...>&);

template <class Targets, class E, std::size_t... G, std::size_t... A>
void assign_by_keys_of(const Targets& targets, const E& e, std::index_sequence<G...> by_key,
                       std::index_sequence<A...> others) {
  const auto groups = some_of(e, by_key);
  const auto all = some_of(e, others);
  constexpr bool may_be_one =
      keys_are_of_one_type(std::type_identity<std::remove_const_t<decltype(groups)>>{}) &&
      each_reduces_once(std::type_identity<std::remove_const_t<decltype(all)>>{});
  if constexpr (may_be_one) {
    const auto to = some_of(targets, std::index_sequence<G..., A...>{});
    using pass = decltype(pass_by_key_of(groups, all, to));
    if constexpr (pass::is_one_pass)
      if (are_of_keys(groups, all)) return pass::with(to, groups, all, true, run_keyed);
  }
  assign_apart(targets, e, std::make_index_sequence<sizeof...(G) + sizeof...(A)>{});
}

/// Assigns expressions, of which some are reductions by key, to one target each. Runs as one pass
/// if all reductions by key have the same keys and number of groups, and each other expression is
/// one reduction of the elements that the keys belong to. Otherwise they run one after another, as
/// `assign_apart`.
template <class... Targets, class... E>
void assign_by_keys(const tuple<Targets&...>& targets, const E&... e) {
  static_assert(sizeof...(Targets) == sizeof...(E),
                "beside a reduction by key each expression has one target");
  if constexpr (sizeof...(Targets) == sizeof...(E)) {
    assign_by_keys_of(targets, tuple<decltype(as_part(e))...>{as_part(e)...},
                      numbers_where<is_by_key<E>...>(), numbers_where<!is_by_key<E>...>());
  }
}

}  // namespace dsl::detail
