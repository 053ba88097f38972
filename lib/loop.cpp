#include <dsl/exec/loop.hpp>

#include <algorithm>
#include <cstring>

#include "copy.hpp"
#include "cuda.hpp"
#include "parameters.hpp"
#include "sim.hpp"
#include "stream.hpp"
#include "text.hpp"

namespace dsl::detail {

namespace {

std::int64_t pieces(std::int64_t n, std::int64_t piece) { return (n + piece - 1) / piece; }
int warps_from(std::int64_t threads) { return static_cast<int>(std::max<std::int64_t>(1, pieces(threads, 32)) * 32); }

// What a strategy's name is in errors and plans.
const char* name_of(strategy s) {
  switch (s) {
    case strategy::launches: return "a launch a step";
    case strategy::graph: return "a CUDA graph of a kernel a step";
    case strategy::elementwise: return "all steps in one kernel, each element by itself";
    case strategy::one_block: return "all steps in one block";
    case strategy::cooperative: return "all steps in one cooperative kernel, the state on chip";
    case strategy::streamed: return "all steps in one cooperative kernel, the state partly on chip";
    default: return "automatic";
  }
}

constexpr double operations_in_a_wait = 1e6;

bool is_one_kernel(strategy s) { return s >= strategy::elementwise; }

}  // namespace

loop::loop(const loop_code& code, const operand* operands, const launch& fixed, strategy wanted)
    : prepared(*code.step, operands, fixed), code_(&code), wanted_(wanted) {
  require_in_place();
}

// Whether one kernel can run many steps: no operand but the variables changes, and a place among the elements is one number.
bool loop::is_closed() const {
  const int inputs = code_->step->inputs;
  for (int i = 0; i < code_->states; ++i)
    for (int k = code_->states; k < inputs; ++k)
      if (operands_[static_cast<std::size_t>(k)].memory != nullptr && operands_[static_cast<std::size_t>(k)].memory == operands_[static_cast<std::size_t>(i)].memory) return false;
  return space_.linear && (where().kind == backend::sim || code_->kernel != nullptr);
}

// Blocks, threads and what they keep on chip, as few steps of a block's threads as possible.
void loop::plan_kernel(plan& p, strategy how) const {
  const loop_traits& traits = code_->traits;
  const device_properties& device = properties(where());
  const bool sim = where().kind == backend::sim;
  const kernel_attributes attributes = sim ? kernel_attributes{} : cuda::attributes(code_->kernel, traits.most_threads, where().index);
  const std::int64_t groups = pieces(space_.elements, p.lanes);
  p.path = name_of(how), p.loop = how;
  p.columns = p.rows = p.width = p.height = p.tile_bytes = p.shared_bytes = 0;
  p.registers = attributes.registers, p.splits = p.parts = p.slots = 1;
  p.blocks_per_multiprocessor = std::max(1, attributes.blocks_per_multiprocessor);
  const int most = attributes.max_block > 0 ? std::min(attributes.max_block, traits.most_threads) : traits.most_threads;
  if (fixed_.block < 0 || fixed_.block % 32 != 0 || fixed_.block > most)
    raise<device_error>("a block of " + std::to_string(fixed_.block) + " threads was asked for; this loop takes multiples of 32 up to " + std::to_string(most));
  if (how == strategy::elementwise) {
    p.block = fixed_.block > 0 ? fixed_.block : std::min(default_block, warps_from(pieces(groups, device.multiprocessors)));
    p.grid = pieces(groups, p.block);
    return;
  }
  const std::int64_t blocks = how == strategy::one_block ? 1 : fixed_.grid > 0 ? fixed_.grid : std::min<std::int64_t>(device.multiprocessors, pieces(groups, 32));
  p.grid = std::max<std::int64_t>(1, blocks);
  p.block_groups = pieces(groups, p.grid);
  p.block = fixed_.block > 0 ? fixed_.block : std::min(most, warps_from(p.block_groups));
  if (fixed_.block == 0 && how == strategy::streamed)  // asked for where all of it would fit
    while (p.block > 32 && pieces(p.block_groups, p.block) < traits.held + 2) p.block = warps_from(p.block / 2);
  const auto rows = static_cast<int>(std::min<std::int64_t>(pieces(p.block_groups, p.block), 1 << 30));
  p.held = std::min(rows, traits.held);
  const int row_bytes = std::max(1, p.block * traits.group_bytes);
  const int room = static_cast<int>((device.shared_per_block - static_cast<std::size_t>(attributes.static_shared)) / static_cast<std::size_t>(row_bytes));
  p.in_shared = std::clamp(rows - traits.held - (how == strategy::streamed ? 1 : 0), 0, room);
  p.shared_bytes = p.in_shared * row_bytes;
}

strategy loop::choose() const {
  const bool folds = code_->step->folds(), closed = is_closed();
  const auto check = [&](bool possible, const char* why) {
    if (!possible) raise<device_error>(std::string("a loop was to run as ") + name_of(wanted_) + ", but " + why + ": " + spell_pass(code_->step->pass.view, operands_.data()));
  };
  const bool cuda = where().kind == backend::cuda;
  if (wanted_ == strategy::graph) check(cuda, "this is not a GPU");
  if (wanted_ == strategy::elementwise) check(closed && !folds, "it has reductions, or its operands are not contiguous or share the variables' memory");
  if (wanted_ > strategy::elementwise) check(closed && folds, "it has no reductions, or its operands are not contiguous or share the variables' memory");
  if (wanted_ > strategy::elementwise) check(where().kind != backend::host, "this is not a GPU");
  if (wanted_ != strategy::automatic) return wanted_;
  if (where().kind == backend::host || !closed) return cuda ? strategy::graph : strategy::launches;
  if (!folds) return strategy::elementwise;
  // A block that has no others to wait for saves about a microsecond a step (docs/performance.md), in which its multiprocessor
  // computes a million operations.
  plan one = prepared::make_plan(), all = one;
  plan_kernel(one, strategy::one_block);
  const auto rows = [](const plan& p) { return pieces(p.block_groups, p.block); };
  plan_kernel(all, strategy::cooperative);
  const double work = static_cast<double>(std::max(1, one.per_element.flops)) * one.lanes * one.block;
  const bool fits_in_one = rows(one) <= one.held + one.in_shared;
  if (fits_in_one && static_cast<double>(rows(one) - 1) * work <= operations_in_a_wait) return strategy::one_block;
  if (cuda && !cuda::is_cooperative(where().index)) return strategy::graph;
  return rows(all) <= all.held + all.in_shared ? strategy::cooperative : strategy::streamed;
}

plan loop::make_plan() const {
  plan p = prepared::make_plan();
  const strategy how = choose();
  p.loop = how;
  if (is_one_kernel(how) && where().kind != backend::host) plan_kernel(p, how);
  else p.path = how == strategy::elementwise ? p.path : name_of(how);
  return p;
}

std::int64_t loop::run(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories, const loop_watch* watch) {
  if (count <= 0 || (code_->step->folds() ? space_.results == 0 : space_.elements == 0)) return count;
  const plan p = make_plan();
  if (is_one_kernel(p.loop) && where().kind != backend::host) run_kernel(p, all, done, count, histories);
  else run_steps(all, done, count, histories);
  if (watch != nullptr) watch->report(watch->callback, done + count, all.steps);
  return count;
}

// A kernel a step.
void loop::run_steps(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories) {
  const int inputs = code_->step->inputs, outputs = code_->step->outputs();
  const bool* const stop = code_->stop < 0 ? nullptr : reinterpret_cast<const bool*>(operands_[static_cast<std::size_t>(inputs + code_->stop)].word[0]);
  for (std::int64_t k = done; k < done + count; ++k) {
    for (operand& o : operands_)
      if (o.counts_steps) o.word[0] = static_cast<std::uint64_t>(all.first + k);
    const bool records = (k + 1) % all.every == 0;
    const auto place = [&](int i) -> std::uint64_t {
      const operand& h = histories[i];
      return records && h.memory != nullptr ? h.word[0] + static_cast<std::uint64_t>(k / all.every * size_of(h.type)) : 0;
    };
    std::uint64_t recorded[max_operands];
    for (int i = 0; i < outputs; ++i) recorded[i] = place(i);
    if (where().kind != backend::cuda && stop != nullptr && *stop) return;
    prepared::run(recorded, stop);
    for (int i = 0; i < outputs; ++i) {
      if (recorded[i] == 0 || is_reduction(static_cast<std::size_t>(i))) continue;
      operand from_to[] = {operands_[static_cast<std::size_t>(inputs + i)], histories[i]};
      from_to[1].rank = 0, from_to[1].word[0] = recorded[i];
      prepared(copy_code(size_of(from_to[1].type)), from_to, {}).run();
    }
  }
}

void loop::run_kernel(const plan& p, const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories) {
  const stream on = stream::current(where());
  const int inputs = code_->step->inputs, outputs = code_->step->outputs(), operands = inputs + outputs;
  use_operands(operands_.data(), inputs, outputs, on);
  parameters given({space_.elements, 1, {space_.count, 1, 1, {0, 0}, kept_along::none, nullptr, nullptr, nullptr}});
  loop_walk walk{count, done, all.every, p.block_groups, p.in_shared, nullptr};
  if (where().kind == backend::cuda && p.grid > 1 && p.loop != strategy::elementwise) {
    const std::size_t bytes = 2 * static_cast<std::size_t>(p.grid) * 16 * ((static_cast<std::size_t>(code_->step->pass.accumulator_bytes) + 11) / 12);
    walk.slots = static_cast<quad*>(cuda::scratch_of(on, bytes).partials);
    cuda::set_zero(walk.slots, bytes, where().index, stream_state::of(on).native);
  }
  given.put(walk);
  for (int k = 0; k < operands; ++k) {
    const operand& o = operands_[static_cast<std::size_t>(k)];
    if (o.counts_steps) given.put(argument{static_cast<std::uint64_t>(all.first + done), counts_steps});
    else given.put(argument{o.word[0], extra_of(o, space_.walks[k], space_.rank)});
  }
  for (int k = 0; k < operands; ++k) given.put(k < inputs || histories[k - inputs].memory == nullptr ? std::uint64_t{0} : histories[k - inputs].word[0]);
  if (where().kind == backend::sim) {
    checked_ranges allowed = ranges_of(operands_.data(), operands, *code_->step);
    for (int i = 0; i < outputs; ++i)
      if (const operand& h = histories[i]; h.memory != nullptr) allowed.add(h.word[0], static_cast<std::size_t>(h.extents[0] * size_of(h.type)));
    return simulate_loop(code_->simulated, code_->step->pass.accumulator_bytes, given.data(), p, count, allowed);
  }
  void* parameters[] = {given.data()};
  cuda::launch_kernel({code_->kernel, p.grid, p.block, p.shared_bytes, parameters, code_->step->name, code_->step->pass.view, operands_.data(), p.elements, walk.slots != nullptr}, on);
}

loop_schedule loop_schedule::of(std::int64_t steps, std::int64_t first, std::int64_t every) {
  if (steps < 0) raise<shape_error>("a loop of " + std::to_string(steps) + " steps");
  if (every < 1) raise<shape_error>("a loop that records every " + std::to_string(every) + "th step");
  return {steps, first, every};
}

}  // namespace dsl::detail
