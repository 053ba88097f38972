// Arrays of structs in device memory, and views of their members.
#pragma once

#include <dsl/mem/create.hpp>
#include <dsl/mem/structure.hpp>

namespace dsl {

namespace detail {

/// A struct that is fully described by its bytes.
template <class T>
concept record = std::is_class_v<T> && std::is_trivially_copyable_v<T> &&
                 std::is_standard_layout_v<T> && std::is_default_constructible_v<T> && !element<T>;

template <class H>
concept host_range_of_records = requires(const H& h) {
  { h.size() } -> std::convertible_to<std::size_t>;
  h.data();
} && record<std::remove_cvref_t<decltype(*std::declval<const H&>().data())>>;

/// Throws shape_error.
[[noreturn]] void throw_misplaced_member(std::size_t offset, std::size_t size);

}  // namespace detail

/// Contiguous structs in the memory of one device, like a NumPy array of a structured dtype.
/// Formulas use the members: `members` and `member` give views of them. Copies are deep; a move
/// does not copy.
template <detail::record T>
class structured_array {
 public:
  using value_type = T;

  structured_array() = default;
  /// `n` uninitialised structs on the current device. Throws memory_error, device_error or
  /// shape_error (a negative extent).
  explicit structured_array(std::int64_t n) : bytes_(n, static_cast<std::int64_t>(sizeof(T))) {}

  bool has_memory() const noexcept { return bytes_.has_memory(); }
  device where() const noexcept { return bytes_.where(); }
  std::int64_t size() const noexcept { return bytes_.extent(0); }

  /// Copies the structs to the host. Waits for the work queued on them. Throws memory_error if
  /// there is no memory.
  std::vector<T> copy_to_host() const {
    std::vector<T> host(static_cast<std::size_t>(size()));
    detail::require_memory(bytes_.view().owner(), "copy_to_host");
    detail::download(bytes_.view().owner(), bytes_.origin(), host.data(), host.size() * sizeof(T));
    return host;
  }

  /// A view of the member at `offset` bytes of each struct.
  template <element M>
  view<M, 1> at(std::size_t offset) {
    return {bytes_.view().owner(),
            reinterpret_cast<M*>(bytes_.origin() + checked<M>(offset)),
            {size()},
            {step<M>}};
  }
  template <element M>
  view<const M, 1> at(std::size_t offset) const {
    return {bytes_.view().owner(),
            reinterpret_cast<const M*>(bytes_.origin() + checked<M>(offset)),
            {size()},
            {step<M>}};
  }

 private:
  template <class M> static constexpr std::int64_t step =
      static_cast<std::int64_t>(sizeof(T) / sizeof(M));
  template <class M> std::size_t checked(std::size_t offset) const {
    static_assert(
        sizeof(T) % sizeof(M) == 0,
        "the size of a struct in an array is a multiple of each member's: strides count elements");
    detail::require_memory(bytes_.view().owner(), "a view of a member");
    if (offset % sizeof(M) != 0) detail::throw_misplaced_member(offset, sizeof(M));
    return offset;
  }

  array<std::uint8_t, 2> bytes_;
};

/// A copy of a contiguous host range of structs on the current device. The range may be freed when
/// this returns.
template <detail::host_range_of_records H>
auto to_device(const H& host) {
  using T = std::remove_cvref_t<decltype(*host.data())>;
  structured_array<T> a(static_cast<std::int64_t>(host.size()));
  if (host.size() > 0) {
    const auto bytes = a.template at<std::uint8_t>(0);
    detail::upload(bytes.owner(), bytes.origin(), host.data(), host.size() * sizeof(T));
  }
  return a;
}

namespace detail {

// The offset of a member, in bytes.
template <class T, class M>
std::size_t offset_of(M T::* member) {
  const T one{};
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&(one.*member)) -
                                  reinterpret_cast<const char*>(&one));
}

template <class M> struct view_in_place { using type = M; };
template <element M> struct view_in_place<M> { using type = view<M, 1>; };
template <class M> struct const_view_in_place { using type = M; };
template <element M> struct const_view_in_place<M> { using type = view<const M, 1>; };

/// The views of a struct's members, where the struct is nested in another at `base`.
template <class To, class S, class Array>
To views_of(Array& all, const char* base, const S& one) {
  const auto view_of = [&]<class Member, class M>(std::type_identity<Member>, const M& m) {
    if constexpr (structured<M>) return views_of<Member>(all, base, m);
    else
      return all.template at<M>(static_cast<std::size_t>(reinterpret_cast<const char*>(&m) - base));
  };
  return [&]<class... Member>(std::type_identity<tuple<Member...>>) {
    return unpack([&](const auto&... m) { return To{view_of(std::type_identity<Member>{}, m)...}; },
                  structure<S>::members(one));
  }(std::type_identity<member_types_t<To>>{});
}

}  // namespace detail

/// The members of an array of structs that dsl/hana.hpp describes, as a struct of views that share
/// its memory: for `body<float, double>` a `body<view<float>, view<double>>`. The views of a const
/// or temporary array are read-only. The struct's size and its members' offsets must be multiples
/// of each member's size; otherwise compilation fails or shape_error is thrown.
template <detail::structured T>
auto members(structured_array<T>& all) {
  const T one{};
  return detail::views_of<typename detail::mapped<T, detail::view_in_place>::type>(
      all, reinterpret_cast<const char*>(&one), one);
}
template <detail::structured T>
auto members(const structured_array<T>& all) {
  const T one{};
  return detail::views_of<typename detail::mapped<T, detail::const_view_in_place>::type>(
      all, reinterpret_cast<const char*>(&one), one);
}

/// One member of each struct of an array, as a view: dsl::member(bodies, &body::charge). Throws as
/// `members`.
template <class T, element M>
view<M, 1> member(structured_array<T>& all, M T::* which) {
  return all.template at<M>(detail::offset_of(which));
}
template <class T, element M>
view<const M, 1> member(const structured_array<T>& all, M T::* which) {
  return all.template at<M>(detail::offset_of(which));
}

}  // namespace dsl
