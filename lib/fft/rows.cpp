#include "fft/rows.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <dsl/fft/row_transforms.hpp>

#include "exec/explain/explain.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "fft/transform.hpp"
#include "mem/back_end.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

void require_row_points(const char* function, int points, const std::int64_t* shape, int rank,
                        device where) {
  require_addressable(where, function);
  if (shape[rank - 1] == points) return;
  const std::string n = std::to_string(points);
  raise<shape_error>(std::string(function) + "<" + n + "> of shape " + spell_shape(shape, rank) +
                     ": its rows have " + std::to_string(shape[rank - 1]) + " elements, not " + n);
}

transformed_row_phases::transformed_row_phases(const transformed_row_code& code,
                                               const operand* operands)
    : code_(code), phases_(static_cast<std::size_t>(code.phases)) {
  for (int p = 0; p < code.phases; ++p) {
    const program_code& phase = code.phase[p];
    std::vector<operand>& own = phases_[static_cast<std::size_t>(p)];
    for (int i = 0; i < phase.inputs; ++i) {
      const phase_input from = code.inputs[p][i];
      own.push_back(from.is_leaf() ? operands[from.number()]
                                   : phases_[static_cast<std::size_t>(from.phase())].back());
    }
    if (p + 1 == code.phases) {
      own.push_back(operands[code.leaves]);
      continue;
    }
    common_device(own.data(), phase.inputs, phase.pass.view);
    std::int64_t shape[max_rank];
    int rank = 0;
    broadcast_shape(shape, rank, own.data(), phase.inputs, phase.pass.view);
    operand value;
    set_shape_of_values(value, phase.pass.view.type(0), rank, shape, own.data(), phase.inputs);
    own.push_back(value);
    own.back().source =
        &sources_.emplace_back(value_source{&phase.pass.view, own.data(), 0, 0, rank, operands,
                                            code.leaves, code.is_inverse(p) ? "ifft" : "fft"});
  }
}

void transformed_row_phases::set_value(int phase, const operand& value) {
  phases_[static_cast<std::size_t>(phase)].back() = value;
  for (int p = phase + 1; p < code_.phases; ++p)
    for (int i = 0; i < code_.phase[p].inputs; ++i) {
      const phase_input from = code_.inputs[p][i];
      if (!from.is_leaf() && from.phase() == phase)
        phases_[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)] = value;
    }
}

transformed_row_work::transformed_row_work(const transformed_row_code& code,
                                           const operand* operands, const launch& fixed)
    : planned_work(work_kind::transform),
      code_(code),
      operands_(operands, operands + code.leaves + 1),
      phases_(code, operands_.data()),
      fixed_(fixed) {
  lay_out();
}

// The last dimension is the row. The others are merged as far as operands allow it.
void transformed_row_work::lay_out() {
  geometry& g = space_;
  const int last = code_.phases - 1, count = code_.leaves + 1;
  const program_code& phase = code_.phase[last];
  // Checks the target's shape. Messages spell the last phase's formula.
  detail::lay_out(g, phases_.operands(last), phase.inputs, 1, 1, phase.pass.view);
  detail::lay_out(g, operands_.data(), code_.leaves, 1, 1, pass_view{});
  g.linear = g.pairs = false;
  for (int k = 0; k < count; ++k) {
    const operand& o = operands_[static_cast<std::size_t>(k)];
    g.layouts[k] = has_elements(o) ? layout_of(g, o) : operand_layout{};
  }
  int order[max_rank], rank = 0;
  for (int d = 0; d < g.shape_rank; ++d)
    if (g.shape[d] != 1) order[rank++] = d;
  merge_dimensions(g, count, order, rank, 1u << (g.shape_rank - 1));
  for (int k = 0; k < count; ++k) g.layouts[k].how = access::elements;
  if (g.rank > 2 && rows() > 0x7fffffff)
    raise<shape_error>(std::to_string(rows()) +
                       " rows that are no regular sequence, 2147483647 at most: " +
                       spell_pass(phase.pass.view, phases_.operands(last)));
}

bool transformed_row_work::transforms(dtype type) const {
  for (int p = 0; p + 1 < code_.phases; ++p)
    if (code_.phase[p].pass.view.type(0) == type) return true;
  return false;
}

cost transformed_row_work::cost_per_element() const {
  cost all{};
  for (int p = 0; p < code_.phases; ++p)
    all.flops += cost_of(code_.phase[p].pass.view, [](std::uint64_t k) {
                   return static_cast<int>(k);
                 }).flops;
  // 5 n log2(n) for each row, as is usual for transforms of radix 2.
  all.flops +=
      5 * std::countr_zero(static_cast<unsigned>(code_.passes.points)) * (code_.phases - 1);
  for (int k = 0; k <= code_.leaves; ++k) {
    const operand& o = operands_[static_cast<std::size_t>(k)];
    const bool is_written = k == code_.leaves;
    if (o.kind != operand_kind::array || (!is_written && first_of_array(operands_.data(), k) != k))
      continue;
    (is_written ? all.stores : all.loads) += 1;
    (is_written ? all.store_bytes : all.load_bytes) += size_of(o.type);
  }
  return all;
}

profiled_work transformed_row_work::profile() const {
  const program_code& last = code_.phase[code_.phases - 1];
  const std::string formula = spell_pass(last.pass.view, phases_.operands(code_.phases - 1), 0, 80),
                    name = name_of_kernel(last.name);
  const cost each = cost_per_element();
  return {name.empty() ? formula : name,
          name.empty() ? "" : formula,
          space_.elements,
          1,
          space_.elements * (each.load_bytes + each.store_bytes),
          space_.elements * each.flops};
}

void transformed_row_work::assign() {
  if (is_empty()) return;
  std::vector<late_copy> copies;
  if (overlaps(operands_.data(), code_.leaves, 1, space_)) {
    copies.push_back(redirect(operands_.back()));
    phases_.set_value(code_.phases - 1, operands_.back());
    lay_out();
  }
  if (run_notes::wanted()) run_notes::note({&code_}, [this] { return explain(); });
  const work* const all[] = {this};
  queue_all(all, 1, copies);
}

dsl::plan transformed_row_work::make_plan() const {
  dsl::plan p = plan();
  p.per_element = cost_per_element();
  return p;
}

explanation transformed_row_work::explain() const {
  explained_statement s;
  s.where = space_.where;
  if (is_empty()) return explanation(s);
  const dsl::plan p = make_plan();
  const operand_names names(operands_.data(), code_.leaves);
  const target_names called(names, 1);
  explained_kernel k;
  k.operands = list_operands(operands_.data(), code_.leaves, 1, space_, p.lanes, names, called);
  for (listed_operand& o : k.operands)
    if (const std::size_t at = o.how.find("vectors of"); at != o.how.npos)
      o.how = o.how.substr(0, at) + "adjacent elements by adjacent threads";
  k.demand = demand_of(pass_view{}, operands_.data(), code_.leaves, 1, space_, p);
  for (int phase = 0; phase < code_.phases; ++phase) {
    const program_code& code = code_.phase[phase];
    const int before = static_cast<int>(k.operations.size());
    explained_kernel own = list_pass(code.pass.view, phases_.operands(phase), code.inputs, 1,
                                     space_, p.lanes, names, called, before);
    std::move(own.operations.begin(), own.operations.end(), std::back_inserter(k.operations));
    k.formula = own.formula;
    add_program(k.demand, code.pass.view.elements, static_cast<double>(space_.elements));
  }
  const double of_transforms = 5.0 * std::countr_zero(static_cast<unsigned>(code_.passes.points)) *
                               static_cast<double>(space_.elements) * (code_.phases - 1);
  k.demand[transforms(dtype::complex128) ? unit::fp64 : unit::fp32] += of_transforms;
  k.path = std::string(p.path) + ": " + std::to_string(rows()) + " rows of " +
           std::to_string(code_.passes.points) +
           " elements on chip from the first formula to the " + "last, " +
           std::to_string(code_.passes.threads()) + " threads a row with " +
           std::to_string(code_.passes.elements) + " elements each, " +
           std::to_string(code_.passes.count()) + " passes a transform";
  k.launch = spell_plan(p);
  k.predicted = predict(k.demand, s.where);
  s.formula = k.formula;
  s.kernels.push_back(std::move(k));
  return explanation(s);
}

namespace {

// The statement where blocks of threads do not run: each formula is a pass, and transforms are the
// library's.
class statement_by_passes {
 public:
  statement_by_passes(const transformed_row_code& code, const operand* operands)
      : code_(code), phases_(code, operands) {}

  void run(const launch& fixed) {
    for (int p = 0; p + 1 < code_.phases; ++p) {
      const operand value = make_value(p);
      if (is_read_in_memory(p)) {
        transform(p, value, phases_.operands(p)[0]);
      } else {
        bound_pass(code_.phase[p], phases_.operands(p), {}).run();
        transform(p, value, value);
      }
    }
    last(fixed).assign();
  }
  explanation explain() {
    explanation all;
    for (int p = 0; p + 1 < code_.phases; ++p) {
      const operand value = make_value(p);
      if (!is_read_in_memory(p))
        all.append(explain_pass(bound_pass(code_.phase[p], phases_.operands(p), {})));
      all.append(explanation::of_line(describe_transform(axes(value), code_.is_inverse(p), value)));
    }
    all.append(explain_pass(last({})));
    return all;
  }
  dsl::plan plan(const launch& fixed) const { return as_map(last(fixed).make_plan()); }
  // Checks the target before anything is computed.
  void require_target() const { last({}); }

 private:
  bound_pass last(const launch& fixed) const {
    const int p = code_.phases - 1;
    return bound_pass(code_.phase[p], phases_.operands(p), fixed);
  }
  transform_axes axes(const operand& value) const {
    return {1, {value.rank - 1}, {code_.passes.points}};
  }
  void transform(int p, const operand& value, const operand& x) const {
    prepared_transform(axes(value), code_.is_inverse(p), value, x).run();
  }
  // Memory for what a phase leaves.
  operand make_value(int p) {
    const operand& shaped = phases_.operands(p)[code_.phase[p].inputs];
    const device where = home_of_operands(phases_.operands(p), code_.phase[p].inputs);
    operand value = temporary_like(shaped, shaped.extents, where, memory_.emplace_back());
    value.source = nullptr;
    phases_.set_value(p, value);
    return value;
  }
  // Whether a formula is an array that the library reads where it lies.
  bool is_read_in_memory(int p) const {
    const program_code& phase = code_.phase[p];
    const operand &x = phases_.operands(p)[0], &value = phases_.operands(p)[phase.inputs];
    return phase.inputs == 1 && phase.pass.view.elements.nodes == 1 && x.type == value.type &&
           may_be_transformed(x);
  }

  const transformed_row_code& code_;
  transformed_row_phases phases_;
  std::deque<buffer_ref> memory_;
};

bool runs_by_passes(const transformed_row_code& code, const operand* operands) {
  return home_of_operands(operands, code.leaves + 1).kind == backend::host;
}

}  // namespace

void assign_transformed_rows(const transformed_row_code& code, const operand* operands,
                             const launch& fixed) {
  if (!runs_by_passes(code, operands)) return transformed_row_work(code, operands, fixed).assign();
  statement_by_passes all(code, operands);
  all.require_target();
  all.run(fixed);
}

explanation explain_transformed_rows(const transformed_row_code& code, const operand* operands) {
  if (runs_by_passes(code, operands)) return statement_by_passes(code, operands).explain();
  return transformed_row_work(code, operands, {}).explain();
}

dsl::plan plan_of_transformed_rows(const transformed_row_code& code, const operand* operands,
                                   const launch& fixed) {
  if (runs_by_passes(code, operands)) return statement_by_passes(code, operands).plan(fixed);
  return transformed_row_work(code, operands, fixed).make_plan();
}

}  // namespace dsl::detail
