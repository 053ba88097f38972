// Layouts and elements of operands, drawn at random with a fixed seed.
#pragma once

#include <string>
#include <vector>

#include "tree.hpp"

namespace property {

inline constexpr int most_dimensions = 5;

struct shape {
  int rank = 0;
  std::int64_t extents[most_dimensions]{};
  std::int64_t size() const;
};

/// An operand's elements within its block of memory, in elements.
struct placement {
  shape of;
  std::int64_t strides[most_dimensions]{}, offset = 0, block = 1;
  /// Offset of the element that `index`, into a shape of at least as many dimensions, broadcasts
  /// to.
  std::int64_t at(const shape& space, const std::int64_t* index) const;
};
std::string spell(const shape& s);
std::string spell(const placement& p);

/// contiguous: row-major and aligned. shifted: row-major, beginning anywhere. any: transposed,
/// reversed, with steps and gaps.
enum class order : std::uint8_t { contiguous, shifted, any };

/// The shape of a bundle's n-th case: sizes around every boundary of a kernel's or a host's block,
/// 0 included.
shape draw_shape(random& r, int rank, int number);
inline constexpr int cases = 12;

/// For the last `rank` dimensions of a space. An input may be broadcast: of extent 1 or of stride 0
/// along some of them.
placement draw_placement(random& r, const shape& space, int rank, order o, bool is_input);

/// Mostly moderate values, occasionally zeros of both signs, infinities, NaN, or an integer dtype's
/// limits.
std::vector<unsigned char> draw_elements(random& r, dtype type, std::int64_t count);

/// The next index in row-major order; false after the last.
bool advance(const shape& s, std::int64_t* index);

}  // namespace property
