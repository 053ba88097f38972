#include "opencl/ordered.hpp"

#include "exec/plan/text.hpp"
#include "opencl/launch.hpp"
#include "opencl/print/scan_text.hpp"
#include "opencl/print/selection_text.hpp"

namespace dsl::detail::opencl {

namespace {

built_program& program_of_scan(const scan_work& scan, device_state& on) {
  return build(on, key_of_scan(scan, on.can), [&] { return print_scan(scan, on.can); });
}

built_program& program_of_selection(const selection_work& selection, device_state& on) {
  return build(on, key_of_selection(selection, on.can),
               [&] { return print_selection(selection, on.can); });
}

// The numbers of the last launch, which has all elements.
template <class Plan>
Plan plan_of_launches(const ordered_work& work, const kernel_launches& all) {
  Plan p{};
  p.where = work.space().where;
  p.path = work.space().linear ? "linear" : "strided";
  p.elements = work.space().elements;
  if (all.launches.empty()) return p;
  const kernel_launch& last = all.launches.back();
  p.block = static_cast<int>(last.group);
  p.grid = last.work_items / last.group;
  return p;
}

std::string spell_ordered(const char* which, const char* what, const ordered_work& work) {
  return std::string("launching the ") + which + " kernel of " + what +
         spell_pass(work.record().pass, work.operands()) + " (" +
         std::to_string(work.space().elements) + " elements)";
}

}  // namespace

void plan_scan(const scan_work& scan) {
  device_state& on = device_state::of(scan.where().index);
  program_of_scan(scan, on);
  auto p = plan_of_launches<scan_plan>(scan, launches_of_scan(scan, on.can));
  p.along_columns = scan.ordered().columns;
  scan.set_plan(p);
}

void launch_scan(const scan_work& scan, const stream& on_stream) {
  scan.plan_once();
  device_state& on = device_state::of(scan.where().index);
  queue_launches(on, program_of_scan(scan, on), launches_of_scan(scan, on.can), on_stream,
                 [&](const char* which) { return spell_ordered(which, "a scan of ", scan); });
}

void plan_selection(const selection_work& selection) {
  device_state& on = device_state::of(selection.where().index);
  program_of_selection(selection, on);
  selection.set_plan(plan_of_launches<plan>(selection, launches_of_selection(selection, on.can)));
}

void launch_selection(const selection_work& selection, const stream& on_stream) {
  selection.plan_once();
  device_state& on = device_state::of(selection.where().index);
  queue_launches(on, program_of_selection(selection, on), launches_of_selection(selection, on.can),
                 on_stream,
                 [&](const char* which) { return spell_ordered(which, "compress ", selection); });
}

}  // namespace dsl::detail::opencl
