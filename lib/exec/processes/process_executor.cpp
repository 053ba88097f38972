// Runs compiled code on a mesh of processes: each process computes its rows on its own device.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <dsl/exec/processes/processes.hpp>
#include <dsl/mem/timeout.hpp>

#include "exec/loop/loop_launch.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/processes/process_halos.hpp"
#include "exec/processes/process_partials.hpp"
#include "exec/processes/processes.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/process_cells.hpp"
#include "exec/scan/scan_work.hpp"
#include "mem/mesh.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

// A number by which processes check that they run the same statement: it depends on the program,
// not on addresses.
std::uint64_t number_of(const pass_view& pass) {
  word_key number{static_cast<std::uint64_t>(pass.reductions)};
  const auto add = [&number](const program_view& p) {
    for (int i = 0; i < p.nodes; ++i) number.add(p.heads[i]);
  };
  add(pass.elements);
  add(pass.results);
  for (int i = 0; i < pass.reductions; ++i) add(pass.rules[i]);
  return number.value;
}

class process_executor final : public executor {
 public:
  explicit process_executor(executor& runs) : runs_(runs) {}
  const process_mesh* mesh = nullptr;
  mutable std::optional<process_cells> cells{};
  mutable std::optional<known_forms> forms{};

  void order_reduced(geometry& g, const operand* operands, int inputs, int count,
                     const pass_view& pass) const override {
    runs_.order_reduced(g, operands, inputs, count, pass);
  }
  std::string describe_launch(const dsl::plan& p) const override {
    return runs_.describe_launch(p);
  }
  std::string why_not_compiled(device) const override { return runs_.why_not_compiled(mesh->own); }
  bool has_linear_path(const kernel_choice& kernels) const override {
    return runs_.has_linear_path(kernels);
  }
  bool takes_leads() const override { return runs_.takes_leads(); }

  // Chains run pass by pass: their plan has no grid. Reductions by key and selections were refused
  // (`require_one_process`), as tasks of libraries were.
  void plan(const work& w) const override {
    switch (w.kind()) {
      case work_kind::pass: return plan_pass(static_cast<const bound_pass&>(w));
      case work_kind::loop: return plan_loop(static_cast<const loop_launch&>(w));
      case work_kind::scan: return plan_scan(static_cast<const scan_work&>(w));
      case work_kind::rows: return static_cast<const row_chain&>(w).set_plan({});
      default: return;
    }
  }
  void run(const work& w, const stream&) const override {
    switch (w.kind()) {
      case work_kind::pass: return run_pass(static_cast<const bound_pass&>(w));
      case work_kind::loop: return run_loop(static_cast<const loop_launch&>(w));
      case work_kind::scan: return run_scan(static_cast<const scan_work&>(w));
      default: return;
    }
  }
  void run(const library_task&, const stream&) const override {}

  // If each process has all operands of its rows, its kernel runs all steps. With reductions, this
  // also needs kernels that reach each other's memory; otherwise a graph contains the kernels of
  // the steps and the exchange of their partial results.
  loop_support supports(const loop& of) const override {
    const local_operands mine = local(of, false, true);
    if (!mine.are_self_contained(of.operands(), of.space())) return {};
    const loop own = own_loop(of, mine, strategy::automatic);
    loop_support can = runs_.supports(own);
    can.carries_scalars = can.carries_scalars && of.code().reduces() && cells->are_shared();
    can.one_block = false;
    can.graphs = can.graphs && of.code().reduces() && mesh->gpus() != nullptr &&
                 partials_together(of, own).has_value();
    return can;
  }

  std::unique_ptr<kernel_graph> make_graph(const stream&) const override {
    return runs_.make_graph(stream::current(mesh->own));
  }

 private:
  void plan_pass(const bound_pass& pass) const {
    pass.set_plan(bound(pass, local(pass, false, true)).plan());
  }
  void run_pass(const bound_pass& pass) const {
    const program_code& code = pass.code();
    const operand* const targets = pass.operands() + code.inputs;
    // Whether a target is not divided, so that each process needs all rows of it.
    bool is_whole = false;
    const local_operands mine = local(pass, false);
    std::optional<edge_rows> edges;
    if (mine.are_divided() && mesh->size() > 1 && reads_other_rows(pass.space())) {
      const std::optional<row_reach> reach = code.reduces() ? std::nullopt : reach_of(pass);
      if (!reach || !edge_rows::are_enough(mine, *reach)) return run_whole(pass);
      if (!reach->is_none()) edges.emplace(*mesh, pass, mine, *reach);
    }
    for (int i = 0; i < code.outputs() && mine.are_divided(); ++i)
      is_whole = is_whole || (targets[i].kind == operand_kind::array && !is_divided(targets[i]));
    if (is_whole) return run_whole(pass);
    if (mine.redirects() && has_ended(pass)) return;
    if (!mine.are_divided() || !code.reduces() ||
        (reduced_axes(targets, code.outputs()) & 1) == 0) {
      if (!mine.are_divided() || mine.own_rows().count() > 0) bound(pass, mine).run(pass.now());
      if (edges) edges->run();
      return mine.store();
    }
    if (!mine.all_have_rows() || !reduce(pass, mine)) run_whole(pass);
  }

  // All processes plan for the same number of elements, because it decides how many steps a launch
  // runs.
  void plan_loop(const loop_launch& launch) const {
    if (launch.how() == strategy::tiled) return launch.set_plan({});
    const loop& of = launch.of();
    const local_operands mine = local(of, false, true);
    loop_plan p = loop_launch(own_loop(of, mine, launch.how()), launch.how()).plan();
    p.elements = (of.space().elements + mesh->size() - 1) / mesh->size();
    launch.set_plan(p);
  }
  void run_loop(const loop_launch& launch) const {
    const loop& of = launch.of();
    const loop_plan& p = launch.plan();
    const local_operands mine = local(of, false);
    const loop own = own_loop(of, mine, p.loop);
    const stream on = stream::current(mesh->own);
    use_operands(own.operands(), own.code().inputs, own.code().outputs(), on);
    if (p.loop == strategy::elementwise) return runs_.run(loop_launch(own, p, launch.steps()), on);
    run_together(of, own, p, launch.steps(), on);
  }

  void plan_scan(const scan_work& of) const {
    const local_operands mine = local(of, true);
    of.set_plan(scan_work(of.code(), mine.data(), of.request()).plan());
  }
  void run_scan(const scan_work& of) const {
    const local_operands mine = local(of, false);
    if (mine.are_divided() && (of.ordered().axis <= 0 || reads_other_rows(of.space())))
      raise<device_error>(
          "a scan along the axis that is divided among processes, of " +
          spell_pass(of.code().view, of.operands()) +
          ": scan another axis, or dsl::local of it, and add what the processes before come to");
    if (mine.are_divided() && mine.own_rows().count() == 0) return;
    queue(scan_work(of.code(), mine.data(), of.request()));
    mine.store();
  }

  static bool reads_other_rows(const geometry& g) {
    return g.shape_rank > 0 && (g.moved >> (g.shape_rank - 1) & 1) != 0;
  }
  static loop own_loop(const loop& of, const local_operands& mine, strategy how) {
    return {of.compiled(), mine.data(), of.fixed(), how};
  }
  // Runs all steps in one kernel in each process; the blocks of all kernels act as one grid. The
  // first process computes the reductions' results, which are then broadcast.
  void run_together(const loop& of, const loop& own, const loop_plan& p, const loop_steps& steps,
                    const stream& on) const {
    const auto processes = static_cast<std::size_t>(mesh->size()),
               rank = static_cast<std::size_t>(mesh->rank());
    struct launch_of { std::int64_t blocks, steps; };
    std::vector<launch_of> all(processes);
    all[rank] = {p.grid, steps.count};
    mesh->group().all_gather(all.data(),
                             std::vector<std::size_t>(processes, sizeof(launch_of)).data());
    std::int64_t first = 0, blocks = 0;
    for (std::size_t k = 0; k < processes; ++k) {
      if (all[k].steps != steps.count)
        raise<device_error>("processes run different numbers of a loop's steps at once, " +
                            std::to_string(steps.count) + " here and " +
                            std::to_string(all[k].steps) + " in process " + std::to_string(k) +
                            ": " + spell_pass(of.code().pass.view, of.operands()));
      if (k == rank) first = blocks;
      blocks += all[k].blocks;
    }
    loop_part part{{}, {}, of.space().count};
    part.range.first = static_cast<std::uint32_t>(first);
    part.range.blocks = static_cast<std::uint32_t>(blocks);
    part.range.member = mesh->rank();
    part.range.members = mesh->size();
    part.range.timeout_flag = mesh->gpus()->timeout_flag();
    part.range.most_ticks = block_range::ticks_in(seconds_to_wait_for_processes());
    const std::size_t bytes = bytes_of_sums(own, blocks);
    part.cells = cells->take(bytes, static_cast<std::int64_t>(bytes), exchanges_in(of, steps.count),
                             of.compiled().stop >= 0);
    runs_.run(loop_launch(own, p, steps, &part), on);

    std::vector<gpu_group::piece> left;
    const std::int64_t every = steps.all.every, recorded = steps.done / every,
                       records = (steps.done + steps.count) / every - recorded;
    for (int i = 0; i < own.code().outputs(); ++i) {
      const operand &to = own.operands()[own.code().inputs + i], &history = steps.histories[i];
      if (is_divided(of.operands()[own.code().inputs + i])) continue;
      const auto size = static_cast<std::size_t>(size_of(to.type));
      if (to.memory != nullptr) left.push_back({reinterpret_cast<void*>(to.word[0]), size});
      if (history.memory != nullptr && records > 0)
        left.push_back({reinterpret_cast<unsigned char*>(history.word[0]) +
                            static_cast<std::size_t>(recorded) * size,
                        static_cast<std::size_t>(records) * size});
    }
    mesh->gpus()->broadcast(left, stream_state::of(on).native);
  }

  local_operands local(const bound_pass& pass, bool whole, bool planned = false) const {
    return {*mesh,
            pass.operands(),
            pass.code().inputs,
            pass.code().inputs + pass.code().outputs(),
            pass.space(),
            pass.code().pass.view,
            whole,
            planned};
  }
  local_operands local(const scan_work& of, bool planned) const {
    const work_record scan = of.record();
    return {*mesh,      scan.operands, scan.inputs, scan.inputs + 1,
            scan.space, scan.pass,     false,       planned};
  }
  static bound_pass bound(const bound_pass& pass, const local_operands& to) {
    return {pass.code(), to.data(), pass.fixed()};
  }

  // Whether a loop has ended, so that temporaries must not be copied to their targets. Waits for
  // the device.
  bool has_ended(const bound_pass& pass) const {
    const bool* const stop = pass.now().stop;
    if (stop == nullptr) return false;
    const stream on = stream::current(mesh->own);
    bool ended = false;
    back_end::of(mesh->own).copy(&ended, stop, 1, direction::to_host, mesh->own.index,
                                 stream_state::of(on).native);
    on.synchronize();
    return ended;
  }

  // Each process computes all rows.
  void run_whole(const bound_pass& pass) const {
    const local_operands all = local(pass, true);
    if (all.redirects() && has_ended(pass)) return;
    bound(pass, all).run(pass.now());
    all.store();
  }

  // The layout of the partial results of all processes, in the order of the processes.
  struct joined_partials {
    partial_results_layout all{};
    // Bytes of each process's partial results.
    std::vector<std::size_t> bytes{};
    const std::vector<partials_form>& forms;
  };
  // None if the processes' partial results have different forms. All processes must call this.
  std::optional<joined_partials> partials_together(const bound_pass& pass,
                                                   const bound_pass& own) const {
    const partial_results_layout left = own.partials();
    const reduction_plan& p = own.plan();
    joined_partials joined{.forms = forms->of(pass, {left.groups,
                                                     static_cast<std::int64_t>(left.bytes),
                                                     p.block,
                                                     {p.tile.columns, p.tile.rows, p.tile.width,
                                                      left.groups == 1 ? 0 : p.tile.height},
                                                     p.threads_a_result,
                                                     p.distance,
                                                     left.count})};
    joined.all = {left.groups, 0, left.bytes};
    for (const partials_form& f : joined.forms) {
      if (!f.fits(joined.forms[0])) return {};
      joined.all.count += f.count;
      joined.bytes.push_back(static_cast<std::size_t>(f.groups * f.count) * left.bytes);
    }
    return joined;
  }

  // Gathers the partial results of all processes and finishes them in each. Returns false, having
  // done nothing, if their forms differ.
  bool reduce(const bound_pass& pass, const local_operands& mine) const {
    bound_pass own = bound(pass, mine);
    const std::optional<joined_partials> joined = partials_together(pass, own);
    if (!joined) return false;
    const partial_results_layout& all = joined->all;
    const auto rank = static_cast<std::size_t>(mesh->rank());
    const stream on = stream::current(mesh->own);
    buffer_ref gathered;
    workspace scratch{};
    if (all.groups > 1) gathered = buffer_ref::allocate(all.all_bytes(), mesh->own);
    else scratch = scratch_of_two_launches(on, all.all_bytes());
    auto* const first = static_cast<unsigned char*>(gathered ? gathered.data() : scratch.partials);
    const std::size_t before = std::accumulate(
        joined->bytes.begin(), joined->bytes.begin() + mesh->rank(), std::size_t{0});
    const pass_run& now = pass.now();
    own.run({.stop = now.stop,
             .part = reduction_part::to_partials,
             .all = {all.groups, joined->forms[rank].count, all.bytes},
             .partials = first + before});
    mesh->group().statement = number_of(pass.code().pass.view);
    mesh->all_gather(first, joined->bytes);
    if (gathered) gathered = by_group(gathered, all, joined->forms);
    own.run({.recorded = now.recorded,
             .stop = now.stop,
             .part = reduction_part::from_partials,
             .all = all,
             .partials = gathered ? gathered.data() : first,
             .count = pass.space().count});
    mine.store();
    return true;
  }

  // Reorders the partial results of all processes so that those of each group are contiguous.
  buffer_ref by_group(const buffer_ref& gathered, const partial_results_layout& all,
                      const std::vector<partials_form>& forms) const {
    buffer_ref made = buffer_ref::allocate(all.all_bytes(), mesh->own);
    std::size_t size = 16;
    while (all.bytes % size != 0) size /= 2;
    const auto words = static_cast<std::int64_t>(all.bytes / size);
    const auto rows = [&](std::int64_t length, std::int64_t stride) {
      mapping m;
      m.rank = 2;
      m.extents[0] = all.groups;
      m.strides[0] = stride * words;
      m.extents[1] = length * words;
      m.strides[1] = 1;
      return m;
    };
    auto *to = static_cast<unsigned char*>(made.data()),
         *from = static_cast<unsigned char*>(gathered.data());
    for (const partials_form& f : forms) {
      copy(made, to, rows(f.count, all.count), gathered, from, rows(f.count, f.count), size);
      to += static_cast<std::size_t>(f.count) * all.bytes;
      from += static_cast<std::size_t>(f.count * all.groups) * all.bytes;
    }
    return made;
  }

  executor& runs_;
};

}  // namespace

device own_device(int number_on_machine) {
  const device current = device::current();
  if (current != device(backend::cuda)) return current;
  return {backend::cuda, number_on_machine % back_end::of(current).device_count()};
}

device mesh_of_processes(std::unique_ptr<process_group> joined, device own) {
  properties(own);
  const auto processes = static_cast<std::size_t>(joined->size());
  std::vector<std::uint8_t> kinds(processes);
  kinds[static_cast<std::size_t>(joined->rank())] =
      back_end::is_mesh(own) ? 0xff : static_cast<std::uint8_t>(own.kind);
  joined->all_gather(kinds.data(), std::vector<std::size_t>(processes, 1).data());
  for (const std::uint8_t kind : kinds)
    if (kind == 0xff || kind != kinds[0])
      raise<device_error>(
          "a mesh of processes has one device in each, of one kind: the host, sim or a GPU; here "
          "it is " +
          std::string(own.name()) +
          ": DSL_DEVICE, or the device that dsl::mesh is given, says another");
  // Never freed, as the back ends of all devices.
  auto* const kernels = new process_executor(executor::of(own));
  auto* const made = new process_mesh(std::move(joined), own, *kernels);
  kernels->mesh = made;
  kernels->cells.emplace(*made);
  kernels->forms.emplace(*made);
  return {own.kind, add_mesh(*made)};
}

}  // namespace dsl::detail
