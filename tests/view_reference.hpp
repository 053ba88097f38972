// Reference for functions of shape, one index at a time: slow, and simple enough to be obviously
// correct.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

struct view_reference {
  using index = std::vector<std::int64_t>;

  index shape;
  std::vector<std::int64_t> places;  // of the elements in row-major order

  // An array of that shape whose elements are their own places.
  static view_reference of(index shape) {
    view_reference r{std::move(shape), {}};
    r.places.resize(static_cast<std::size_t>(r.count()));
    std::iota(r.places.begin(), r.places.end(), 0);
    return r;
  }

  std::int64_t count() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }

  std::int64_t at(const index& i) const {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + i[d];
    return places[static_cast<std::size_t>(flat)];
  }

  // An array of another shape; its element i is this one's element from(i).
  view_reference map(index to, const std::function<index(index)>& from) const {
    view_reference r{std::move(to), {}};
    const std::int64_t n = r.count();
    for (std::int64_t flat = 0; flat < n; ++flat) {
      index i(r.shape.size());
      std::int64_t rest = flat;
      for (std::size_t d = r.shape.size(); d-- > 0;) {
        i[d] = rest % r.shape[d];
        rest /= r.shape[d];
      }
      r.places.push_back(at(from(i)));
    }
    return r;
  }

  // The positions of Python's start:stop:step along an axis.
  static index positions(std::int64_t n, std::optional<std::int64_t> start,
                         std::optional<std::int64_t> stop, std::int64_t step) {
    const auto from_end = [n](std::int64_t at) { return at < 0 ? at + n : at; };
    index chosen;
    if (step > 0) {
      for (std::int64_t i = std::max<std::int64_t>(0, from_end(start.value_or(0)));
           i < n && (!stop || i < from_end(*stop)); i += step)
        chosen.push_back(i);
    } else {
      for (std::int64_t i = std::min(n - 1, from_end(start.value_or(n - 1)));
           i >= 0 && (!stop || i > from_end(*stop)); i += step)
        chosen.push_back(i);
    }
    return chosen;
  }
  view_reference slice(std::size_t axis, std::optional<std::int64_t> start,
                       std::optional<std::int64_t> stop, std::int64_t step) const {
    const index chosen = positions(shape[axis], start, stop, step);
    index to = shape;
    to[axis] = static_cast<std::int64_t>(chosen.size());
    return map(to, [&](index i) { return i[axis] = chosen[static_cast<std::size_t>(i[axis])], i; });
  }
  view_reference pick(std::size_t axis, std::int64_t position) const {
    index to = shape;
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
    return map(to, [&](index i) {
      return i.insert(i.begin() + static_cast<std::ptrdiff_t>(axis), position), i;
    });
  }
  view_reference flip(std::size_t axis) const {
    return map(shape, [&](index i) { return i[axis] = shape[axis] - 1 - i[axis], i; });
  }
  view_reference permute(const std::vector<int>& axes) const {
    index to;
    for (const int axis : axes) to.push_back(shape[static_cast<std::size_t>(axis)]);
    return map(to, [&](const index& i) {
      index from(i.size());
      for (std::size_t k = 0; k < axes.size(); ++k) from[static_cast<std::size_t>(axes[k])] = i[k];
      return from;
    });
  }
  view_reference transpose() const {
    std::vector<int> axes(shape.size());
    std::iota(axes.rbegin(), axes.rend(), 0);
    return permute(axes);
  }
  view_reference diagonal(std::int64_t offset) const {
    index to(shape.begin() + 2, shape.end());
    std::int64_t length = 0;
    for (std::int64_t i = 0; i < shape[0]; ++i)
      length += i + offset >= 0 && i + offset < shape[1] ? 1 : 0;
    to.push_back(length);
    const std::int64_t row = offset < 0 ? -offset : 0;
    return map(to, [&](index i) {
      const std::int64_t k = i.back();
      i.pop_back();
      i.insert(i.begin(), {row + k, row + k + offset});
      return i;
    });
  }
  view_reference broadcast_to(const index& to) const {
    const std::size_t added = to.size() - shape.size();
    return map(to, [&](index i) {
      i.erase(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(added));
      for (std::size_t d = 0; d < shape.size(); ++d) i[d] = shape[d] == 1 ? 0 : i[d];
      return i;
    });
  }
  view_reference reshape(index to) const { return {std::move(to), places}; }
};
