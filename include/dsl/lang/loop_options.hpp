// Options of `iterate`, which follow its parameters.
#pragma once

#include <dsl/exec/loop/loop.hpp>
#include <dsl/lang/loop_step.hpp>

namespace dsl {

/// The number of the current step, from 0; only as a parameter of `iterate`. h * dsl::step is the
/// time.
inline constexpr step_number step{};

// Options of `iterate`: they follow the parameters, in any order.

/// Records every m-th step only: history[k] is the value after step (k + 1) * m.
struct every {
  explicit every(std::int64_t m) : steps(m) {}
  /// Number of steps between records, at least 1; otherwise `iterate` throws shape_error.
  std::int64_t steps;
};

/// dsl::step starts at k, which may be negative. A loop that was stopped after k steps is continued
/// with from_step(k).
struct from_step {
  explicit from_step(std::int64_t k) : number(k) {}
  std::int64_t number;  ///< of the first step
};

/// The result of `until`.
template <class Condition>
struct until_option {
  Condition condition;        ///< the loop ends when it is true
  scalar<std::int64_t>* ran;  ///< the caller's, gets the number of the next step; or null
};
/// Ends the loop after the first step for which the condition, an expression of scalars, is true.
/// The condition is evaluated on the device with the new values of the state's scalars. It must
/// read at least one of them; otherwise `iterate` throws value_error. Histories are 0 after the
/// last step, but samples repeat the last sample. Steps after the end cost nothing, however many
/// were asked for.
template <class Condition>
  requires detail::lazy_operand<Condition>
auto until(const Condition& condition) {
  return until_option<detail::operand_t<Condition>>{detail::as_operand(condition), nullptr};
}
/// The same, and stores in `ran` the number that the next step would have: the number of steps that
/// ran, if the loop began with step 0. Keeps a reference to `ran`, which is written without
/// waiting.
template <class Condition>
  requires detail::lazy_operand<Condition>
auto until(const Condition& condition, scalar<std::int64_t>& ran) {
  return until_option<detail::operand_t<Condition>>{detail::as_operand(condition), &ran};
}

/// Chosen if the argument is no condition: a compile-time error says what a condition is.
template <class Condition, class... Ran>
  requires(!detail::lazy_operand<Condition>)
refused until(const Condition&, const Ran&...) {
  static_assert(
      sizeof...(Ran) > 64,
      "a loop ends on a condition of dsl::scalar and C++ values, dsl::until(error < 1e-6)");
  return {};
}

/// The results of `record`: for a formula, and for elements.
template <class F> struct record_option {};
template <class T, int R> struct sample_option { view<const T, R> of; };
/// Records the result of a formula of the new state: one reduction, or a std::tuple of them. If the
/// step gives single values too, this is computed in the step's own kernel. The formula reads each
/// variable as stored, rounded to its dtype.
template <class F>
  requires(!detail::viewable<F> && !detail::lazy<F>)
auto record(F) {
  constexpr bool is_stateless = detail::is_stateless<F>;
  static_assert(
      is_stateless,
      "record takes a formula without captures or members: a lambda of the state's variables");
  if constexpr (is_stateless) return record_option<F>{};
  else return refused{};
}
/// Records elements of a variable: record(F(slice(0, end, 1000))). The history has one more axis,
/// the first.
template <class T, int R>
sample_option<std::remove_const_t<T>, R> record(const view<T, R>& sample) {
  return {sample};
}
template <detail::viewable A>
auto record(const A& sample) {
  return record(sample.view());
}

/// The result of `progress`.
template <class F> struct progress_option { F report; };
/// Calls report(steps done, steps of the loop) on the host between launches, several times a
/// second. If it returns false, the loop ends after the steps that are queued by then; histories
/// end there too, and a last call reports the number of steps done. With `progress`, `iterate`
/// waits for its steps.
template <class F>
  requires std::is_invocable_v<const F&, std::int64_t, std::int64_t>
progress_option<F> progress(F report) {
  return {std::move(report)};
}

namespace detail {

/// An option of `iterate`, for callers that discard its histories: none are made.
struct no_histories {};

template <class T> inline constexpr bool is_until = false;
template <class C> inline constexpr bool is_until<until_option<C>> = true;
template <class T> inline constexpr bool is_record = false;
template <class F> inline constexpr bool is_record<record_option<F>> = true;
template <class T> inline constexpr bool is_sample = false;
template <class T, int R> inline constexpr bool is_sample<sample_option<T, R>> = true;
template <class T> inline constexpr bool is_progress = false;
template <class F> inline constexpr bool is_progress<progress_option<F>> = true;
template <class T>
inline constexpr bool is_loop_option =
    is_until<T> || is_record<T> || is_sample<T> || is_progress<T> || std::is_same_v<T, every> ||
    std::is_same_v<T, from_step> || std::is_same_v<T, no_histories> ||
    std::is_same_v<T, strategy> || std::is_same_v<T, launch>;

// References to the values whose types pass a test, as a tuple.
template <class Test, class... T>
auto filter(const Test&, const T&... all) {
  return concatenate([](const T& x) {
    if constexpr (Test::template passes<T>) return tuple<const T&>(x);
    else return tuple<>{};
  }(all)...);
}
struct only_parameters { template <class T> static constexpr bool passes = !is_loop_option<T>; };
struct only_conditions { template <class T> static constexpr bool passes = is_until<T>; };
struct only_records { template <class T> static constexpr bool passes = is_record<T>; };
struct only_samples { template <class T> static constexpr bool passes = is_sample<T>; };
struct only_progress { template <class T> static constexpr bool passes = is_progress<T>; };

template <class Option, class... T>
Option option_or(const Option& otherwise, const T&... all) {
  Option found = otherwise;
  [[maybe_unused]] const auto take = [&found](const auto& x) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Option>) found = x;
  };
  (take(all), ...);
  return found;
}

template <class F>
loop_watch watch_of(const tuple<const progress_option<F>&>& option) {
  // The callback belongs to the caller and outlives the loop.
  return {[](const void* callback, std::int64_t done, std::int64_t steps) {
            const F& report = *static_cast<const F*>(callback);
            if constexpr (std::is_same_v<std::invoke_result_t<const F&, std::int64_t, std::int64_t>,
                                         void>)
              return report(done, steps), true;
            else return static_cast<bool>(report(done, steps));
          },
          &get<0>(option).report};
}
inline loop_watch watch_of(const tuple<>&) { return {}; }

}  // namespace detail
}  // namespace dsl
