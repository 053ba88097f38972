// Formulas, neighbours and gathers of operands in random layouts; every element is compared.
#pragma once

#include "../on_device.hpp"
#include "../random_layout.hpp"

#include <memory>
#include <numeric>

/// An array of small random integers and a view of it.
template <class T, int Rank>
struct operand {
  operand(const dsl::extents<Rank>& shape, std::mt19937& engine, bool may_stretch) {
    const random_layout<Rank> layout(shape, engine, may_stretch);
    host.resize(static_cast<std::size_t>(layout.size));
    for (T& x : host) x = static_cast<T>(engine() % 60);
    memory = dsl::to_device(host);
    // constructs: assignment to a view would assign its elements
    std::construct_at(&view, layout.of(memory));
    origin = layout.first;
  }
  std::int64_t place(const dsl::extents<Rank>& at) const {
    std::int64_t p = origin;
    for (std::size_t d = 0; d < Rank; ++d)
      p += (view.extent(static_cast<int>(d)) == 1 ? 0 : at[d]) * view.strides()[d];
    return p;
  }
  std::vector<T> host;
  dsl::array<T> memory;
  dsl::view<T, Rank> view;
  std::int64_t origin;
};

template <int Rank, class Visit>
void for_each(const dsl::extents<Rank>& shape, const Visit& visit) {
  const std::int64_t n =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t i = 0; i < n; ++i) {
    dsl::extents<Rank> at{};
    std::int64_t rest = i;
    for (std::size_t d = Rank; d-- > 0;) {
      at[d] = rest % shape[d];
      rest /= shape[d];
    }
    visit(at);
  }
}

// Draws layouts for a formula of two inputs. Checks its elements, the memory around them, and its
// sum.
template <class A, class B, class Out, int Rank>
void random_layouts(const std::vector<dsl::extents<Rank>>& shapes, int rounds) {
  std::mt19937 engine(Rank * 100 + sizeof(A) * 10 + sizeof(B));
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      const operand<A, Rank> a(shape, engine, true);
      const operand<B, Rank> b(shape, engine, true);
      const operand<Out, Rank> out(shape, engine, false);
      out.view = 2 * a.view + b.view;
      dsl::extents<Rank> both{};
      for (std::size_t d = 0; d < Rank; ++d)
        both[d] = std::max(a.view.extents()[d], b.view.extents()[d]);
      std::vector<Out> want = out.host;
      std::int64_t sum = 0;
      const auto value = [&](const auto& at) {
        return 2 * static_cast<std::int64_t>(a.host[static_cast<std::size_t>(a.place(at))]) +
               static_cast<std::int64_t>(b.host[static_cast<std::size_t>(b.place(at))]);
      };
      for_each<Rank>(shape, [&](const auto& at) {
        want[static_cast<std::size_t>(out.place(at))] = static_cast<Out>(value(at));
      });
      for_each<Rank>(both, [&](const auto& at) { sum += value(at); });
      const auto got = out.memory.copy_to_host();
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(got[i], want[i]) << "round " << round << ", element " << i;
      const dsl::scalar<double> total =
          dsl::sum(dsl::cast<double>(2 * dsl::cast<Out>(a.view) + b.view));
      ASSERT_EQ(total.value(), static_cast<double>(sum)) << round;
    }
}

// Place of the element that index i stands for, possibly outside 0 ... n - 1, by NumPy's pad modes;
// -1 for a zero.
inline std::int64_t place_beyond(dsl::boundary beyond, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  switch (beyond) {
    case dsl::boundary::zero: return -1;
    case dsl::boundary::wrap: return (i % n + n) % n;
    case dsl::boundary::clamp: return i < 0 ? 0 : n - 1;
    default: break;
  }
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1), at = (i % period + period) % period;
  return at < n ? at : period - at;
}

// Neighbours and gathered elements of views of any layout, at any distance.
template <class T, int Rank>
void random_neighbours(const std::vector<dsl::extents<Rank>>& shapes, int rounds) {
  std::mt19937 engine(Rank * 1000 + sizeof(T));
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine() % static_cast<unsigned>(high - low + 1));
  };
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      const operand<T, Rank> a(shape, engine, true), b(shape, engine, true),
          out(shape, engine, false);
      const int axis = static_cast<int>(pick(0, Rank - 1));
      const auto beyond = static_cast<dsl::boundary>(pick(0, 3));
      const std::int64_t n = a.view.extent(axis), far = pick(0, 2) == 0 ? 2 * n + 3 : 3,
                         distance = pick(-far, far);
      out.view = dsl::shift(a.view, distance, beyond, axis) + b.view;
      std::vector<T> want = out.host;
      for_each<Rank>(shape, [&](auto at) {
        T& place = want[static_cast<std::size_t>(out.place(at))];
        place = b.host[static_cast<std::size_t>(b.place(at))];
        auto& along = at[static_cast<std::size_t>(axis)];
        along = place_beyond(beyond, (n == 1 ? 0 : along) - distance, n);
        if (along >= 0)
          place = static_cast<T>(place + a.host[static_cast<std::size_t>(a.place(at))]);
      });
      const auto got = out.memory.copy_to_host();
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(got[i], want[i])
            << "round " << round << ", element " << i << ", axis " << axis << ", distance "
            << distance << ", boundary " << static_cast<int>(beyond);

      std::vector<std::int64_t> index(
          static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]));
      for (auto& i : index) i = pick(0, n - 1);
      const auto taken = dsl::eval(dsl::take(a.view, dsl::to_device(index), axis));
      const auto values = taken.copy_to_host();
      std::size_t next = 0;
      for_each<Rank>(taken.extents(), [&](auto at) {
        auto& along = at[static_cast<std::size_t>(axis)];
        along = index[static_cast<std::size_t>(along)];
        ASSERT_EQ(values[next++], a.host[static_cast<std::size_t>(a.place(at))])
            << "round " << round << ", axis " << axis;
      });
    }
}
