#include <dsl/exec/loop.hpp>
#include <dsl/exec/tagged.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

#include "exec/compiled_for.hpp"
#include "exec/copy.hpp"
#include "cuda/cuda.hpp"
#include "host/host.hpp"
#include "exec/parameters.hpp"
#include "sim/sim.hpp"
#include "mem/stream.hpp"
#include "exec/text.hpp"

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

bool is_one_kernel(strategy s) { return s >= strategy::elementwise; }

}  // namespace

loop::loop(const loop_code& code, const operand* operands, const launch& fixed, strategy wanted)
    : prepared(*code.step, operands, fixed), code_(&code), wanted_(wanted) {
  require_in_place();
}

// Whether one kernel can run many steps: no operand but the variables changes, and a place among the elements is one number.
bool loop::is_closed() const {
  for (int i = 0; i < code_->states; ++i)
    for (int k = code_->states; k < code_->arguments; ++k)
      if (operands_[static_cast<std::size_t>(k)].memory != nullptr && operands_[static_cast<std::size_t>(k)].memory == operands_[static_cast<std::size_t>(i)].memory) return false;
  if (where().kind == backend::host) return space_.linear && code_->stop < 0 && space_.elements > 1;
  return space_.linear && (where().kind == backend::sim ? code_->sim != nullptr : code_->kernel != nullptr);
}

// Whether whole vectors of the variables can be moved.
bool loop::is_aligned() const {
  for (int i = 0; i < code_->states; ++i)
    if (operands_[static_cast<std::size_t>(i)].kind == operand_kind::array && space_.walks[i].how != access::wide) return false;
  return true;
}

// What a multiprocessor computes in the 0.8 microseconds that blocks take to tell each other their sums (docs/performance.md).
constexpr double operations_in_a_wait = 2.5e5;

// Steps from which on a graph is made in less time than it saves (docs/performance.md).
constexpr std::int64_t worth_a_graph = 512;

// Blocks, threads and what they keep on chip, as few steps of a block's threads as possible.
plan loop::plan_kernel(strategy how) const {
  plan p;
  p.where = where(), p.elements = space_.elements, p.lanes = code_->step->pass.lanes, p.per_element = cost_per_element();
  const loop_traits& traits = code_->traits;
  const device_properties& device = properties(where());
  const bool sim = where().kind == backend::sim;
  const kernel_attributes attributes = sim ? kernel_attributes{} : cuda::attributes(*code_->step, code_->kernel, traits.most_threads, where().index);
  const std::int64_t groups = pieces(space_.elements, p.lanes);
  p.path = name_of(how), p.loop = how;
  p.registers = attributes.registers;
  p.blocks_per_multiprocessor = std::max(1, attributes.blocks_per_multiprocessor);
  const int most = attributes.max_block > 0 ? std::min(attributes.max_block, traits.most_threads) : traits.most_threads;
  if (fixed_.block < 0 || fixed_.block % 32 != 0 || fixed_.block > most)
    raise<device_error>("a block of " + std::to_string(fixed_.block) + " threads was asked for; this loop takes multiples of 32 up to " + std::to_string(most));
  if (how == strategy::elementwise) {
    p.block = fixed_.block > 0 ? fixed_.block : std::min(default_block, warps_from(pieces(groups, device.multiprocessors)));
    p.grid = pieces(groups, p.block);
    require_grid(fixed_, p.grid, code_->step->pass.view);
    return p;
  }
  const std::int64_t blocks = how == strategy::one_block ? 1 : fixed_.grid > 0 ? fixed_.grid : std::min<std::int64_t>(device.multiprocessors, pieces(groups, 32));
  p.grid = std::max<std::int64_t>(1, blocks);
  require_grid(fixed_, p.grid, code_->step->pass.view);
  p.block_groups = pieces(groups, p.grid);
  p.block = fixed_.block > 0 ? fixed_.block : std::min(most, warps_from(p.block_groups));
  // Rows: as many as the registers hold, then shared memory, by way of which the others come and go.
  const std::int64_t room = static_cast<std::int64_t>(device.shared_per_block) - attributes.static_shared;
  const bool stream = how == strategy::streamed;
  const auto cut = [&] {
    const auto rows = static_cast<int>(std::min<std::int64_t>(pieces(p.block_groups, p.block), 1 << 30));
    const std::int64_t row_bytes = std::max(1, p.block * traits.group_bytes);
    const int others = std::max(0, rows - traits.held), fit = static_cast<int>(room / row_bytes);
    p.held = rows - others, p.in_shared = others, p.streamed = 0;
    if (others > fit || (stream && others > traits.ahead)) {
      p.in_shared = std::clamp(others - traits.ahead - 1, 0, std::max(0, fit - traits.ahead));
      p.streamed = others - p.in_shared;
    }
    const std::int64_t bytes = (p.in_shared + (p.streamed > 0 ? traits.ahead : 0)) * row_bytes;
    p.shared_bytes = static_cast<int>(std::min<std::int64_t>(bytes, 1 << 30));
    return bytes <= room && (p.streamed == 0 || p.streamed > traits.ahead);
  };
  bool fits = cut();
  // A smaller block has more rows, and each takes less room.
  while (fixed_.block == 0 && p.block > 32 && (!fits || (stream && p.streamed == 0))) p.block = warps_from(p.block / 2), fits = cut();
  if (!fits)
    raise<device_error>("a loop's variables take " + std::to_string(traits.group_bytes) + " bytes a thread of a block of " + std::to_string(p.block) +
                        ", too much for shared memory: take a smaller block, or dsl::strategy::launches");
  // What is streamed, but for a part that the L2 cache keeps (docs/performance.md).
  const double bytes = static_cast<double>(p.streamed) * static_cast<double>(p.grid) * p.block * traits.group_bytes;
  p.near = p.streamed == 0 ? 0 : static_cast<int>(std::min(8.0, 8 * 0.4 * static_cast<double>(device.l2) / bytes));
  return p;
}

strategy loop::choose() const {
  const bool folds = code_->step->folds(), closed = is_closed();
  const auto check = [&](bool possible, const char* why) {
    if (!possible) raise<device_error>(std::string("a loop was to run as ") + name_of(wanted_) + ", but " + why + ": " + spell_pass(code_->step->pass.view, operands_.data()));
  };
  const bool cuda = where().kind == backend::cuda;
  if (wanted_ == strategy::graph) check(cuda && folds, "this is not a GPU, or there are no reductions");
  if (wanted_ == strategy::elementwise) check(closed && !folds, "it has reductions, or its operands are not contiguous or share the variables' memory");
  if (wanted_ > strategy::elementwise) check(closed && folds, "it has no reductions, or its operands are not contiguous or share the variables' memory");
  if (wanted_ > strategy::elementwise) check(where().kind != backend::host, "this is not a GPU");
  if (wanted_ > strategy::one_block && cuda) check(cuda::is_cooperative(where().index), "this GPU cannot launch cooperative kernels");
  if (wanted_ == strategy::streamed) check(is_aligned(), "its variables are not aligned to vectors of 16 bytes");
  if (wanted_ != strategy::automatic) {
    if (wanted_ == strategy::one_block || wanted_ == strategy::cooperative) check(plan_kernel(wanted_).streamed == 0, "its variables do not fit on chip");
    return wanted_;
  }
  if (!closed) return cuda && folds ? strategy::graph : strategy::launches;
  if (!folds) return strategy::elementwise;
  if (where().kind == backend::host) return strategy::launches;
  const plan one = plan_kernel(strategy::one_block), all = plan_kernel(strategy::cooperative);
  const auto rows = [](const plan& p) { return pieces(p.block_groups, p.block); };
  const double work = static_cast<double>(std::max(1, one.per_element.flops)) * one.lanes * one.block;
  if (one.streamed == 0 && static_cast<double>(rows(one) - 1) * work <= operations_in_a_wait) return strategy::one_block;
  if (cuda && !cuda::is_cooperative(where().index)) return strategy::graph;
  if (all.streamed == 0) return strategy::cooperative;
  return is_aligned() ? strategy::streamed : cuda ? strategy::graph : strategy::launches;
}

plan loop::make_plan() const {
  const strategy how = choose();
  if (is_one_kernel(how) && where().kind != backend::host) return plan_kernel(how);
  plan p = prepared::make_plan();
  p.loop = how, p.path = name_of(how);
  return p;
}

// Launches of at most half a second on a slow GPU, so that its display goes on; a twentieth of one where someone watches.
std::int64_t loop::steps_a_launch(const plan& p, bool watched) const {
  const device_properties& device = properties(where());
  const double elements = static_cast<double>(p.elements), bytes = p.loop == strategy::elementwise ? 0 : p.per_element.load_bytes + p.per_element.store_bytes;
  constexpr double bytes_a_second = 2e11, operations_a_second = 5e10, wait = 5e-6;  // the latter of a multiprocessor
  const double seconds = elements * bytes / bytes_a_second + elements * p.per_element.flops / (operations_a_second * device.multiprocessors) + wait;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>((watched ? 0.05 : 0.5) / seconds));
}

void loop::queue(const plan& p, const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories) {
  if (where().kind == backend::host && p.loop == strategy::elementwise) run_blocks(all, done, count);
  else if (is_one_kernel(p.loop)) run_kernel(p, all, done, count, histories);
  else if (where().kind != backend::host && code_->stop >= 0 && !code_->step->folds()) run_single_steps(all, done, count, histories);
  else if (p.loop == strategy::graph && (wanted_ == strategy::graph || count >= worth_a_graph) && !cuda::is_blocking() &&
           !cuda::is_captured(stream::current(where())))
    run_graph(all, done, count, histories);
  else run_steps(all, done, count, histories);
}

std::int64_t loop::run(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories, const loop_watch* watch) {
  if (count <= 0 || (code_->step->folds() ? space_.results == 0 : space_.elements == 0)) return count;
  const plan p = make_plan();
  const stream on = stream::current(where());
  const bool cuda = where().kind == backend::cuda;
  std::int64_t piece = steps_a_launch(p, watch != nullptr), queued = 0, reported = 0;
  auto last_report = std::chrono::steady_clock::now();
  // Launches that take about a tenth of a second each: what is reported in between costs less than a thousandth.
  const auto report = [&](std::int64_t ran) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::max(1e-6, std::chrono::duration<double>(now - last_report).count());
    const double wanted = 0.1 / seconds * static_cast<double>(ran - reported);
    piece = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, 8 * piece);
    last_report = now, reported = ran;
    if (!watch->report(watch->callback, done + ran, all.steps)) stopped_ = true;
  };
  // One launch is queued while another runs, so that the GPU has work while the callback is called.
  std::vector<std::pair<cuda::marker, std::int64_t>> running;
  const auto report_first = [&] {
    running.front().first.wait();
    const std::int64_t ran = running.front().second;
    running.erase(running.begin());
    report(ran);
  };
  while (queued < count && !stopped_) {
    const std::int64_t now = std::min(piece, count - queued);
    queue(p, all, done + queued, now, histories);
    queued += now;
    if (watch == nullptr) continue;
    if (!cuda) {
      report(queued);
      continue;
    }
    running.emplace_back(cuda::marker(on), queued);
    if (running.size() > 1) report_first();
  }
  while (!running.empty()) report_first();
  return queued;
}

// A graph of some steps, launched again and again with other parameters.
void loop::run_graph(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories) {
  const std::int64_t length = std::min<std::int64_t>(count, 64);
  const stream on = stream::current(where());
  use_operands(operands_.data(), code_->step->inputs, code_->step->outputs(), on);
  std::int64_t queued = 0;
  cuda::kernel_graph graph(on);
  for (; queued + length <= count; queued += length) graph.run([&] { run_steps(all, done + queued, length, histories); });
  run_steps(all, done + queued, count - queued, histories);
}

// On the host, without reductions: all steps of a block of elements while it is in the cache.
void loop::run_blocks(const loop_schedule& all, std::int64_t done, std::int64_t count) {
  const program_code& step = *code_->step;
  run_on_host({step, compiled_for(where(), step.host, step.name, step.pass.view, operands_.data()), operands_.data(), space_, nullptr}, all.first + done, count);
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

// Scalars alone, until a condition: of the two kernels for a step only the loop's own, which reduces nothing here, looks whether the
// loop has ended, and records in the same launch.
void loop::run_single_steps(const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories) {
  const plan p = plan_kernel(strategy::elementwise);
  for (std::int64_t k = done; k < done + count; ++k) run_kernel(p, all, k, 1, histories);
}

void loop::run_kernel(const plan& p, const loop_schedule& all, std::int64_t done, std::int64_t count, const operand* histories) {
  const stream on = stream::current(where());
  const int inputs = code_->step->inputs, outputs = code_->step->outputs(), operands = inputs + outputs;
  use_operands(operands_.data(), inputs, outputs, on);
  kernel_parameters given({space_.elements, 1, {space_.count, 1, 1, {0, 0}, kept_along::none, nullptr, nullptr, nullptr}});
  loop_walk walk{count, all.every, done / all.every, all.every - done % all.every, 0, 0, p.in_shared, p.streamed, p.near, nullptr, 0};
  walk.divide(pieces(space_.elements, p.lanes), p.grid, p.block);
  cuda::exchange e{};
  if (where().kind == backend::cuda && p.grid > 1 && p.loop != strategy::elementwise) {
    e = cuda::exchange_of(on, 2 * static_cast<std::size_t>(p.grid) * tagged_bytes(static_cast<std::size_t>(code_->step->pass.accumulator_bytes)), count);
    walk.slots = e.slots, walk.epoch = e.epoch;
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
    return simulate_loop(*code_->sim, code_->step->pass.accumulator_bytes, given.data(), p, walk, allowed);
  }
  void* parameters[] = {given.data()};
  cuda::launch_kernel({code_->kernel, p.grid, p.block, p.shared_bytes, parameters, code_->step->name, code_->step->cuda->architectures, code_->step->pass.view, operands_.data(), p.elements, walk.slots != nullptr}, on);
}

loop_schedule loop_schedule::of(std::int64_t steps, std::int64_t first, std::int64_t every) {
  if (steps < 0) raise<shape_error>("a loop of " + std::to_string(steps) + " steps");
  if (every < 1) raise<shape_error>("a loop that records every " + std::to_string(every) + "th step");
  if (std::int64_t last; __builtin_add_overflow(first, steps, &last)) raise<shape_error>("a loop of " + std::to_string(steps) + " steps from number " + std::to_string(first) + " on");
  return {steps, first, every};
}

void throw_endless_condition() { raise<value_error>("until depends on no dsl::scalar of the loop's state: nothing that the steps change would end the loop"); }

}  // namespace dsl::detail
