#include <dsl/exec/run/run.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "exec/plan/layout.hpp"
#include "exec/plan/row_leads.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/work.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

bound_pass::bound_pass(const program_code& code, const operand* operands, const launch& fixed)
    : planned_work(work_kind::pass),
      code_(&code),
      operands_(operands, operands + code.inputs + code.outputs()),
      fixed_(fixed) {
  lay_out();
}

void bound_pass::lay_out() {
  detail::lay_out(space_, operands_.data(), code_->inputs, code_->outputs(), code_->pass.lanes,
                  code_->pass.view);
  forget_plan();
  const layout_services& device = layout_services::of(space_.where);
  space_.linear = space_.linear && device.has_linear_path(code_->pass.kernels);
  if (device.takes_leads())
    find_leads(space_, operands_.data(), code_->inputs, code_->inputs + code_->outputs(),
               code_->pass);
}

cost bound_pass::cost_per_element() const {
  return cost_of(code_->pass.view, [this](std::uint64_t k) {
    return first_of_array(operands_.data(), static_cast<int>(k));
  });
}

reduction_plan bound_pass::make_plan() const {
  reduction_plan p = plan();
  p.per_element = cost_per_element();
  return p;
}

void bound_pass::require_in_place() const {
  if (overlaps(operands_.data(), code_->inputs, code_->outputs(), space_))
    raise<shape_error>("a loop's variables overlap each other or its parameters: " +
                       spell_pass(code_->pass.view, operands_.data()));
}

void bound_pass::count_step(std::int64_t number) {
  for (operand& o : operands_) detail::count_step(o, number);
}

void bound_pass::replace(const changed_scalar* changed, int count) {
  replace_scalars(operands_.data(), code_->inputs, changed, count);
}

profiled_work bound_pass::profile() const { return profile_of(*this); }

void bound_pass::run(const pass_run& now) {
  now_ = now;
  queue(*this);
}

namespace {

struct broadcast {
  std::int64_t shape[max_rank];
  int rank;
};
// Throws device_error and shape_error.
broadcast shape_of(const operand* all, int count, const pass_view& pass) {
  broadcast b;
  common_device(all, count, pass);
  broadcast_shape(b.shape, b.rank, all, count, pass);
  return b;
}

}  // namespace

void require_one_space(const operand* all, const operand_range* ranges, int count,
                       const reduction_axes* results, int result_count, const pass_view& pass) {
  broadcast first;
  bool is_one = true;
  for (int i = 0; i < count; ++i) {
    const broadcast b = shape_of(all + ranges[i].first, ranges[i].count, pass_view{});
    if (i == 0) first = b;
    is_one = is_one && b.rank == first.rank && std::equal(b.shape, b.shape + b.rank, first.shape);
  }
  const auto reduced = [&](int k) { return results[k].axes & ((1u << first.rank) - 1); };
  for (int k = 1; k < result_count; ++k) is_one = is_one && reduced(k) == reduced(0);
  if (!is_one)
    raise<shape_error>(
        "reductions beside arrays, over another index space: assign them apart from each other: " +
        spell_pass(pass, all));
}

void require_same_elements(const char* function, const operand* first, int first_count,
                           const operand* second, int second_count) {
  const broadcast a = shape_of(first, first_count, pass_view{}),
                  b = shape_of(second, second_count, pass_view{});
  bool same = element_count(a.shape, a.rank, 1) == element_count(b.shape, b.rank, 1);
  for (int d = 1; d <= std::min(a.rank, b.rank); ++d)
    same = same && a.shape[a.rank - d] == b.shape[b.rank - d];
  if (!same)
    raise<shape_error>(std::string(function) + " of shapes " + spell_shape(a.shape, a.rank) +
                       " and " + spell_shape(b.shape, b.rank) +
                       ": it multiplies element with element and stretches neither");
}

void require_apart(const void* const* objects, const operand* elements, int count) {
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < i; ++k) {
      if (objects[i] == objects[k]) raise<shape_error>("a target stands twice in one statement");
      if (!share_elements(elements[i], elements[k])) continue;
      const auto spell = [&](int target) {
        return "number " + std::to_string(target) + " of shape " +
               spell_shape(elements[target].extents, elements[target].rank);
      };
      raise<shape_error>("two targets have an element in common: " + spell(k) + " and " + spell(i));
    }
}

namespace {

bool have_one_shape(const operand& a, const operand& b) {
  return a.rank == b.rank && std::equal(a.extents, a.extents + a.rank, b.extents);
}

}  // namespace

void require_taken_alike(const operand& one, const operand& other) {
  if (have_one_shape(one, other)) return;
  raise<shape_error>("dsl::take of a value that a formula computes from arrays of shapes " +
                     spell_shape(one.extents, one.rank) + " and " +
                     spell_shape(other.extents, other.rank) +
                     ", whose positions differ: assign the value to an array and take from that");
}

void require_shape(const operand& elements, const operand& target) {
  if (have_one_shape(elements, target)) return;
  raise<shape_error>("elements of shape " + spell_shape(elements.extents, elements.rank) +
                     " cannot be assigned to shape " + spell_shape(target.extents, target.rank));
}

void shape_target(std::int64_t* extents, int rank, const geometry& g, std::uint32_t reduced,
                  const pass_view& pass, const operand* all) {
  int kept = 0;
  for (int d = 0; d < g.shape_rank; ++d) kept += (reduced >> d & 1) != 0 ? 0 : 1;
  if (rank != kept && rank != g.shape_rank)
    raise<shape_error>("an array of rank " + std::to_string(rank) +
                       " without memory cannot take shape " + spell_shape(g.shape, g.shape_rank) +
                       ": " + spell_pass(pass, all));
  for (int d = 0; d < g.shape_rank; ++d) {
    const bool is_reduced = (reduced >> d & 1) != 0;
    if (!is_reduced || rank == g.shape_rank) *extents++ = is_reduced ? 1 : g.shape[d];
  }
}

operand position_operand() {
  operand o;
  o.kind = operand_kind::position;
  o.type = dtype::int64;
  return o;
}

void align_with_axes(operand& result, const reduction_axes& reduction) {
  const operand own = result;
  const bool keeps_axes = own.rank == reduction.rank;
  result.kind = operand_kind::result;
  result.reduced = reduction.axes;
  result.rank = own.rank == 0 ? 0 : reduction.rank;
  for (int d = 0, k = 0; d < result.rank; ++d) {
    const bool reduced = (reduction.axes >> d & 1) != 0;
    if (reduced && keeps_axes && own.extents[d] != 1)
      raise<shape_error>("a reduction that keeps its axes has extent 1 along axis " +
                         std::to_string(d) + " and cannot be assigned to shape " +
                         spell_shape(own.extents, own.rank));
    result.extents[d] = reduced ? 1 : own.extents[keeps_axes ? d : k];
    result.strides[d] = reduced ? 0 : own.strides[keeps_axes ? d : k];
    k += reduced ? 0 : 1;
  }
}

}  // namespace dsl::detail
