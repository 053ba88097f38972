#include "layout.hpp"

#include <algorithm>
#include <cstring>

namespace property {

namespace {

std::string spell(const std::int64_t* x, int n) {
  std::string text = "(";
  for (int d = 0; d < n; ++d) text += (d > 0 ? ", " : "") + std::to_string(x[d]);
  return text + ")";
}

std::uint64_t draw_integer(random& r, int bits) {
  const std::uint64_t low_bits = ~std::uint64_t{0} >> (64 - bits),
                      top = std::uint64_t{1} << (bits - 1);
  const int what = r.below(20);
  if (what < 12) return static_cast<std::uint64_t>(r.below(11) - 3) & low_bits;
  if (what < 17) return static_cast<std::uint64_t>(r.below(200) - 60) & low_bits;
  if (what < 19) return r.next() & low_bits;
  const std::uint64_t limits[] = {0, 1, low_bits, top,
                                  top - 1};  // 0, 1, -1, the minimum, the maximum
  return limits[r.below(5)];
}

std::uint64_t draw_real(random& r, int exponent_bits, int fraction_bits) {
  const std::uint64_t all = (1u << exponent_bits) - 1, bias = all / 2,
                      sign = std::uint64_t(r.below(2)) << (exponent_bits + fraction_bits);
  const std::uint64_t fraction = r.next() >> (64 - fraction_bits);
  switch (r.below(100)) {
    case 0: return sign | all << fraction_bits;                                     // infinity
    case 1: return all << fraction_bits | std::uint64_t{1} << (fraction_bits - 1);  // NaN
    case 2:
    case 3: return sign;                                           // zero
    case 4: return sign | (bias + 9) << fraction_bits | fraction;  // 512 to 1024
    case 5: return sign | (bias - 9) << fraction_bits | fraction;
    default: break;
  }
  // Sums and products of numbers with few digits are exact.
  const std::uint64_t kept =
      r.percent(40) ? fraction >> (fraction_bits - 2) << (fraction_bits - 2) : fraction;
  return sign | (bias - 2 + static_cast<std::uint64_t>(r.below(4))) << fraction_bits | kept;
}

std::uint64_t draw_bits(random& r, dtype type) {
  switch (type) {
    case dtype::boolean: return static_cast<std::uint64_t>(r.below(2));
    case dtype::float16: return draw_real(r, 5, 10);
    case dtype::bfloat16: return draw_real(r, 8, 7);
    case dtype::float32: return draw_real(r, 8, 23);
    case dtype::float64: return draw_real(r, 11, 52);
    default: return draw_integer(r, 8 * bytes_of(type));
  }
}

}  // namespace

std::int64_t shape::size() const {
  std::int64_t n = 1;
  for (int d = 0; d < rank; ++d) n *= extents[d];
  return n;
}

std::int64_t placement::at(const shape& space, const std::int64_t* index) const {
  std::int64_t at = offset;
  for (int d = 0; d < of.rank; ++d)
    if (of.extents[d] != 1) at += strides[d] * index[space.rank - of.rank + d];
  return at;
}

std::string spell(const shape& s) { return spell(s.extents, s.rank); }
std::string spell(const placement& p) {
  return "extents " + spell(p.of) + ", strides " + spell(p.strides, p.of.rank) + ", offset " +
         std::to_string(p.offset);
}

shape draw_shape(random& r, int rank, int number) {
  constexpr std::int64_t sizes[cases] = {0, 1, 31, 32, 33, 255, 256, 257, 997, 1023, 1024, 1025};
  shape s{rank};
  if (rank == 1) {
    s.extents[0] = sizes[number];
    return s;
  }
  constexpr std::int64_t rows[] = {1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 64, 65, 255, 256, 257};
  do {
    for (int d = 0; d < rank; ++d) s.extents[d] = r.percent(20) ? 1 : 2 + r.below(4);
    if (rank > 0) s.extents[r.percent(60) ? rank - 1 : r.below(rank)] = rows[r.below(15)];
    if (rank > 1 && r.percent(40))
      s.extents[r.below(rank)] = rows[r.below(15)];  // larger than a kernel's tiles
  } while (s.size() > 2200);
  if (number == 0 && rank > 0) s.extents[r.below(rank)] = 0;
  return s;
}

placement draw_placement(random& r, const shape& space, int rank, order o, bool is_input) {
  placement p{{rank}};
  const bool any = o == order::any;
  int outer_to_inner[most_dimensions];
  bool still[most_dimensions]{};
  for (int d = 0; d < rank; ++d) {
    p.of.extents[d] = any && is_input && r.percent(15) ? 1 : space.extents[space.rank - rank + d];
    still[d] = any && is_input && r.percent(5);
    outer_to_inner[d] = d;
  }
  if (any && r.percent(40))
    for (int d = rank - 1; d > 0; --d) std::swap(outer_to_inner[d], outer_to_inner[r.below(d + 1)]);
  if (o != order::contiguous) p.offset = r.below(4);
  std::int64_t step = any && r.percent(40) ? 2 + r.below(2) : 1;
  for (int k = rank - 1; k >= 0; --k) {
    const int d = outer_to_inner[k];
    p.strides[d] = still[d] ? 0 : step;
    step *= std::max<std::int64_t>(1, p.of.extents[d]);
    if (any && r.percent(20)) step += r.below(3);
    if (any && r.percent(25) && p.of.extents[d] > 0) {
      p.offset += (p.of.extents[d] - 1) * p.strides[d];
      p.strides[d] = -p.strides[d];
    }
  }
  p.block = step + 8;  // no offset exceeds 3
  return p;
}

std::vector<unsigned char> draw_elements(random& r, dtype type, std::int64_t count) {
  const int parts = kind_of(type) == kind::complex ? 2 : 1;
  const auto bytes = static_cast<std::size_t>(bytes_of(part_of(type))),
             all = static_cast<std::size_t>(count * parts);
  std::vector<unsigned char> memory(all * bytes);
  for (std::size_t i = 0; i < all; ++i) {
    const std::uint64_t bits = draw_bits(r, part_of(type));
    std::memcpy(memory.data() + i * bytes, &bits, bytes);
  }
  return memory;
}

bool advance(const shape& s, std::int64_t* index) {
  for (int d = s.rank - 1; d >= 0; --d) {
    if (++index[d] < s.extents[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace property
