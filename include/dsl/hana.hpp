// Structs described with Boost.Hana as operands: templates with BOOST_HANA_DEFINE_STRUCT, of
// arrays, views, scalars, C++ scalars and structs of them. Such a struct goes wherever an array
// does that is an argument, a target of `tie`, a variable of `state`; inside a formula it is the
// same template of symbols. Arrays of structs are `structured_array`s.
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/ext/std/tuple.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

#include <dsl/lang/structure.hpp>
#include <dsl/mem/structured_array.hpp>

namespace dsl {

namespace detail {

template <class T>
  requires(boost::hana::Struct<T>::value)
struct structure<T> {
  static constexpr auto names =
      boost::hana::unpack(boost::hana::accessors<T>(), [](auto... member) {
        return std::array<const char*, sizeof...(member)>{boost::hana::first(member).c_str()...};
      });
  template <class S>
  static constexpr auto members(S& s) {
    return boost::hana::unpack(boost::hana::accessors<T>(), [&s](auto... member) {
      return references(boost::hana::second(member)(s)...);
    });
  }
};

}  // namespace detail
}  // namespace dsl
