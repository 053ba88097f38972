// Measures stencils in two and three dimensions, each the mean of the points that it covers, with
// kernels by hand as peers; and loops of stencils.
#include "check.cuh"
#include "works.hpp"

namespace bench {
namespace {

using dsl::boundary;
using dsl::shift;

// ---- by dsl

/// The point, and `Radius` points before and after it along each of two axes.
template <int Radius>
constexpr auto star = dsl::vectorize([](auto m) {
  auto sum = m;
  for (int k = 1; k <= Radius; ++k)
    sum = sum + shift(m, k, boundary::wrap, 0) + shift(m, -k, boundary::wrap, 0) +
          shift(m, k, boundary::wrap, 1) + shift(m, -k, boundary::wrap, 1);
  return sum * (1.0 / (4 * Radius + 1));
});

/// All points within `Radius` along each of two axes.
template <int Radius>
constexpr auto box = dsl::vectorize([](auto m) {
  const auto along = [](auto x, int axis) {
    auto sum = x;
    for (int k = 1; k <= Radius; ++k)
      sum = sum + shift(x, k, boundary::wrap, axis) + shift(x, -k, boundary::wrap, axis);
    return sum;
  };
  return along(along(m, 1), 0) * (1.0 / ((2 * Radius + 1) * (2 * Radius + 1)));
});

/// A point and the six nearest, in three dimensions.
constexpr auto seven_points = dsl::vectorize([](auto m) {
  auto sum = m;
  for (int axis = 0; axis < 3; ++axis)
    sum = sum + shift(m, 1, boundary::wrap, axis) + shift(m, -1, boundary::wrap, axis);
  return sum * (1.0 / 7);
});
/// A cube with three points a side.
constexpr auto cube = dsl::vectorize([](auto m) {
  const auto along = [](auto x, int axis) {
    return x + shift(x, 1, boundary::wrap, axis) + shift(x, -1, boundary::wrap, axis);
  };
  return along(along(along(m, 2), 1), 0) * (1.0 / 27);
});

// ---- by hand: one thread for each element; the points are read through the L1 cache

template <int Radius> struct star_points {
  static constexpr int radius = Radius, depth = 0, count = 4 * Radius + 1;
  __device__ static constexpr bool has(int, int i, int j) { return i == 0 || j == 0; }
};
template <int Radius> struct box_points {
  static constexpr int radius = Radius, depth = 0, count = (2 * Radius + 1) * (2 * Radius + 1);
  __device__ static constexpr bool has(int, int, int) { return true; }
};
struct nearest_points {
  static constexpr int radius = 1, depth = 1, count = 7;
  __device__ static constexpr bool has(int i, int j, int k) {
    return (i != 0) + (j != 0) + (k != 0) <= 1;
  }
};
struct cube_points {
  static constexpr int radius = 1, depth = 1, count = 27;
  __device__ static constexpr bool has(int, int, int) { return true; }
};

__device__ int wrapped(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

template <class Points, class T> __global__ void mean_by_hand(T* out, const T* m, int planes,
                                                              int rows, int columns) {
  constexpr int r = Points::radius, deep = Points::depth;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z;
  if (x >= columns || y >= rows) return;
  T sum = 0;
#pragma unroll
  for (int k = -deep; k <= deep; ++k) {
#pragma unroll
    for (int i = -r; i <= r; ++i) {
      const std::int64_t line =
          (static_cast<std::int64_t>(wrapped(z + k, planes)) * rows + wrapped(y + i, rows)) *
          columns;
#pragma unroll
      for (int j = -r; j <= r; ++j)
        if (Points::has(k, i, j)) sum += m[line + wrapped(x + j, columns)];
    }
  }
  out[(static_cast<std::int64_t>(z) * rows + y) * columns + x] = sum * T(1.0 / Points::count);
}

// ---- rows

/// A grid in two dimensions, with one plane, or in three.
struct grid_size {
  std::int64_t planes, rows, columns;
  std::int64_t count() const { return planes * rows * columns; }
  std::string text() const {
    return (planes > 1 ? std::to_string(planes) + "x" : "") + shape_of(rows, columns);
  }
};

template <class X> auto as_grid(const X& line, grid_size of, std::integral_constant<int, 2>) {
  return dsl::reshape(line, of.rows, of.columns);
}
template <class X> auto as_grid(const X& line, grid_size of, std::integral_constant<int, 3>) {
  return dsl::reshape(line, of.planes, of.rows, of.columns);
}

template <class T, int Rank> struct grid_of_points {
  explicit grid_of_points(grid_size of)
      : m(as_grid(operand<T>(slot::a, of.count()), of, rank{})),
        out(as_grid(target<T>(slot::out, of.count()), of, rank{})) {}
  dsl::view<const T, Rank> m;
  dsl::view<T, Rank> out;

 private:
  using rank = std::integral_constant<int, Rank>;
};

/// A work on such a grid, with the row of `call`, which gets a grid_of_points.
template <class T, int Rank, class Call>
work on_grid(const char* name, grid_size of, Call call) {
  return work("stencil", dsl::dtype_v<T>, of.text(), name,
              2.0 * sizeof(T) * static_cast<double>(of.count()))
      .by("dsl", [of, call] {
        const auto x = std::make_shared<grid_of_points<T, Rank>>(of);
        return job{[=] { call(*x); }, x->out};
      });
}

template <class T, class Points, class F>
void stencil(const char* name, std::initializer_list<grid_size> sizes, F formula) {
  constexpr int rank = Points::depth == 0 ? 2 : 3;
  for (const grid_size of : sizes)
    on_grid<T, rank>(name, of, [formula](grid_of_points<T, rank>& x) {
      x.out = formula(x.m);
    }).by("hand, one element a thread", [of] {
      const auto x = std::make_shared<grid_of_points<T, rank>>(of);
      return job{[=] {
                   const dim3 block(32, 8), grid(static_cast<unsigned>((of.columns + 31) / 32),
                                                 static_cast<unsigned>((of.rows + 7) / 8),
                                                 static_cast<unsigned>(of.planes));
                   mean_by_hand<Points><<<grid, block, 0, stream()>>>(
                       x->out.data(), x->m.data(), static_cast<int>(of.planes),
                       static_cast<int>(of.rows), static_cast<int>(of.columns));
                   check(cudaGetLastError());
                 },
                 x->out};
    });
}

const rows stencils([] {
  constexpr grid_size square{1, 8192, 8192}, odd{1, odd_shape.rows, odd_shape.columns},
      cubic{512, 512, 512}, prime{509, 509, 509};
  for (const grid_size of : {square, odd, cubic, prime}) add_copy("stencil", of.text(), of.count());
  stencil<float, star_points<1>>("star of radius 1", {square, odd}, star<1>);
  stencil<float, star_points<2>>("star of radius 2", {square, odd}, star<2>);
  stencil<float, star_points<3>>("star of radius 3", {square, odd}, star<3>);
  stencil<float, star_points<4>>("star of radius 4", {square, odd}, star<4>);
  stencil<float, box_points<1>>("box of 3 x 3", {square, odd}, box<1>);
  stencil<float, box_points<2>>("box of 5 x 5", {square, odd}, box<2>);
  stencil<double, star_points<1>>("star of radius 1", {square, odd}, star<1>);
  stencil<double, box_points<2>>("box of 5 x 5", {square, odd}, box<2>);
  stencil<float, nearest_points>("7 points", {cubic, prime}, seven_points);
  stencil<float, cube_points>("27 points", {cubic, prime}, cube);
  stencil<double, nearest_points>("7 points", {cubic, prime}, seven_points);

  // The inner points, from slices of one array.
  const auto in = dsl::slice(1, -1), before = dsl::slice(0, -2), after = dsl::slice(2, dsl::end);
  for (const grid_size of : {square, odd})
    on_grid<float, 2>("box of 3 x 3 by slices", of, [=](grid_of_points<float, 2>& x) {
      const auto row = [&](const auto& at) {
        return x.m(at, before) + x.m(at, in) + x.m(at, after);
      };
      x.out(in, in) = (row(before) + row(in) + row(after)) * (1.0f / 9);
    });
  for (const grid_size of : {cubic, prime})
    on_grid<float, 3>("7 points by slices", of, [=](grid_of_points<float, 3>& x) {
      x.out(in, in, in) =
          (x.m(in, in, in) + x.m(before, in, in) + x.m(after, in, in) + x.m(in, before, in) +
           x.m(in, after, in) + x.m(in, in, before) + x.m(in, in, after)) *
          (1.0f / 7);
    });
});

// ---- loops

/// The Laplacian from five points, on a grid whose opposite edges meet.
constexpr auto laplacian = [](auto x) {
  return shift(x, 1, boundary::wrap, 0) + shift(x, -1, boundary::wrap, 0) +
         shift(x, 1, boundary::wrap, 1) + shift(x, -1, boundary::wrap, 1) - 4 * x;
};
constexpr auto heat_step = dsl::vectorize([](auto u) { return u + 0.1 * laplacian(u); });
constexpr auto wave_step = dsl::vectorize([](auto u, auto v) {
  auto next = v + 0.2 * laplacian(u);
  return std::tuple{u + next, next};
});
constexpr auto gray_scott_step = dsl::vectorize([](auto u, auto v) {
  auto reaction = u * v * v;
  return std::tuple{u + 0.16 * laplacian(u) - reaction + 0.035 * (1 - u),
                    v + 0.08 * laplacian(v) + reaction - 0.1 * v};
});
constexpr auto life_step = dsl::vectorize([](auto alive) {
  const auto along = [](auto x, int axis) {
    return x + shift(x, 1, boundary::wrap, axis) + shift(x, -1, boundary::wrap, axis);
  };
  auto around = along(along(alive, 0), 1);  // Including the cell itself.
  return dsl::cast<std::uint8_t>(around == 3 || (around == 4 && alive == 1));
});

/// One or two fields on a square, which the steps of a loop change in place.
template <class T, int Fields> struct carried {
  explicit carried(std::int64_t side) : u(side, side), v(Fields > 1 ? side : 0, side), side(side) {}
  void start() {
    const auto a = dsl::reshape(operand<T>(slot::a, side * side), side, side);
    if constexpr (std::is_integral_v<T>) u = a % 2;
    else u = 0.5 * a;
    if constexpr (Fields > 1) v = 0.1 * a;
  }
  dsl::array<T, 2> u, v;
  std::int64_t side;
};

template <class T, int Fields, class F> void loop_of_stencils(const char* name, std::int64_t side,
                                                              int steps, F step) {
  work w("stencil", dsl::dtype_v<T>, shape_of(side, side),
         std::to_string(steps) + " steps of " + name,
         2.0 * Fields * sizeof(T) * static_cast<double>(side * side) * steps, timing::call);
  const auto by = [&](const char* who, dsl::strategy how) {
    w.by(who, [=] {
      const auto x = std::make_shared<carried<T, Fields>>(side);
      return job{[=] {
                   if constexpr (Fields > 1) dsl::iterate(steps, step, dsl::state(x->u, x->v), how);
                   else dsl::iterate(steps, step, dsl::state(x->u), how);
                 },
                 x->u, [=] { x->start(); }};
    });
  };
  by("dsl", dsl::strategy::automatic);
  by("dsl launches", dsl::strategy::launches);
}

const rows loops_of_stencils([] {
  constexpr int steps = 1000;
  for (const std::int64_t side : {512, 513, 2048, 2053}) {
    loop_of_stencils<float, 1>("heat", side, steps, heat_step);
    loop_of_stencils<float, 2>("waves", side, steps, wave_step);
    loop_of_stencils<float, 2>("Gray-Scott", side, steps, gray_scott_step);
    loop_of_stencils<std::uint8_t, 1>("Life", side, steps, life_step);
  }
});

}  // namespace
}  // namespace bench
