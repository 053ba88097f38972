// Elements without a dtype, by their size: for code that only moves them.
#pragma once

#include <cstdint>

namespace dsl::detail {

using word1 [[gnu::may_alias]] = std::uint8_t;
using word2 [[gnu::may_alias]] = std::uint16_t;
using word4 [[gnu::may_alias]] = std::uint32_t;
using word8 [[gnu::may_alias]] = std::uint64_t;
struct [[gnu::may_alias]] word16 { std::uint64_t first, second; };

}  // namespace dsl::detail
