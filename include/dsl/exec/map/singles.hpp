// Reads groups of which some arrays have one element for all lanes, several groups ahead.
#pragma once

#include <dsl/exec/access/operand_access.hpp>

namespace dsl::detail {

/// Whether one of several arrays that a kernel reduces may have one element for all lanes of a
/// group, and its accumulators leave registers to read such groups ahead. `Body` is a kernel_body.
template <class Body> inline constexpr bool may_have_singles =
    Body::strided && Body::ahead > 1 && arrays_read_in_place<typename Body::eval> > 1 &&
    sizeof(typename Body::accumulators) <= 8;

/// Starts to read a whole group.
template <class Body>
struct single_reader {
  const Body& body;
  typename Body::group& g;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() {
    using T = memory_t<D>;
    if constexpr (Code == op::load) {
      const T* const first = reinterpret_cast<const T*>(body.args.operand[N].word);
      body.load_ahead(N, first + body.place(N, g), operand_lanes<Head>(g));
    } else {
      body.template read<Code, D, N, Head>(g);
    }
  }
};
/// Finishes what was started.
template <class Body>
struct single_spreader {
  const Body& body;
  typename Body::group& g;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() {
    if constexpr (Code == op::load) body.spread(N, operand_lanes<Head>(g));
  }
  DSL_DETAIL_KERNEL_FN static void spread_all(const Body& body, typename Body::group& g) {
    single_spreader all{body, g};
    Body::eval::read(all);
  }
};

}  // namespace dsl::detail
