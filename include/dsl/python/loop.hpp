// Time loops as Python functions.
#pragma once

#include <dsl/lang/iterate.hpp>
#include <dsl/python/kernel.hpp>

namespace dsl::python::detail {

template <class Histories> struct histories_as_tuple;
template <class T, int R> struct histories_as_tuple<array<T, R>> {
  static auto make(array<T, R>&& history) {
    return dsl::detail::tuple<array<T, R>>(std::move(history));
  }
};
template <class... H> struct histories_as_tuple<std::tuple<H...>> {
  static auto make(std::tuple<H...>&& all) {
    return dsl::detail::unpack([](auto&... h) { return dsl::detail::tuple<H...>(std::move(h)...); },
                               all);
  }
};
template <> struct histories_as_tuple<dsl::detail::tuple<>> {
  static auto make(dsl::detail::tuple<>&&) { return dsl::detail::tuple<>(); }
};

/// The first parameters are the state, one for each value of the formula; the others are the loop's
/// own parameters.
template <class F, class... P>
class loop_function {
  using all = std::tuple<P...>;
  template <std::size_t I> using parameter_at = parameter_of<std::tuple_element_t<I, all>>;

 public:
  static constexpr int variables = kernel_function<F, P...>::results::count;
  static_assert(
      variables <= static_cast<int>(sizeof...(P)),
      "a loop's formula takes the variables that it gives new values, and then its parameters");

 private:
  using states = std::make_index_sequence<static_cast<std::size_t>(variables)>;
  using others = std::make_index_sequence<sizeof...(P) - static_cast<std::size_t>(variables)>;

  template <std::size_t... S, std::size_t... I>
  static auto iterate(call& c, const F& f, std::index_sequence<S...>, std::index_sequence<I...>) {
    dsl::detail::tuple<typename parameter_at<S>::variable...> state{
        parameter_at<S>::variable_in(c.results[S])...};
    auto histories = dsl::iterate(
        c.steps, f, dsl::state(dsl::detail::get<S>(state)...),
        parameter_at<variables + I>::operand(c.arguments[variables + I])..., dsl::every(c.every));
    return histories_as_tuple<decltype(histories)>::make(std::move(histories));
  }
  using histories =
      decltype(iterate(std::declval<call&>(), std::declval<const F&>(), states{}, others{}));
  template <class> struct of_histories;
  template <class... H> struct of_histories<dsl::detail::tuple<H...>> {
    static void list(std::vector<parameter>& to) {
      (to.push_back({parameter_kind::array, dtype_v<typename H::value_type>, H::rank}), ...);
    }
    static void give(call& c, const dsl::detail::tuple<H...>& all) {
      int k = variables;
      dsl::detail::unpack([&](const auto&... h) { (c.give(k++, h.view()), ...); }, all);
    }
  };

 public:
  static std::vector<parameter> results() {
    std::vector<parameter> list;
    const parameter declared[] = {parameter_of<P>::value...};
    list.assign(declared, declared + variables);
    of_histories<histories>::list(list);
    return list;
  }
  static void run(call& c, const void* function) {
    of_histories<histories>::give(c,
                                  iterate(c, *static_cast<const F*>(function), states{}, others{}));
  }
};

}  // namespace dsl::python::detail
