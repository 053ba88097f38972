// Which strategy runs a loop.
#include <algorithm>

#include "exec/loop/loop_launch.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/executor.hpp"

namespace dsl::detail {

const char* name_of(strategy s) {
  switch (s) {
    case strategy::launches: return "a launch a step";
    case strategy::graph: return "a CUDA graph of a kernel a step";
    case strategy::elementwise: return "all steps in one kernel, each element by itself";
    case strategy::one_block: return "all steps in one block";
    case strategy::cooperative: return "all steps in one cooperative kernel, the state on chip";
    case strategy::streamed: return "all steps in one cooperative kernel, the state partly on chip";
    case strategy::tiled:
      return "all steps in one cooperative kernel, a tile of the state on chip for each block";
    default: return "automatic";
  }
}

// Whether a step changes no operand but the variables.
bool loop::is_closed() const {
  const auto at = [this](int k) -> const operand& {
    return operands_[static_cast<std::size_t>(k)];
  };
  for (int i = 0; i < compiled_->states; ++i)
    for (int k = compiled_->states; k < compiled_->arguments; ++k)
      if (may_share_elements(at(k), at(i))) return false;
  return true;
}

// Whether the variables can be moved in whole vectors.
bool loop::is_aligned() const {
  for (int i = 0; i < compiled_->states; ++i)
    if (operands_[static_cast<std::size_t>(i)].kind == operand_kind::array &&
        space_.layouts[i].how != access::wide)
      return false;
  return true;
}

const loop_plan& loop::plan_as(strategy how) const {
  std::optional<loop_plan>& plan = plans_[static_cast<std::size_t>(how)];
  if (!plan) plan = loop_launch(*this, how).plan();
  return *plan;
}

// Whether the tiles' few threads would wait for what each step reads from memory: neighbours of
// arrays that are others in each step, for several groups of elements one after another.
bool loop::waits_for_memory(const loop_plan& tiled) const {
  int reads = 0;  // Of a vector: one, or one for each element.
  for (int k = compiled_->states; k < code_->inputs; ++k)
    if (operands_[static_cast<std::size_t>(k)].step_bytes != 0 &&
        (code_->pass.view.neighbours.moved >> k & 1) != 0)
      reads = std::max(reads, space_.layouts[k].how == access::wide ? 1 : tiled.lanes);
  constexpr int most = 3;  // For a thread (docs/lab.md).
  return reads * tiled.elements > most * tiled.grid * tiled.block * tiled.lanes;
}

strategy loop::choose() const {
  const loop_support can = executor::of(where()).supports(*this);
  const bool alone = can.one_kernel && is_closed();
  // A single number addresses an element.
  const bool closed = alone && space_.linear &&
                      std::all_of(phases_.begin(), phases_.end(),
                                  [](const bound_pass& phase) { return phase.space().linear; });
  const bool has_tiles =
      alone && can.carries_scalars && compiled_->tiles.rows > 0 && can.cooperative;
  const auto check = [&](bool possible, const char* why) {
    if (!possible)
      raise<device_error>(std::string("a loop was to run as ") + name_of(wanted_) + ", but " + why +
                          ": " + spell_pass(code_->pass.view, operands_.data()));
  };
  if (wanted_ == strategy::graph)
    check(can.graphs && reduces(), "this is not a GPU, or there are no reductions");
  if (wanted_ == strategy::elementwise)
    check(closed && !reduces(),
          "it has reductions, or its operands are not contiguous or share the variables' memory");
  if (wanted_ == strategy::tiled) {
    check(has_tiles,
          "it reads no near neighbours, shares the variables' memory with an operand, or this is "
          "not a GPU that can "
          "launch cooperative kernels");
    check(plan_as(wanted_).grid > 0,
          "its variables do not fit on chip, or lie otherwise than in rows along which neighbours "
          "are read");
    return wanted_;
  }
  if (wanted_ > strategy::elementwise)
    check(
        closed && reduces(),
        "it has no reductions, or its operands are not contiguous or share the variables' memory");
  if (wanted_ > strategy::elementwise) check(can.carries_scalars, "this is not a GPU");
  if (wanted_ == strategy::one_block) check(can.one_block, "several processes have its variables");
  if (wanted_ > strategy::one_block)
    check(can.cooperative, "this GPU cannot launch cooperative kernels");
  if (wanted_ == strategy::streamed)
    check(is_aligned(), "its variables are not aligned to vectors of 16 bytes");
  if (wanted_ != strategy::automatic) {
    if (wanted_ == strategy::one_block || wanted_ == strategy::cooperative)
      check(plan_as(wanted_).streamed == 0, "its variables do not fit on chip");
    return wanted_;
  }
  const strategy by_steps = can.graphs && reduces() ? strategy::graph : strategy::launches;
  if (has_tiles) {
    // If more of the state stays in memory, a kernel a step is faster, since it has more threads to
    // load and store it (docs/lab.md). A kernel a phase reads the state several times.
    const loop_plan& tiled = plan_as(strategy::tiled);
    if (tiled.grid > 0 && !waits_for_memory(tiled) &&
        (compiled_->earlier > 0 ? 2 : 4) * tiled.tile_in_memory * tiled.grid <= tiled.elements)
      return strategy::tiled;
  }
  if (!closed) return by_steps;
  if (!reduces()) return strategy::elementwise;
  if (!can.carries_scalars) return by_steps;
  const loop_plan &one = plan_as(strategy::one_block), &all = plan_as(strategy::cooperative);
  const double work =
      static_cast<double>(std::max(1, one.per_element.flops)) * one.lanes * one.block;
  if (can.one_block && one.streamed == 0 &&
      static_cast<double>(pieces(one.block_vectors, one.block) - 1) * work <= one.policy.one_block)
    return strategy::one_block;
  if (!can.cooperative) return by_steps;
  if (all.streamed == 0) return strategy::cooperative;
  return is_aligned() ? strategy::streamed : by_steps;
}

loop_plan loop::make_plan() const {
  const strategy how = choose();
  loop_plan p = is_one_kernel(how) ? plan_as(how)
                                   : loop_plan{bound_pass::make_plan(), how,
                                               executor::of(where()).supports(*this).policy};
  p.loop = how;
  p.path = name_of(how);
  return p;
}

bool loop::can_keep_states() const {
  // The host runs steps as passes, whatever the strategy.
  const bool has_kernel = executor::of(where()).supports(*this).carries_scalars;
  if (compiled_->stop != detail::keeps_states || !has_kernel) return false;
  // Where a tile is partly in memory, a kernel a step stores nothing twice.
  const loop_plan p = make_plan();
  return is_one_kernel(p.loop) && (p.loop != strategy::tiled || p.tile_in_memory == 0);
}

}  // namespace dsl::detail
