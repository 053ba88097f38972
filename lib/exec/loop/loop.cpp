#include <dsl/exec/loop/loop.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "exec/explain/explain.hpp"
#include "exec/loop/loop_end.hpp"
#include "exec/loop/loop_launch.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/work.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

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

namespace {

// Of a slow GPU. The operations are those of one multiprocessor.
constexpr double bytes_a_second = 2e11, operations_a_second = 5e10, launch_seconds = 5e-6;

}  // namespace

// Steps for one launch: half a second on a slow GPU, so that its display stays responsive; a
// twentieth of a second if progress is reported.
std::int64_t loop::steps_a_launch(const loop_plan& p, bool watched) const {
  const device_properties& device = properties(where());
  const double elements = static_cast<double>(p.elements),
               bytes = p.loop == strategy::elementwise
                           ? 0
                           : p.per_element.load_bytes + p.per_element.store_bytes;
  const double seconds =
      elements * bytes / bytes_a_second +
      elements * p.per_element.flops / (operations_a_second * device.multiprocessors) +
      launch_seconds;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>((watched ? 0.05 : 0.5) / seconds));
}

// Steps between two looks whether the loop has ended; where each step is a kernel, so many that
// they cost a millisecond in vain, after the end: their kernels return at once, but second buffers
// are copied. A look costs the host, and the device, about as much as a few launches.
std::int64_t loop::steps_a_group(const loop_plan& p) const {
  if (is_one_kernel(p.loop)) return steps_a_launch(p, false);
  double bytes = 0;
  for (int i = 0; i < compiled_->states; ++i)
    if ((beside_ >> i & 1) != 0)
      bytes += 2.0 * static_cast<double>(p.elements) *
               size_of(operands_[static_cast<std::size_t>(i)].type);
  const double in_vain = launch_seconds * (1 + compiled_->earlier) + bytes / bytes_a_second;
  const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(1e-3 / in_vain));
  const std::int64_t whole = p.loop == strategy::graph ? p.policy.graph_steps : 1;
  return pieces(steps, whole) * whole;
}

profiled_work loop_launch::profile() const { return profile_of(*loop_, steps_->count); }

// Until the loop is known to have ended.
void loop::queue_steps(const loop_plan& p, const loop_steps& steps) {
  const executor& kernels = executor::of(where());
  const bool one_kernel = is_one_kernel(p.loop),
             scalars_end = end_ != nullptr && !reduces() && kernels.supports(*this).carries_scalars;
  std::optional<profiled_range> range;
  if (!one_kernel) range.emplace([&] { return profile_of(*this, steps.count); });
  std::unique_ptr<kernel_graph> graph;
  if (p.loop == strategy::graph && !scalars_end &&
      (wanted_ == strategy::graph || steps.count >= p.policy.graph_from))
    graph = kernels.make_graph(stream::current(where()));
  for (std::int64_t queued = 0; queued < steps.count && !has_ended_;) {
    const std::int64_t left = steps.count - queued,
                       now = end_ == nullptr || one_kernel ? left
                                                           : std::min(left, end_->left_in_group());
    const loop_steps next{steps.all, steps.done + queued, now, steps.histories};
    if (one_kernel) queue(loop_launch(*this, p, next));
    else if (scalars_end) run_scalars(next);
    else if (graph != nullptr)
      run_graph(*graph, next, std::min<std::int64_t>(steps.count, p.policy.graph_steps));
    else run_steps(next);
    queued += now;
    if (end_ == nullptr) continue;
    end_->note(now, steps.all.steps - next.done - now);
    has_ended_ = end_->has_come();
  }
}

std::int64_t loop::run(const loop_steps& steps, const loop_watch* watch) {
  const std::int64_t count = steps.count;
  if (count <= 0 || (code_->reduces() ? space_.results == 0 : space_.elements == 0)) return count;
  const loop_plan p = make_plan();
  if (run_notes::wanted()) run_notes::note({compiled_}, [&] { return explain_loop(*this, count); });
  make_buffers(p.loop == strategy::tiled);
  if (compiled_->stop >= 0 && end_ == nullptr)
    end_ = std::make_unique<loop_end>(
        operands_[static_cast<std::size_t>(code_->inputs + compiled_->stop)], steps_a_group(p));
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
  while (queued < count && !stopped_ && !has_ended_) {
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
  if (has_ended_ && !stopped_ && queued < count) {
    queued = count;
    if (watch != nullptr) report(queued);
  }
  bring_back();
  return queued;
}

// Launches a graph of `length` steps repeatedly, each time with other parameters.
void loop::run_graph(kernel_graph& graph, const loop_steps& steps, std::int64_t length) {
  use_operands(operands_.data(), code_->inputs, code_->outputs(), stream::current(where()));
  std::int64_t queued = 0;
  const auto from_here = [&](std::int64_t count) {
    return loop_steps{steps.all, steps.done + queued, count, steps.histories};
  };
  for (; queued + length <= steps.count; queued += length)
    graph.run([&] { run_steps(from_here(length)); });
  run_steps(from_here(steps.count - queued));
}

// Scalars alone, until a condition. A step has two kernels, but only the loop's own tests whether
// the loop has ended and records in the same launch; it reduces nothing here.
void loop::run_scalars(const loop_steps& steps) {
  const loop_plan& step = plan_as(strategy::elementwise);
  for (std::int64_t k = 0; k < steps.count && !end_->is_here(); ++k)
    queue(loop_launch(*this, step, {steps.all, steps.done + k, 1, steps.histories}));
}

// Launches a kernel for each step.
void loop::run_steps(const loop_steps& steps) {
  const int inputs = code_->inputs, outputs = code_->outputs();
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
    // Kernels that reduce test the condition themselves.
    if (end_ != nullptr && (reduces() ? end_->is_here() : end_->wait_and_look())) return;
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
