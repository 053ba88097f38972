// A type with std::mdspan's members, which C++20's standard library lacks.
#pragma once

#include <array>

template <class T, int Rank>
struct spanned {
  using element_type = T;
  using reference = T&;
  using rank_type = unsigned;
  struct strided {
    std::array<int, Rank> steps;
    bool has_strides;
    bool is_strided() const { return has_strides; }
    int stride(unsigned d) const { return steps[d]; }
  };
  T* first;
  std::array<int, Rank> sizes;
  strided steps;
  static constexpr unsigned rank() { return Rank; }
  T* data_handle() const { return first; }
  int extent(unsigned d) const { return sizes[d]; }
  const strided& mapping() const { return steps; }
};
