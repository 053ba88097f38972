// Arrays that own device memory.
#pragma once

#include <dsl/mem/view.hpp>

namespace dsl {

/// A contiguous row-major array of rank `Rank` in the memory of one device. Copies are deep; moving
/// is free. An array that was never given extents takes those of the first expression assigned to
/// it.
///
/// Threads share it as they do a std::vector: any number may read it at once, and one that writes
/// it, its elements through a view too, is the only one that uses it then. In which order their
/// streams do the work on the device is the library's to see to.
template <element T, int Rank = 1>
class array : public detail::in_device_memory<T> {
 public:
  using value_type = T;
  static constexpr int rank = Rank;

  array() = default;
  /// Not initialised, on the current device. Throws memory_error, device_error or shape_error (a
  /// negative extent).
  explicit array(const dsl::extents<Rank>& sizes, device where = device::current())
      : array(detail::buffer_ref::allocate(sizes.data(), Rank, sizeof(T), where), sizes) {}
  /// In memory that is there.
  array(detail::buffer_ref memory, const dsl::extents<Rank>& sizes)
      : owner_(std::move(memory)), extents_(sizes) {}
  template <std::integral... N>
    requires(sizeof...(N) == Rank && Rank > 0)
  explicit array(N... n) : array(detail::to_extents(n...)) {}

  array(const array& other) : extents_(other.extents_) {
    if (!other.owner_) return;
    owner_ = array(extents_, other.where()).owner_;
    copy_from(other);
  }
  array(array&& other) noexcept : owner_(std::move(other.owner_)), extents_(other.extents_) {
    other.extents_ = {};
  }
  /// Evaluates an expression on its operands' device: one kernel, without waiting.
  template <detail::lazy E>
  array(const E& expression) {
    detail::require_rank<Rank, E::rank>();
    if constexpr (E::rank == Rank) assign(*this, expression);
  }
  template <detail::viewable A>
    requires(A::rank != Rank || !std::same_as<typename A::value_type, T>)
  array(const A& other) : array(other.view()) {}
  /// Do not compile, and say what would.
  template <element... N>
    requires(sizeof...(N) > 0 && !(sizeof...(N) == Rank && (std::integral<N> && ...)))
  explicit(sizeof...(N) == 1) array(const N&...) {
    detail::no_extents<Rank, N...>();
  }
  template <detail::foreign_range H>
    requires(!detail::lazy<H> && !detail::viewable<H>)
  array(const H&) {
    detail::no_source<T, H>();
  }

  /// Without memory it becomes a copy of `other`. With memory its elements are assigned as an
  /// expression is: it keeps its extents, to which others stretch or are a shape_error. Elements of
  /// an array of the same extents may come from another device.
  array& operator=(const array& other) {
    if (this == &other) return *this;
    if (!owner_) return *this = array(other);
    if (other.owner_ && other.extents_ == extents_) copy_from(other);
    else
      detail::copy(owner_, origin(), view().mapping(), other.owner_, other.origin(),
                   other.view().mapping(), sizeof(T));
    return *this;
  }
  /// Takes over the memory and the extents, whatever was there before.
  array& operator=(array&& other) noexcept {
    if (this != &other) owner_.replace();
    owner_ = std::move(other.owner_);
    const auto extents = other.extents_;
    other.extents_ = {};
    extents_ = extents;
    return *this;
  }
  /// Evaluates an expression into the elements, as if it were complete before the first is written.
  /// Throws shape_error where the shapes differ, before anything is written.
  template <detail::lazy E>
  array& operator=(const E& expression) {
    assign(*this, expression);
    return *this;
  }
  template <detail::viewable A>
  array& operator=(const A& other) {
    return *this = other.view();
  }
  /// Sets every element.
  template <detail::fills<T> V>
  array& operator=(const V& value) {
    assign(view(), value);
    return *this;
  }
  /// Do not compile, and say what would.
  template <detail::source_of_nothing<array, T> V>
  array& operator=(const V&) {
    detail::no_source<T, V>();
    return *this;
  }
  template <class V>
    requires(detail::lazy<V> || detail::viewable<V> || detail::fills<V, T>)
  const array& operator=(const V&) const {
    static_assert(sizeof(V) == 0,
                  "the target is const: an array that is, or a view that only reads");
    return *this;
  }

  /// All of it, as a view that shares the memory.
  dsl::view<T, Rank> view() { return {owner_, origin(), extents_, detail::row_major(extents_)}; }
  dsl::view<const T, Rank> view() const {
    return {owner_, origin(), extents_, detail::row_major(extents_)};
  }
  operator dsl::view<T, Rank>() { return view(); }
  operator dsl::view<const T, Rank>() const { return view(); }

  /// A part of it, or one element: x(dsl::slice(1, -1)), m(dsl::slice(), 0), m(i, j). See `view`.
  template <class... I>
  auto operator()(const I&... chosen) {
    return view()(chosen...);
  }
  template <class... I>
  auto operator()(const I&... chosen) const {
    return view()(chosen...);
  }

  /// The address of the first element. Throws device_error on a mesh of processes, of which none
  /// has all elements.
  T* data() {
    detail::require_address(owner_.data());
    return origin();
  }
  const T* data() const {
    detail::require_address(owner_.data());
    return origin();
  }
  /// The same as the library knows it: no address where processes have the elements.
  T* origin() noexcept { return static_cast<T*>(owner_.data()); }
  const T* origin() const noexcept { return static_cast<const T*>(owner_.data()); }
  bool has_memory() const noexcept { return static_cast<bool>(owner_); }
  device where() const noexcept { return owner_.where(); }
  const dsl::extents<Rank>& extents() const noexcept { return extents_; }
  std::int64_t extent(int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const noexcept { return owner_ ? view().size() : 0; }

  /// The elements in row-major order, a std::vector; the file that calls it includes <vector>.
  /// Waits for the work queued on them.
  auto copy_to_host() const {
    using vector = decltype(view().copy_to_host());
    return owner_ ? view().copy_to_host() : vector();
  }
  /// Into anything with data() and size(), which must be the array's. Waits.
  template <class Span>
  void copy_to_host(Span&& to) const {
    view().copy_to_host(std::forward<Span>(to));
  }
  /// From anything on the host with data() and size(), which must be the array's. It has been read
  /// when this returns.
  template <class Range>
  void copy_from_host(const Range& from) {
    view().copy_from_host(from);
  }
  /// Copies between the array and a pinned_array, or a part of one, that are queued: see `view`.
  void copy_to_host_async(const pinned_span<T>& to) const { view().copy_to_host_async(to); }
  void copy_from_host_async(const pinned_span<T>& from) { view().copy_from_host_async(from); }

 private:
  void copy_from(const array& other) {
    detail::copy(owner_, origin(), other.owner_, other.origin(),
                 static_cast<std::size_t>(size()) * sizeof(T));
  }

  detail::buffer_ref owner_;
  dsl::extents<Rank> extents_{};
};

}  // namespace dsl
