// Transposes rows of elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dsl::detail {

/// `columns` elements from `begin` on of each of `rows` contiguous rows of `length` elements.
struct row_piece { std::int64_t rows, length, begin, columns; };

/// Writes element begin + j of row r to to[j * padded + r]; elements have `size` bytes. Places from
/// `rows` to `padded` repeat the last row.
void transpose(std::size_t size, void* to, const void* from, const row_piece& piece,
               std::int64_t padded);

}  // namespace dsl::detail
