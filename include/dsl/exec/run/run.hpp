// Runs a pass on operands: lays them out, plans the launch, and calls the back end of their device.
#pragma once

#include <vector>

#include <dsl/exec/host/host.hpp>
#include <dsl/exec/run/compiled.hpp>
#include <dsl/exec/run/pass_kernels.hpp>
#include <dsl/exec/run/work.hpp>

namespace dsl::detail {

/// The kernels of a pass, by number: linear, with patches or with displaced reads; strided,
/// combining partial results, halos. Those missing from its `kernel_choice` are null.
enum pass_kernel_number { pass_first, pass_strided, pass_finish, pass_halos };
struct pass_kernels : entry_points<4> { reduction_policy policy; };

struct chain_code;

/// The compiled code of a pass. Everything that runs a pass works on this type, so that it is
/// compiled once, in the library.
struct program_code {
  pass_traits pass;
  int inputs;
  const char* name;  // Contains the kernel's name (`spell_kernel`), or null.
  // Null if no file compiled the pass for that back end.
  const host_code* host;
  const pass_kernels* kernels[kernel_targets];
  // In a phase of a chain: the chain, the phase's number, and the number of operands that the
  // chain's kernel has room for. Else null.
  const chain_code* chain = nullptr;
  int phase = 0, kernel_operands = 0;

  bool reduces() const { return pass.view.reductions > 0; }
  int outputs() const { return pass.view.target_count; }
};

/// "... [with Name = rk4_step]" for a name given to vectorize, null for an unnamed pass.
template <class Name>
constexpr const char* spelled_name() {
  if constexpr (std::is_same_v<Name, unnamed>) return nullptr;
  else return __PRETTY_FUNCTION__;
}

template <class... F>
constexpr int largest_accumulator(pass_reductions<F...>) {
  int most = 0;
  ((most = static_cast<int>(sizeof(accumulator_of<F>)) > most
               ? static_cast<int>(sizeof(accumulator_of<F>))
               : most),
   ...);
  return most;
}

template <class Pass>
inline constexpr bool takes_patches_first =
    patch_needs_of<Pass>().rows > 0 && !reads_displaced<Pass>();
/// Whether a pass has a kernel with halos: it writes only elements and has no kernel with patches;
/// and either it reads neighbours at distances known at run time, or it reads three arrays of one
/// dtype, which may be slices of one array, in more than one dimension (`HasPlanes`).
template <class Pass, bool HasPlanes>
constexpr bool reads_halos() {
  constexpr pass_view pass = Pass::view();
  if (pass.reductions > 0 || takes_patches_first<Pass> || reads_displaced<Pass>()) return false;
  if (pass.neighbours.moved != 0) return true;
  int arrays[256] = {}, most = 0;
  for (int i = 0; i < pass.elements.nodes; ++i) {
    const head h{pass.elements.heads[i]};
    if (h.code() != op::load) continue;
    const int count = ++arrays[static_cast<int>(h.type())];
    most = count > most ? count : most;
  }
  return HasPlanes && most >= 3;
}

/// A pass's code before any back end has added its own.
template <class Name, class Pass>
constexpr program_code code_without_kernels(int inputs, const kernel_choice& kernels) {
  using reductions = typename Pass::reductions;
  return {
      {Pass::view(), lanes_of_pass<Pass>, sizeof(typename reductions_of<reductions>::accumulators),
       largest_accumulator(reductions{}), patch_needs_of<Pass>(), kernels},
      inputs,
      spelled_name<Name>(),
      nullptr,
      {}};
}

template <class Name, class Pass, int Inputs, bool Halos = reads_halos<Pass, false>()>
struct pass_kind {
  using code_type = program_code;
  using kernels_type = pass_kernels;
  static constexpr bool has_kernels = true;
  static constexpr kernel_choice chosen{
      .linear = Pass::view().neighbours.nodes == 0 && pass_policy<Pass>(0).has_linear,
      .patches = takes_patches_first<Pass>,
      .displaced = reads_displaced<Pass>(),
      .finish = may_finish_apart(
          Pass::view(), sizeof(typename reductions_of<typename Pass::reductions>::accumulators)),
      .halos = Halos};

  static constexpr program_code made() { return code_without_kernels<Name, Pass>(Inputs, chosen); }
  static void add_host(program_code& code) { code.host = &host_code_of<Pass>; }
  template <kernel_target Target>
  static pass_kernels kernels() {
    constexpr int operands = Inputs + Pass::targets;
    using naming = named_by_pass<Name, Pass>;
    constexpr pass_kernels none{{architectures_of<Target>, {}},
                                pass_policy<Pass>(capability_of<Target>)};
    pass_kernels made = none;
    // The arguments' types are spelled out for nvcc's stub, which reads them as they are written.
    if constexpr (chosen.displaced)
      made.kernel[pass_first] =
          entry_point<Target, pass_kernel<Pass, Inputs, displaced_arguments<operands>>, naming>();
    else if constexpr (chosen.patches)
      made.kernel[pass_first] =
          entry_point<Target, pass_kernel<Pass, Inputs, patched_arguments<operands>>, naming>();
    else if constexpr (chosen.linear)
      made.kernel[pass_first] =
          entry_point<Target, pass_kernel<Pass, Inputs, linear_arguments<operands>>, naming>();
    made.kernel[pass_strided] =
        entry_point<Target, pass_kernel<Pass, Inputs, strided_arguments<operands>>, naming>();
    if constexpr (chosen.finish)
      made.kernel[pass_finish] = entry_point<Target, finish_kernel<Pass, Inputs>, naming>();
    if constexpr (chosen.halos)
      made.kernel[pass_halos] =
          entry_point<Target, pass_kernel<Pass, Inputs, haloed_arguments<operands>>, naming>();
    return made;
  }
};

/// `HasPlanes`: some arrays have more than one dimension.
template <class Name, class Untuned, int Inputs, bool HasPlanes = false>
const program_code& code_of() {
  using Pass = tuned_by_name<Untuned, Name>;
  return compiled<pass_kind<Name, Pass, Inputs, reads_halos<Pass, HasPlanes>()>>::code();
}

/// Whether a pass of one operand only moves elements, or stores one value everywhere: the library
/// has code for these.
constexpr bool only_moves(const pass_view& p) {
  if (p.reductions > 0 || p.target_count != 1 || p.elements.nodes != 1) return false;
  const op code = head{p.elements.heads[0]}.code();
  const dtype type = p.type(0);
  // A value of a widened dtype is kept as it is computed with.
  return code == op::load || (code == op::value && !is_widened(type));
}
/// The library's code for a pass that only moves elements.
program_code code_of_move(const pass_view& pass);

/// A copy from a temporary to the target that it stands for, made when all passes are queued.
struct late_copy;

/// The layout of the partial results that the first step of a reduction leaves: for each group of
/// results one from each block, of one launch or of several. Those of a group are contiguous.
struct partial_results_layout {
  std::int64_t groups;
  std::int64_t count;  // Partial results of each group.
  std::size_t bytes;   // Bytes of one partial result.

  std::size_t all_bytes() const { return static_cast<std::size_t>(groups * count) * bytes; }
};

/// The steps of a reduction that one evaluation of a pass does.
enum class reduction_part : std::uint8_t {
  whole,          // Reduces the elements to results.
  to_partials,    // Reduces them to partial results.
  from_partials,  // Combines partial results, of one device or of several, to results.
};

/// One evaluation of a pass.
struct pass_run {
  /// For each output a second address for a reduction's result, or 0; or null.
  const std::uint64_t* recorded = nullptr;
  /// Where work is queued, a kernel that reduces does nothing if `*stop` is true when it runs.
  const bool* stop = nullptr;
  reduction_part part = reduction_part::whole;
  /// The memory of partial results, if `part` is not `whole`.
  partial_results_layout all{};
  void* partials = nullptr;
  /// `to_partials`: the number, in each group, of the first partial result. `from_partials`: the
  /// number of elements that were reduced to each result.
  std::int64_t first = 0, count = 0;
};

/// A pass bound to its operands: laid out once, run any number of times.
class bound_pass : public planned_work<reduction_plan> {
 public:
  /// `operands`: inputs, then outputs. Throws shape_error and device_error.
  bound_pass(const program_code& code, const operand* operands, const launch& fixed);

  work_record record() const override {
    return {code_->pass.view, space_, operands_.data(), code_->inputs, code_->outputs()};
  }
  bool is_empty() const override {
    return code_->reduces() ? space_.results == 0 : space_.elements == 0;
  }
  profiled_work profile() const override;
  void run_on(const grid_executor& devices, const stream& on) const override;

  device where() const { return space_.where; }
  const program_code& code() const { return *code_; }
  /// Inputs, then outputs.
  const operand* operands() const { return operands_.data(); }
  const geometry& space() const { return space_; }
  const launch& fixed() const { return fixed_; }
  bool is_reduction(std::size_t output) const {
    return code_->pass.view.is_result(static_cast<int>(output));
  }
  /// The evaluation that is being planned or run.
  const pass_run& now() const { return now_; }
  /// The plan with the cost of an element, for readers. Where nothing is reduced, the plan is a
  /// `map_plan` as the same type. Throws device_error.
  reduction_plan make_plan() const;
  /// The partial results that `reduction_part::to_partials` leaves.
  partial_results_layout partials() const {
    return {plan().groups, plan().splits, plan().partial_bytes};
  }
  /// The cost of one element. Reads of one array by several operands count once.
  cost cost_per_element() const;

  /// Queues one evaluation on the current stream. Throws cuda_error, which names the kernel, the
  /// expression and the sizes.
  void run(const pass_run& now = {});
  /// As `run`, as if the right side were complete before the first write. May be called once:
  /// overlapping targets are bound to temporaries afterwards.
  void assign();
  /// Assigns several passes as if all right sides were complete, then does the copies. Throws
  /// before anything is queued.
  static void assign_all(bound_pass* passes, int count, const std::vector<late_copy>& later);
  /// Redirects outputs that are read later, or that overlap an input, to temporaries; returns the
  /// copies from these. Imagined operands get no memory.
  static std::vector<late_copy> redirect_targets(bound_pass* passes, int count, bool imagined);
  /// Sets the number of a loop's step.
  void count_step(std::int64_t number);
  /// Replaces C++ scalars among the inputs. The plan stays.
  void replace(const changed_scalar* changed, int count);
  /// Throws shape_error if `run` would give another result than `assign`.
  void require_in_place() const;

 private:
  reduction_plan plan_for(const grid_executor& devices) const override;
  void lay_out();
  void redirect_outputs(std::uint32_t outputs, std::vector<late_copy>& copies, bool imagined);
  static void note_run(const bound_pass* passes, int count, const std::vector<late_copy>& copies);
  // Whether an input may have an element of a target.
  bool may_read(const operand& target) const;

 protected:
  const program_code* code_;
  std::vector<operand> operands_;
  geometry space_;
  launch fixed_;
  pass_run now_;
};

/// Evaluates a pass on its operands, inputs then outputs, as if the right side were complete before
/// the first write.
void assign_pass(const program_code& code, const operand* operands, const launch& fixed);

/// How an expression is reduced to its outputs: the rank of its index space, and a bit for each
/// reduced axis.
struct reduction_axes {
  int rank;
  std::uint32_t axes;
};

/// The leaves of an expression within a pass's operands.
struct operand_range { int first, count; };

/// Throws shape_error if expressions, given by their operands, have different index spaces, or if
/// results reduce different axes.
void require_one_space(const operand* all, const operand_range* ranges, int count,
                       const reduction_axes* results, int result_count, const pass_view& pass);
/// Throws shape_error unless each of two expressions, given by their operands, has as many elements
/// as both broadcast to.
void require_same_elements(const char* function, const operand* first, int first_count,
                           const operand* second, int second_count);
/// Throws shape_error if two targets are one object, or share an element.
void require_apart(const void* const* objects, const operand* elements, int count);
/// Throws shape_error if the target has another shape than the elements that it is to get.
void require_shape(const operand& elements, const operand& target);
/// Throws shape_error if two arrays have different shapes from which a formula computes a value
/// that it takes at other positions.
void require_taken_alike(const operand& one, const operand& other);
/// Copies arrays to others of the same dtypes, each as an assignment. Throws shape_error,
/// device_error and memory_error before the first write.
void copy_all(const operand* from, const operand* to, int count);
/// The extents of a new target array of `rank` dimensions for a pass over `g`: without the reduced
/// axes, or with these of extent 1. Throws shape_error for any other rank.
void shape_target(std::int64_t* extents, int rank, const geometry& g, std::uint32_t reduced,
                  const pass_view& pass, const operand* all);

/// The operand that numbers the elements of a pass.
operand position_operand();
/// Aligns the target of a reduction with the axes of its index space that are not reduced.
void align_with_axes(operand& result, const reduction_axes& reduction);

}  // namespace dsl::detail
