// The compiled code of a statement of formulas and transforms along rows.
#pragma once

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/host/host.hpp>
#include <dsl/exec/run/run.hpp>
#include <dsl/fft/row_kernel.hpp>

namespace dsl::detail {

struct transformed_row_kernels : entry_points<1> {};

/// The phases of the statement in order, each a pass of one output: of all but the last, which is
/// assigned to the target, it is transformed. On the host each runs as a pass of its own.
struct transformed_row_code {
  int phases;
  const program_code* phase;         // An array of `phases` elements.
  const phase_input* const* inputs;  // For each phase.
  std::uint64_t inverse;             // A bit for each phase.
  int leaves;
  row_passes passes;
  int block, rows_a_block, shared_bytes;
  const transformed_row_kernels* kernels[kernel_targets];

  bool is_inverse(int p) const { return (inverse >> p & 1) != 0; }
};

/// Evaluates the statement, as if the right side were complete before the first write. `operands`:
/// the leaves of all phases, one phase after another, then the target. Does not wait. Throws
/// shape_error, device_error and memory_error before anything is written, or cuda_error.
void assign_transformed_rows(const transformed_row_code& code, const operand* operands,
                             const launch& fixed);
explanation explain_transformed_rows(const transformed_row_code& code, const operand* operands);
/// On the host that of the last formula's pass.
dsl::plan plan_of_transformed_rows(const transformed_row_code& code, const operand* operands,
                                   const launch& fixed);

// The chain is taken apart, so that nvcc's stub can spell its parts.
template <kernel_target Target, class Name, int Points, std::uint64_t Inverse, class... Phase>
const void* entry_of_transformed_rows(transform_chain<Points, Inverse, Phase...>) {
  return entry_point<Target, transformed_row_kernel<transform_chain<Points, Inverse, Phase...>>,
                     named_by_phases<Name, Phase...>>();
}

template <class Name, class Chain> struct transformed_row_kind;
template <class Name, int Points, std::uint64_t Inverse, class... Phase>
struct transformed_row_kind<Name, transform_chain<Points, Inverse, Phase...>> {
  using chain = transform_chain<Points, Inverse, Phase...>;
  using code_type = transformed_row_code;
  using kernels_type = transformed_row_kernels;
  static constexpr bool has_kernels = true;
  static constexpr const phase_input* inputs[] = {Phase::input...};

  static constexpr transformed_row_code made() {
    return {chain::phases,
            phase,
            inputs,
            Inverse,
            chain::leaves,
            chain::passes,
            chain::block,
            chain::rows_a_block,
            chain::shared_bytes,
            {}};
  }
  static void add_host(transformed_row_code&) {
    int number = 0;
    ((phase[number++].host = &host_code_of<typename Phase::pass>), ...);
  }
  template <kernel_target Target>
  static transformed_row_kernels kernels() {
    return {{architectures_of<Target>, {entry_of_transformed_rows<Target, Name>(chain{})}}};
  }

 private:
  static inline constinit program_code phase[] = {
      code_without_kernels<Name, typename Phase::pass>(Phase::inputs, kernel_choice{})...};
};

template <class Name, class Chain>
const transformed_row_code& code_of_transformed_rows(std::type_identity<Name>, Chain) {
  return compiled<transformed_row_kind<Name, Chain>>::code();
}

}  // namespace dsl::detail
