#include "host/back_end.hpp"

#include <string>

#include "exec/loop/loop_launch.hpp"
#include "exec/plan/layout.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/calibration.hpp"
#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "host/host.hpp"

namespace dsl::detail {

namespace {

// Executor of passes as SIMD loops on all cores.
class host_executor final : public executor {
 public:
  void order_reduced(geometry& g, const operand*, int, int count, const pass_view&) const override {
    if (g.kept != 0) order_for_rows(g, count);
  }

  std::string describe_launch(const dsl::plan& p) const override {
    return "blocks of " + std::to_string(p.block) + " on " +
           std::to_string(properties(p.where).multiprocessors) + " threads";
  }

  void plan(const work& w) const override {
    switch (w.kind()) {
      case work_kind::pass: return plan_pass(static_cast<const bound_pass&>(w));
      case work_kind::rows: return plan_rows(static_cast<const row_chain&>(w));
      case work_kind::loop: return plan_loop(static_cast<const loop_launch&>(w));
      case work_kind::scan: return plan_scan(static_cast<const scan_work&>(w));
      case work_kind::by_key: return plan_by_key(static_cast<const by_key_work&>(w));
      case work_kind::selection: return plan_selection(static_cast<const selection_work&>(w));
      case work_kind::ensemble: return plan_ensemble(static_cast<const ensemble_work&>(w));
      case work_kind::transform: return;  // Its phases run as passes (lib/fft/rows.cpp).
    }
  }
  void run(const work& w, const stream&) const override {
    switch (w.kind()) {
      case work_kind::pass: return run_pass(static_cast<const bound_pass&>(w));
      case work_kind::rows: return run_rows_on_host(static_cast<const row_chain&>(w));
      case work_kind::loop: return run_loop(static_cast<const loop_launch&>(w));
      case work_kind::scan: return run_scan(static_cast<const scan_work&>(w));
      case work_kind::by_key: return reduce_by_key_on_host(static_cast<const by_key_work&>(w));
      case work_kind::selection: return run_selection(static_cast<const selection_work&>(w));
      case work_kind::ensemble: return run_ensemble_on_host(static_cast<const ensemble_work&>(w));
      case work_kind::transform: return;
    }
  }
  void run(const library_task& task, const stream&) const override { run_in_memory(task); }

  loop_support supports(const loop& of) const override {
    loop_support can{};
    can.one_kernel = of.compiled().stop < 0 && of.space().elements > 1;
    return can;
  }

  std::unique_ptr<calibration> measure(int) const override { return measure_host(); }

 private:
  static void plan_pass(const bound_pass& pass) {
    const host_job job = job_of(pass);
    reduction_plan p{plan_of(pass), {}, {}, {}};
    if (pass.code().reduces()) p.partial_bytes = partial_bytes_on_host(job);
    pass.set_plan(std::move(p));
  }
  static void run_pass(const bound_pass& pass) {
    const pass_run& now = pass.now();
    host_job job = job_of(pass);
    auto* const partials = static_cast<unsigned char*>(now.partials);
    switch (now.part) {
      case reduction_part::whole: return run_on_host(job);
      case reduction_part::to_partials:
        job.partials = partials + static_cast<std::size_t>(now.first) * now.all.bytes;
        return reduce_on_host(job);
      case reduction_part::from_partials:
        job.partials = partials;
        return finish_partials_on_host(job, now.all.count, now.count);
    }
  }

  static void plan_rows(const row_chain& rows) {
    for (int p = 0; p < rows.count(); ++p) compiled(rows.phases()[p]);
    row_plan made{plan_of(rows.space(), rows.code().lanes), {}};
    made.path = rows.lies_along_rows() ? "rows" : "columns";
    made.grid = pieces_of_rows_on_host(rows);
    made.rows = rows.space().results;
    made.row = rows.space().count;
    rows.set_plan(made);
  }

  static void plan_loop(const loop_launch& launch) {
    compiled(launch.of());
    loop_plan p{plan_of(launch.of()), launch.how(), {}};
    p.per_element = launch.of().cost_per_element();
    launch.set_plan(p);
  }
  // Runs all steps of a block of elements while the block is in the cache.
  static void run_loop(const loop_launch& launch) {
    const loop& of = launch.of();
    const loop_steps& steps = launch.steps();
    run_on_host({of.code(), compiled(of), of.operands(), of.space(), nullptr},
                steps.all.first + steps.done, steps.count);
  }

  static void plan_scan(const scan_work& w) {
    require_compiled(w);
    scan_plan p{plan_of(w.space(), w.code().lanes), {}};
    p.per_element = w.cost_per_element();
    p.along_columns = w.ordered().columns;
    w.set_plan(p);
  }
  static void run_scan(const scan_work& w) {
    require_compiled(w);
    scan_on_host(w);
  }

  static void plan_by_key(const by_key_work& w) {
    require_compiled(w);
    by_key_plan p{plan_of(w.space(), w.code().lanes)};
    p.groups = p.span = w.request().groups;
    p.tables = static_cast<int>(tables_by_key(w));
    w.set_plan(p);
  }
  static void plan_selection(const selection_work& w) {
    require_compiled(w);
    w.set_plan(plan_of(w.space(), w.code().lanes));
  }
  static void run_selection(const selection_work& w) {
    require_compiled(w);
    compress_on_host(w);
  }

  static void plan_ensemble(const ensemble_work& w) {
    const work_record of = w.record();
    compiled_for(of.space.where, w.code().host, nullptr, of.pass, of.operands);
    w.set_plan(plan_of(of.space, 1));
  }

  static dsl::plan plan_of(const bound_pass& pass) {
    return plan_of(pass.space(), pass.code().pass.lanes);
  }
  static dsl::plan plan_of(const geometry& g, int lanes) {
    dsl::plan p;
    p.where = g.where;
    p.path = g.linear ? "linear" : "strided";
    p.elements = g.elements;
    p.lanes = lanes;
    p.block = host_block;
    p.grid = pieces(g.elements, host_block);
    return p;
  }
  static host_job job_of(const bound_pass& pass) {
    return {pass.code(), compiled(pass), pass.operands(), pass.space(), pass.now().recorded};
  }
  template <class Ordered>
  static void require_compiled(const Ordered& w) {
    compiled_for(w.where(), w.code().host, nullptr, w.code().view, w.operands());
  }
  static const host_code& compiled(const bound_pass& pass) {
    const program_code& code = pass.code();
    return compiled_for(pass.where(), code.host, code.name, code.pass.view, pass.operands());
  }
};

constinit host_executor kernels;

}  // namespace

constinit host_back_end host(&kernels);

const device_properties& host_back_end::properties(int) {
  static const device_properties known = read_machine();
  return known;
}

}  // namespace dsl::detail
