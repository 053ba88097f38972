#include <dsl/exec/run.hpp>

#include <algorithm>

#include "cuda.hpp"
#include "host.hpp"
#include "sim.hpp"
#include "text.hpp"

namespace dsl::detail {

prepared::prepared(const program_code& code, const operand* operands, const launch& fixed)
    : code_(&code), operands_(operands, operands + code.inputs + code.view.output_count), fixed_(fixed) {
  lay_out(space_, operands_.data(), code.inputs, code.view.output_count, code.lanes, code.view);
}

plan prepared::make_plan() const {
  kernel_attributes attributes{};
  if (space_.where.kind == backend::cuda) {
    const void* const function = code_->kernel[space_.linear ? 0 : 1];
    if (function == nullptr)
      raise<device_error>(spell_kernel(code_->name) + " (" + spell_program(code_->view, operands_.data()) +
                          ") cannot run on a GPU: its file was not compiled by nvcc. Compile it as CUDA, or set DSL_DEVICE=host");
    attributes = cuda::attributes(function, fixed_.block > 0 ? fixed_.block : default_block, space_.where.index);
  }
  plan p = detail::make_plan(space_, code_->lanes, code_->reduces, attributes, fixed_, code_->view);
  p.per_element = code_->per_element;
  return p;
}

void prepared::assign() {
  const int inputs = code_->inputs, outputs = code_->view.output_count;
  if (!overlaps(operands_.data(), inputs, outputs, space_)) return run();
  detour around(operands_.data() + inputs, outputs);
  lay_out(space_, operands_.data(), inputs, outputs, code_->lanes, code_->view);
  run();
  around.arrive();
}

void prepared::require_in_place() const {
  if (overlaps(operands_.data(), code_->inputs, code_->view.output_count, space_))
    raise<shape_error>("a loop's variables overlap each other or its parameters: " + spell_program(code_->view, operands_.data()));
}

void prepared::run(const std::uint64_t* recorded) {
  if (space_.elements == 0 && !code_->reduces) return;
  const stream on = stream::current(space_.where);
  use_operands(operands_.data(), code_->inputs, code_->view.output_count, on);
  if (space_.where.kind == backend::host) return run_on_host({*code_, operands_.data(), space_, recorded});
  run_kernel(recorded, on);
}

void prepared::run_kernel(const std::uint64_t* recorded, const stream& on) {
  const plan p = make_plan();
  const int inputs = code_->inputs, count = static_cast<int>(operands_.size());
  struct {
    argument_header header;
    std::uint64_t words[max_operands * (2 + max_rank)];
  } parameters;
  parameters.header = {space_.elements, p.groups, space_.rank, {}, {}};
  std::copy_n(space_.extents, space_.rank, parameters.header.extents);
  std::uint64_t* at = parameters.words;
  for (int k = 0; k < count; ++k) {
    const operand& o = operands_[static_cast<std::size_t>(k)];
    *at++ = o.word[0];
    if (o.kind == operand_kind::array) *at++ = space_.walks[k].wide ? 1 : 0;
    else if (o.kind == operand_kind::result) *at++ = recorded != nullptr ? recorded[k - inputs] : 0;
    else *at++ = o.word[1];
  }
  if (!space_.linear)
    for (int k = 0; k < count; ++k)
      for (const std::int64_t stride : space_.walks[k].strides) *at++ = static_cast<std::uint64_t>(stride);

  const int path = space_.linear ? 0 : 1;
  if (space_.where.kind == backend::sim) {
    checked_ranges allowed = ranges_of(operands_.data(), count, *code_);
    for (int i = 0; recorded != nullptr && i < code_->view.output_count; ++i)
      allowed.add(recorded[i], static_cast<std::size_t>(size_of(output_word{code_->view.outputs[i]}.type())));
    return simulate(code_->simulated[path], &parameters, p, allowed);
  }
  if (code_->reduces)
    parameters.header.scratch = cuda::scratch_of(on, 16 * static_cast<std::size_t>(p.grid) * static_cast<std::size_t>(code_->view.output_count));
  cuda::launch_kernel(*code_, operands_.data(), code_->kernel[path], &parameters, p, on);
}

}  // namespace dsl::detail
