// Measures one kernel with 1 to 32 operands.
#include "works.hpp"

#include <utility>

namespace bench {
namespace {

template <std::size_t... K> void add_row(std::index_sequence<K...>) {
  constexpr int count = sizeof...(K);
  const std::string name = count == 1   ? "x1"
                           : count == 2 ? "x1 + x2"
                                        : "x1 + ... + x" + std::to_string(count);
  // With an odd number of elements, most operands begin beside a vector.
  for (const std::int64_t n : {1 << 24, (1 << 24) + 1})
    work("operands", dsl::dtype::float32, std::to_string(n), name,
         4.0 * (count + 1) * static_cast<double>(n))
        .by("dsl", [n] {
          const auto all = operand<float>(slot::a, count * n);
          const auto out = target<float>(slot::out, n);
          return job{[=] {
                       out = (all(dsl::slice(static_cast<std::int64_t>(K) * n,
                                             static_cast<std::int64_t>(K + 1) * n)) +
                              ...);
                     },
                     out};
        });
}

const rows counts([] {
  add_row(std::make_index_sequence<1>{});
  add_row(std::make_index_sequence<2>{});
  add_row(std::make_index_sequence<4>{});
  add_row(std::make_index_sequence<8>{});
  add_row(std::make_index_sequence<16>{});
  add_row(std::make_index_sequence<32>{});
});

}  // namespace
}  // namespace bench
