// Transforms of rows whose number of points is known while compiling: one kernel with the formulas
// before, between and after them.
#pragma once

#include <dsl/fft/row_code.hpp>
#include <dsl/fft/transforms.hpp>

namespace dsl {

namespace detail {

/// Evaluates statements with transforms of rows (`statement_with`).
struct row_statement;

/// Along the last axis, which has N elements, without a factor.
template <int N, bool Inverse, dtype D>
struct row_transform {
  using statement = row_statement;
  static constexpr dtype argument_types[] = {D};
  static constexpr int points = N;
  static constexpr bool inverse = Inverse;

  template <std::size_t R>
  std::array<std::int64_t, R> shape(const std::array<std::int64_t, R>& extents) const {
    return extents;
  }
};

/// Throws shape_error unless the last of the extents is `points`, and device_error where no
/// transform runs.
void require_row_points(const char* function, int points, const std::int64_t* shape, int rank,
                        device where);

template <class E> inline constexpr bool is_row_transform = false;
template <int N, bool Inverse, dtype D, int R, class X>
inline constexpr bool is_row_transform<array_operation<row_transform<N, Inverse, D>, D, R, X>> =
    true;

/// Number of transforms of rows in a formula, and of its other leaves, both with those in the
/// transforms' arguments.
template <class E> inline constexpr int row_transforms_in = 0;
template <class E> inline constexpr int all_leaves_in = leaf_count<E>;
template <class F, class... X>
inline constexpr int row_transforms_in<expression<F, X...>> = (0 + ... + row_transforms_in<X>);
template <class F, class... X>
inline constexpr int all_leaves_in<expression<F, X...>> = (0 + ... + all_leaves_in<X>);
template <int N, bool Inverse, dtype D, int R, class X>
inline constexpr int row_transforms_in<array_operation<row_transform<N, Inverse, D>, D, R, X>> =
    1 + row_transforms_in<X>;
template <int N, bool Inverse, dtype D, int R, class X>
inline constexpr int all_leaves_in<array_operation<row_transform<N, Inverse, D>, D, R, X>> =
    all_leaves_in<X>;

/// Whether all transforms of rows in a formula are of N points, where those in arguments are too.
template <int N, class E> inline constexpr bool have_row_points = true;
template <int N, class F, class... X>
inline constexpr bool have_row_points<N, expression<F, X...>> = (have_row_points<N, X> && ...);
template <int N, int Own, bool Inverse, dtype D, int R, class X>
inline constexpr bool have_row_points<N, array_operation<row_transform<Own, Inverse, D>, D, R, X>> =
    N == Own && have_row_points<N, X>;

/// The number of points of a formula's transforms of rows.
template <class E> inline constexpr int row_points_of = 0;
template <class F, class... X>
inline constexpr int row_points_of<expression<F, X...>> = [] {
  int points = 0;
  ((points = row_points_of<X> != 0 ? row_points_of<X> : points), ...);
  return points;
}();
template <int N, bool Inverse, dtype D, int R, class X>
inline constexpr int row_points_of<array_operation<row_transform<N, Inverse, D>, D, R, X>> = N;

/// The first leaf of each transform's argument: transforms are numbered after those of their
/// arguments, leaves in the order in which they are written.
template <class E>
constexpr void find_first_leaves(std::type_identity<E>, int*&, int& leaf) {
  leaf += leaf_count<E>;
}
template <class F, class... X>
constexpr void find_first_leaves(std::type_identity<expression<F, X...>>,
                                 [[maybe_unused]] int*& first, int& leaf) {
  (find_first_leaves(std::type_identity<X>{}, first, leaf), ...);
}
template <int N, bool Inverse, dtype D, int R, class X>
constexpr void find_first_leaves(
    std::type_identity<array_operation<row_transform<N, Inverse, D>, D, R, X>>, int*& first,
    int& leaf) {
  const int mine = leaf;
  find_first_leaves(std::type_identity<X>{}, first, leaf);
  *first++ = mine;
}
/// The inputs of a phase, the formula E: leaves from number `leaf` on, and values of transforms,
/// the first of which are behind the first `transforms`.
template <class E>
constexpr void add_phase_inputs(std::type_identity<E>, int*& at, int& leaf, int& transforms) {
  if constexpr (is_row_transform<E>) {
    transforms += row_transforms_in<E>;
    leaf += all_leaves_in<E>;
    *at++ = phase_input::value(transforms - 1, 0).word;
  } else {
    for (int k = 0; k < leaf_count<E>; ++k) *at++ = phase_input::leaf(leaf++).word;
  }
}
template <class F, class... X>
constexpr void add_phase_inputs(std::type_identity<expression<F, X...>>, int*& at, int& leaf,
                                int& transforms) {
  (add_phase_inputs(std::type_identity<X>{}, at, leaf, transforms), ...);
}

/// Whether a formula is computed element by element from its operands: without reductions and
/// neighbours. Then it is a phase, and transforms among its operands stay on chip.
template <class E>
constexpr bool computes_by_elements() {
  if constexpr (E::rank == 0 || reductions_in<E> > 0 || !can_be_traced<E>) return false;
  else return !has_reductions<E> && !reads_neighbours<E>;
}
template <class E> inline constexpr bool is_row_formula = computes_by_elements<E>();

/// The statement ready to run: what is no part of a phase (scans, products, formulas that reduce)
/// is replaced by `evaluated(x)`.
template <class E, class Evaluate>
auto with_row_formulas(const E& e, const Evaluate& evaluated) {
  if constexpr (!has_materialized<E>) {
    return e;
  } else if constexpr (is_row_transform<E>) {
    return map_operands(e, [&](const auto& x) {
      auto made = with_row_formulas(x, evaluated);
      if constexpr (is_row_formula<decltype(made)>) return made;
      else return evaluated(made);
    });
  } else if constexpr (is_materialized<E>) {
    return evaluated(e);
  } else {
    return map_operands(e, [&](const auto& x) { return with_row_formulas(x, evaluated); });
  }
}

/// The transforms of a formula, each after those of its argument, in the order of its leaves.
template <class E> struct found_row_transforms { using type = tuple<>; };
template <class F, class... X> struct found_row_transforms<expression<F, X...>> {
  using type = decltype(concatenate(std::declval<typename found_row_transforms<X>::type>()...));
};
template <int N, bool Inverse, dtype D, int R, class X>
struct found_row_transforms<array_operation<row_transform<N, Inverse, D>, D, R, X>> {
  using self = array_operation<row_transform<N, Inverse, D>, D, R, X>;
  using type = decltype(concatenate(std::declval<typename found_row_transforms<X>::type>(),
                                    std::declval<tuple<self>>()));
};
template <class E> using row_transforms_of = typename found_row_transforms<E>::type;

/// All leaves but the transforms, in the order in which they are written.
template <class E>
void add_all_leaves(const E& e, operand*& at) {
  const auto add = [&at](const auto&... x) { (add_all_leaves(x, at), ...); };
  if constexpr (!has_materialized<E>) add_leaves(e, at);
  else if constexpr (is_row_transform<E>) unpack(add, e.arguments);
  else unpack(add, e.operands);
}

/// The formulas of the statement `target = e`, whose transforms are `Transforms`.
template <class Target, class E, class Transforms> struct row_phases_of;
template <class Target, class E, int N, bool... Inverse, dtype... D, int... R, class... X>
struct row_phases_of<Target, E, tuple<array_operation<row_transform<N, Inverse, D>, D, R, X>...>> {
  static constexpr int transforms = sizeof...(X), leaves = inputs_of_kernel<all_leaves_in<E>>();

  /// A phase: its number, the pass of its formula.
  template <int P, class Formula, class Pass, std::size_t... I>
  static auto phase(Pass, std::index_sequence<I...>) {
    constexpr auto words = [] {
      int first[transforms + 1] = {}, *found = first, count = 0;
      find_first_leaves(std::type_identity<E>{}, found, count);
      std::array<int, sizeof...(I) + 1> all{};
      int *at = all.data(), leaf = first[P], before = P - row_transforms_in<Formula>;
      add_phase_inputs(std::type_identity<Formula>{}, at, leaf, before);
      return all;
    }();
    return chain_phase<Pass, words[I]...>{};
  }
  template <int P, class Types, class Formula>
  static auto phase() {
    return phase<P, Formula>(
        typename lowered<Types, Formula>::one_pass::spelled{},
        std::make_index_sequence<static_cast<std::size_t>(leaf_count<Formula>)>{});
  }
  template <std::size_t... P>
  static auto chain(std::index_sequence<P...>) {
    constexpr std::uint64_t inverse = (std::uint64_t{0} | ... | (std::uint64_t{Inverse} << P));
    return transform_chain<
        N, inverse,
        decltype(phase<static_cast<int>(P), target_types<target_type{D, false}>, X>())...,
        decltype(phase<transforms, types_of_targets<Target>, E>())>{};
  }
  static const transformed_row_code& code(const E& e) {
    return code_of_transformed_rows(kernel_name(e),
                                    chain(std::make_index_sequence<sizeof...(X)>{}));
  }
};

struct row_statement {
  /// Whether the statement `target = e` may run as one kernel.
  template <class Target, class E>
  static constexpr bool takes() {
    using made = decltype(with_row_formulas(
        std::declval<const E&>(), [](const auto& x) { return as_operand(memory_like(x)); }));
    return Target::rank >= 1 && is_row_formula<made>;
  }
  template <class Target, class E>
  static void assign(const launch& fixed, Target& target, const E& e) {
    const device_guard of_target(home_of(as_operand(target))), of_operands(home_of(e));
    const auto made = with_row_formulas(e, [](const auto& x) { return as_operand(dsl::eval(x)); });
    run(target, made, false, [&](const transformed_row_code& code, const operand* operands) {
      assign_transformed_rows(code, operands, fixed);
    });
  }
  template <class Target, class E>
  static dsl::plan plan_of(const launch& fixed, Target& target, const E& e) {
    dsl::plan made;
    run(target, with_row_formulas(e, [](const auto& x) { return as_operand(memory_like(x)); }),
        true, [&](const transformed_row_code& code, const operand* operands) {
          made = plan_of_transformed_rows(code, operands, fixed);
        });
    return made;
  }
  template <class Target, class E>
  static explanation explain(Target& target, const E& e) {
    explanation all;
    const auto made = with_row_formulas(e, [&all](const auto& x) {
      auto values = memory_like(x);
      all.append(dsl::explain(values, x));
      return as_operand(values);
    });
    run(target, made, true, [&](const transformed_row_code& code, const operand* operands) {
      all.append(explain_transformed_rows(code, operands));
    });
    return all;
  }

 private:
  template <class E>
  static auto memory_like(const E& x) {
    return array<element_t<trace_t<E>::type.type>, E::rank>(shape_of_expression(x), home_of(x));
  }
  template <class Target, class E, class Use>
  static void run(Target& target, const E& e, bool imagined, const Use& use) {
    constexpr bool have_same_points = have_row_points<row_points_of<E>, E>;
    static_assert(have_same_points,
                  "the transforms of one statement, dsl::fft<n>, have rows of the same n elements");
    if constexpr (have_same_points && may_assign<E>(std::type_identity<tuple<Target&>>{})) {
      using phases = row_phases_of<std::remove_const_t<Target>, E, row_transforms_of<E>>;
      const transformed_row_code& code = phases::code(e);
      if constexpr (DSL_DETAIL_ON_DEVICE == 0) {
        auto to = bind_targets(tuple<Target&>(target), imagined);
        operand last[leaf_count<E>], *at = last;
        add_leaves(e, at);
        require_leaves_fit<types_of_targets<Target>, E>(last);
        if (get<0>(to).needs_memory()) {
          constexpr std::uint32_t reduced[] = {0};
          using pass = typename lowered<types_of_targets<Target>, E>::one_pass::spelled;
          give_memory(last, leaf_count<E>, pass::view(), reduced, get<0>(to));
        }
        operand all[phases::leaves + 1], *leaf = all;
        add_all_leaves(e, leaf);
        add_leaves(as_operand(get<0>(to).elements()), leaf);
        use(code, all);
        get<0>(to).adopt();
      }
    }
  }
};

template <int N, bool Inverse, class X, class... Norm>
auto transform_rows(const char* function, const X& x, const Norm&... norm) {
  constexpr bool are_points = are_row_points(N),
                 is_norm = sizeof...(Norm) <= 1 && (std::same_as<Norm, fft_norm> && ...);
  static_assert(is_norm,
                "rows are the last axis, all of it: after its operand dsl::fft<n> takes "
                "dsl::fft_norm::ortho alone");
  static_assert(are_points,
                "a row that is transformed in one kernel has a power of two of points, 2 to 4,096: "
                "dsl::fft(x) takes any number");
  if constexpr (!are_points || !is_norm || !may_transform<1, 1, X>()) {
    return refused{};
  } else {
    const auto of = as_operand(x);
    using operand_type = std::remove_const_t<decltype(of)>;
    constexpr dtype D = spectrum_of_operand<X>;
    constexpr int rank = operand_type::rank;
    require_row_points(function, N, shape_of_expression(of).data(), rank, home_of(of));
    const array_operation<row_transform<N, Inverse, D>, D, rank, operand_type> made{{}, {of}};
    if constexpr (!Inverse && sizeof...(Norm) == 0) {
      return made;
    } else {
      const fft_norm chosen[] = {norm..., fft_norm::backward};
      return factor_of({1, {rank - 1}, {N}}, chosen[0], Inverse) * made;
    }
  }
}

}  // namespace detail

// Transforms of rows, along the last axis, whose N elements are a power of two from 2 to 4,096 and
// known while compiling. A dsl::fft_norm may follow the operand. The statement in which they stand
// is one kernel, with the formulas before them, between them and after them: each row is read once
// and written once. Values, dtypes and norms are those of fft and ifft. Formulas may have all
// operands that formulas have; one that reduces, scans or reads neighbours is evaluated before, as
// an array. On the host each formula is a pass, and the transforms are the library's.
//
// Throws shape_error if the last axis has another number of elements; device_error, memory_error
// and cuda_error as fft. Does not wait.

/// The discrete Fourier transform of rows of N elements.
/// ```cpp
/// psi = dsl::ifft<256>(exp(-0.5i * h * k * k) * dsl::fft<256>(psi));
/// ```
template <int N, class X, class... Norm>
  requires detail::operands<X>
auto fft(const X& x, const Norm&... norm) {
  return detail::transform_rows<N, false>("fft", x, norm...);
}
/// The inverse of fft<N>. Its factor 1 / N joins the formula that reads it.
template <int N, class X, class... Norm>
  requires detail::operands<X>
auto ifft(const X& x, const Norm&... norm) {
  return detail::transform_rows<N, true>("ifft", x, norm...);
}

}  // namespace dsl
