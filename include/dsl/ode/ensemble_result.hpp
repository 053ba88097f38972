// The result of an ensemble.
#pragma once

#include <dsl/ode/ensemble_variables.hpp>

namespace dsl::ode {

/// How the integration of each element ended; compares with an `ode::outcome`.
template <int Rank>
struct outcomes : array<std::uint8_t, Rank> {
  using array<std::uint8_t, Rank>::array;
  friend auto operator==(const outcomes& a, ode::outcome b) {
    return static_cast<const array<std::uint8_t, Rank>&>(a) == static_cast<std::uint8_t>(b);
  }
  friend auto operator!=(const outcomes& a, ode::outcome b) {
    return static_cast<const array<std::uint8_t, Rank>&>(a) != static_cast<std::uint8_t>(b);
  }
};

/// The result of `ensemble`, in device memory. For each element: the time that it reached, the
/// steps that it tried, those that were rejected, and how it ended.
template <int Rank, class Saved = detail::tuple<>, class SavedTimes = detail::tuple<>,
          class Times = detail::tuple<>>
struct ensemble_result {
  array<double, Rank> t;
  array<std::int32_t, Rank> steps, rejected;
  outcomes<Rank> outcome;
  Saved rows;
  SavedTimes row_times;
  Times times;

  /// The values of field I at the times of `save_at`, or after the steps of `save_every`: a row for
  /// each. NaN where an element ended before.
  template <std::size_t I>
  const auto& saved() const {
    static_assert(I < std::tuple_size_v<Saved>,
                  "fields are saved by the option dsl::ode::save_at(times) or save_every(steps, "
                  "rows): one array for each");
    return detail::get<I>(rows);
  }
  /// The times of the rows of `save_every`, of each element its own. NaN where there is no row.
  const auto& saved_times() const {
    static_assert(std::tuple_size_v<SavedTimes> > 0,
                  "each element has times of its own with the option dsl::ode::save_every(steps, "
                  "rows)");
    return detail::get<0>(row_times);
  }
  /// The times of event I of those with `keep_times`, a row for each: NaN where it did not happen
  /// so often.
  template <std::size_t I>
  const auto& event_times() const {
    static_assert(I < std::tuple_size_v<Times>,
                  "an event keeps its times with the option dsl::ode::keep_times(n)");
    return detail::get<I>(times);
  }
};

namespace detail {

/// Rows of NaN for values that an element may not have.
template <class T, std::size_t R>
array<T, static_cast<int>(R) + 1> rows_of_nan(std::int64_t rows,
                                              const std::array<std::int64_t, R>& shape) {
  extents<static_cast<int>(R) + 1> sizes{rows};
  for (std::size_t d = 0; d < R; ++d) sizes[d + 1] = shape[d];
  return broadcast_to(T(dsl::detail::math::quiet_nan<double>), sizes);
}
/// An array for the times of each event that keeps them.
template <int Rank, class... Events>
auto rows_of_events(const tuple<Events...>& events, const extents<Rank>& shape) {
  const auto one = [&](const auto& e) {
    if constexpr (std::remove_cvref_t<decltype(e)>::keeps_times)
      return tuple{rows_of_nan<double>(e.kept, shape)};
    else return tuple<>{};
  };
  return unpack([&](const auto&... e) { return concatenate(one(e)...); }, events);
}

}  // namespace detail
}  // namespace dsl::ode
