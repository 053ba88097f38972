// A pass whose outputs are its operands again, step after step.
#pragma once

#include <dsl/exec/run.hpp>

namespace dsl {

/// How a loop runs. The plan chooses, unless a call of `iterate` names one.
enum class strategy : std::uint8_t {
  automatic,
  launches,     ///< a kernel a step
  graph,        ///< the same kernels, many steps in one CUDA graph
  elementwise,  ///< no reductions: a thread runs all steps of its elements, which it keeps in registers
  one_block,    ///< the arrays on chip, in registers and shared memory, of one block
  cooperative,  ///< the arrays on chip, of all blocks, which wait for each other's sums each step
  streamed,     ///< the same for what finds room there; the rest comes and goes each step
};

namespace detail {

/// What a loop was compiled to. Its first `states` outputs are its first operands after the step.
struct loop_code {
  const program_code* step;
  int states;
  int stop;  // the output that ends the loop once it is true, or -1
};

template <class Name, class Pass, int Inputs, int States, int Stop>
const loop_code& loop_code_of() {
  static const loop_code code{&code_of<Name, Pass, Inputs>(), States, Stop};
  return code;
}

/// The steps of a call of `iterate`, and which of them are recorded.
struct loop_schedule {
  std::int64_t steps, first, every;  // first: the number of the first step
  std::int64_t records() const { return steps / every; }
  /// Throws shape_error for a negative number of steps, and for recording every 0th one.
  static loop_schedule of(std::int64_t steps, std::int64_t first, std::int64_t every);
};

/// Called between launches with the number of steps that have run; false stops the loop.
struct loop_watch {
  bool (*report)(const void* callback, std::int64_t done, std::int64_t steps);
  const void* callback;
};

/// A loop bound to its operands.
class loop : prepared {
 public:
  /// Throws as `prepared`, and shape_error where variables overlap each other or parameters.
  loop(const loop_code& code, const operand* operands, const launch& fixed, strategy wanted);

  using prepared::where;
  plan make_plan() const;
  /// Queues `count` steps after the first `done` ones. `histories` are for each output an array of rank 1 that takes it each
  /// `every`-th step, or without memory. With a watch it waits for all but the last launch. Returns how many steps were queued: fewer
  /// only where the watch says so.
  std::int64_t run(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories, const loop_watch* watch);

 private:
  void run_steps(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories);

  loop_code code_;
  strategy wanted_;
};

}  // namespace detail
}  // namespace dsl
