// Arrays whose elements are their own places, for tests of functions of shape.
#pragma once

#include "../on_device.hpp"
#include "../view_reference.hpp"

#include <string>
#include <vector>

using ints = std::vector<int>;

// An array whose elements are their own places.
template <class... N> auto counting(N... n) {
  return dsl::array<int, sizeof...(N)>(dsl::reshape(dsl::arange<int>((n * ... * 1)), n...));
}
template <class... N> view_reference reference(N... n) { return view_reference::of({n...}); }

template <class X> void expect(const X& x, const view_reference& want,
                               const std::string& story = "") {
  const auto got = dsl::eval(x + 0);
  ASSERT_EQ(std::vector<std::int64_t>(got.extents().begin(), got.extents().end()), want.shape)
      << story;
  ASSERT_EQ(got.copy_to_host(), ints(want.places.begin(), want.places.end())) << story;
}
// Checks a view by a kernel and by a copy to the host.
template <class T, int R> void expect_view(const dsl::view<T, R>& v, const view_reference& want,
                                           const std::string& story = "") {
  expect(v, want, story);
  ASSERT_EQ(v.copy_to_host(), ints(want.places.begin(), want.places.end())) << story;
}
