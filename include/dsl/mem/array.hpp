// Arrays that own device memory.
#pragma once

#include <dsl/mem/view.hpp>

namespace dsl {

/// A contiguous row-major array of rank `Rank` in the memory of one device. Copies are deep; a move
/// does not copy. An array that was never given extents takes those of the first expression
/// assigned to it.
///
/// Thread safety is that of a std::vector: any number of threads may read an array at the same
/// time; a thread that writes it, also the elements through a view, must be the only one that uses
/// it. The library orders the work that their streams do on the device.
template <element T, int Rank = 1>
class array : public detail::in_device_memory<T> {
 public:
  using value_type = T;
  static constexpr int rank = Rank;

  array() = default;
  /// Allocates uninitialised memory on the current device, or on `where`. Throws memory_error,
  /// device_error or shape_error (a negative extent).
  explicit array(const dsl::extents<Rank>& sizes, device where = device::current())
      : array(detail::buffer_ref::allocate(sizes.data(), Rank, sizeof(T), where), sizes) {}
  /// Uses memory that is already allocated.
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
    if constexpr (E::rank == Rank) detail::evaluate_into(*this, expression);
  }
  template <detail::viewable A>
    requires(A::rank != Rank || !std::same_as<typename A::value_type, T>)
  array(const A& other) : array(other.view()) {}
  /// These do not compile; the message names the valid calls.
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

  /// Without memory, the array becomes a copy of `other`. With memory, `other` is assigned like an
  /// expression: the extents stay, and `other` is broadcast to them; throws shape_error if that is
  /// impossible. An array with the same extents may be on another device.
  array& operator=(const array& other) {
    if (this == &other) return *this;
    if (!owner_) return *this = array(other);
    if (other.owner_ && other.extents_ == extents_) copy_from(other);
    else
      detail::copy(owner_, origin(), view().mapping(), other.owner_, other.origin(),
                   other.view().mapping(), sizeof(T));
    return *this;
  }
  /// Takes over the memory and the extents of `other`; the previous contents are released.
  array& operator=(array&& other) noexcept {
    if (this != &other) owner_.replace();
    owner_ = std::move(other.owner_);
    const auto extents = other.extents_;
    other.extents_ = {};
    extents_ = extents;
    return *this;
  }
  /// Evaluates an expression into the elements, as if all values were computed before the first is
  /// written. Throws shape_error if the shapes differ, before anything is written.
  template <detail::lazy E>
  array& operator=(const E& expression) {
    detail::evaluate_into(*this, expression);
    return *this;
  }
  template <detail::viewable A>
  array& operator=(const A& other) {
    return *this = other.view();
  }
  /// Sets every element to a scalar.
  template <detail::fills<T> V>
  array& operator=(const V& value) {
    detail::evaluate_into(view(), value);
    return *this;
  }
  /// These do not compile; the message names the valid sources.
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

  /// A view of the whole array, which shares its memory.
  dsl::view<T, Rank> view() { return {owner_, origin(), extents_, detail::row_major(extents_)}; }
  dsl::view<const T, Rank> view() const {
    return {owner_, origin(), extents_, detail::row_major(extents_)};
  }
  operator dsl::view<T, Rank>() { return view(); }
  operator dsl::view<const T, Rank>() const { return view(); }

  /// A view of a part of the array, or one element: x(dsl::slice(1, -1)), m(dsl::slice(), 0), m(i,
  /// j). See `view`.
  template <class... I>
  auto operator()(const I&... chosen) {
    return view()(chosen...);
  }
  template <class... I>
  auto operator()(const I&... chosen) const {
    return view()(chosen...);
  }

  /// The address of the first element. Throws device_error on a mesh of processes, where no process
  /// has all elements.
  T* data() {
    detail::require_address(owner_.data());
    return origin();
  }
  const T* data() const {
    detail::require_address(owner_.data());
    return origin();
  }
  /// The address of the first element as the library tracks it; not a real address if the elements
  /// are distributed over processes.
  T* origin() noexcept { return static_cast<T*>(owner_.data()); }
  const T* origin() const noexcept { return static_cast<const T*>(owner_.data()); }
  bool has_memory() const noexcept { return static_cast<bool>(owner_); }
  device where() const noexcept { return owner_.where(); }
  const dsl::extents<Rank>& extents() const noexcept { return extents_; }
  std::int64_t extent(int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const noexcept { return owner_ ? view().size() : 0; }

  /// The elements in row-major order as a std::vector; the calling file must include <vector>.
  /// Waits for the work queued on them.
  auto copy_to_host() const {
    using vector = decltype(view().copy_to_host());
    return owner_ ? view().copy_to_host() : vector();
  }
  /// Copies to anything with data() and size(). The size must be the array's. Waits.
  template <class Span>
  void copy_to_host(Span&& to) const {
    view().copy_to_host(std::forward<Span>(to));
  }
  /// Copies from anything on the host with data() and size(). The size must be the array's. The
  /// source has been read when this returns.
  template <class Range>
  void copy_from_host(const Range& from) {
    view().copy_from_host(from);
  }
  /// Queues a copy between the array and a pinned_array or a part of one, without waiting: see
  /// `view`.
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
