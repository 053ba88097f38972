#include <algorithm>
#include <cstring>
#include <vector>

#include "exec/plan/layout.hpp"
#include "host/columns.hpp"
#include "host/host.hpp"
#include "host/threads.hpp"

namespace dsl::detail {

namespace {

// Stores the chosen elements at a target from position `at` on, up to its capacity.
template <std::size_t Size>
void store_chosen(const unsigned char* flags, const unsigned char* values, int n, unsigned char* to,
                  std::int64_t step, std::int64_t at, std::int64_t capacity) {
  for (int i = 0; i < n; ++i) {
    if (flags[i] == 0) continue;
    if (at >= capacity) return;
    std::memcpy(to + at * step * static_cast<std::int64_t>(Size),
                values + static_cast<std::size_t>(i) * Size, Size);
    ++at;
  }
}
using store_function = decltype(&store_chosen<1>);
store_function store_of(int size) {
  switch (size) {
    case 1: return &store_chosen<1>;
    case 2: return &store_chosen<2>;
    case 4: return &store_chosen<4>;
    case 8: return &store_chosen<8>;
    default: return &store_chosen<16>;
  }
}

}  // namespace

void compress_on_host(const selection_work& w) {
  const compress_code& code = w.code();
  const operand* const operands = w.operands();
  const geometry& g = w.space();
  const int values = code.view.target_count - 1;
  const operand* const targets = operands + code.inputs;
  std::int64_t capacity = targets[0].extents[0];
  for (int k = 1; k < values; ++k) capacity = std::min(capacity, targets[k].extents[0]);
  constexpr std::int64_t chunk_elements = 1 << 15;
  const std::int64_t chunks = std::max<std::int64_t>(1, pieces(g.elements, chunk_elements));
  // The target position of each chunk's first chosen element, and of the end.
  std::vector<std::int64_t> place(static_cast<std::size_t>(chunks) + 1);
  const auto visit = [&](bool stores) {
    on_threads(
        chunks, (1 + code.host->nanoseconds) * static_cast<double>(g.elements),
        [&](std::int64_t begin, std::int64_t end) {
          input_columns inputs(operands, code.inputs, g, code.view);
          const host_memory memory = allocate_columns(static_cast<std::size_t>(values + 1));
          void* columns[max_operands];
          for (int k = 0; k <= values; ++k)
            columns[k] = memory.get() + column_bytes * static_cast<std::size_t>(k);
          const auto* const flags = static_cast<const unsigned char*>(columns[0]);
          for (std::int64_t c = begin; c != end; ++c) {
            const std::int64_t last = std::min(g.elements, (c + 1) * chunk_elements);
            std::int64_t at = stores ? place[static_cast<std::size_t>(c)] : 0;
            for (std::int64_t first = c * chunk_elements; first < last; first += host_block) {
              const int count = static_cast<int>(std::min<std::int64_t>(host_block, last - first));
              inputs.read(first, count);
              loop_of_level(code.host->block)(padded_block(count), 1, 0, inputs.at(), columns,
                                              nullptr);
              for (int k = 0; k < values && stores; ++k)
                store_of(size_of(targets[k].type))(
                    flags, static_cast<const unsigned char*>(columns[k + 1]), count,
                    reinterpret_cast<unsigned char*>(targets[k].word[0]), targets[k].strides[0], at,
                    capacity);
              at += count - std::count(flags, flags + count, 0);
            }
            if (!stores || chunks == 1) place[static_cast<std::size_t>(c) + 1] = at;
          }
        });
  };
  if (chunks > 1) {
    visit(false);
    for (std::size_t c = 1; c < place.size(); ++c) place[c] += place[c - 1];
  }
  visit(true);
  std::memcpy(reinterpret_cast<void*>(targets[values].word[0]), &place.back(),
              sizeof(std::int64_t));
}

}  // namespace dsl::detail
