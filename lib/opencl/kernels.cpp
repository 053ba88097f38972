// What runs on OpenCL devices.
#include "exec/by_key/by_key_work.hpp"
#include "exec/ensemble/ensemble_work.hpp"
#include "exec/loop/loop_launch.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/work.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"
#include "opencl/back_end.hpp"
#include "opencl/launch.hpp"
#include "opencl/library_task.hpp"
#include "opencl/print/by_key_text.hpp"
#include "opencl/print/ensemble_text.hpp"
#include "opencl/print/scan_text.hpp"
#include "opencl/print/selection_text.hpp"

namespace dsl::detail {

namespace {

[[noreturn]] void throw_not_yet(device where, const char* what) {
  raise<device_error>(std::string(where.name()) + ": " + what +
                      " do not run on OpenCL devices yet; run them on host or cuda");
}

// Runs work as a few launches of its text's kernels. Rows are their phases, and loops their steps,
// one pass after another.
class opencl_executor final : public executor {
 public:
  void order_reduced(geometry& g, const operand*, int, int count, const pass_view&) const override {
    if (g.kept != 0) order_for_rows(g, count);
  }

  std::string describe_launch(const dsl::plan& p) const override {
    return std::to_string(p.grid) + " work-groups of " + std::to_string(p.block);
  }

  void plan(const work& w) const override {
    switch (w.kind()) {
      case work_kind::pass: return plan_pass(static_cast<const bound_pass&>(w));
      case work_kind::rows: return plan_rows(static_cast<const row_chain&>(w));
      case work_kind::scan: return plan_scan(static_cast<const scan_work&>(w));
      case work_kind::by_key: return plan_by_key(static_cast<const by_key_work&>(w));
      case work_kind::selection: return plan_selection(static_cast<const selection_work&>(w));
      case work_kind::ensemble: return plan_ensemble(static_cast<const ensemble_work&>(w));
      default: throw_not_yet(w.where(), "loops in one kernel");
    }
  }
  void run(const work& w, const stream& on) const override {
    switch (w.kind()) {
      case work_kind::pass: return run_pass(static_cast<const bound_pass&>(w), on);
      case work_kind::rows: return run_rows(static_cast<const row_chain&>(w), on);
      case work_kind::scan: return run_printed(static_cast<const scan_work&>(w), on);
      case work_kind::by_key: return run_printed(static_cast<const by_key_work&>(w), on);
      case work_kind::selection: return run_printed(static_cast<const selection_work&>(w), on);
      case work_kind::ensemble: return run_printed(static_cast<const ensemble_work&>(w), on);
      default: throw_not_yet(w.where(), "loops in one kernel");
    }
  }
  void run(const library_task& task, const stream& on) const override {
    if (const auto* const sort = std::get_if<sort_task>(&task.is)) opencl::launch_task(*sort, on);
    else if (const auto* const scatter = std::get_if<scatter_task>(&task.is))
      opencl::launch_task(*scatter, on);
    else throw_not_yet(on.where(), "sorts of pairs");
  }

  loop_support supports(const loop&) const override { return {}; }

 private:
  static void plan_pass(const bound_pass& pass) { pass.set_plan(opencl::plan_of(pass)); }
  static void run_pass(const bound_pass& pass, const stream& on) {
    opencl::launch(pass, pass.plan(), on);
  }

  static void plan_rows(const row_chain& rows) {
    for (int p = 0; p < rows.count(); ++p) rows.phases()[p].plan_once();
    row_plan made{};
    static_cast<dsl::plan&>(made) = rows.phases()[rows.count() - 1].plan();
    made.path = "phases";
    made.rows = rows.space().results;
    made.row = rows.space().count;
    rows.set_plan(made);
  }
  static void run_rows(const row_chain& rows, const stream& on) {
    rows.plan_once();
    for (int p = 0; p < rows.count(); ++p) run_pass(rows.phases()[p], on);
  }

  // Work other than passes.
  template <class Work>
  static opencl::built_program& program_of(const Work& w, opencl::device_state& on) {
    return opencl::build(on, opencl::text_key(w, on.can), [&] { return opencl::print(w, on.can); });
  }
  // `kernel`: the number of the one whose groups the plan gives.
  template <class Work, class Plan>
  static void plan_printed(const Work& w, Plan p, const char* path, int kernel) {
    p.where = w.where();
    p.path = path;
    p.elements = w.record().space.elements;
    opencl::device_state& on = opencl::device_state::of(p.where.index);
    opencl::built_program& program = program_of(w, on);
    const opencl::kernel_launches all = opencl::launches_of(w, on.can);
    for (const opencl::kernel_launch& each : all.launches)
      if (each.number == kernel) opencl::plan_groups(p, program, each);
    w.set_plan(p);
  }
  template <class Work>
  static void run_printed(const Work& w, const stream& on_stream) {
    w.plan_once();
    opencl::device_state& on = opencl::device_state::of(w.where().index);
    opencl::queue_launches(on, program_of(w, on), opencl::launches_of(w, on.can), on_stream,
                           [&](const char* which) {
                             const profiled_work of = w.profile();
                             return std::string("launching the ") + which + " kernel of " +
                                    of.name + " (" + std::to_string(of.elements) + " elements)";
                           });
  }

  static const char* path_of(const geometry& g) { return g.linear ? "linear" : "strided"; }
  static void plan_scan(const scan_work& w) {
    scan_plan p{};
    p.per_element = w.cost_per_element();
    p.along_columns = w.ordered().columns;
    plan_printed(w, p, path_of(w.space()), 2);
  }
  static void plan_selection(const selection_work& w) {
    plan_printed(w, dsl::plan{}, path_of(w.space()), 2);
  }
  static void plan_ensemble(const ensemble_work& w) { plan_printed(w, dsl::plan{}, "ensemble", 0); }
  static void plan_by_key(const by_key_work& w) {
    by_key_plan p{};
    p.groups = p.span = w.request().groups;
    p.tables = static_cast<int>(opencl::tables_of(w));
    plan_printed(w, p, "tables", 0);
  }
};

constinit opencl_executor kernels;

}  // namespace

constinit opencl_back_end opencl_devices(&kernels);

}  // namespace dsl::detail
