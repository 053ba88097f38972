// A pass whose outputs are its operands again, step after step.
#pragma once

#include <optional>

#include <vector>

#include <dsl/exec/loop/loop_kernel.hpp>
#include <dsl/exec/run/entry_points.hpp>
#include <dsl/exec/run/run.hpp>

namespace dsl {

namespace detail {

/// The kernel of a loop.
struct loop_kernels : entry_points<1> { loop_policy policy; };

/// What a loop was compiled to. Its first `states` outputs are its first operands after the step;
/// from operand `arguments` on there is what its end depends on.
struct loop_code {
  const program_code* step;
  int states, arguments;
  int stop;          // the output that ends the loop once it is true, or -1
  tile_needs tiles;  // where all steps are one kernel by tiles
  int vector_bytes;  // of the lanes that a thread takes at a time, of all arrays that are carried
  const loop_kernels* kernels[kernel_targets];  // null where no file compiled it for that
};

template <class Name, class Pass, int Inputs, int Arguments, int States, int Stop> void
add_loop_kernel();

template <class Name, class Pass, int Inputs, int Arguments, int States, int Stop>
struct compiled_loop {
  static inline constinit loop_code code{
      &compiled_program<Name, Pass, Inputs>::data.code,
      States,
      Arguments,
      Stop,
      tile_needs_of<Pass>(States),
      lanes_of_pass<Pass> * traits_of(Pass::view(), States).carried_bytes,
      {}};

  // Where neighbours are not read by tiles, a step is a kernel.
  static constexpr bool is_one_kernel =
      runs_by_tiles<Pass, States> ||
      (Pass::view().neighbours.moved & ((std::uint64_t{1} << States) - 1)) == 0;

  template <unsigned BackEnds>
  static void add() {
    if constexpr (!is_one_kernel) return;
    if constexpr (has_cuda(BackEnds))
      add_loop_kernel<Name, Pass, Inputs, Arguments, States, Stop>();
    if constexpr (has_sim(BackEnds)) {
      static const loop_kernels made{
          {nullptr, {reinterpret_cast<const void*>(&simulate_loop<Pass, Inputs, States, Stop>)}},
          loop_policy_of<Pass>(States, 0)};
      code.kernels[static_cast<int>(kernel_target::sim)] = &made;
    }
  }
};

#if defined(__CUDACC__)
template <class Pass, int Operands, int States, int Stop>
struct loop_kernel {
  template <class Name>
  static const void* with_name() {
    if constexpr (runs_by_tiles<Pass, States>)
      return reinterpret_cast<const void*>(
          &kernels::tiled_loop<Name, States, Stop, Operands, Pass>);
    else return reinterpret_cast<const void*>(&kernels::loop<Name, States, Stop, Operands, Pass>);
  }
};
template <class Name, class Pass, int Inputs, int Arguments, int States, int Stop>
void add_loop_kernel() {
  using kernel = loop_kernel<Pass, Inputs + Pass::targets, States, Stop>;
  static const loop_kernels made{{DSL_DETAIL_ARCHITECTURES, {kernel_of_pass<kernel, Name, Pass>()}},
                                 loop_policy_of<Pass>(States, lowest_capability())};
  compiled_loop<Name, Pass, Inputs, Arguments, States, Stop>::code
      .kernels[static_cast<int>(kernel_target::cuda)] = &made;
}
#endif

template <class Name, class Untuned, int Inputs, int Arguments, int States, int Stop>
const loop_code& loop_code_of() {
  using Pass = tuned_by_name<Untuned, Name>;
  using compiled = compiled_loop<Name, Pass, Inputs, Arguments, States, Stop>;
  code_of<Name, Untuned, Inputs>();
  add_to_program<compiled>();
  return compiled::code;
}

/// The steps of a call of `iterate`, and which of them are recorded.
struct loop_schedule {
  std::int64_t steps, first, every;  // first: the number of the first step
  std::int64_t records() const { return steps / every; }
  /// Throws shape_error for a negative number of steps, for recording every 0th one, and where the
  /// last one has no number.
  static loop_schedule of(std::int64_t steps, std::int64_t first, std::int64_t every);
};

/// Throws value_error: of what ends a loop nothing changes in its steps.
[[noreturn]] void throw_endless_condition();

/// Called between launches with the number of steps that have run; false stops the loop.
struct loop_watch {
  bool (*report)(const void* callback, std::int64_t done, std::int64_t steps);
  const void* callback;
};

class kernel_graph;

/// Steps of a loop that are queued together: `count` after the first `done` ones. `histories` are
/// for each output an array of rank 1 that takes it each `every`-th step, or without memory.
struct loop_steps {
  const loop_schedule& all;
  std::int64_t done, count;
  const operand* histories;
};

/// Second buffers for the variables of which a step reads neighbours, which are those of the step
/// before.
struct loop_buffers;

/// A loop bound to its operands.
class loop : public prepared {
 public:
  /// Throws as `prepared`, and shape_error where variables overlap each other or parameters.
  loop(const loop_code& code, const operand* operands, const launch& fixed, strategy wanted);
  loop(const loop&) = delete;
  ~loop();

  /// What the loop was compiled to; `code` is what a step was.
  const loop_code& compiled() const { return *compiled_; }
  /// Whether the watch has ended the loop.
  bool stopped() const { return stopped_; }
  /// By tiles: of a variable that is read beside its elements, where these are after odd steps;
  /// else nothing.
  const buffer_ref& second_buffer(int variable) const;
  loop_plan make_plan() const;
  /// Queues steps. With a watch it waits for them. Returns how many were queued: fewer only where
  /// the watch ends the loop.
  std::int64_t run(const loop_steps& steps, const loop_watch* watch);

 private:
  bool is_closed() const;
  bool is_aligned() const;
  /// The plan of the loop in one kernel, made when it is first asked for.
  const loop_plan& plan_as(strategy how) const;
  strategy choose() const;
  std::int64_t steps_a_launch(const loop_plan& p, bool watched) const;
  void queue(const loop_plan& p, const loop_steps& steps);
  void run_steps(const loop_steps& steps);
  void run_graph(kernel_graph& graph, const loop_steps& steps, std::int64_t most);

  void require_apart() const;
  void make_buffers(bool by_tiles);
  void bring_back();
  void run_step(std::int64_t number, const std::uint64_t* recorded, const bool* stop);

  const loop_code* compiled_;
  strategy wanted_;
  std::uint64_t beside_ = 0;  // a bit for each such variable
  loop_buffers* buffers_ = nullptr;
  bool stopped_ = false;
  mutable std::optional<loop_plan> plans_[static_cast<int>(strategy::tiled) + 1];
};

}  // namespace detail
}  // namespace dsl
