// Windows on an array's memory.
#pragma once

#include <vector>

#include <dsl/ir/promotion.hpp>
#include <dsl/mem/buffer.hpp>
#include <dsl/mem/slice.hpp>

namespace dsl {

namespace detail {

/// An expression that is evaluated when it is assigned: lang's, which this storey knows by this mark alone.
template <class E>
concept lazy = requires { typename E::lazy_expression; };

/// Whether an expression is one value. Of a formula on arrays that makes reductions of them lang knows.
template <class E> inline constexpr bool is_one_value = E::rank == 0;

/// What has a view of its elements: an array, a scalar in device memory, one element of an array.
template <class A>
concept viewable = requires(const A& a) { a.view(); };

/// n values on the host. Throws memory_error.
template <class T>
std::vector<T> host_vector(std::int64_t n) {
  try {
    return std::vector<T>(static_cast<std::size_t>(n));
  } catch (const std::exception&) {  // bad_alloc, or length_error
    throw_host_is_full(static_cast<std::size_t>(n), sizeof(T));
  }
}

/// A C++ scalar that may fill an array of T.
template <class V, class T>
concept fills = element<V> && assignable(dtype_v<T>, {dtype_v<V>, true});

}  // namespace detail

template <element T>
class element_reference;

/// Elements of T in device memory, with their extents and strides (in elements). Cheap to copy; keeps the memory alive.
/// Assigning to a view assigns the elements; reading and writing run on the device, in stream order. A view of const T only
/// reads: those of const arrays, and those that show an element more than once.
template <element T, int Rank = 1>
class view {
  static_assert(Rank >= 0 && Rank <= max_rank, "ranks are 0 to 8");

 public:
  using lazy_expression = void;
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = Rank;

  view() = default;
  view(detail::buffer_ref owner, T* data, const dsl::extents<Rank>& sizes, const dsl::extents<Rank>& steps)
      : owner_(std::move(owner)), data_(data), extents_(sizes), strides_(steps) {}
  view(const view&) = default;
  view(view&&) = default;
  /// The same elements, to read.
  view(const view<value_type, Rank>& other)
    requires std::is_const_v<T>
      : view(other.owner(), other.data(), other.extents(), other.strides()) {}

  /// Evaluates an expression into the elements: one kernel, without waiting. Throws shape_error, device_error or cuda_error.
  template <detail::lazy E>
    requires(!std::same_as<E, view>)
  const view& operator=(const E& expression) const {
    assign(*this, expression);
    return *this;
  }
  const view& operator=(const view& other) const {
    assign(*this, other);
    return *this;
  }
  template <detail::viewable A>
  const view& operator=(const A& other) const {
    return *this = other.view();
  }
  /// Sets every element.
  template <detail::fills<T> V>
  const view& operator=(const V& value) const {
    assign(*this, value);
    return *this;
  }

  /// The elements that slices and integers choose, one for each of the first axes; the other axes stay whole, and an integer
  /// drops its axis. One element, where integers stand for all axes, is an `element_reference`, anything else a view. Throws
  /// index_error, and memory_error for a view without memory.
  template <class... I>
  auto operator()(const I&... chosen) const {
    static_assert(sizeof...(I) <= Rank, "there are more subscripts than axes");
    static_assert(detail::subscripts<I...>, "subscripts are integers and dsl::slice");
    if constexpr (sizeof...(I) <= Rank && detail::subscripts<I...>) {
      constexpr int left = detail::rank_after<I...>(Rank);
      const detail::subscript all[] = {chosen..., 0};
      const auto part =
          remap<left>("x(...)", [&all](const detail::mapping& m) { return detail::subscripted(m, all, sizeof...(I)); });
      if constexpr (left == 0) return element_reference<T>(part);
      else return part;
    } else {
      return *this;
    }
  }

  T* data() const noexcept { return data_; }
  const detail::buffer_ref& owner() const noexcept { return owner_; }
  bool has_memory() const noexcept { return static_cast<bool>(owner_); }
  device where() const noexcept { return owner_.where(); }
  const dsl::extents<Rank>& extents() const noexcept { return extents_; }
  const dsl::extents<Rank>& strides() const noexcept { return strides_; }
  std::int64_t extent(int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const noexcept { return detail::element_count(mapping()); }
  bool is_contiguous() const noexcept { return detail::is_contiguous(mapping()); }

  /// The elements in row-major order. Waits for the work queued on them. Throws memory_error for a view without memory, and where
  /// the host has no room for them.
  std::vector<value_type> copy_to_host() const {
    detail::require_memory(owner_, "copy_to_host");
    auto host = detail::host_vector<value_type>(size());
    if constexpr (std::is_same_v<value_type, bool>) {  // std::vector<bool> has no bytes to copy to
      auto bytes = detail::host_vector<unsigned char>(size());
      download(bytes.data());
      for (std::size_t i = 0; i < bytes.size(); ++i) host[i] = bytes[i] != 0;
    } else {
      download(host.data());
    }
    return host;
  }
  /// Into anything with data() and size(), which must be this view's. Waits.
  template <class Span>
    requires requires(Span&& s) {
      s.data();
      s.size();
    }
  void copy_to_host(Span&& to) const {
    static_assert(std::is_same_v<std::remove_reference_t<decltype(*to.data())>, value_type>,
                  "copy_to_host wants elements of the array's type");
    if (static_cast<std::int64_t>(to.size()) != size())
      detail::throw_size_mismatch(static_cast<std::int64_t>(to.size()), size(), "copy_to_host");
    download(to.data());
  }

  detail::mapping mapping() const { return detail::to_mapping(extents_, strides_); }
  /// The elements under another mapping, made from this one's by `change`. `function` is named where there is no memory.
  template <int NewRank, class Change>
  view<T, NewRank> remap(const char* function, const Change& change) const {
    detail::require_memory(owner_, function);
    const detail::mapping to = change(mapping());
    // Where there are no elements there is no address to go to.
    T* const first = detail::element_count(to) > 0 ? data_ + to.offset : data_;
    return {owner_, first, detail::first_of<NewRank>(to.extents), detail::first_of<NewRank>(to.strides)};
  }

 private:
  void download(void* to) const {
    detail::require_memory(owner_, "copy_to_host");
    detail::download(owner_, data_, mapping(), sizeof(T), to);
  }

  detail::buffer_ref owner_;
  T* data_ = nullptr;
  dsl::extents<Rank> extents_{}, strides_{};
};

/// One element on the device, x(i, j). Reading copies it to the host and waits, writing does not wait; a loop over elements is
/// slow, an expression on slices is not. As an operand beside arrays it stays on the device.
template <element T>
class element_reference {
 public:
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = 0;

  explicit element_reference(const dsl::view<T, 0>& at) : at_(at) {}
  element_reference(const element_reference&) = default;

  value_type value() const {
    value_type v{};
    detail::download(at_.owner(), at_.data(), &v, sizeof v);
    return v;
  }
  operator value_type() const { return value(); }

  const element_reference& operator=(const value_type& v) const {
    static_assert(!std::is_const_v<T>, "the target is const: an array that is, or a view that only reads");
    if constexpr (!std::is_const_v<T>) detail::fill(at_.owner(), at_.data(), &v, sizeof v, 1);
    return *this;
  }
  /// The value of another element, of a scalar in device memory or of an expression of rank 0, a reduction say: on the device.
  const element_reference& operator=(const element_reference& other) const {
    static_assert(!std::is_const_v<T>, "the target is const: an array that is, or a view that only reads");
    if constexpr (!std::is_const_v<T>) detail::copy(at_.owner(), at_.data(), other.at_.owner(), other.at_.data(), sizeof(T));
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
    assign(at_, expression);
    return *this;
  }

  const dsl::view<T, 0>& view() const { return at_; }

 private:
  dsl::view<T, 0> at_;
};

}  // namespace dsl
