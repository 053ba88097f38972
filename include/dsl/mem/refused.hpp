// What stands in the place of a result where a call does not compile, and which headers are there.
#pragma once

#include <cstdint>

namespace dsl {

/// What a call that does not compile is worth, so that the compiler says no more than why.
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

/// The headers that dsl.hpp leaves out. Each of them says that it is there, before it calls any of
/// its functions; what speaks for its functions otherwise (lang/other_headers.hpp) is then no
/// candidate any more.
enum class header : std::uint8_t {
  by_key,
  scatter,
  select,
  sort,
  scan,
  random,
  ode,
  mpi,
  dlpack,
  cuda_array_interface
};
template <header Header, class Explicit> inline constexpr bool is_included = false;

}  // namespace detail
}  // namespace dsl
