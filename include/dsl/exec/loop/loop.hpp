// A pass whose outputs become its operands, step after step.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <dsl/exec/loop/loop_kernel.hpp>
#include <dsl/exec/run/run.hpp>

namespace dsl {

namespace detail {

/// The kernels of a loop: for any number of elements, or by tiles; and for variables that are
/// wholly on chip, together with what phases reuse.
enum class loop_kernel_number { first, on_chip };
struct loop_kernels : entry_points<2> { loop_policy policy; };

/// The compiled code of a loop. After a step its first `states` outputs become its first operands;
/// the operands from `arguments` on are those that its end depends on.
struct loop_code {
  const program_code* step;  // The last pass of a step.
  int states, arguments;
  int stop;  // The output that ends the loop when it is true, or never_ends, or keeps_states.
  // The passes before the last one; their results are the operands from `first_value` on.
  int earlier;
  const program_code* const* phases;
  int first_value;
  tile_needs tiles;  // For running all steps in one tiled kernel.
  int vector_bytes;  // Bytes of a thread's lanes, of all carried arrays.
  // Where all variables are on chip: vectors of each one in a thread's registers; without tiles, 0
  // if there is no such kernel. Bytes of an element of what phases reuse.
  int rows_on_chip, reused_bytes;
  int accumulator_bytes;  // Of the pass with the most.
  int exchanges;          // How many times blocks exchange accumulators in a step.
  // Null if no file compiled the loop for that target.
  const loop_kernels* kernels[kernel_targets];
};

/// `Alone`: the last pass as a launch of its own. `Reusing`: the passes of the kernel that reuses
/// values; its last pass is `ReusingLast`.
/// `StepArrays`: a bit for each input that has elements of its own in each step.
template <class Name, class Pass, class Alone, class Earlier, class ReusingLast, class Reusing,
          int Inputs, int Arguments, int States, int Stop, std::uint64_t StepArrays>
struct loop_kind;
template <class Name, class Pass, class Alone, int FirstValue, class... Earlier, class ReusingLast,
          class... Reusing, int Inputs, int Arguments, int States, int Stop,
          std::uint64_t StepArrays>
struct loop_kind<Name, Pass, Alone, earlier_phases<FirstValue, Earlier...>, ReusingLast,
                 earlier_phases<FirstValue, Reusing...>, Inputs, Arguments, States, Stop,
                 StepArrays> {
  using code_type = loop_code;
  using kernels_type = loop_kernels;
  using earlier = earlier_phases<FirstValue, Earlier...>;
  using reusing = earlier_phases<FirstValue, Reusing...>;
  static constexpr int phase_count = sizeof...(Earlier);
  // If neighbours are read without tiles, each step is a kernel.
  static constexpr bool has_kernels = one_kernel_runs<Pass, States, Earlier...>,
                        by_tiles = runs_by_tiles<Pass, States, Earlier...>;
  // Reused values that are wider than all operands would make the groups of lanes smaller than
  // those that the plan divides among threads.
  static constexpr bool lanes_alike = lanes_of_pass<ReusingLast> == lanes_of_pass<Pass>;
  static constexpr int rows_on_chip =
      has_kernels && !by_tiles && lanes_alike ? rows_of_reused<ReusingLast, reusing>(States) : 0;

  static constexpr const program_code* phases[phase_count + 1] = {
      &compiled<pass_kind<Name, Earlier, Inputs>>::shared.code..., nullptr};
  static constexpr loop_code made() {
    return {&compiled<pass_kind<Name, Alone, Inputs>>::shared.code,
            States,
            Arguments,
            Stop,
            phase_count,
            phases,
            FirstValue,
            tile_needs_of<Pass, Earlier...>(States),
            lanes_of_pass<Pass> * traits_of(Pass::view(), States).carried_bytes,
            rows_on_chip,
            lanes_alike ? reusing::reused_bytes : 0,
            accumulator_bytes_of_step<Pass, earlier>,
            exchanges_of_step<Pass, earlier>,
            {}};
  }
  // On the host steps are passes.
  static void add_host(loop_code&) {}
  template <kernel_target Target>
  static loop_kernels kernels() {
    return {{architectures_of<Target>,
             {entry_point<Target, kernel<false, Pass, Earlier...>, named_by_pass<Name, Pass>>(),
              on_chip_entry<Target>()}},
            loop_policy_of<Pass>(States, capability_of<Target>)};
  }

 private:
  template <bool OnChip, class Last, class... Before> using kernel =
      loop_kernel<reading_step_arrays<Last, StepArrays>, Inputs + Pass::targets, States, Stop,
                  OnChip, FirstValue, reading_step_arrays<Before, StepArrays>...>;
  template <kernel_target Target>
  static const void* on_chip_entry() {
    if constexpr (by_tiles && !lanes_alike)
      return entry_point<Target, kernel<true, Pass, Earlier...>, named_by_pass<Name, Pass>>();
    else if constexpr (by_tiles || rows_on_chip > 0)
      return entry_point<Target, kernel<true, ReusingLast, Reusing...>,
                         named_by_pass<Name, Pass>>();
    else return nullptr;
  }
};

/// `Reusing...`: the passes of the kernel that reuses values, the last one first.
template <class Name, int Inputs, int Arguments, int States, int Stop, std::uint64_t StepArrays,
          class Pass, class Alone, int FirstValue, class... Earlier, class ReusingLast,
          class... Reusing>
const loop_code& loop_code_of(earlier_phases<FirstValue, Earlier...>,
                              earlier_phases<FirstValue, ReusingLast, Reusing...>) {
  using phases = earlier_phases<FirstValue, tuned_by_name<Earlier, Name>...>;
  using reusing = earlier_phases<FirstValue, tuned_by_name<Reusing, Name>...>;
  code_of<Name, Alone, Inputs>();
  (code_of<Name, Earlier, Inputs>(), ...);
  return compiled<loop_kind<Name, tuned_by_name<Pass, Name>, tuned_by_name<Alone, Name>, phases,
                            tuned_by_name<ReusingLast, Name>, reusing, Inputs, Arguments, States,
                            Stop, StepArrays>>::code();
}

/// The steps of a call of `iterate`, and which of them are recorded.
struct loop_schedule {
  // first: number of the first step. every: record every n-th step.
  std::int64_t steps, first, every;
  std::int64_t records() const { return steps / every; }
  /// Throws shape_error for a negative number of steps, if `every` is 0, or if the last step's
  /// number overflows.
  static loop_schedule of(std::int64_t steps, std::int64_t first, std::int64_t every);
};

/// Throws value_error: no step changes the values that end the loop.
[[noreturn]] void throw_endless_condition();

/// Called between launches with the number of steps that have run; false stops the loop.
struct loop_watch {
  bool (*report)(const void* callback, std::int64_t done, std::int64_t steps);
  const void* callback;
};

class kernel_graph;
class loop_end;

/// Steps of a loop that are queued together: `count` steps after the first `done`. `histories` has
/// for each output an array of rank 1 that records every `every`-th step, or one without memory.
struct loop_steps {
  const loop_schedule& all;
  std::int64_t done, count;
  const operand* histories;
};

/// Second buffers for variables whose neighbours a step reads: the step needs their previous
/// values.
struct loop_buffers;

/// A loop bound to its operands.
class loop : public bound_pass {
 public:
  /// `operands`: those of the last pass. `values`: own the memory of the phases' values. Throws
  /// like `bound_pass`; also shape_error if variables overlap each other or parameters.
  loop(const loop_code& code, const operand* operands, const launch& fixed, strategy wanted,
       std::vector<buffer_ref> values = {});
  loop(const loop&) = delete;
  ~loop();

  /// The loop's code; `code()` is the code of one step.
  const loop_code& compiled() const { return *compiled_; }
  /// The passes of a step before the last one, on the same operands.
  const std::vector<bound_pass>& phases() const { return phases_; }
  /// Whether a step reduces.
  bool reduces() const { return code_->reduces() || compiled_->earlier > 0; }
  /// Whether the watch has ended the loop.
  bool stopped() const { return stopped_; }
  /// Whether the condition is known to have ended the loop: no further steps are queued.
  bool has_ended() const { return has_ended_; }
  /// Tiled loops: the buffer that holds a variable after odd steps, if its neighbours are read;
  /// otherwise null.
  const buffer_ref& second_buffer(int variable) const;
  loop_plan make_plan() const;
  /// Whether the histories of a run may be places for the states after each step.
  bool can_keep_states() const;
  /// Queues steps; with a watch, waits for them. With a condition, waits for earlier steps where
  /// there are many, and queues none after it knows of the end. Returns the number of steps, those
  /// after the end included; it is smaller than asked for only if the watch ends the loop.
  std::int64_t run(const loop_steps& steps, const loop_watch* watch);

 private:
  bool is_closed() const;
  bool is_aligned() const;
  /// The plan of the loop in one kernel, made when it is first asked for.
  const loop_plan& plan_as(strategy how) const;
  strategy choose() const;
  bool waits_for_memory(const loop_plan& tiled) const;
  std::int64_t steps_a_launch(const loop_plan& p, bool watched) const;
  std::int64_t steps_a_group(const loop_plan& p) const;
  void queue_steps(const loop_plan& p, const loop_steps& steps);
  void run_steps(const loop_steps& steps);
  void run_scalars(const loop_steps& steps);
  void run_graph(kernel_graph& graph, const loop_steps& steps, std::int64_t length);

  int taken_from(int operand) const;
  void note_taken();
  void require_apart() const;
  void make_buffers(bool by_tiles);
  void bring_back();
  void run_step(std::int64_t number, const std::uint64_t* recorded, const bool* stop);
  std::vector<bound_pass> phases_on(const operand* operands) const;

  const loop_code* compiled_;
  strategy wanted_;
  std::vector<buffer_ref> values_;
  std::vector<bound_pass> phases_;  // The passes before the last one.
  // A bit for each variable whose neighbours, or elements at computed positions, a step reads.
  std::uint64_t beside_ = 0;
  loop_buffers* buffers_ = nullptr;
  std::unique_ptr<loop_end> end_;  // If a condition ends the loop.
  bool stopped_ = false, has_ended_ = false;
  mutable std::optional<loop_plan> plans_[static_cast<int>(strategy::tiled) + 1];
};

}  // namespace detail
}  // namespace dsl
