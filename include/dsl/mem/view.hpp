// A window on an array's memory.
#pragma once

#include <vector>

#include <dsl/ir/promotion.hpp>
#include <dsl/mem/buffer.hpp>
#include <dsl/mem/extents.hpp>

namespace dsl {

namespace detail {

/// An expression that is evaluated when it is assigned: lang's, which this storey knows by this mark alone.
template <class E>
concept lazy = requires { typename E::lazy_expression; };

/// A C++ scalar that may fill an array of T.
template <class V, class T>
concept fills = element<V> && assignable(dtype_v<T>, {dtype_v<V>, true});

}  // namespace detail

/// Elements of T in device memory, with their extents and strides (in elements). Cheap to copy; keeps the memory alive.
/// Assigning to a view assigns the elements; reading and writing run on the device, in stream order.
template <element T, int Rank>
class view {
  static_assert(Rank >= 0 && Rank <= max_rank, "ranks are 0 to 8");

 public:
  using lazy_expression = void;
  using value_type = T;
  static constexpr int rank = Rank;

  view() = default;
  view(detail::buffer_ref owner, T* data, const dsl::extents<Rank>& sizes, const dsl::extents<Rank>& steps)
      : owner_(std::move(owner)), data_(data), extents_(sizes), strides_(steps) {}
  view(const view&) = default;
  view(view&&) = default;

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
  /// Sets every element.
  template <detail::fills<T> V>
  const view& operator=(const V& value) const {
    assign(*this, value);
    return *this;
  }

  T* data() const noexcept { return data_; }
  const detail::buffer_ref& owner() const noexcept { return owner_; }
  device where() const noexcept { return owner_.where(); }
  const dsl::extents<Rank>& extents() const noexcept { return extents_; }
  const dsl::extents<Rank>& strides() const noexcept { return strides_; }
  std::int64_t extent(int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const noexcept {
    std::int64_t n = 1;
    for (const std::int64_t e : extents_) n *= e;
    return n;
  }
  bool is_contiguous() const noexcept {
    const auto packed = detail::row_major(extents_);
    for (std::size_t i = 0; i < Rank; ++i)
      if (extents_[i] != 1 && strides_[i] != packed[i]) return false;
    return true;
  }

  /// The elements in row-major order. Waits for the work queued on them.
  std::vector<T> copy_to_host() const {
    std::vector<T> host(static_cast<std::size_t>(size()));
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no bytes to copy to
      std::vector<unsigned char> bytes(host.size());
      detail::download(owner_, data_, bytes.data(), bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) host[i] = bytes[i] != 0;
    } else {
      copy_to_host(host);
    }
    return host;
  }
  /// Into anything with data() and size(), which must be this view's. Waits.
  template <class Span>
    requires requires(Span&& s) { s.data(), s.size(); }
  void copy_to_host(Span&& to) const {
    static_assert(std::is_same_v<std::remove_reference_t<decltype(*to.data())>, T>, "copy_to_host wants elements of the array's type");
    if (static_cast<std::int64_t>(to.size()) != size())
      detail::throw_size_mismatch(static_cast<std::int64_t>(to.size()), size(), "copy_to_host");
    detail::download(owner_, data_, to.data(), to.size() * sizeof(T));
  }

 private:
  detail::buffer_ref owner_;
  T* data_ = nullptr;
  dsl::extents<Rank> extents_{}, strides_{};
};

}  // namespace dsl
