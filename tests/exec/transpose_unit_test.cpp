// Transposition of pieces of rows on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "host/transpose.hpp"

namespace {

using namespace dsl::detail;
using bytes = std::vector<unsigned char>;

bytes element(const bytes& from, std::size_t size, std::int64_t at) {
  const auto begin = from.begin() + at * static_cast<std::ptrdiff_t>(size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

void expect_transposed(std::size_t size, const row_piece& piece, std::int64_t padded) {
  bytes from(size * static_cast<std::size_t>(
                        piece.rows * piece.length));  // exact: a sanitizer sees reads beyond
  for (std::size_t k = 0; k < from.size(); ++k)
    from[k] = static_cast<unsigned char>(k * 167 + k / 251);
  bytes to(size * static_cast<std::size_t>(padded * piece.columns));
  transpose(size, to.data(), from.data(), piece, padded);
  for (std::int64_t j = 0; j < piece.columns; ++j)
    for (std::int64_t r = 0; r < padded; ++r)
      ASSERT_EQ(element(to, size, j * padded + r),
                element(from, size, std::min(r, piece.rows - 1) * piece.length + piece.begin + j))
          << size << " bytes, " << piece.rows << " x " << piece.length << " from " << piece.begin
          << ", place " << j << ", " << r;
}

TEST(transpose, pieces_of_rows_of_any_element) {
  for (const std::size_t size : {1, 2, 4, 8, 16})
    for (const std::int64_t rows : {1, 15, 16, 17, 64, 100})
      for (const std::int64_t length : {1, 3, 5, 8, 16, 17, 63, 100})
        for (std::int64_t begin = 0; begin < length; begin += 64)
          expect_transposed(size, {rows, length, begin, std::min<std::int64_t>(64, length - begin)},
                            (rows + 63) / 64 * 64);
}

}  // namespace
