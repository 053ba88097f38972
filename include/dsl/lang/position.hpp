// Integer positions and keys.
#pragma once

#include <dsl/ir/symbol.hpp>

namespace dsl::detail {

/// Converts an integer to a position. A uint64 above the greatest int64 becomes the greatest int64,
/// which is beyond the end of every array.
template <class Index>
constexpr auto position_symbol(Index index) {
  if constexpr (Index::type.type != dtype::uint64) return index;
  else
    return apply<op::min>(index, constant<dtype::uint64>(index.owner, greatest_of(dtype::int64)));
}

}  // namespace dsl::detail
