// Views: windows on an array's memory.
#pragma once

#include <vector>

#include <dsl/mem/foreign.hpp>
#include <dsl/mem/misused.hpp>
#include <dsl/mem/pinned.hpp>
#include <dsl/mem/slice.hpp>

namespace dsl {

namespace detail {

/// n values on the host. Throws memory_error.
template <class T>
std::vector<T> host_vector(std::int64_t n) {
  try {
    return std::vector<T>(static_cast<std::size_t>(n));
  } catch (const std::exception&) {  // bad_alloc, or length_error
    throw_host_is_full(static_cast<std::size_t>(n), sizeof(T));
  }
}

/// A contiguous range on the host.
template <class R>
concept contiguous = requires(R& r) {
  r.data();
  { r.size() } -> std::convertible_to<std::size_t>;
};

/// A C++ scalar that may fill an array of T.
template <class V, class T>
concept fills = element<V> && assignable(dtype_v<T>, {dtype_v<V>, true});
/// A type that cannot be assigned to an array or a view of T.
template <class V, class Target, class T>
concept source_of_nothing =
    !lazy<V> && !viewable<V> && !fills<V, T> && !std::convertible_to<const V&, Target>;

}  // namespace detail

template <element T>
class element_reference;

/// Elements of T in device memory, with extents and strides (in elements). Cheap to copy; keeps an
/// array's memory alive. Assigning to a view assigns the elements; reads and writes run on the
/// device, in stream order. A view of const T is read-only: views of const arrays, and views that
/// show an element more than once.
///
/// Memory that the library does not own is used in place: dsl::view x(pointer, n), dsl::view
/// m(pointer, {rows, columns}, {stride, 1}), dsl::view y(std_vector). It must outlive the last view
/// of it and the work queued on it. Such a view is ordered in the stream that is current when it is
/// created: it sees work queued there before, and work queued there after the last copy of the view
/// was destroyed sees what was written through it. Throws memory_error (no memory; an address that
/// is not a multiple of the element size), shape_error (elements to write that share an address)
/// and device_error (memory that the device cannot reach).
template <element T, int Rank = 1>
class view : public detail::in_device_memory<T> {
  static_assert(Rank >= 0 && Rank <= max_rank, "ranks are 0 to 8");

 public:
  using lazy_expression = void;
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = Rank;

  view() = default;
  view(detail::buffer_ref owner, T* data, const dsl::extents<Rank>& sizes,
       const dsl::extents<Rank>& steps)
      : owner_(std::move(owner)), data_(data), extents_(sizes), strides_(steps) {}
  view(const view&) = default;
  view(view&&) = default;

  /// Elements in row-major order in memory that the library does not own, on `where` or on the
  /// device that `device_of` finds.
  view(T* data, const detail::lengths<Rank>& sizes)
      : view(data, sizes, detail::row_major(sizes.values)) {}
  view(T* data, const detail::lengths<Rank>& sizes, device where)
      : view(data, sizes, detail::row_major(sizes.values), where) {}
  /// The same with strides, in elements.
  view(T* data, const detail::lengths<Rank>& sizes, const detail::lengths<Rank>& strides)
      : view(data, sizes, strides, nullptr, detail::keeper()) {}
  view(T* data, const detail::lengths<Rank>& sizes, const detail::lengths<Rank>& strides,
       device where)
      : view(data, sizes, strides, &where, detail::keeper()) {}
  /// Keeps `owner`, an object of any type, until the last view is destroyed. The stream is then
  /// ordered after the views' work, which need not be complete yet.
  template <class Owner>
  view(T* data, const detail::lengths<Rank>& sizes, const detail::lengths<Rank>& strides,
       device where, Owner&& owner)
      : view(data, sizes, strides, &where, detail::keeper(std::forward<Owner>(owner))) {}
  /// The elements of anything with data() and size(): std::vector, std::span,
  /// thrust::device_vector. A container that is moved in lives as long as the view.
  template <detail::foreign_range C>
    requires(Rank == 1 && std::convertible_to<detail::foreign_element_t<C> (*)[], T (*)[]>)
  explicit view(C&& container) : view(of_range<C>(container, nullptr)) {}
  template <detail::foreign_range C>
    requires(Rank == 1 && std::convertible_to<detail::foreign_element_t<C> (*)[], T (*)[]>)
  view(C&& container, device where) : view(of_range<C>(container, &where)) {}
  /// The elements of a std::mdspan, or of a type with its members: any mapping with strides, plain
  /// references.
  template <detail::foreign_mdspan M>
    requires(Rank == detail::rank_of_mdspan<M>)
  explicit view(const M& m)
      : view(detail::raw_pointer(m.data_handle()), detail::extents_of(m), detail::strides_of(m)) {}
  template <detail::foreign_mdspan M>
    requires(Rank == detail::rank_of_mdspan<M>)
  view(const M& m, device where)
      : view(detail::raw_pointer(m.data_handle()), detail::extents_of(m), detail::strides_of(m),
             where) {}

  /// The same elements, read-only.
  view(const view<value_type, Rank>& other)
    requires std::is_const_v<T>
      : view(other.owner(), other.origin(), other.extents(), other.strides()) {}

  /// Evaluates an expression into the elements: one kernel, without waiting. Throws shape_error,
  /// device_error or cuda_error.
  template <detail::lazy E>
    requires(!std::same_as<E, view>)
  const view& operator=(const E& expression) const {
    detail::evaluate_into(*this, expression);
    return *this;
  }
  const view& operator=(const view& other) const {
    detail::evaluate_into(*this, other);
    return *this;
  }
  template <detail::viewable A>
  const view& operator=(const A& other) const {
    return *this = other.view();
  }
  /// Sets every element to a scalar.
  template <detail::fills<T> V>
  const view& operator=(const V& value) const {
    detail::evaluate_into(*this, value);
    return *this;
  }
  /// Does not compile; the message names the valid sources.
  template <detail::source_of_nothing<view, T> V>
  const view& operator=(const V&) const {
    detail::no_source<T, V>();
    return *this;
  }

  /// The elements that slices and integers select, one subscript for each of the first axes. The
  /// remaining axes stay whole, and an integer drops its axis. If integers select all axes the
  /// result is an `element_reference`, otherwise a view. Throws index_error, and memory_error for a
  /// view without memory.
  template <class... I>
  auto operator()(const I&... chosen) const {
    static_assert(sizeof...(I) <= Rank, "there are more subscripts than axes");
    static_assert(detail::subscripts<I...>, "subscripts are integers and dsl::slice");
    if constexpr (sizeof...(I) <= Rank && detail::subscripts<I...>) {
      constexpr int left = detail::rank_after<I...>(Rank);
      const detail::subscript all[] = {chosen..., 0};
      auto part = remap<left>("x(...)", [&all](const detail::mapping& m) {
        return detail::subscripted(m, all, sizeof...(I));
      });
      if constexpr (left == 0) return element_reference<T>(part);
      else return part;
    } else {
      return *this;
    }
  }

  /// The address of the first element. Throws device_error on a mesh of processes, where no process
  /// has all elements.
  T* data() const {
    detail::require_address(data_);
    return data_;
  }
  /// The address of the first element as the library tracks it; not a real address if the elements
  /// are distributed over processes.
  T* origin() const noexcept { return data_; }
  const detail::buffer_ref& owner() const& noexcept { return owner_; }
  detail::buffer_ref&& owner() && noexcept { return std::move(owner_); }
  bool has_memory() const noexcept { return static_cast<bool>(owner_); }
  device where() const noexcept { return owner_.where(); }
  const dsl::extents<Rank>& extents() const noexcept { return extents_; }
  const dsl::extents<Rank>& strides() const noexcept { return strides_; }
  std::int64_t extent(int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const noexcept { return detail::element_count(mapping()); }
  bool is_contiguous() const noexcept { return detail::is_contiguous(mapping()); }

  /// The elements in row-major order. Waits for the work queued on them. Throws memory_error for a
  /// view without memory, and if the host has no room for them.
  std::vector<value_type> copy_to_host() const {
    detail::require_memory(owner_, "copy_to_host");
    auto host = detail::host_vector<value_type>(size());
    // std::vector<bool> has no bytes to copy to.
    if constexpr (std::is_same_v<value_type, bool>) {
      auto bytes = detail::host_vector<unsigned char>(size());
      download(bytes.data());
      for (std::size_t i = 0; i < bytes.size(); ++i) host[i] = bytes[i] != 0;
    } else {
      download(host.data());
    }
    return host;
  }
  /// Copies to anything with data() and size(). The size must be this view's. Waits.
  template <detail::contiguous Span>
  void copy_to_host(Span&& to) const {
    static_assert(std::is_same_v<std::remove_reference_t<decltype(*to.data())>, value_type>,
                  "copy_to_host wants elements of the array's type");
    check_host(to.size(), "copy_to_host");
    download(to.data());
  }

  /// Queues a copy to `to` and returns. The elements may be read after `to.wait()`, or after
  /// waiting for the stream. Throws shape_error if the sizes differ, memory_error or cuda_error.
  void copy_to_host_async(const pinned_span<value_type>& to) const {
    check_host(to.size(), "copy_to_host_async");
    detail::download_async(owner_, data_, mapping(), sizeof(T), to.owner(), to.data());
  }
  /// Copies the elements, in row-major order, from anything on the host with data() and size(). The
  /// size must be this view's. The source has been read when this returns. Throws shape_error if
  /// the sizes differ, memory_error or cuda_error.
  template <detail::contiguous Range>
  void copy_from_host(const Range& from) const {
    static_assert(!std::is_const_v<T>,
                  "the target is const: an array that is, or a view that only reads");
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(*from.data())>, value_type>,
                  "copy_from_host wants elements of the array's type");
    check_host(from.size(), "copy_from_host");
    if constexpr (!std::is_const_v<T>)
      detail::upload(owner_, data_, mapping(), sizeof(T), from.data());
  }
  /// Queues a copy from `from` and returns. The program must not change the source until the copy
  /// is done. See copy_to_host_async.
  void copy_from_host_async(const pinned_span<value_type>& from) const {
    static_assert(!std::is_const_v<T>,
                  "the target is const: an array that is, or a view that only reads");
    check_host(from.size(), "copy_from_host_async");
    if constexpr (!std::is_const_v<T>)
      detail::upload_async(owner_, data_, mapping(), sizeof(T), from.owner(), from.data());
  }

  detail::mapping mapping() const { return detail::to_mapping(extents_, strides_); }
  /// The elements under another mapping, which `change` computes from this one. Errors about
  /// missing memory name `function`.
  template <int NewRank, class Change>
  view<T, NewRank> remap(const char* function, const Change& change) const {
    detail::require_memory(owner_, function);
    const detail::mapping to = change(mapping());
    // Without elements, the address must not be moved.
    T* const first = detail::element_count(to) > 0 ? data_ + to.offset : data_;
    return {owner_, first, detail::first_of<NewRank>(to.extents),
            detail::first_of<NewRank>(to.strides)};
  }

 private:
  view(T* data, const detail::lengths<Rank>& sizes, const detail::lengths<Rank>& steps,
       const device* where, detail::keeper&& kept)
      : owner_(detail::borrow(data, detail::to_mapping(sizes.values, steps.values), sizeof(T),
                              where, !std::is_const_v<T>, std::move(kept))),
        data_(data),
        extents_(sizes.values),
        strides_(steps.values) {}
  template <class C>
  static view of_range(std::remove_reference_t<C>& from, const device* where) {
    using container = std::remove_cvref_t<C>;
    const auto show = [where](auto& c, detail::keeper kept) {
      return view(detail::raw_pointer(c.data()), c.size(), 1, where, std::move(kept));
    };
    if constexpr (std::is_lvalue_reference_v<C> || detail::is_borrowed<container>) {
      return show(from, detail::keeper());
    } else {
      detail::keeper kept(std::move(from));
      auto& moved = *static_cast<container*>(kept.object());
      return show(moved, std::move(kept));
    }
  }
  void check_host(std::size_t count, const char* function) const {
    detail::require_memory(owner_, function);
    if (static_cast<std::int64_t>(count) != size())
      detail::throw_size_mismatch(static_cast<std::int64_t>(count), size(), function);
  }
  void download(void* to) const { detail::download(owner_, data_, mapping(), sizeof(T), to); }

  detail::buffer_ref owner_;
  T* data_ = nullptr;
  dsl::extents<Rank> extents_{}, strides_{};
};

template <class T, std::integral N, class... Options>
view(T*, N, const Options&...) -> view<T, 1>;
template <class T, std::integral N, std::size_t Rank, class... Options>
view(T*, const N (&)[Rank], const Options&...) -> view<T, static_cast<int>(Rank)>;
template <class T, std::integral N, std::integral S, std::size_t Rank, class... Options>
view(T*, const N (&)[Rank], const S (&)[Rank], Options&&...) -> view<T, static_cast<int>(Rank)>;
template <class T, std::integral N, std::size_t Rank, class... Options>
view(T*, const std::array<N, Rank>&, Options&&...) -> view<T, static_cast<int>(Rank)>;
template <detail::foreign_range C, class... Options>
view(C&&, Options...) -> view<detail::foreign_element_t<C>, 1>;
template <detail::foreign_mdspan M, class... Options>
view(const M&, Options...) -> view<typename M::element_type, detail::rank_of_mdspan<M>>;

/// One element on the device: x(i, j). Reading copies it to the host and waits; writing does not
/// wait. A loop over single elements is slow, an expression on slices is fast. As an operand of an
/// array expression it stays on the device.
template <element T>
class element_reference {
 public:
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = 0;

  explicit element_reference(const dsl::view<T, 0>& at) : at_(at) {}
  element_reference(const element_reference&) = default;

  value_type value() const {
    value_type v{};
    detail::download(at_.owner(), at_.origin(), &v, sizeof v);
    return v;
  }
  operator value_type() const { return value(); }

  const element_reference& operator=(const value_type& v) const {
    static_assert(!std::is_const_v<T>,
                  "the target is const: an array that is, or a view that only reads");
    if constexpr (!std::is_const_v<T>) detail::fill(at_.owner(), at_.origin(), &v, sizeof v, 1);
    return *this;
  }
  /// Assigns the value of another element, of a scalar in device memory, or of an expression of
  /// rank 0 such as a reduction: on the device.
  const element_reference& operator=(const element_reference& other) const {
    static_assert(!std::is_const_v<T>,
                  "the target is const: an array that is, or a view that only reads");
    if constexpr (!std::is_const_v<T>)
      detail::copy(at_.owner(), at_.origin(), other.at_.owner(), other.at_.origin(), sizeof(T));
    return *this;
  }
  template <detail::viewable A>
    requires(A::rank == 0)
  const element_reference& operator=(const A& other) const {
    return *this = other.view();
  }
  template <detail::lazy E>
    requires detail::is_one_value<E>
  const element_reference& operator=(const E& expression) const {
    detail::evaluate_into(at_, expression);
    return *this;
  }

  const dsl::view<T, 0>& view() const { return at_; }

 private:
  dsl::view<T, 0> at_;
};

}  // namespace dsl
