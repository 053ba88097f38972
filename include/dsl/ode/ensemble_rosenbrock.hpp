// Rosenbrock methods as methods of an ensemble: the Jacobian is derived from the right-hand side,
// and the linear systems are solved in registers.
#pragma once

#include <dsl/lang/derivative.hpp>
#include <dsl/ode/ensemble_explicit.hpp>

namespace dsl::ode::detail {

/// A right-hand side as a function of (fields..., time, others...), for its derivatives.
template <class P>
struct slopes_and_time {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    constexpr std::size_t n = static_cast<std::size_t>(P::fields);
    const tuple<X...> all(x...);
    return derivatives<P>(get<n>(all), subtuple<0, n>(all),
                          subtuple<n + 1, sizeof...(X) - n - 1>(all));
  }
};

constexpr bool is_zero(const graph& g, int id) {
  return g[id].code == op::constant && g[id].word == literal{};
}

/// A square matrix of one dtype, factored into triangles without exchanging rows at run time. Zeros
/// known while compiling cost nothing, and the order of elimination is chosen so that few are lost.
template <class S, std::size_t N>
class factored_matrix {
 public:
  using vector = std::array<S, N>;

  /// Factors 1 / (gamma h) I - J.
  template <class H>
  constexpr factored_matrix(const std::array<vector, N>& jacobian, const H& h, double gamma)
      : order_(order_of(jacobian)) {
    const auto diagonal = 1.0 / (gamma * h);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) {
        const S& e = jacobian[order_[i]][order_[j]];
        if (detail::is_zero(*e.owner, e.id)) a_[i][j] = i == j ? S(diagonal) : e;
        else a_[i][j] = i == j ? diagonal - e : -e;
      }
    for (std::size_t k = 0; k < N; ++k) {
      inverse_[k] = 1.0 / a_[k][k];
      for (std::size_t i = k + 1; i < N; ++i) {
        if (is_zero(i, k)) continue;
        a_[i][k] = a_[i][k] * inverse_[k];
        for (std::size_t j = k + 1; j < N; ++j)
          if (!is_zero(k, j)) a_[i][j] = without(i, j, a_[i][k] * a_[k][j]);
      }
    }
  }
  constexpr vector solve(const vector& right) const {
    vector x{}, found{};
    for (std::size_t i = 0; i < N; ++i) x[i] = right[order_[i]];
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (!is_zero(i, j)) x[i] = x[i] - a_[i][j] * x[j];
    for (std::size_t i = N; i-- > 0;) {
      for (std::size_t j = i + 1; j < N; ++j)
        if (!is_zero(i, j)) x[i] = x[i] - a_[i][j] * x[j];
      x[i] = x[i] * inverse_[i];
      found[order_[i]] = x[i];
    }
    return found;
  }

 private:
  // The same order for rows and columns, by H. M. Markowitz (Management Science 3, 1957): next
  // comes the row whose elimination could fill the fewest zeros, of equal ones the first. The
  // pollution problem (20 fields) is factored with 177 operations, which are 1983 in the fields'
  // order.
  static constexpr std::array<std::size_t, N> order_of(const std::array<vector, N>& jacobian) {
    std::array<std::size_t, N> order{};
    std::array<std::array<bool, N>, N> filled{};
    for (std::size_t i = 0; i < N; ++i) {
      order[i] = i;
      for (std::size_t j = 0; j < N; ++j)
        filled[i][j] = i == j || !detail::is_zero(*jacobian[i][j].owner, jacobian[i][j].id);
    }
    for (std::size_t k = 0; k < N; ++k) {
      std::size_t best = k, least = N * N;
      for (std::size_t c = k; c < N; ++c) {
        std::size_t in_row = 0, in_column = 0;
        for (std::size_t m = k; m < N; ++m) {
          in_row += filled[order[c]][order[m]] ? 1 : 0;
          in_column += filled[order[m]][order[c]] ? 1 : 0;
        }
        const std::size_t fills = (in_row - 1) * (in_column - 1);
        if (fills >= least) continue;
        best = c;
        least = fills;
      }
      const std::size_t next = order[best];
      for (std::size_t c = best; c > k; --c) order[c] = order[c - 1];
      order[k] = next;
      for (std::size_t i = k + 1; i < N; ++i)
        for (std::size_t j = k + 1; j < N; ++j)
          if (filled[order[i]][next] && filled[next][order[j]]) filled[order[i]][order[j]] = true;
    }
    return order;
  }
  constexpr bool is_zero(std::size_t i, std::size_t j) const {
    return detail::is_zero(*a_[i][j].owner, a_[i][j].id);
  }
  constexpr S without(std::size_t i, std::size_t j, const S& x) const {
    return is_zero(i, j) ? -x : a_[i][j] - x;
  }
  // Places in the fields' order; the members below are in the order of elimination.
  std::array<std::size_t, N> order_{};
  std::array<vector, N> a_{};
  vector inverse_{};
};

template <const auto& Method>
struct rosenbrock_method : deterministic_method {
  static constexpr bool has_error = true, has_jacobian = true;
  static constexpr int error_order =
                           Method.order < Method.error_order ? Method.order : Method.error_order,
                       powers = Method.terms + 1;
  static constexpr bool reuses_slope = false;
  static constexpr control_constants control{0.7 / Method.order, 0.4 / Method.order};

  template <class P, class T, class H, class Y, class X, std::size_t... I>
  static constexpr auto try_step(const ensemble_symbols<P>& at, const T& t, const H& step,
                                 const Y& y, const X& others, std::index_sequence<I...>) {
    constexpr std::size_t n = sizeof...(I), stages = Method.stages;
    using S = std::tuple_element_t<0, Y>;
    static_assert(
        (std::same_as<S, std::tuple_element_t<I, Y>> && ...) && kind_of(S::type.type) == kind::real,
        "the fields of a stiff method have one real dtype");
    static_assert(n <= 20, "a stiff method takes up to 20 fields");
    using vector = std::array<S, n>;
    const auto h = in_precision_of(get<0>(y), step);
    // Rows of derivatives: by the fields, by the time, by the others.
    const auto rows = unpack(
        [&](const auto&... x) {
          return as_tuple(dsl::detail::jacobian_function<slopes_and_time<P>>{}(
              get<I>(y)..., symbol<T::type.type>{t.owner, t.id}, x...));
        },
        others);
    constexpr std::size_t width = n + 1 + std::tuple_size_v<X>;
    std::array<vector, n> jacobian{};
    vector by_time{};
    (fill_row<I, width>(jacobian[I], by_time[I], rows, get<0>(y), std::index_sequence<I...>{}),
     ...);
    const factored_matrix<S, n> system(jacobian, h, Method.gamma);

    std::array<vector, stages> u{};
    const auto inverse = 1.0 / h;
    for (std::size_t i = 0; i < stages; ++i) {
      Y inside = y;
      ((get<I>(inside) = sum_of<I>(get<I>(y), Method.a[i], u, i)), ...);
      const auto f = derivatives<P>(t + Method.c[i] * step, inside, others);
      vector right{get<I>(f)...};
      for (std::size_t k = 0; k < n; ++k) {
        if (i > 0) right[k] = right[k] + inverse * combined(Method.C[i], u, k, i);
        if (Method.d[i] != 0 && !is_zero(*h.owner, by_time[k].id))
          right[k] = right[k] + (Method.d[i] * h) * by_time[k];
      }
      u[i] = system.solve(right);
    }
    const Y after{sum_of<I>(get<I>(y), Method.b, u, stages)...};
    const auto error = [&] {
      if constexpr (P::estimates_error) {
        const auto unit =
            in_precision_of(get<0>(y), at.template scalar<scalar_unit, dtype::float32>());
        return tuple{(unit * combined(Method.error, u, I, stages))...};
      } else {
        return tuple<>{};
      }
    };
    return tried_step{after, error(), tuple<>{},
                      tuple{powers_of<P>(get<I>(y), get<I>(after), u, I)...}};
  }

 private:
  template <std::size_t Row, std::size_t Width, class S, std::size_t N, class Rows,
            std::size_t... I>
  static constexpr void fill_row(std::array<S, N>& row, S& by_time, const Rows& rows, const S& y,
                                 std::index_sequence<I...>) {
    ((row[I] = in_precision_of(y, get<Row * Width + I>(rows))), ...);
    by_time = in_precision_of(y, get<Row * Width + N>(rows));
  }
  // y + c[0] u[0][k] + ..., of `count` stages.
  template <std::size_t K, class S, std::size_t M, class U>
  static constexpr S sum_of(S y, const double (&c)[M], const U& u, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j)
      if (c[j] != 0) y = y + (c[j] == 1 ? u[j][K] : c[j] * u[j][K]);
    return y;
  }
  template <std::size_t M, class U>
  static constexpr auto combined(const double (&c)[M], const U& u, std::size_t k,
                                 std::size_t count) {
    auto sum = u[0][k];
    bool is_first = true;
    for (std::size_t j = 0; j < count; ++j) {
      if (c[j] == 0) continue;
      const auto term = c[j] == 1 ? u[j][k] : c[j] * u[j][k];
      sum = is_first ? term : sum + term;
      is_first = false;
    }
    return sum;
  }
  template <class P, class S, class U>
  static constexpr auto powers_of(const S& y, const S& after, const U& u, std::size_t k) {
    std::array<S, P::is_dense ? static_cast<std::size_t>(powers) : 0> found{};
    if constexpr (P::is_dense) {
      constexpr std::size_t terms = Method.terms;
      std::array<S, terms> term{};
      for (std::size_t r = 0; r < terms; ++r)
        term[r] = combined(Method.dense[r], u, k, Method.stages);
      found[0] = (after - y) + term[0];
      for (std::size_t r = 1; r < terms; ++r) found[r] = term[r] - term[r - 1];
      found[terms] = -term[terms - 1];
    }
    return found;
  }
};

}  // namespace dsl::ode::detail
