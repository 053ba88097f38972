// Random formulas with a fixed seed: made at compile time, so that the language can be applied to
// them, and read by the reference at run time.
#pragma once

#include <complex>
#include <tuple>

#include "operations.hpp"

namespace property {

/// splitmix64 (Steele, Lea and Flood, 2014).
struct random {
  std::uint64_t state;
  constexpr explicit random(std::uint64_t seed) : state(seed) {
    state = next();
  }  // otherwise neighbouring seeds would give one stream
  constexpr std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  constexpr int below(int n) {
    return static_cast<int>((next() >> 32) % static_cast<std::uint64_t>(n));
  }
  constexpr bool percent(int p) { return below(100) < p; }
};

// C++ literals of all kinds; every dtype holds the integers. The language and the reference both
// read them from here.
inline constexpr std::tuple literals{0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     100,
                                     1u,
                                     5ll,
                                     0.5,
                                     0.1,
                                     -1.75,
                                     3.0,
                                     1e3,
                                     2.5f,
                                     -0.25f,
                                     true,
                                     std::complex<double>(0, 1),
                                     std::complex<float>(1.5f, -0.5f)};
inline constexpr int literal_count = std::tuple_size_v<decltype(literals)>;

template <class T> inline constexpr dtype cpp_dtype = dtype::boolean;
template <> inline constexpr dtype cpp_dtype<int> = dtype::int32;
template <> inline constexpr dtype cpp_dtype<unsigned> = dtype::uint32;
template <> inline constexpr dtype cpp_dtype<long long> = dtype::int64;
template <> inline constexpr dtype cpp_dtype<float> = dtype::float32;
template <> inline constexpr dtype cpp_dtype<double> = dtype::float64;
template <> inline constexpr dtype cpp_dtype<std::complex<float>> = dtype::complex64;
template <> inline constexpr dtype cpp_dtype<std::complex<double>> = dtype::complex128;
template <class... T> constexpr dtype literal_dtype(const std::tuple<T...>&, int number) {
  const dtype types[] = {cpp_dtype<T>...};
  return types[number];
}

/// array: rank 1 to 5, broadcast. scalar: one value in device memory. value: a C++ scalar by value,
/// weak.
enum class source : std::uint8_t { array, scalar, value };
struct leaf {
  source from{};
  dtype type{};
  int rank = 0;
};

struct node {
  operation what{};
  typed type{};
  int operand[3]{};
  int number = 0;  // a leaf's or a literal's number; the target dtype of a cast
};

/// Operands precede the nodes that use them; the last node is the formula.
struct tree {
  static constexpr int most_nodes = 72;
  int size = 0, depth = 0;
  node nodes[most_nodes]{};
};

/// Formulas that one kernel computes from shared leaves.
struct bundle {
  static constexpr int most_leaves = 12, trees = 12;
  int rank = 0, leaf_count = 0;
  leaf leaves[most_leaves]{};
  tree formula[trees]{};
};

class generator {
 public:
  constexpr generator(random& r, const bundle& b) : random_(r), bundle_(b) {}

  constexpr tree make() {
    const int depth = 2 + random_.below(7);
    grow(depth);
    made_.depth = depth_of(made_.size - 1);
    return made_;
  }

 private:
  constexpr int depth_of(int at) const {
    int below = -1;
    for (int k = 0; k < arity(made_.nodes[at].what); ++k) {
      const int d = depth_of(made_.nodes[at].operand[k]);
      below = d > below ? d : below;
    }
    return below + 1;
  }
  constexpr kind kind_at(int at) const { return kind_of(made_.nodes[at].type.type); }

  constexpr int put(const node& n) {
    if (made_.size == tree::most_nodes) throw "a formula outgrew tree::most_nodes";
    made_.nodes[made_.size] = n;
    return made_.size++;
  }
  constexpr int put(operation what, int a, int b = 0, int c = 0) {
    const typed operands[] = {made_.nodes[a].type, made_.nodes[b].type, made_.nodes[c].type};
    return put({what, result_of(what, operands), {a, b, c}});
  }
  constexpr bool fits(operation what, int a, int b = 0, int c = 0) const {
    const typed operands[] = {made_.nodes[a].type, made_.nodes[b].type, made_.nodes[c].type};
    return is_drawn(what, operands);
  }
  constexpr int put_cast(dtype to, int a) {
    return put({operation::cast, {to}, {a}, static_cast<int>(to)});
  }
  constexpr int put_leaf() {
    const int n = random_.below(bundle_.leaf_count);
    const leaf& l = bundle_.leaves[n];
    return put({operation::leaf, {l.type, l.from == source::value}, {}, n});
  }
  constexpr int put_literal(int n) {
    return put({operation::literal, {literal_dtype(literals, n), true}, {}, n});
  }

  // The depth is reached along one path with shallow branches, so that the size grows in proportion
  // to the depth.
  constexpr int grow(int depth) {
    if (depth == 0) return put_leaf();
    const int shape = random_.below(100);
    if (shape < (depth == 1 ? 45 : 35)) return grow_unary(depth);
    if (shape < 90) return grow_binary(depth);
    return grow_ternary(depth);
  }
  constexpr int grow_beside(int depth) {
    if (random_.percent(20)) return put_literal(random_.below(literal_count));
    return grow(random_.below(depth < 3 ? depth : 3));
  }

  // One of the operations from `first` to `last` that is defined for the operands.
  constexpr operation draw(operation first, operation last, int a, int b = 0, int c = 0) {
    for (;;) {
      const auto what = static_cast<operation>(
          static_cast<int>(first) +
          random_.below(static_cast<int>(last) - static_cast<int>(first) + 1));
      if (fits(what, a, b, c)) return what;
    }
  }

  constexpr int grow_unary(int depth) {
    const bool two = depth >= 2 && random_.percent(70);  // leaves room for a bounding operation
    const int a = grow(depth - (two ? 2 : 1));
    if (random_.percent(20)) {
      const auto to = static_cast<dtype>(random_.below(dtype_count));
      if (kind_at(a) == kind::complex && to != dtype::boolean && kind_of(to) != kind::complex)
        return put(operation::abs, a);
      return put_cast(to, a);
    }
    const operation what = draw(operation::positive, operation::tanh, a);
    if (!two || kind_at(a) == kind::complex) return put(what, a);
    switch (what) {
      case operation::exp:
      case operation::exp2:
      case operation::expm1:
      case operation::sinh:
      case operation::cosh:
      case operation::asin:
      case operation::acos: return put(what, put(operation::sin, a));
      case operation::log:
      case operation::log2:
      case operation::log10:
      case operation::log1p:
      case operation::sqrt: return put(what, put(operation::abs, a));
      default: return put(what, a);
    }
  }

  constexpr int grow_binary(int depth) {
    const int a = grow(depth - 1), b = grow_beside(depth);
    const bool swap = random_.percent(40);
    const operation what = random_.percent(40) ? draw(operation::add, operation::modulus, a, b)
                                               : draw(operation::add, operation::fmax, a, b);
    if (what == operation::pow && kind_at(a) == kind::real) {  // to a small power, integer or not
      const int base = depth_of(a) + 2 <= depth ? put(operation::abs, a) : a;
      const int power = put_literal(random_.percent(60) ? random_.below(4) : 8 + random_.below(3));
      return put(what, base, power);
    }
    return swap ? put(what, b, a) : put(what, a, b);
  }

  constexpr int grow_ternary(int depth) {
    const int a = grow(depth < 3 ? depth - 1 : 2), b = grow(depth - 1), c = grow_beside(depth);
    const operation what =
        draw(operation::where, random_.percent(60) ? operation::where : operation::fma, a, b, c);
    return random_.percent(50) ? put(what, a, b, c) : put(what, a, c, b);
  }

  random& random_;
  const bundle& bundle_;
  tree made_{};
};

/// Dtypes of one width or of one kind give kernels that take more elements a thread than a mixture
/// of all.
constexpr dtype draw_dtype(random& r, int palette) {
  constexpr dtype bytes[] = {dtype::int8, dtype::uint8, dtype::boolean},
                  narrow[] = {dtype::float16, dtype::bfloat16, dtype::int16, dtype::uint16},
                  single[] = {dtype::float32, dtype::int32, dtype::uint32},
                  wide[] = {dtype::float64, dtype::int64, dtype::uint64},
                  complex[] = {dtype::complex64, dtype::float32, dtype::complex128},
                  real[] = {dtype::float32, dtype::float64, dtype::float16};
  switch (palette) {
    case 0: return bytes[r.below(3)];
    case 1: return narrow[r.below(4)];
    case 2: return single[r.below(3)];
    case 3: return wide[r.below(3)];
    case 4: return complex[r.below(3)];
    case 5: return real[r.below(3)];
    default: return static_cast<dtype>(r.below(dtype_count));
  }
}

constexpr bundle make_bundle(int number) {
  random r(static_cast<std::uint64_t>(number) + 1);
  bundle b;
  b.rank = number % 6;
  const int palette = r.below(10);
  const bool one_rank = r.percent(40);  // otherwise no layout would be a single contiguous piece
  const int arrays = b.rank == 0 ? 0 : 5 + r.below(4);
  for (int i = 0; i < arrays; ++i)
    b.leaves[b.leaf_count++] = {source::array, draw_dtype(r, palette),
                                one_rank ? b.rank : 1 + r.below(b.rank)};
  b.leaves[0].rank = b.rank;
  for (int i = 0; i < (b.rank == 0 ? 6 : 2); ++i)
    b.leaves[b.leaf_count++] = {source::scalar, draw_dtype(r, palette)};
  for (int i = 0; i < 2; ++i) b.leaves[b.leaf_count++] = {source::value, draw_dtype(r, palette)};
  for (tree& t : b.formula) t = generator(r, b).make();
  return b;
}

template <int Number> inline constexpr bundle bundle_of = make_bundle(Number);

}  // namespace property
