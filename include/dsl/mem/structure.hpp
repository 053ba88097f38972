// Structs whose members are operands. dsl/hana.hpp provides their descriptions.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <dsl/ir/tuple.hpp>

namespace dsl::detail {

/// The description of a struct, specialised in dsl/hana.hpp. `names`: array of the members' names.
/// `members(s)`: references to the members, in the same order. `of<Map>`: the struct's template
/// with mapped arguments.
template <class T> struct structure {};

template <class T>
concept structured = requires { structure<std::remove_const_t<T>>::names; };

/// The types of a struct's members.
template <class T> struct member_types;
template <class T> using member_types_t =
    typename member_types<decltype(structure<T>::members(std::declval<T&>()))>::type;
template <class... M> struct member_types<tuple<M&...>> {
  using type = tuple<std::remove_const_t<M>...>;
};

/// The image of a type under `Map`. For a described struct, the struct's template with each
/// argument replaced by its image.
template <class T, template <class> class Map> struct mapped : Map<T> {};
template <template <class...> class Template, class... A, template <class> class Map>
  requires structured<Template<A...>>
struct mapped<Template<A...>, Map> {
  using type = Template<typename mapped<A, Map>::type...>;
};

/// References to an operand, or to the members of a struct, recursively.
template <class T>
constexpr auto flat(T& x) {
  if constexpr (structured<T>)
    return unpack([](auto&... m) { return concatenate(flat(m)...); },
                  structure<std::remove_const_t<T>>::members(x));
  else return tuple<T&>(x);
}
template <class... T> using flat_t = decltype(concatenate(flat(std::declval<T&>())...));

/// The number of operands in a struct.
template <class T> inline constexpr std::size_t flat_size = std::tuple_size_v<flat_t<T>>;

/// The name of operand number `Leaf` of a struct: "position", or "center.mass" in a nested struct.
template <class T, std::size_t Leaf>
class leaf_name {
  struct place { std::size_t member, inner; };
  static constexpr place found = []<class... M>(std::type_identity<tuple<M...>>) {
    const std::size_t sizes[] = {flat_size<M>...};
    place at{0, Leaf};
    while (at.inner >= sizes[at.member]) at.inner -= sizes[at.member++];
    return at;
  }(std::type_identity<member_types_t<T>>{});
  using member = std::tuple_element_t<found.member, member_types_t<T>>;

  static constexpr std::size_t length(const char* s) {
    std::size_t n = 0;
    while (s[n] != 0) ++n;
    return n;
  }
  static constexpr auto joined() {
    constexpr const char *outer = structure<T>::names[found.member],
                         *inner = leaf_name<member, found.inner>::value;
    std::array<char, length(outer) + length(inner) + 2> all{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < length(outer); ++i) all[n++] = outer[i];
    all[n++] = '.';
    for (std::size_t i = 0; i < length(inner); ++i) all[n++] = inner[i];
    return all;
  }
  static constexpr auto storage = [] {
    if constexpr (structured<member>) return joined();
    else return std::array<char, 1>{};
  }();

 public:
  static constexpr const char* value =
      structured<member> ? storage.data() : structure<T>::names[found.member];
};

/// The names of all operands of a struct.
template <class T>
inline constexpr auto leaf_names = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<const char*, sizeof...(I)>{leaf_name<T, I>::value...};
}(std::make_index_sequence<flat_size<T>>{});

/// For each operand of some variables: its name if it is a member of a struct, else null.
template <class T>
constexpr auto members_of_variable() {
  if constexpr (structured<T>) return leaf_names<std::remove_const_t<T>>;
  else return std::array<const char*, 1>{};
}
template <class... V>
inline constexpr auto members_of = [] {
  std::array<const char*, (0 + ... + flat_size<V>)+1> all{};
  std::size_t n = 0;
  const auto add = [&](const auto& names) {
    for (const char* name : names) all[n++] = name;
  };
  (add(members_of_variable<V>()), ...);
  return all;
}();

}  // namespace dsl::detail
