// Runs a program on operands: lays out, plans, and hands over to the back end of the operands' device.
#pragma once

#include <dsl/exec/cuda.hpp>
#include <dsl/exec/host.hpp>
#include <dsl/exec/sim.hpp>

namespace dsl::detail {

struct unnamed;

/// What a program was compiled to. All that runs it works on this, so it is compiled once, in the library.
struct program_code {
  program_view view;
  int inputs, lanes;
  cost per_element;
  bool reduces;
  const char* name;        // contains the kernel's name (`spell_kernel`), or null
  const void* kernel[2];   // linear, strided; null in a file that nvcc did not compile
  simulated_kernel simulated[2];
  host_code host;
};

/// "... [with Name = rk4_step]" for a name given to vectorize, null for none.
template <class Name>
constexpr const char* spelled_name() {
  if constexpr (std::is_same_v<Name, unnamed>) return nullptr;
  else return __PRETTY_FUNCTION__;
}

template <class Name, class Program, int Inputs>
const program_code& code_of() {
  constexpr int operands = Inputs + Program::outputs;
  static_assert(operands <= max_operands, "a kernel takes at most 32 operands and outputs");
  using linear = linear_arguments<operands>;
  using strided = strided_arguments<operands>;
  static const program_code code{
      Program::view(),
      Inputs,
      lanes_for(Program::view()),
      cost_of(Program::view()),
      reduces(Program::view()),
      spelled_name<Name>(),
#if defined(__CUDACC__)
      {reinterpret_cast<const void*>(&kernel<Name, Program, Inputs, linear>), reinterpret_cast<const void*>(&kernel<Name, Program, Inputs, strided>)},
#else
      {},
#endif
      {simulated<Program, Inputs, linear>::kernel(), simulated<Program, Inputs, strided>::kernel()},
      host_loop<Program>::code()};
  return code;
}

/// A program bound to its operands: laid out once, run as often as wanted.
class prepared {
 public:
  /// Inputs, then outputs. Throws shape_error and device_error.
  prepared(const program_code& code, const operand* operands, const launch& fixed);

  device where() const { return space_.where; }
  bool is_reduction(std::size_t output) const { return !output_word{code_->view.outputs[output]}.is_stored(); }
  plan make_plan() const;

  /// Queues one evaluation on the current stream. `recorded` gives for each output a second address for a reduction's result, or 0.
  /// Throws cuda_error that names the kernel, the expression and the sizes.
  void run(const std::uint64_t* recorded = nullptr);
  /// As `run`, as if the right side were complete before the first write. Once: what overlapped is bound to a temporary after it.
  void assign();
  /// Throws shape_error where `run` would not do for that.
  void require_in_place() const;

 private:
  void run_kernel(const std::uint64_t* recorded, const stream& on);

  const program_code* code_;
  std::vector<operand> operands_;
  geometry space_;
  launch fixed_;
};

}  // namespace dsl::detail
