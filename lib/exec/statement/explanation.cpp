// Explanations of statements: their kernels, in order, and why there is more than one.
#include <dsl/exec/explain/explanation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <vector>

#include "exec/explain/explain.hpp"
#include "exec/plan/layout.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "exec/statement/statement.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

// Names the operands of a statement: all its leaves, if an operand refers to them (a value that a
// pass leaves to others), otherwise the inputs of its passes in order.
operand_names names_of(const bound_pass* passes, int count) {
  for (const bound_pass* p = passes; p != passes + count; ++p)
    for (int i = 0; i < p->code().inputs + p->code().outputs(); ++i)
      if (const value_source* s = p->operands()[i].source) return {s->leaves, s->leaf_count};
  operand_names names;
  for (const bound_pass* p = passes; p != passes + count; ++p)
    names.add(p->operands(), p->code().inputs);
  return names;
}

// Describes arrays that are read as read through halos. Text after a semicolon is kept.
void say_read_with_halos(std::vector<listed_operand>& operands) {
  for (listed_operand& o : operands)
    if (!o.is_written &&
        (o.how.starts_with("element by element") || o.how.find("vectors of") != std::string::npos))
      o.how = "in shared memory, with what lies around a block's tile" +
              o.how.substr(std::min(o.how.find(';'), o.how.size()));
}

explained_kernel explain_kernel(const bound_pass& p, const operand_names& names,
                                const target_names& targets) {
  const program_code& code = p.code();
  const reduction_plan plan = p.make_plan();
  explained_kernel k = list_pass(code.pass.view, p.operands(), code.inputs, code.outputs(),
                                 p.space(), plan.lanes, names, targets);
  k.path = spell_path(plan.path, code.pass.view, p.space(), p.operands(), code.inputs,
                      code.inputs + code.outputs(), names);
  k.launch = spell_plan(plan);
  if (plan.tile.halos > 0) say_read_with_halos(k.operands);
  k.demand = demand_of(code.pass.view, p.operands(), code.inputs, code.outputs(), p.space(), plan,
                       plan.tile.columns, plan.threads_a_result);
  // The last block writes its partial result, a fence and the ticket, reads the others' partial
  // results in turn, and writes the result: about 10 round trips.
  if (plan.splits > 1) k.demand.round_trips = 10;
  for (int i = code.inputs; i < code.inputs + code.outputs(); ++i)
    k.demand.values += p.operands()[i].source != nullptr ? 1 : 0;
  k.predicted = predict(k.demand, p.where());
  return k;
}

// Explains all phases of a chain as one kernel. It does not read or write the results that only its
// own phases read.
explained_kernel explain_rows(const row_chain& rows, const operand_names& names,
                              const target_names& targets) {
  const row_plan& plan = rows.plan();
  const int outputs = rows.operand_count() - rows.leaves();
  explained_kernel k;
  k.operands = list_operands(rows.operands(), rows.leaves(), outputs, rows.space(), plan.lanes,
                             names, targets);
  k.demand = demand_of(pass_view{}, rows.operands(), rows.leaves(), outputs, rows.space(), plan);
  for (const bound_pass* p = rows.phases(); p != rows.phases() + rows.count(); ++p) {
    const program_code& code = p->code();
    const int before = static_cast<int>(k.operations.size());
    explained_kernel phase = list_pass(code.pass.view, p->operands(), code.inputs, code.outputs(),
                                       p->space(), plan.lanes, names, targets, before);
    std::move(phase.operations.begin(), phase.operations.end(), std::back_inserter(k.operations));
    if (phase.formula.find(" = ") != phase.formula.npos)
      k.formula += (k.formula.empty() ? "" : "; ") + phase.formula;
    const kernel_demand own =
        demand_of(code.pass.view, p->operands(), code.inputs, code.outputs(), p->space(), plan);
    for (std::size_t u = 0; u < unit_count; ++u) k.demand.amounts[u] += own.amounts[u];
    // A thread computes the addresses of its elements once for all phases.
    k.demand[unit::integer] -= own.overhead;
    k.demand.calls_functors = k.demand.calls_functors || own.calls_functors;
  }
  k.path = std::string(plan.path) + ": " + spell_rows(plan);
  k.launch = spell_plan(plan);
  k.predicted = predict(k.demand, rows.where());
  return k;
}

// Explains a copy that follows the kernels.
explained_kernel explain_copy(const operand& from, const operand& to, const std::string& what) {
  operand both[] = {from, to};
  for (operand& o : both) {
    o.kind = operand_kind::array;
    o.source = nullptr;
  }
  const bound_pass copy(copy_code(size_of(to.type)), both, {});
  const operand_names none;
  explained_kernel k;
  const reduction_plan plan = copy.make_plan();
  k.formula = what;
  k.path = spell_path(plan.path, copy.code().pass.view, copy.space(), both, 1, 2, none);
  k.launch = spell_plan(plan);
  k.demand = demand_of(copy.code().pass.view, both, 1, 1, copy.space(), plan);
  k.predicted = predict(k.demand, copy.where());
  return k;
}

// An empty index space launches nothing.
bool runs(const bound_pass& p) {
  return p.code().reduces() ? p.space().results > 0 : p.space().elements > 0;
}

bool is_left_by(const operand& value, const bound_pass& p) {
  for (int i = p.code().inputs; i < p.code().inputs + p.code().outputs(); ++i)
    if (p.operands()[i].word[0] == value.word[0] && p.operands()[i].source != nullptr) return true;
  return false;
}

// The reasons for which a pass does not share a kernel with the passes before it. `kernel`: the
// number of each pass's kernel.
std::vector<std::string> why_apart(const bound_pass* passes, int k,
                                   const std::vector<std::size_t>& kernel,
                                   const operand_names& names) {
  const auto number_of = [&](int pass) {
    return std::to_string(kernel[static_cast<std::size_t>(pass)]);
  };
  std::vector<std::string> why;
  const bound_pass& mine = passes[k];
  for (int i = 0; i < mine.code().inputs; ++i) {
    const operand& o = mine.operands()[i];
    if (o.source == nullptr) continue;
    for (int before = 0; before < k; ++before) {
      if (!is_left_by(o, passes[before])) continue;
      formula_speller value(*o.source->pass, o.source->operands, names, 160);
      value.value(*o.source);
      why.push_back("it needs " + value.take() + ", which takes all elements of kernel " +
                    number_of(before));
    }
  }
  if (!why.empty() || k == 0) return why;
  const geometry &a = passes[k - 1].space(), &b = mine.space();
  const bool same_shape =
      a.shape_rank == b.shape_rank && std::equal(a.shape, a.shape + a.shape_rank, b.shape);
  why.push_back(same_shape ? "it reduces other operands than kernel " + number_of(k - 1)
                           : "its index space is " + spell_shape(b.shape, b.shape_rank) +
                                 ", that of kernel " + number_of(k - 1) + " is " +
                                 spell_shape(a.shape, a.shape_rank));
  return why;
}

explained_statement explain_all(std::vector<bound_pass> passes,
                                const std::vector<late_copy>& later) {
  explained_statement s;
  s.where = passes.front().where();
  const int count = static_cast<int>(passes.size());
  int targets = 0;
  for (const bound_pass& p : passes)
    for (int i = p.code().inputs; i < p.code().inputs + p.code().outputs(); ++i)
      if (const operand& o = p.operands()[i]; !o.discarded && o.source == nullptr)
        targets = std::max(targets, (o.number >= 0 ? o.number : i - p.code().inputs) + 1);
  for (const late_copy& c : later) targets = std::max(targets, c.to.number + 1);
  const operand_names names = names_of(passes.data(), count);
  const target_names called(names, targets);
  std::vector<late_copy> copies =
      bound_pass::redirect_targets(passes.data(), count, /*imagined=*/true);
  copies.insert(copies.end(), later.begin(), later.end());
  std::vector<std::size_t> kernel(passes.size());
  for (int k = 0; k < count; ++k) {
    const bound_pass& pass = passes[static_cast<std::size_t>(k)];
    kernel[static_cast<std::size_t>(k)] = s.kernels.size() + 1;
    if (!runs(pass)) continue;
    if (const std::optional<row_chain> rows = row_chain::of(&pass, count - k, copies)) {
      s.kernels.push_back(explain_rows(*rows, names, called));
      for (int phase = 1; phase < rows->count(); ++phase)
        kernel[static_cast<std::size_t>(++k)] = s.kernels.size();
    } else {
      s.kernels.push_back(explain_kernel(pass, names, called));
      s.kernels.back().why = why_apart(passes.data(), k, kernel, names);
    }
  }
  for (const explained_kernel& k : s.kernels)
    if (k.formula.find(" = ") != k.formula.npos)
      s.formula += (s.formula.empty() ? "" : "; ") + k.formula;
  for (const late_copy& c : copies) {
    const std::string to = called.of(c.to, std::max(0, c.to.number));
    const bool is_value = c.from.source != nullptr;
    if (is_value) {
      formula_speller value(*c.from.source->pass, c.from.source->operands, names, 400);
      value.value(*c.from.source);
      s.formula += (s.formula.empty() ? "" : "; ") + to + " = " + value.take();
    }
    s.kernels.push_back(explain_copy(c.from, c.to, "copy to " + to));
    s.kernels.back().why.push_back(
        is_value
            ? "its value is read by a kernel or goes to several targets, and is copied to this one"
            : to + " shares memory with what is read, so it is computed in a temporary");
  }
  return s;
}

std::vector<const void*> identity_of(const bound_pass* passes, std::size_t count) {
  static constexpr char paths[2] = {};
  std::vector<const void*> all;
  for (std::size_t k = 0; k < count; ++k) {
    all.push_back(&passes[k].code());
    all.push_back(&paths[passes[k].space().linear ? 1 : 0]);
  }
  return all;
}

}  // namespace

explanation explain_pass(const bound_pass& pass) { return explanation(explain_all({pass}, {})); }

void bound_pass::note_run(const bound_pass* passes, int count,
                          const std::vector<late_copy>& copies) {
  if (!run_notes::wanted()) return;
  run_notes::note(identity_of(passes, static_cast<std::size_t>(count)),
                  [&] { return explanation(explain_all({passes, passes + count}, copies)); });
}

explanation statement::explain() const { return explanation(explain_all(passes_, copies_)); }

}  // namespace dsl::detail
