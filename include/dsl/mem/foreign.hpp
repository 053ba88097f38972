// Memory that the library does not own: what keeps it alive, and the types that expose it.
#pragma once

#include <type_traits>
#include <utility>

#include <dsl/ir/promotion.hpp>
#include <dsl/mem/buffer.hpp>
#include <dsl/mem/lazy.hpp>

namespace dsl {

namespace detail {

/// A type with a view of its elements: an array, a scalar in device memory, one element of an
/// array.
template <class A>
concept viewable = requires(const A& a) { a.view(); };

/// An object of any type, kept until the memory that it owns is no longer needed.
class keeper {
 public:
  keeper() = default;
  template <class Kept>
    requires(!std::same_as<std::remove_cvref_t<Kept>, keeper>)
  explicit keeper(Kept&& kept)
      : kept_(new std::remove_cvref_t<Kept>(std::forward<Kept>(kept))),
        destroy_([](void* object) { delete static_cast<std::remove_cvref_t<Kept>*>(object); }) {}
  keeper(keeper&& other) noexcept
      : kept_(std::exchange(other.kept_, nullptr)), destroy_(other.destroy_) {}
  keeper& operator=(keeper&& other) noexcept {
    std::swap(kept_, other.kept_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~keeper() {
    if (kept_ != nullptr) destroy_(kept_);
  }

  void* object() const noexcept { return kept_; }

 private:
  void* kept_ = nullptr;
  void (*destroy_)(void*) = nullptr;
};

/// Extents or strides as users write them: one integer, several in braces, or an array of them.
template <int Rank>
struct lengths {
  dsl::extents<Rank> values{};

  template <std::integral... N>
    requires(sizeof...(N) == Rank)
  constexpr lengths(N... n) : values{static_cast<std::int64_t>(n)...} {}
  template <std::integral N>
  constexpr lengths(const std::array<N, static_cast<std::size_t>(Rank)>& n) {
    for (std::size_t d = 0; d != n.size(); ++d) values[d] = static_cast<std::int64_t>(n[d]);
  }
};

// A pointer, or a wrapper of one that has get(), such as thrust::device_ptr.
template <class P>
constexpr auto raw_pointer(const P& pointer) {
  if constexpr (std::is_pointer_v<P>) return pointer;
  else return pointer.get();
}
template <class P> using pointed_t =
    std::remove_pointer_t<decltype(raw_pointer(std::declval<P>()))>;

/// Contiguous elements in memory that the library does not own: std::vector, std::array, std::span,
/// thrust::device_vector.
template <class C>
concept foreign_range =
    !lazy<std::remove_cvref_t<C>> && !viewable<std::remove_cvref_t<C>> && requires(C& c) {
      { c.size() } -> std::convertible_to<std::size_t>;
      requires element<pointed_t<decltype(c.data())>>;
    };
template <class C> using foreign_element_t = pointed_t<decltype(std::declval<C&>().data())>;

/// Whether the elements outlive an object of this type, as with std::span.
template <class C>
inline constexpr bool is_borrowed =
    std::is_trivially_copyable_v<C> &&
    std::same_as<decltype(std::declval<C&>().data()), decltype(std::declval<const C&>().data())>;

/// A type with the members of std::mdspan: a data handle, extents and strides; element access must
/// be plain references.
template <class M>
concept foreign_mdspan = requires(const M& m) {
  m.data_handle();
  m.extent(0);
  m.mapping().is_strided();
  requires std::same_as<typename M::reference, typename M::element_type&>;
  requires element<pointed_t<decltype(m.data_handle())>>;
};
template <class M> inline constexpr int rank_of_mdspan = static_cast<int>(M::rank());

/// Throws shape_error: the mapping has no strides.
[[noreturn]] void throw_no_strides();

template <class M>
lengths<rank_of_mdspan<M>> extents_of(const M& m) {
  dsl::extents<rank_of_mdspan<M>> n{};
  for (std::size_t d = 0; d != n.size(); ++d)
    n[d] = static_cast<std::int64_t>(m.extent(static_cast<typename M::rank_type>(d)));
  return n;
}
template <class M>
lengths<rank_of_mdspan<M>> strides_of(const M& m) {
  dsl::extents<rank_of_mdspan<M>> n{};
  if constexpr (rank_of_mdspan<M> > 0) {
    if (!m.mapping().is_strided()) throw_no_strides();
    for (std::size_t d = 0; d != n.size(); ++d)
      n[d] = static_cast<std::int64_t>(m.mapping().stride(static_cast<typename M::rank_type>(d)));
  }
  return n;
}

/// Whether to trust that the device reaches an address, or to look the address up, which takes a
/// CUDA call.
enum class address_check : std::uint8_t { looked_up, trusted };

/// A reference to memory that someone else owns: `elements` of `size` bytes, the first at `first`.
/// If `where` is null, `device_of` determines the device. `is_written`: no two elements may share
/// an address. Throws memory_error (no memory, an address that is not a multiple of `size`),
/// shape_error and device_error.
buffer_ref borrow(const void* first, const mapping& elements, std::size_t size, const device* where,
                  bool is_written, keeper&& kept, address_check how = address_check::looked_up);

}  // namespace detail

/// The device that can use the memory at an address: a GPU for its own and for managed memory. For
/// host memory, page-locked or not: the current device if that is `host` or `sim`, else `host`.
/// Throws cuda_error.
device device_of(const void* address);

}  // namespace dsl
