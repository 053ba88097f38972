// What runs on OpenCL devices.
#include <algorithm>

#include "exec/by_key/by_key_work.hpp"
#include "exec/ensemble/ensemble_work.hpp"
#include "exec/plan/layout.hpp"
#include "exec/run/work.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"
#include "opencl/back_end.hpp"
#include "opencl/launch.hpp"
#include "opencl/library_task.hpp"
#include "opencl/print/by_key_text.hpp"
#include "opencl/print/chain_text.hpp"
#include "opencl/print/ensemble_text.hpp"
#include "opencl/print/loop_text.hpp"
#include "opencl/print/scan_text.hpp"
#include "opencl/print/selection_text.hpp"

namespace dsl::detail {

namespace {

[[noreturn]] void throw_not_yet(device where, const char* what) {
  raise<device_error>(std::string(where.name()) + ": " + what +
                      " do not run on OpenCL devices yet; run them on host or cuda");
}

// Whether one kernel takes rows through all phases. Columns, and rows so long and so few that their
// work-groups would not occupy the device, take less time in a kernel for each phase.
bool is_one_kernel(const row_chain& rows, const opencl::device_state& on) {
  constexpr std::int64_t elements_of_item = 64, groups_of_unit = 8;
  if (!rows.lies_along_rows() || rows.fixed().block != 0 || rows.fixed().grid != 0) return false;
  const opencl::row_groups groups = opencl::groups_of(rows, on.can);
  return rows.space().count <= elements_of_item * groups.parts ||
         groups.count >= groups_of_unit * on.properties.multiprocessors;
}

// The most elements that one work-group takes through all steps of a loop, for each of its
// work-items, and the most operations a step: a launch for each pass of a step takes less time for
// more.
constexpr std::int64_t elements_of_loop = 16;
constexpr double operations_of_loop = 1 << 20;

// Whether a kernel of all steps gives all that phases leave to variables. Where a condition ends
// scalars alone, no other kernel looks at the condition.
bool is_one_kernel(const loop& of) {
  if (of.compiled().stop >= 0 && !of.reduces()) return true;
  return std::all_of(of.phases().begin(), of.phases().end(), [](const bound_pass& phase) {
    for (int i = 0; i < phase.code().outputs(); ++i)
      if (!phase.is_reduction(static_cast<std::size_t>(i))) return false;
    return true;
  });
}

// Runs work as a few launches of its text's kernels. A loop that is no kernel is its steps, one
// pass after another.
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
      case work_kind::loop: return plan_loop(static_cast<const loop_launch&>(w));
      case work_kind::transform: return;  // Refused before (`require_addressable`).
    }
  }
  void run(const work& w, const stream& on) const override {
    switch (w.kind()) {
      case work_kind::pass: return run_pass(static_cast<const bound_pass&>(w), on);
      case work_kind::rows: return run_printed(static_cast<const row_chain&>(w), on);
      case work_kind::scan: return run_printed(static_cast<const scan_work&>(w), on);
      case work_kind::by_key: return run_printed(static_cast<const by_key_work&>(w), on);
      case work_kind::selection: return run_printed(static_cast<const selection_work&>(w), on);
      case work_kind::ensemble: return run_printed(static_cast<const ensemble_work&>(w), on);
      case work_kind::loop: return run_printed(static_cast<const loop_launch&>(w), on);
      case work_kind::transform: return;
    }
  }
  void run(const library_task& task, const stream& on) const override {
    if (const auto* const sort = std::get_if<sort_task>(&task.is)) opencl::launch_task(*sort, on);
    else if (const auto* const scatter = std::get_if<scatter_task>(&task.is))
      opencl::launch_task(*scatter, on);
    else if (std::holds_alternative<csr_task>(task.is))
      throw_not_yet(on.where(), "products with sparse matrices");
    else throw_not_yet(on.where(), "sorts of pairs");
  }

  bool takes(const library_task& task, device) const override {
    return std::holds_alternative<sort_task>(task.is) ||
           std::holds_alternative<scatter_task>(task.is);
  }

  loop_support supports(const loop& of) const override {
    loop_support can{};
    can.one_kernel = can.one_block = can.carries_scalars = is_one_kernel(of);
    can.policy.one_block = operations_of_loop;
    return can;
  }

  bool keeps_values_on_chip() const override { return true; }

 private:
  static void plan_pass(const bound_pass& pass) { pass.set_plan(opencl::plan_of(pass)); }
  static void run_pass(const bound_pass& pass, const stream& on) {
    opencl::launch(pass, pass.plan(), on);
  }

  // Without blocks, the phases run one after another.
  static void plan_rows(const row_chain& rows) {
    const opencl::device_state& on = opencl::device_state::of(rows.where().index);
    if (!is_one_kernel(rows, on)) return rows.set_plan({});
    const opencl::row_groups groups = opencl::groups_of(rows, on.can);
    row_plan p{};
    p.rows = rows.space().results;
    p.row = rows.space().count;
    p.rows_a_block = static_cast<int>(groups.across);
    p.threads_a_row = static_cast<int>(groups.parts);
    plan_printed(rows, p, "rows", 0);
  }

  // A plan without its kernel, which depends on what is recorded.
  static void plan_loop(const loop_launch& steps) {
    const opencl::device_state& on = opencl::device_state::of(steps.where().index);
    const loop& of = steps.of();
    loop_plan p{};
    p.where = steps.where();
    p.loop = steps.how();
    p.elements = of.space().elements;
    p.per_element = of.cost_per_element();
    p.policy.one_block = operations_of_loop;
    const launch& fixed = of.fixed();
    p.block = static_cast<int>(opencl::group_of(of, on.can));
    p.grid = 1;
    p.block_vectors = p.elements;
    const bool is_usable = fixed.block == 0 || fixed.block == p.block;
    if (p.loop == strategy::elementwise) {
      const auto most = static_cast<int>(on.can.largest_work_group);
      if (fixed.block < 0 || fixed.block > most)
        raise<device_error>("a block of " + std::to_string(fixed.block) + " work-items on " +
                            std::string(p.where.name()) + ": this loop takes at most " +
                            std::to_string(most));
      if (!is_usable) p.block = fixed.block;
      p.grid = opencl::groups_of_elements(p.elements, p.block, fixed);
    } else if (p.loop != strategy::one_block || !is_usable ||
               p.elements > elements_of_loop * p.block) {
      p.streamed = 1;
    }
    steps.set_plan(p);
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
