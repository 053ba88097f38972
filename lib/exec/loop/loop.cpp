#include <dsl/exec/loop/loop.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "exec/explain/explain.hpp"
#include "exec/loop/loop_launch.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/work.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

bool is_one_kernel(strategy s) { return s >= strategy::elementwise; }

}  // namespace

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

loop::loop(const loop_code& code, const operand* operands, const launch& fixed, strategy wanted,
           std::vector<buffer_ref> values)
    : bound_pass(*code.step, operands, fixed),
      compiled_(&code),
      wanted_(wanted),
      values_(std::move(values)),
      phases_(phases_on(operands)) {
  beside_ = space_.beside & ((std::uint64_t{1} << code.states) - 1);
  space_.beside &= ~beside_;
  note_taken();
  // A step reads the values before it, from other memory, so that neither kind of read overlaps.
  std::vector<operand> all = operands_;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (taken_from(static_cast<int>(k)) >= 0) operands_[k].memory = nullptr;
  require_in_place();
  operands_.swap(all);
  require_apart();
}

// The variable whose elements an operand takes, or -1.
int loop::taken_from(int k) const {
  const operand& of = operands_[static_cast<std::size_t>(k)];
  if (of.kind != operand_kind::address || k >= code_->inputs) return -1;
  for (int i = 0; i < compiled_->states; ++i) {
    const operand& variable = operands_[static_cast<std::size_t>(i)];
    if (variable.kind == operand_kind::array && variable.word[0] == of.word[0]) return i;
  }
  return -1;
}
void loop::note_taken() {
  for (int k = compiled_->states; k < code_->inputs; ++k) {
    const int i = taken_from(k);
    if (i < 0) continue;
    const operand& variable = operands_[static_cast<std::size_t>(i)];
    std::int64_t contiguous[max_rank];
    set_row_major(contiguous, variable.extents, variable.rank);
    for (int d = 0; d < variable.rank; ++d)
      if (variable.extents[d] > 1 && variable.strides[d] != contiguous[d])
        raise<shape_error>(
            "a loop takes elements of a variable whose elements are not one after another: " +
            spell_pass(code_->pass.view, operands_.data()));
    beside_ |= std::uint64_t{1} << i;
  }
}

// The passes before the last one, for operands of the last one.
std::vector<bound_pass> loop::phases_on(const operand* operands) const {
  std::vector<bound_pass> made;
  for (int p = 0, value = compiled_->first_value; p < compiled_->earlier; ++p) {
    const program_code& code = *compiled_->phases[p];
    std::vector<operand> of(operands, operands + code.inputs);
    for (int i = 0; i < code.outputs(); ++i) {
      of.push_back(operands[value++]);
      if (code.pass.view.is_result(i)) align_with_axes(of.back(), {space_.rank, ~0u});
    }
    made.emplace_back(code, of.data(), fixed_);
  }
  return made;
}

// Checks that a variable whose neighbours are read shares no memory with another input.
void loop::require_apart() const {
  for (int i = 0; i < compiled_->states; ++i)
    for (int k = 0; k < code_->inputs && (beside_ >> i & 1) != 0; ++k)
      if (k != i && taken_from(k) < 0 &&
          may_share_elements(operands_[static_cast<std::size_t>(k)],
                             operands_[static_cast<std::size_t>(i)]))
        raise<shape_error>(
            "a loop reads neighbours of a variable that has elements in common with another one or "
            "a parameter: " +
            spell_pass(code_->pass.view, operands_.data()));
}

struct loop_buffers {
  buffer_ref memory[max_inputs];  // A buffer for each variable whose neighbours are read.
  // For a launch a step: steps lead from the variables' own memory to the buffers, and
  // from_buffers.
  struct alternation {
    std::vector<operand> own, buffers;
    bound_pass to_buffers, from_buffers;
    std::vector<bound_pass> phases_from_buffers;
    bool in_buffers = false;  // Whether the current values are in the buffers.
  };
  std::optional<alternation> alternating{};
};

loop::~loop() { delete buffers_; }

const buffer_ref& loop::second_buffer(int variable) const { return buffers_->memory[variable]; }

void loop::make_buffers(bool by_tiles) {
  const std::uint64_t beside = by_tiles ? compiled_->tiles.beside : beside_;
  if (beside == 0 || buffers_ != nullptr) return;
  auto made = std::make_unique<loop_buffers>();
  std::vector<operand> own, buffers, to_buffers = operands_, from_buffers = operands_;
  for (int i = 0; i < compiled_->states; ++i) {
    if ((beside >> i & 1) == 0) continue;
    const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(code_->inputs + i);
    own.push_back(operands_[to]);
    buffers.push_back(temporary_for(operands_[to], made->memory[i], false));
    to_buffers[to] = buffers.back();
    from_buffers[from].memory = buffers.back().memory;
    from_buffers[from].word[0] = buffers.back().word[0];
    std::copy_n(buffers.back().strides, buffers.back().rank, from_buffers[from].strides);
    for (int k = compiled_->states; k < code_->inputs; ++k)
      if (taken_from(k) == i) {
        from_buffers[static_cast<std::size_t>(k)].memory = buffers.back().memory;
        from_buffers[static_cast<std::size_t>(k)].word[0] = buffers.back().word[0];
      }
  }
  if (!by_tiles)
    made->alternating.emplace(loop_buffers::alternation{
        std::move(own), std::move(buffers), bound_pass(*code_, to_buffers.data(), fixed_),
        bound_pass(*code_, from_buffers.data(), fixed_), phases_on(from_buffers.data())});
  buffers_ = made.release();
}

void loop::bring_back() {
  if (buffers_ == nullptr || !buffers_->alternating) return;
  loop_buffers::alternation& alternation = *buffers_->alternating;
  for (std::size_t i = 0; i < alternation.own.size() && alternation.in_buffers; ++i)
    copy_elements(alternation.buffers[i], alternation.own[i]);
  alternation.in_buffers = false;
}

// Runs one step. With two buffers, it reads the current one and writes the other.
void loop::run_step(std::int64_t number, const std::uint64_t* recorded, const bool* stop) {
  loop_buffers::alternation* const alternation =
      buffers_ != nullptr && buffers_->alternating ? &*buffers_->alternating : nullptr;
  bound_pass& step = alternation == nullptr    ? *this
                     : alternation->in_buffers ? alternation->from_buffers
                                               : alternation->to_buffers;
  for (bound_pass& phase : alternation != nullptr && alternation->in_buffers
                               ? alternation->phases_from_buffers
                               : phases_) {
    phase.count_step(number);
    phase.run({.stop = stop});
  }
  step.count_step(number);
  step.bound_pass::run({.recorded = recorded, .stop = stop});
  if (alternation == nullptr) return;
  alternation->in_buffers = !alternation->in_buffers;
  // The host does not know how many steps run until a condition holds, so the values always end in
  // their own memory.
  if (stop != nullptr) bring_back();
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
    if (tiled.grid > 0 &&
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

// Steps for one launch: half a second on a slow GPU, so that its display stays responsive; a
// twentieth of a second if progress is reported.
std::int64_t loop::steps_a_launch(const loop_plan& p, bool watched) const {
  const device_properties& device = properties(where());
  const double elements = static_cast<double>(p.elements),
               bytes = p.loop == strategy::elementwise
                           ? 0
                           : p.per_element.load_bytes + p.per_element.store_bytes;
  // The operations are those of one multiprocessor.
  constexpr double bytes_a_second = 2e11, operations_a_second = 5e10, wait = 5e-6;
  const double seconds =
      elements * bytes / bytes_a_second +
      elements * p.per_element.flops / (operations_a_second * device.multiprocessors) + wait;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>((watched ? 0.05 : 0.5) / seconds));
}

profiled_work loop_launch::profile() const { return profile_of(*loop_, steps_->count); }

void loop::queue_steps(const loop_plan& p, const loop_steps& steps) {
  if (is_one_kernel(p.loop)) return queue(loop_launch(*this, p, steps));
  const profiled_range range([&] { return profile_of(*this, steps.count); });
  const executor& kernels = executor::of(where());
  // Scalars alone, until a condition. A step has two kernels, but only the loop's own tests whether
  // the loop has ended and records in the same launch; it reduces nothing here.
  if (compiled_->stop >= 0 && !reduces() && kernels.supports(*this).carries_scalars) {
    const loop_plan& step = plan_as(strategy::elementwise);
    for (std::int64_t k = 0; k < steps.count; ++k)
      queue(loop_launch(*this, step, {steps.all, steps.done + k, 1, steps.histories}));
    return;
  }
  if (p.loop == strategy::graph &&
      (wanted_ == strategy::graph || steps.count >= p.policy.graph_from))
    if (const auto graph = kernels.make_graph(stream::current(where())))
      return run_graph(*graph, steps, p.policy.graph_steps);
  run_steps(steps);
}

std::int64_t loop::run(const loop_steps& steps, const loop_watch* watch) {
  const std::int64_t count = steps.count;
  if (count <= 0 || (code_->reduces() ? space_.results == 0 : space_.elements == 0)) return count;
  const loop_plan p = make_plan();
  if (run_notes::wanted()) run_notes::note({compiled_}, [&] { return explain_loop(*this, count); });
  make_buffers(p.loop == strategy::tiled);
  const stream on = stream::current(where());
  std::int64_t piece = steps_a_launch(p, watch != nullptr), queued = 0, reported = 0;
  auto last_report = std::chrono::steady_clock::now();
  // Adapts `piece` so that each launch takes about a tenth of a second: reports then cost less than
  // a thousandth of the time.
  const auto report = [&](std::int64_t ran) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::max(1e-6, std::chrono::duration<double>(now - last_report).count());
    const double wanted = 0.1 / seconds * static_cast<double>(ran - reported);
    // Processes take the same steps together, so their own clocks must not decide.
    if (back_end::of(where()).processes() == nullptr)
      piece = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, 8 * piece);
    last_report = now;
    reported = ran;
    if (!watch->report(watch->callback, steps.done + ran, steps.all.steps)) stopped_ = true;
  };
  // One launch is queued while another runs, so that the device is busy during the callback.
  std::vector<std::pair<marker, std::int64_t>> running;
  const auto report_first = [&] {
    running.front().first.wait();
    const std::int64_t ran = running.front().second;
    running.erase(running.begin());
    report(ran);
  };
  while (queued < count && !stopped_) {
    const std::int64_t now = std::min(piece, count - queued);
    queue_steps(p, {steps.all, steps.done + queued, now, steps.histories});
    queued += now;
    if (watch == nullptr) continue;
    if (!stream_state::of(on).on.traits.is_asynchronous) {
      report(queued);
      continue;
    }
    running.emplace_back(marker(on), queued);
    if (running.size() > 1) report_first();
  }
  while (!running.empty()) report_first();
  bring_back();
  return queued;
}

// Launches a graph of some steps repeatedly, each time with other parameters.
void loop::run_graph(kernel_graph& graph, const loop_steps& steps, std::int64_t most) {
  const std::int64_t length = std::min<std::int64_t>(steps.count, most);
  use_operands(operands_.data(), code_->inputs, code_->outputs(), stream::current(where()));
  std::int64_t queued = 0;
  const auto from_here = [&](std::int64_t count) {
    return loop_steps{steps.all, steps.done + queued, count, steps.histories};
  };
  for (; queued + length <= steps.count; queued += length)
    graph.run([&] { run_steps(from_here(length)); });
  run_steps(from_here(steps.count - queued));
}

// Launches a kernel for each step.
void loop::run_steps(const loop_steps& steps) {
  const int inputs = code_->inputs, outputs = code_->outputs();
  const bool is_asynchronous = back_end::of(where()).traits.is_asynchronous;
  const bool* const stop =
      compiled_->stop < 0
          ? nullptr
          : reinterpret_cast<const bool*>(
                operands_[static_cast<std::size_t>(inputs + compiled_->stop)].word[0]);
  for (std::int64_t k = steps.done; k < steps.done + steps.count; ++k) {
    const bool records = (k + 1) % steps.all.every == 0;
    const auto place = [&](int i) -> std::uint64_t {
      const operand& h = steps.histories[i];
      return records && h.memory != nullptr
                 ? h.word[0] + static_cast<std::uint64_t>(k / steps.all.every * size_of(h.type))
                 : 0;
    };
    std::uint64_t recorded[max_operands];
    for (int i = 0; i < outputs; ++i) recorded[i] = place(i);
    if (stop != nullptr && !is_asynchronous && *stop)
      return;  // On asynchronous devices the kernels test the condition.
    run_step(steps.all.first + k, recorded, stop);
    for (int i = 0; i < outputs; ++i) {
      if (recorded[i] == 0 || is_reduction(static_cast<std::size_t>(i))) continue;
      operand from_to[] = {operands_[static_cast<std::size_t>(inputs + i)], steps.histories[i]};
      from_to[1].rank = 0;
      from_to[1].word[0] = recorded[i];
      bound_pass(copy_code(size_of(from_to[1].type)), from_to, {}).run();
    }
  }
}

loop_schedule loop_schedule::of(std::int64_t steps, std::int64_t first, std::int64_t every) {
  if (steps < 0) raise<shape_error>("a loop of " + std::to_string(steps) + " steps");
  if (every < 1)
    raise<shape_error>("a loop that records every " + std::to_string(every) + "th step");
  if (std::int64_t last; __builtin_add_overflow(first, steps, &last))
    raise<shape_error>("a loop of " + std::to_string(steps) + " steps from number " +
                       std::to_string(first) + " on");
  return {steps, first, every};
}

void throw_endless_condition() {
  raise<value_error>(
      "until depends on no dsl::scalar of the loop's state: nothing that the steps change would "
      "end the loop");
}

}  // namespace dsl::detail
