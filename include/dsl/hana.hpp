// Structs described with Boost.Hana as operands: templates with BOOST_HANA_DEFINE_STRUCT whose
// members are arrays, views, scalars, C++ scalars and structs of these. Such a struct can take the
// place of an array as an argument of a formula, a target of `tie` or a variable of `state`. Inside
// a formula it is the same template with symbols as members. For arrays of structs see
// `structured_array`.
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
