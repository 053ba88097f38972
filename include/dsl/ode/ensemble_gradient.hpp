// The gradient of a loss of what an ensemble ends with: ensemble_gradient.
#pragma once

#include <optional>

#include <dsl/lang/iterate_gradient.hpp>
#include <dsl/ode/ensemble.hpp>
#include <dsl/ode/ensemble_adjoint.hpp>
#include <dsl/ode/integrate_gradient.hpp>

namespace dsl::ode {

/// The loss of an ensemble and its derivatives, as `iterate_gradient` returns them, and the result
/// of `ensemble`.
template <class Gradient, class Ensemble>
struct ensemble_gradient_result : Gradient, Ensemble {};

namespace detail {

/// The elements from number `begin` on of operands: of contiguous arrays; single values stay.
std::vector<operand> part_of(std::vector<operand> all, std::int64_t begin, std::int64_t elements);
/// The elements whose steps are recorded at a time, of so many bytes each.
std::int64_t elements_that_fit(std::int64_t elements, std::int64_t bytes, std::int64_t limit,
                               device where);

/// The accepted steps of elements: a row for each, of its time, its size, and the fields before it.
template <bool HasTime, class... T>
struct step_records {
  static constexpr std::int64_t row_bytes =
      static_cast<std::int64_t>(((HasTime ? 16 : 8) + ... + sizeof(T)));
  std::int64_t rows;
  array<double, 2> t, h;
  tuple<array<T, 2>...> y;

  step_records(std::int64_t row_count, std::int64_t elements)
      : rows(row_count),
        t(extents<2>{HasTime ? rows : 0, elements}),
        h(extents<2>{rows, elements}),
        y{array<T, 2>(extents<2>{rows, elements})...} {}
  void add_to(std::vector<operand>& all) const {
    if constexpr (HasTime) all.push_back(operand_of(t.view()));
    all.push_back(operand_of(h.view()));
    unpack([&](const auto&... a) { (all.push_back(operand_of(a.view())), ...); }, y);
  }
};

/// The elements of an ensemble, which go forth from t0, and back. P: the problem. Derived: the
/// numbers of the parameters that have derivatives. D: the dtypes of these. T: those of the fields.
template <class P, class Derived, int Rank, class D, class... T> class two_way_ensemble;
template <class P, class Derived, int Rank, class... D, class... T>
class two_way_ensemble<P, Derived, Rank, tuple<D...>, T...> {
  const ensemble_operands<Rank>& in_;
  std::int64_t elements_;
  device where_;
  array<double> table_;
  array<std::int32_t, Rank> saved_rows_{in_.shape()};

 public:
  using result = ensemble_result<
      Rank, std::conditional_t<P::saves_times, tuple<array<T, Rank + 1>...>, tuple<>>, tuple<>>;
  using records = step_records<P::has_time, T...>;

  /// `in`: the operands of `ensemble`'s kernel, without its results. Rows are saved at `times`.
  two_way_ensemble(const ensemble_operands<Rank>& in, std::int64_t elements, device where,
                   const std::vector<double>& times)
      : in_(in), elements_(elements), where_(where) {
    if constexpr (P::saves_times) {
      const auto rows = static_cast<std::int64_t>(times.size());
      got.rows = {rows_of_nan<T>(rows, in.shape())...};
      table_ = array<double>(rows);
      if (rows > 0) table_.copy_from_host(times);
    }
  }

  result got{array<double, Rank>(in_.shape()),
             array<std::int32_t, Rank>(in_.shape()),
             array<std::int32_t, Rank>(in_.shape()),
             outcomes<Rank>(in_.shape()),
             {},
             {},
             {}};
  /// The fields at the end; the loss's derivatives with respect to them, afterwards with respect to
  /// those at t0, and to saved rows; and with respect to the parameters' values.
  tuple<array<T, Rank>...> last{array<T, Rank>(in_.shape())...}, weights;
  decltype(result::rows) saved_weights;
  tuple<array<D, Rank>...> derivatives{array<D, Rank>(in_.shape())...};

  /// Integrates `count` elements from number `begin` on, and records the steps that have a row.
  /// `saves`: stores the rows of save_at too; then these are all elements.
  void run_forth(std::int64_t begin, std::int64_t count, const records& to, bool saves) const {
    std::vector<operand> all = in_.all();
    for_each(last, [&](const auto& a) { all.push_back(operand_of(a.view())); });
    for (const operand& o : {operand_of(got.t.view()), operand_of(got.steps.view()),
                             operand_of(got.rejected.view()), operand_of(got.outcome.view())})
      all.push_back(o);
    if constexpr (P::saves_times) all.push_back(operand_of(saved_rows_.view()));
    all = part_of(std::move(all), begin, count);
    to.add_to(all);
    for_each(got.rows, [&](const auto& a) { all.push_back(operand_of(a.view())); });
    run<typename ensemble_loop<recorded<P>>::type>(all, count, to.rows, saves ? got_rows() : 0);
  }
  /// Goes back through the recorded steps of these elements.
  void run_back(std::int64_t begin, std::int64_t count, const records& from) const {
    std::vector<operand> all;
    for_each(weights, [&](const auto& a) { all.push_back(operand_of(a.view())); });
    const auto given = in_.all().begin() + P::fields;
    all.insert(all.end(), given, given + P::arrays);
    all.push_back(operand_of(got.steps.view()));
    all.push_back(operand_of(got.rejected.view()));
    if constexpr (P::saves_times) all.push_back(operand_of(saved_rows_.view()));
    all.insert(all.end(), in_.all().begin() + static_cast<std::ptrdiff_t>(in_.arrays()),
               in_.all().end());
    all = part_of(std::move(all), begin, count);
    from.add_to(all);
    const auto rows = unpack(
        [&](const auto&... w) { return tuple{columns_of(w, begin, count)...}; }, saved_weights);
    for_each(rows, [&](const auto& a) { all.push_back(operand_of(a.view())); });
    std::vector<operand> kept;
    for_each(weights, [&](const auto& a) { kept.push_back(operand_of(a.view())); });
    for_each(derivatives, [&](const auto& a) { kept.push_back(operand_of(a.view())); });
    kept = part_of(std::move(kept), begin, count);
    all.insert(all.end(), kept.begin(), kept.end());
    run<typename adjoint_loop<ensemble_adjoint<P, Derived>>::type>(all, count, from.rows,
                                                                   got_rows());
  }

 private:
  template <class Tuple, class Use>
  static void for_each(const Tuple& all, const Use& use) {
    unpack([&](const auto&... a) { (use(a), ...); }, all);
  }
  std::int64_t got_rows() const {
    if constexpr (P::saves_times) return table_.extent(0);
    else return 0;
  }
  template <class Loop>
  void run(const std::vector<operand>& all, std::int64_t count, std::int64_t steps,
           std::int64_t saved) const {
    dsl::detail::ensemble_request request{count, where_};
    request.rows[0] = steps;
    request.rows[1] = saved;
    if constexpr (P::saves_times) request.set_table(table_);
    dsl::detail::run_ensemble(dsl::detail::ensemble_code_of<Loop, P::scalars>(), all.data(),
                              request);
  }
  // The rows of some elements: a copy, unless these are all.
  template <class A>
  A columns_of(const A& rows, std::int64_t begin, std::int64_t count) const {
    if (count == elements_) return A(rows.view().owner(), rows.extents());
    extents<Rank + 1> shape{rows.extent(0)};
    shape[1] = count;
    std::fill(shape.begin() + 2, shape.end(), 1);
    A made(shape);
    reshape(made, rows.extent(0), count) =
        reshape(rows, rows.extent(0), elements_)(slice(), slice(begin, begin + count));
    return made;
  }
};

/// Which parameters have a derivative: the numbers of their operands.
template <class Numbers, bool... Is> struct derived_parameters;
template <int... K, bool... Is>
struct derived_parameters<std::integer_sequence<int, K...>, Is...> {
  using type = variables_joined<variables_if<Is, variable_list<K>>...>;
};

template <class X>
auto value_of_derived() {
  if constexpr (dsl::detail::is_differentiated<X>())
    return tuple<std::remove_const_t<typename X::value_type>>{};
  else return tuple<>{};
}

/// The derivative with respect to a parameter, from that with respect to its value in each element.
template <class P, class D>
auto of_parameter(const P& parameter, D& of_elements) {
  auto made = dsl::detail::gradient_like(as_operand(parameter), of_elements.where());
  if constexpr (decltype(made)::rank == 0) {
    made = dsl::sum(of_elements);
  } else {
    if constexpr (std::same_as<decltype(made), D>)
      if (made.extents() == of_elements.extents()) return std::move(of_elements);
    made = dsl::gradient(dsl::sum(as_operand(parameter) * of_elements), as_operand(parameter));
  }
  return made;
}

/// That of parameter K, or none.
template <int K, class X, int... Derived, class... D>
auto derivative_of(const X& parameter, variable_list<Derived...>, tuple<D...>& of_elements) {
  constexpr int numbers[] = {Derived..., -1};
  constexpr std::size_t position = [] {
    std::size_t n = 0;
    while (n < sizeof...(Derived) && numbers[n] != K) ++n;
    return n;
  }();
  if constexpr (position < sizeof...(Derived))
    return of_parameter(parameter, get<position>(of_elements));
  else return dsl::detail::no_derivative_of_parameter{};
}
template <class X, class Derived, class D, std::size_t... K>
auto derivatives_of_all(const X& parameters, Derived derived, D& of_elements,
                        std::index_sequence<K...>) {
  return tuple{derivative_of<static_cast<int>(K)>(get<K>(parameters), derived, of_elements)...};
}

/// Whether a loss is a function of the fields at the end, or of the saved rows.
template <class Loss, bool Saves, class... S>
constexpr bool require_loss_of_ends() {
  return []<class... Y>(std::type_identity<tuple<Y...>>) {
    constexpr bool is_function = std::is_invocable_v<const Loss&, Y...>;
    static_assert(is_function,
                  "the loss of ensemble_gradient is a function of the fields, with save_at of the "
                  "saved rows: [](auto x, ...) { return dsl::sum(...); }");
    if constexpr (is_function)
      return dsl::detail::require_loss<std::invoke_result_t<const Loss&, Y...>>();
    else return false;
  }(std::type_identity<tuple<operand_t<array<typename S::value_type, S::rank + Saves>>...>>{});
}

template <class F, class Method, class Loss, class Options, class T0, class T1, class... S,
          class... X>
DSL_DETAIL_RARE auto gradient_of_ensemble(const Loss& loss, const tuple<S&...>& fields,
                                          const T0& t0, const T1& t1, const tolerance& wanted,
                                          const Options& options, std::int64_t limit,
                                          const X&... parameters) {
  using dsl::detail::is_differentiated;
  constexpr bool saves = Options::saves == saving::times;
  constexpr int rank = std::tuple_element_t<0, tuple<S...>>::rank;
  const tuple values{operand_of_parameter(parameters)...};
  using problem = typename problem_of_call<F, Method, Options, T0, T1, tuple<S...>,
                                           std::remove_const_t<decltype(values)>>::type;
  using derived =
      typename derived_parameters<std::make_integer_sequence<int, static_cast<int>(sizeof...(X))>,
                                  is_differentiated<X>()...>::type;
  using call =
      two_way_ensemble<problem, derived, rank, decltype(concatenate(value_of_derived<X>()...)),
                       typename S::value_type...>;
  require_call(t0, t1, wanted, options);
  const device where = as_operand(get<0>(fields)).where();
  const device_guard guard(where);
  tuple<array<typename S::value_type, S::rank>...> copies{};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const tuple places{place_of(get<I>(fields), get<I>(copies))...};
    ensemble_operands<rank> in(get<0>(places).extents());
    (in.add(get<I>(places)), ...);
    add_inputs<problem>(in, t0, t1, wanted, options, values);
    const std::int64_t elements = get<0>(places).size();
    call run(in, elements, where, options.times);

    // Steps whose number is known, and that fit into memory, are recorded at once. Others are
    // counted first, by the kernel that records them, so that they are the same ones.
    using records = typename call::records;
    std::int64_t most = problem::counts_steps ? options.fixed : 0;
    std::int64_t part = elements_that_fit(elements, most * records::row_bytes, limit, where);
    const bool is_recorded = problem::counts_steps && part == elements;
    std::optional<records> recorded(std::in_place, is_recorded ? most : 0, elements);
    run.run_forth(0, elements, *recorded, true);

    const auto ends = [&] {
      if constexpr (saves)
        return tuple<decltype(as_operand(get<I>(run.got.rows)))...>{
            as_operand(get<I>(run.got.rows))...};
      else return tuple<decltype(as_operand(get<I>(run.last)))...>{as_operand(get<I>(run.last))...};
    }();
    const auto value = unpack([&](const auto&... y) { return loss(y...); }, ends);
    auto weights =
        unpack([&](const auto&... y) { return dsl::detail::weights_of_last(value, y...); }, ends);
    if constexpr (saves) {
      run.saved_weights = std::move(weights);
      run.weights = {dsl::detail::zeros_like(get<I>(run.last))...};
    } else {
      run.weights = std::move(weights);
    }
    auto of_loss = eval(value);

    if (!problem::counts_steps && elements > 0) {
      most = dsl::max(run.got.steps - run.got.rejected).value();
      part = elements_that_fit(elements, most * records::row_bytes, limit, where);
    }
    for (std::int64_t begin = 0; begin < elements; begin += part) {
      const std::int64_t n = std::min(part, elements - begin);
      if (!is_recorded) {
        recorded.reset();
        recorded.emplace(most, n);
        run.run_forth(begin, n, *recorded, false);
      }
      run.run_back(begin, n, *recorded);
    }
    recorded.reset();

    auto of_parameters = derivatives_of_all(tuple<const X&...>(parameters...), derived{},
                                            run.derivatives, std::index_sequence_for<X...>{});
    (dsl::detail::take_gradient(get<I>(fields), get<I>(run.last)), ...);
    using gradient =
        loop_gradient<decltype(of_loss), decltype(run.weights), decltype(of_parameters)>;
    return ensemble_gradient_result<gradient, typename call::result>{
        gradient{std::move(of_loss), std::move(run.weights), std::move(of_parameters)},
        std::move(run.got)};
  }(std::index_sequence_for<S...>{});
}

template <class Call, class... Arguments>
constexpr bool may_have_gradient() {
  if constexpr (!may_have_call<Call, Arguments...>()) return false;
  static_assert(!Call::has_structs,
                "ensemble_gradient takes arrays, views and scalars: instead of a struct, give its "
                "members");
  return !Call::has_structs;
}

}  // namespace detail

/// Integrates as `ensemble` does, and computes a loss of what it ends with and the loss's
/// derivatives with respect to the fields at t0 and to the other arguments of f, the sequence of
/// each element's steps held fixed.
///
/// f, fields, t0, t1, wanted and the arguments are those of `ensemble`, without events, save_every
/// and structs. loss: a function of the fields at the end, or with `save_at` of the saved rows, an
/// array for each field; it returns an expression with one value. A derivative is with respect to
/// an argument in device memory: a dsl::scalar, an array or a view that broadcasts to the fields'
/// shape. Others are constant. Option `memory_limit`: the most bytes that recorded steps may take,
/// half of the free memory by default.
///
/// A kernel integrates and records each element's accepted steps; another one goes back through
/// them. If the numbers of steps are not known (without fixed_steps), or not all steps fit into
/// memory, the elements are first integrated without recording, and then both run for as many
/// elements at a time as fit. The derivatives are those of the steps as they are computed, the same
/// bits in every run. An element that ends before t1 has the derivatives of the state at its `t`.
///
/// Returns the members of `iterate_gradient`'s result (`.loss`, `.state<I>()`, `.parameter<I>()`)
/// and of `ensemble`'s (`.t`, `.steps`, `.saved<I>()`, ...). Afterwards the fields hold what
/// `ensemble` leaves. Waits for the number of steps if it is not known. Throws as `ensemble` and
/// `gradient` do, before the fields are written.
/// ```cpp
/// const auto loss = [&](auto x, auto, auto) { return dsl::mean(square(x - wanted)); };
/// const auto found = dsl::ode::ensemble_gradient(lorenz, loss, dsl::state(x, y, z), 0.0, 1.0,
///                                                {.relative = 1e-8, .absolute = 1e-8}, rho);
/// rho = rho - 0.1 * found.parameter<0>();
/// ```
template <class F, class Loss, class... S, class T0, class T1, class... Arguments>
auto ensemble_gradient(F, const Loss& loss, const loop_state<S...>& fields, const T0& t0,
                       const T1& t1, const tolerance& wanted = {}, const Arguments&... arguments) {
  using namespace detail;
  constexpr bool has_events = (is_event<Arguments> || ...),
                 saves_steps = (std::same_as<Arguments, every_option> || ...),
                 draws = decltype(method_among(
                     filter(only_methods{}, std::declval<const Arguments&>()...)))::draws;
  static_assert(!draws, "ensemble_gradient takes methods without noise");
  static_assert(!has_events, "ensemble_gradient takes no events: it differentiates the steps");
  static_assert(!saves_steps, "ensemble_gradient takes save_at, not save_every");
  if constexpr (has_events || saves_steps || draws) {
    return refused{};
  } else {
    const std::int64_t limit = dsl::detail::option_or(memory_limit(0), arguments...).bytes;
    return unpack(
        [&]<class... Given>(const Given&... given) {
          using call = ensemble_call<F, tuple<S&...>, Given...>;
          if constexpr (!may_have_gradient<call, Given...>()) return refused{};
          else
            return with_options(
                [&]<class Method, class Options, class... X>(const Options& options,
                                                             const X&... parameters) {
                  constexpr bool saves = Options::saves == saving::times;
                  if constexpr (!require_loss_of_ends<Loss, saves, S...>()) return refused{};
                  else
                    return gradient_of_ensemble<F, Method>(loss, fields.variables, t0, t1, wanted,
                                                           options, limit, parameters...);
                },
                given...);
        },
        filter(only_others{}, arguments...));
  }
}
// Other calls do not compile: fields without `state`, no loss.
template <class F, class Loss, class Fields, class T0, class T1, class... Arguments>
  requires(!dsl::detail::is_loop_state<Fields> && !dsl::detail::is_loop_state<Loss>)
refused ensemble_gradient(F, const Loss&, const Fields&, const T0&, const T1&,
                          const tolerance& = {}, const Arguments&...) {
  static_assert(std::same_as<Fields, refused>,
                "ensemble_gradient takes a right-hand side, a loss and its fields as "
                "dsl::state(y, ...), then t0, t1, the tolerance and the other arguments");
  return {};
}
template <class F, class... S, class T0, class T1, class... Arguments>
refused ensemble_gradient(F, const loop_state<S...>&, const T0&, const T1&, const tolerance& = {},
                          const Arguments&...) {
  static_assert(sizeof...(S) > 64,
                "ensemble_gradient takes a loss after the right-hand side: a function of the "
                "fields, [](auto y, ...) { return dsl::sum(...); }");
  return {};
}

}  // namespace dsl::ode
