// Loops of tasks on the host, compiled for each set of vector instructions.
#pragma once

#include <dsl/ir/config.hpp>

namespace dsl::detail {

/// Loop::run for the best set of vector instructions that this machine has. It is inlined
/// (DSL_DETAIL_FN), so that it is compiled for each of them.
template <class Loop>
struct levels {
  template <class... A>
  static void run(A... a) {
#if DSL_DETAIL_X86_LEVELS
    constexpr void (*level[])(A...) = {&v2<A...>, &v3<A...>, &v4<A...>};
    static const int best = DSL_DETAIL_BEST_LEVEL;
    level[best](a...);
#else
    v2<A...>(a...);
#endif
  }

 private:
  template <class... A>
  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void v2(A... a) {
    Loop::run(a...);
  }
#if DSL_DETAIL_X86_LEVELS
  template <class... A>
  DSL_DETAIL_TARGET(DSL_DETAIL_V3)
  static void v3(A... a) {
    Loop::run(a...);
  }
  template <class... A>
  DSL_DETAIL_TARGET(DSL_DETAIL_V4)
  static void v4(A... a) {
    Loop::run(a...);
  }
#endif
};

}  // namespace dsl::detail
