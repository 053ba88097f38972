#include <dsl/exec/loop.hpp>

#include <algorithm>

#include "copy.hpp"
#include "text.hpp"

namespace dsl::detail {

loop::loop(const loop_code& code, const operand* operands, const launch& fixed, strategy wanted)
    : prepared(*code.step, operands, fixed), code_(code), wanted_(wanted) {
  require_in_place();
}

plan loop::make_plan() const { return prepared::make_plan(); }

std::int64_t loop::run(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories, const loop_watch* watch) {
  run_steps(all, done, count, histories);
  if (watch != nullptr) watch->report(watch->callback, done + count, all.steps);
  return count;
}

// A kernel a step.
void loop::run_steps(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories) {
  const int inputs = code_.step->inputs, outputs = code_.step->outputs();
  const bool* const stop = code_.stop < 0 ? nullptr : reinterpret_cast<const bool*>(operands_[static_cast<std::size_t>(inputs + code_.stop)].word[0]);
  for (std::int64_t k = done; k < done + count; ++k) {
    for (operand& o : operands_)
      if (o.counts_steps) o.word[0] = static_cast<std::uint64_t>(all.first + k);
    const bool records = (k + 1) % all.every == 0;
    const auto place = [&](int i) -> std::uint64_t {
      const operand& h = histories[i];
      return records && h.memory != nullptr ? h.word[0] + static_cast<std::uint64_t>(k / all.every * size_of(h.type)) : 0;
    };
    std::uint64_t recorded[max_operands];
    for (int i = 0; i < outputs; ++i) recorded[i] = place(i);
    if (where().kind != backend::cuda && stop != nullptr && *stop) return;
    prepared::run(recorded, stop);
    for (int i = 0; i < outputs; ++i) {
      if (recorded[i] == 0 || is_reduction(static_cast<std::size_t>(i))) continue;
      operand from_to[] = {operands_[static_cast<std::size_t>(inputs + i)], histories[i]};
      from_to[1].rank = 0, from_to[1].word[0] = recorded[i];
      prepared(copy_code(size_of(from_to[1].type)), from_to, {}).run();
    }
  }
}

loop_schedule loop_schedule::of(std::int64_t steps, std::int64_t first, std::int64_t every) {
  if (steps < 0) raise<shape_error>("a loop of " + std::to_string(steps) + " steps");
  if (every < 1) raise<shape_error>("a loop that records every " + std::to_string(every) + "th step");
  return {steps, first, every};
}

}  // namespace dsl::detail
