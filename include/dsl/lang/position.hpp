// Integers that choose elements: positions and keys.
#pragma once

#include <dsl/ir/symbol.hpp>

namespace dsl::detail {

/// An integer as a position: a uint64 that is no int64 lies beyond every end, as does the greatest
/// int64.
template <class Index>
constexpr auto position_symbol(Index index) {
  if constexpr (Index::type.type != dtype::uint64) return index;
  else
    return apply<op::min>(index, constant<dtype::uint64>(index.owner, greatest_of(dtype::int64)));
}

}  // namespace dsl::detail
