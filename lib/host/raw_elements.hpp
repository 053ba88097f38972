// Elements without a dtype, by their size: for code that only moves them.
#pragma once

#include <cstdint>

namespace dsl::detail {

using raw1 [[gnu::may_alias]] = std::uint8_t;
using raw2 [[gnu::may_alias]] = std::uint16_t;
using raw4 [[gnu::may_alias]] = std::uint32_t;
using raw8 [[gnu::may_alias]] = std::uint64_t;
struct [[gnu::may_alias]] raw16 { std::uint64_t first, second; };

}  // namespace dsl::detail
