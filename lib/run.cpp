#include <dsl/exec/run.hpp>

#include <algorithm>
#include <cstring>
#include <span>

#include "buffer.hpp"
#include "copy.hpp"
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
  plan p = detail::make_plan(space_, operands_.data(), code_->inputs, code_->lanes, code_->reduces, attributes, fixed_, code_->view);
  p.per_element = code_->per_element;
  return p;
}

void prepared::assign() {
  const int inputs = code_->inputs, outputs = code_->view.output_count;
  if (!overlaps(operands_.data(), inputs, outputs, space_)) return run();
  // By way of temporaries.
  std::vector<operand> targets(operands_.begin() + inputs, operands_.end());
  std::vector<buffer_ref> memory;
  for (operand& o : std::span(operands_).subspan(static_cast<std::size_t>(inputs))) {
    if (o.kind != operand_kind::array) continue;
    memory.push_back(buffer_ref::allocate(static_cast<std::size_t>(element_count(o.extents, o.rank, size_of(o.type)) * size_of(o.type)), o.memory->where));
    o.memory = memory.back().get();
    o.word[0] = reinterpret_cast<std::uintptr_t>(memory.back().data());
    std::int64_t step = 1;
    for (int d = o.rank - 1; d >= 0; --d) o.strides[d] = step, step *= o.extents[d];
  }
  lay_out(space_, operands_.data(), inputs, outputs, code_->lanes, code_->view);
  run();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].kind != operand_kind::array) continue;
    const operand from_to[] = {operands_[static_cast<std::size_t>(inputs) + i], targets[i]};
    prepared(copy_code(size_of(targets[i].type)), from_to, {}).run();
  }
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

namespace {

// A kernel's parameters, filled from front to back.
class parameters {
 public:
  explicit parameters(const argument_header& header) { put(header); }
  template <class T> void put(const T& value) {
    std::memcpy(bytes_ + used_, &value, sizeof(T));
    used_ += sizeof(T);
  }
  argument_header& header() { return *reinterpret_cast<argument_header*>(bytes_); }
  void* data() { return bytes_; }

 private:
  alignas(16) unsigned char bytes_[sizeof(argument_header) + sizeof(tiling) + max_operands * (sizeof(argument) + max_rank * sizeof(std::int64_t))];
  std::size_t used_ = 0;
};

tiling tiling_of(const geometry& g, const plan& p) {
  tiling t{};
  const auto pieces = [](std::int64_t n, std::int64_t piece) { return (n + piece - 1) / piece; };
  t.extents[0] = g.extents[g.rank - 1], t.extents[1] = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  while ((1 << t.log2_columns) < p.columns) ++t.log2_columns;
  t.rows = p.rows, t.steps = p.steps, t.outer_rank = std::max(0, g.rank - 2), t.shared_bytes = p.shared_bytes;
  t.width = p.columns * p.lanes, t.height = p.rows * p.steps;
  t.across = divisor::of(pieces(t.extents[0], t.width)), t.down = divisor::of(pieces(t.extents[1], t.height));
  t.in_column = divisor::of(std::min(t.height, p.block));
  for (int d = 0; d < t.outer_rank; ++d) t.outer[d] = divisor::of(g.extents[g.rank - 3 - d]);
  return t;
}

}  // namespace

void prepared::run_kernel(const std::uint64_t* recorded, const stream& on) {
  const plan p = make_plan();
  const int inputs = code_->inputs, count = static_cast<int>(operands_.size());
  parameters given({space_.elements, p.tiles, {}});
  if (!space_.linear) given.put(tiling_of(space_, p));
  int shared = 0;
  for (int k = 0; k < count; ++k) {
    const operand& o = operands_[static_cast<std::size_t>(k)];
    std::uint64_t extra = o.word[1];
    if (o.kind == operand_kind::result) extra = recorded != nullptr ? recorded[k - inputs] : 0;
    if (o.kind == operand_kind::array) extra = space_.walks[k].how == access::wide ? in_vectors : by_elements;
    if (o.kind == operand_kind::array && space_.walks[k].how == access::tiled) {
      const int tile = tile_bytes(p.columns * p.lanes, p.rows * p.steps, size_of(o.type));
      if (shared + tile <= p.shared_bytes) extra = in_tile + static_cast<std::uint64_t>(shared), shared += tile;
    }
    given.put(argument{o.word[0], extra});
  }
  if (!space_.linear)
    for (int k = 0; k < count; ++k)
      for (int d = 0; d < max_rank; ++d) given.put(d < space_.rank ? space_.walks[k].strides[space_.rank - 1 - d] : std::int64_t{0});

  const int path = space_.linear ? 0 : 1;
  if (space_.where.kind == backend::sim) {
    checked_ranges allowed = ranges_of(operands_.data(), count, *code_);
    for (int i = 0; recorded != nullptr && i < code_->view.output_count; ++i)
      allowed.add(recorded[i], static_cast<std::size_t>(size_of(output_word{code_->view.outputs[i]}.type())));
    return simulate(code_->simulated[path], given.data(), p, allowed);
  }
  if (code_->reduces)
    given.header().scratch = cuda::scratch_of(on, 16 * static_cast<std::size_t>(p.grid) * static_cast<std::size_t>(code_->view.output_count));
  cuda::launch_kernel(*code_, operands_.data(), code_->kernel[path], given.data(), p, on);
}

}  // namespace dsl::detail
