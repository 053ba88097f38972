#include <dsl/exec/loop/repeated_statement.hpp>

#include <dsl/mem/stream.hpp>

#include "exec/run/executor.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

void repeat_statement(std::int64_t steps, device where, const std::function<void()>& queue,
                      const std::function<void(std::int64_t)>& after) {
  // Fewer steps take less time than recording one.
  constexpr std::int64_t least = 4;
  const auto graph = steps < least || stream_state::of(stream::current(where)).is_captured()
                         ? nullptr
                         : executor::of(where).make_statement_graph(where.index);
  const auto all = [&](std::int64_t first, const auto& one) {
    for (std::int64_t k = first; k < steps; ++k) {
      one();
      after(k + 1);
    }
  };
  if (graph == nullptr) return all(0, queue);
  // The first step orders this stream behind all others that used the operands, and makes what
  // libraries make once: neither can be recorded.
  const stream own(where);
  const stream_guard on(own);
  queue();
  after(1);
  if (graph->record(own, queue)) all(1, [&] { graph->launch(own); });
  else all(1, queue);
}

}  // namespace dsl::detail
