// Runs a program on operands: lays out, plans, and hands over to the back end of the operands' device.
#pragma once

#include <dsl/exec/cuda.hpp>
#include <dsl/exec/host.hpp>
#include <dsl/exec/sim.hpp>

namespace dsl::detail {

struct unnamed;

/// "rk4_step" for a name given to vectorize, null for none.
template <class Name>
constexpr const char* spelled_name() {
  if constexpr (std::is_same_v<Name, unnamed>) return nullptr;
  else return __PRETTY_FUNCTION__;
}

[[noreturn]] void throw_needs_nvcc(const char* name, const program_view& program);

/// A program bound to its operands: laid out and planned once, run as often as wanted.
template <class Name, class Program, int Inputs>
class prepared {
 public:
  static constexpr int operands = Inputs + Program::outputs;
  static constexpr int lanes = lanes_for(Program::view());
  static_assert(operands <= max_operands, "a kernel takes at most 64 operands and outputs");

  /// Inputs, then outputs. Throws shape_error, device_error.
  prepared(const operand* first, const launch& fixed) : fixed_(fixed) {
    for (int i = 0; i < operands; ++i) operand_[i] = first[i];
    space_ = lay_out(operand_, Inputs, Program::outputs, lanes, program_);
  }

  const geometry& space() const { return space_; }
  const operand* all() const { return operand_; }
  static constexpr bool is_reduction(std::size_t output) { return !Program::output(static_cast<int>(output)).is_stored(); }

  plan make_plan() const {
    return space_.linear ? plan_for<linear_arguments<operands>>() : plan_for<strided_arguments<operands>>();
  }

  /// Queues one evaluation on the current stream. `recorded` gives for each output a second address for a reduction's result, or 0.
  void run(const std::uint64_t* recorded = nullptr) {
    if (space_.elements == 0 && !reduces(Program::view())) return;
    const stream on = stream::current(space_.where);
    use_operands(operand_, Inputs, Program::outputs, on);
    if (space_.where.kind == backend::host) {
      run_on_host({operand_, Inputs, Program::outputs, &space_, &program_, recorded, host_loop<Program>::best(),
                   &host_loop<Program>::combine_values, &host_loop<Program>::store_value});
    } else if (space_.linear) {
      run_kernel<linear_arguments<operands>>(recorded, on);
    } else {
      run_kernel<strided_arguments<operands>>(recorded, on);
    }
  }

 private:
  static constexpr program_view program_ = Program::view();

  template <class Arguments>
  static const void* function() {
#if defined(__CUDACC__)
    return reinterpret_cast<const void*>(&kernel<Name, Program, Inputs, Arguments>);
#else
    return nullptr;
#endif
  }

  template <class Arguments>
  plan plan_for() const {
    kernel_attributes attributes{};
    if (space_.where.kind == backend::cuda) {
      if (function<Arguments>() == nullptr) throw_needs_nvcc(spelled_name<Name>(), program_);
      attributes = cuda_attributes(function<Arguments>(), fixed_.block > 0 ? fixed_.block : default_block, space_.where);
    }
    return detail::make_plan(space_, lanes, reduces(program_), attributes, fixed_, program_);
  }

  template <class Arguments>
  void run_kernel(const std::uint64_t* recorded, const stream& on) {
    const plan p = plan_for<Arguments>();
    Arguments args{};
    args.elements = space_.elements;
    const std::int64_t inner = Arguments::strided ? space_.extents[space_.rank - 1] : space_.elements;
    args.groups = inner == 0 ? 0 : (inner + lanes - 1) / lanes * (space_.elements / inner);
    for (int k = 0; k < operands; ++k) {
      const operand& o = operand_[k];
      args.operand[k] = {o.word[0], o.kind == operand_kind::array ? space_.walks[k].wide : o.word[1]};
      if (recorded != nullptr && k >= Inputs && o.kind == operand_kind::result) args.operand[k].extra = recorded[k - Inputs];
    }
    if constexpr (Arguments::strided) {
      args.rank = space_.rank;
      for (int d = 0; d < space_.rank; ++d) args.extents[d] = space_.extents[d];
      for (int k = 0; k < operands; ++k)
        for (int d = 0; d < space_.rank; ++d) args.strides[k][d] = space_.walks[k].strides[d];
    }
    if (space_.where.kind == backend::sim) {
      checked_ranges allowed = ranges_of(operand_, operands);
      for (int i = 0; recorded != nullptr && i < Program::outputs; ++i) allowed.add(recorded[i], static_cast<std::size_t>(size_of(Program::output(i).type())));
      allowed.kernel = spelled_name<Name>(), allowed.program = &program_;
      simulated_grid<Program, Inputs, Arguments>{args, p, allowed}.run();
    } else {
      if constexpr (reduces(Program::view()))
        args.scratch = scratch_of(on, 16 * static_cast<std::size_t>(p.grid) * Program::outputs);
      launch_kernel({function<Arguments>(), &args, spelled_name<Name>(), &program_}, p, on);
    }
  }

  operand operand_[operands];
  geometry space_;
  launch fixed_;
};

}  // namespace dsl::detail
