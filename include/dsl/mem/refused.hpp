// The result type of calls that do not compile, and a record of the included headers.
#pragma once

#include <cstdint>

namespace dsl {

/// Poison result of a call that does not compile: suppresses follow-on errors.
struct refused {
  template <class T> operator T() const;
  template <class T> const refused& operator=(const T&) const;
  template <class T> const refused& operator+=(const T&) const;
  template <class T> const refused& operator-=(const T&) const;
  template <class T> const refused& operator*=(const T&) const;
  template <class T> const refused& operator/=(const T&) const;
  template <class I> refused operator[](const I&) const;
  template <class... I> refused operator()(const I&...) const;
  refused value() const;
  refused copy_to_host() const;
};

namespace detail {

/// The headers that dsl.hpp does not include. Each records that it is included before it calls any
/// of its functions. The placeholders of its functions (lang/other_headers.hpp) then drop out of
/// overload resolution.
enum class header : std::uint8_t {
  by_key,
  scatter,
  select,
  sort,
  scan,
  window,
  random,
  linear,
  fft,
  ode,
  mpi,
  dlpack,
  cuda_array_interface
};
template <header Header, class Explicit> inline constexpr bool is_included = false;

}  // namespace detail
}  // namespace dsl
