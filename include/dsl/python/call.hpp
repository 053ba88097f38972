// A Python call as a formula sees it: arguments and results. Nothing here needs Python's headers,
// so nvcc never reads them.
#pragma once

#include <cstring>
#include <vector>

#include <dsl/mem/array.hpp>
#include <dsl/mem/scalar.hpp>
#include <dsl/ode/tolerance.hpp>

namespace dsl::python {

/// In a signature: an array of any rank, for a formula that computes element by element or reduces
/// all elements to one value.
template <element T> struct any_rank;

namespace detail {

/// array: elements of this rank. single: one value in device memory, an array of rank 0. number: a
/// C++ scalar, by value.
enum class parameter_kind : std::uint8_t { array, single, number };

/// An argument or a result in a signature.
struct parameter {
  parameter_kind kind;
  dtype type;
  /// The rank, or `of_any_rank`: the formula then sees an array of rank `max_rank` whose first
  /// extents are 1. `rows_of_any_rank`: a result with an axis before those of the arguments.
  int rank;

  static constexpr int of_any_rank = -1, rows_of_any_rank = -2;
  constexpr bool has_any_rank() const { return rank < 0; }
  constexpr int formula_rank() const { return has_any_rank() ? max_rank : rank; }
};

inline constexpr int max_parameters = 32, max_results = 64;

/// Elements in the memory of an array library.
struct elements {
  dsl::detail::buffer_ref owner;
  void* data;
  std::int64_t extents[max_rank], strides[max_rank];  // in elements

  template <class T, int R>
  view<T, R> as() const {
    return {owner, static_cast<T*>(data), dsl::detail::first_of<R>(extents),
            dsl::detail::first_of<R>(strides)};
  }
};

struct argument {
  elements memory;
  // The bytes of a number as its dtype is stored in memory.
  std::uint64_t bits[2];

  template <class T>
  T number() const {
    T value;
    std::memcpy(&value, bits, sizeof value);
    return value;
  }
};

/// A running call. The interpreter's lock is not held.
class call {
 public:
  argument arguments[max_parameters];
  elements results[max_results];
  // Used by loops.
  std::int64_t steps = 0, every = 1;
  // Used by ensembles; `times`: at which the fields are saved.
  ode::tolerance wanted;
  bool saves = false;
  std::vector<double> times;
  // The rank to which the arrays broadcast, if a parameter has any rank.
  int broadcast_rank = 0;

  /// Makes the array for a result for which the caller gave none. Throws the exception of the array
  /// library.
  virtual void make_result(int number, int rank, const std::int64_t* extents) = 0;
  /// Makes the array for a result, and copies values to it.
  template <class T, int R>
  void give(int number, const view<T, R>& values) {
    make_result(number, R, values.extents().data());
    const elements& to = results[number];
    dsl::detail::copy(to.owner, to.data,
                      dsl::detail::to_mapping(dsl::detail::first_of<R>(to.extents),
                                              dsl::detail::first_of<R>(to.strides)),
                      values.owner(), values.origin(),
                      dsl::detail::to_mapping(values.extents(), values.strides()), sizeof(T));
  }

 protected:
  call() = default;
  ~call() = default;
};

enum class function_kind : std::uint8_t { kernel, loop, ensemble };

/// One of the functions that share a name.
struct signature {
  function_kind kind;
  std::vector<parameter> parameters, results;
  // The number of state variables of a loop or an ensemble, which are the first results. They are
  // the first parameters of a loop; those of an ensemble come after its times t0 and t1.
  int variables = 0;
  // Lives until the program ends.
  const void* function;
  void (*run)(call&, const void* function);

  int first_variable() const { return kind == function_kind::ensemble ? 2 : 0; }
};

/// A parameter as written in a signature: dsl::array, dsl::view, dsl::scalar or a C++ scalar.
template <class P>
struct parameter_of {
  static constexpr bool known = false;
};
template <element T>
struct parameter_of<T> {
  static constexpr bool known = true;
  static constexpr parameter value{parameter_kind::number, dtype_v<T>, 0};
  static T operand(const argument& a) { return a.number<T>(); }
};
template <class T>
struct parameter_of<scalar<T>> {
  static constexpr bool known = true;
  static constexpr parameter value{parameter_kind::single, dtype_v<T>, 0};
  using variable = scalar<T>;
  static view<const T, 0> operand(const argument& a) { return a.memory.as<const T, 0>(); }
  static scalar<T> variable_in(const elements& memory) { return scalar<T>(memory.owner); }
};
template <class T, int R>
struct parameter_of<view<T, R>> {
  using element_type = std::remove_const_t<T>;
  static constexpr bool known = true;
  static constexpr parameter value{R == 0 ? parameter_kind::single : parameter_kind::array,
                                   dtype_v<T>, R};
  using variable = view<element_type, R>;
  static view<const element_type, R> operand(const argument& a) {
    return a.memory.as<const element_type, R>();
  }
  static variable variable_in(const elements& memory) { return memory.as<element_type, R>(); }
};
template <class T, int R>
struct parameter_of<array<T, R>> : parameter_of<view<T, R>> {};
template <class T>
struct parameter_of<any_rank<T>> : parameter_of<view<T, max_rank>> {
  static constexpr parameter value{parameter_kind::array, dtype_v<T>, parameter::of_any_rank};
};

}  // namespace detail
}  // namespace dsl::python
