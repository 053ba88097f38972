// Formulas around one product of matrices that are part of its call: times * product + plus * c.
#pragma once

#include <dsl/linear/matmul.hpp>

#include <optional>

namespace dsl::detail {

/// The product in a formula of sums and factors; void if there is none. The first one if there are
/// several.
template <class E> struct product_in { using type = void; };
template <class A, class... Rest> struct first_product {
  using type =
      std::conditional_t<std::is_void_v<typename product_in<A>::type>,
                         typename first_product<Rest...>::type, typename product_in<A>::type>;
};
template <class A> struct first_product<A> : product_in<A> {};
template <dtype D, int R, class... X>
struct product_in<array_operation<product_of_matrices<D>, D, R, X...>> {
  using type = array_operation<product_of_matrices<D>, D, R, X...>;
};
template <op Code, class... X>
  requires(Code == op::add || Code == op::subtract || Code == op::multiply || Code == op::negative)
struct product_in<expression<table_function<Code>, X...>> : first_product<X...> {};

/// What an expression is to the call of a product P: nothing, the product, elements that are added
/// to it, or the sum of both; each of them times a number.
enum class part_of_call : std::uint8_t { none, product, addend, sum };

template <class P, class E> inline constexpr part_of_call part_in = part_of_call::none;
template <class P> inline constexpr part_of_call part_in<P, P> = part_of_call::product;
template <class Operation, dtype D, int R, class... X>
inline constexpr part_of_call
    part_in<array_operation<Operation, D, R, X...>, view<const element_t<D>, R>> =
        part_of_call::addend;
template <class P, class X>
inline constexpr part_of_call part_in<P, expression<table_function<op::negative>, X>> =
    part_in<P, X>;

/// Whether a product keeps its dtype beside a C++ number.
template <class P, class T> inline constexpr bool may_weigh = false;
template <class Operation, dtype D, int R, class... X, class T>
inline constexpr bool may_weigh<array_operation<Operation, D, R, X...>, T> =
    kind_of(dtype_v<T>) <= kind_of(D);
template <class P, class T, class X>
inline constexpr part_of_call
    part_in<P, expression<table_function<op::multiply>, value_leaf<T>, X>> =
        may_weigh<P, T> ? part_in<P, X> : part_of_call::none;
template <class P, class T, class X>
inline constexpr part_of_call
    part_in<P, expression<table_function<op::multiply>, X, value_leaf<T>>> =
        may_weigh<P, T> ? part_in<P, X> : part_of_call::none;

constexpr part_of_call part_of_two(part_of_call a, part_of_call b) {
  const bool is_sum = (a == part_of_call::product && b == part_of_call::addend) ||
                      (a == part_of_call::addend && b == part_of_call::product);
  return is_sum ? part_of_call::sum : part_of_call::none;
}
template <class P, class X, class Y>
inline constexpr part_of_call part_in<P, expression<table_function<op::add>, X, Y>> =
    part_of_two(part_in<P, X>, part_in<P, Y>);
template <class P, class X, class Y>
inline constexpr part_of_call part_in<P, expression<table_function<op::subtract>, X, Y>> =
    part_of_two(part_in<P, X>, part_in<P, Y>);

template <class Target, class P> inline constexpr bool may_be_target = false;
template <class Target, class Operation, dtype D, int R, class... X>
inline constexpr bool may_be_target<Target, array_operation<Operation, D, R, X...>> =
    std::remove_cvref_t<Target>::rank == R && is_writable<std::remove_reference_t<Target>> &&
    std::same_as<typename std::remove_cvref_t<Target>::value_type, element_t<D>>;
template <class T>
std::complex<double> as_weight(const T& number) {
  if constexpr (kind_of(dtype_v<T>) == kind::complex)
    return {static_cast<double>(number.real()), static_cast<double>(number.imag())};
  else return static_cast<double>(number);
}

/// The parts of such an expression, and the numbers that they are multiplied by.
template <class P, class Addend>
struct parts_of_call {
  const P* product = nullptr;
  const Addend* addend = nullptr;
  product_weights weights;

  template <class E> void read(const E& e, std::complex<double> weight) {
    if constexpr (std::same_as<E, P>) {
      product = &e;
      weights.times = weight;
    } else if constexpr (std::same_as<E, Addend>) {
      addend = &e;
      weights.plus = weight;
    } else {
      read_operands(e, weight);
    }
  }

 private:
  template <op Code, class X, class... Y>
  void read_operands(const expression<table_function<Code>, X, Y...>& e,
                     std::complex<double> weight) {
    const X& x = get<0>(e.operands);
    if constexpr (Code == op::negative) {
      read(x, -weight);
    } else {
      const auto& y = get<1>(e.operands);
      if constexpr (Code == op::multiply) {
        if constexpr (part_in<P, X> == part_of_call::none) read(y, weight * as_weight(x.value));
        else read(x, weight * as_weight(y.value));
      } else {
        read(x, weight);
        read(y, Code == op::subtract ? -weight : weight);
      }
    }
  }
};

/// The call that an expression is, into a target: the product with its weights. If elements are
/// added to the product, they must be the target's, and apart from the factors.
template <class Target, class E>
auto as_one_call(Target& target, const E& e) {
  using P = typename product_in<E>::type;
  constexpr dtype D = trace_t<P>::type.type;
  parts_of_call<P, view<const element_t<D>, P::rank>> parts;
  parts.read(e, 1);
  std::optional<P> call;
  if (!may_be_weight(D, parts.weights.times)) return call;
  if constexpr (part_in<P, E> == part_of_call::sum) {
    if (!may_be_weight(D, parts.weights.plus) || !target.has_memory()) return call;
    const auto to = as_mutable_view(target);
    if (!is_all_of(to, *parts.addend) || !may_run_into(to, *parts.product)) return call;
  }
  call.emplace(*parts.product);
  call->operation.weights = parts.weights;
  return call;
}

template <class Target, op Code, class... X>
  requires(
      may_be_target<Target, typename product_in<expression<table_function<Code>, X...>>::type> &&
      part_in<typename product_in<expression<table_function<Code>, X...>>::type,
              expression<table_function<Code>, X...>> != part_of_call::none)
struct one_call<Target, expression<table_function<Code>, X...>> {
  static constexpr bool is_possible = true;
  static auto of(Target& target, const expression<table_function<Code>, X...>& e) {
    return as_one_call(target, e);
  }
};

}  // namespace dsl::detail
