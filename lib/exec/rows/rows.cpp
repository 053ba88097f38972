#include "exec/rows/rows.hpp"

#include <algorithm>
#include <bit>

#include "exec/plan/layout.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/work.hpp"

namespace dsl::detail {

namespace {

const operand* targets_of(const bound_pass& p) { return p.operands() + p.code().inputs; }

bool is_read(const operand& value, const bound_pass* from, const bound_pass* to) {
  return std::any_of(from, to, [&](const bound_pass& p) {
    return std::any_of(p.operands(), targets_of(p),
                       [&](const operand& o) { return share_memory(o.memory, value.memory); });
  });
}

bool have_one_shape(const geometry& a, const geometry& b) {
  return a.shape_rank == b.shape_rank && std::equal(a.shape, a.shape + a.shape_rank, b.shape);
}

}  // namespace

std::optional<row_chain> row_chain::of(const bound_pass* passes, int count,
                                       const std::vector<late_copy>& later) {
  const chain_code* const code = passes->code().chain;
  if (code == nullptr || code->phases > count) return {};
  for (int p = 0; p < code->phases; ++p)
    if (&passes[p].code() != &code->phase[p]) return {};
  if (!code->runs_together) return {};
  row_chain made(*code, passes);
  if (!made.bind() || !made.lay_out()) return {};
  // Discard results that no later pass or copy reads.
  const bound_pass* const end = passes + count;
  bool scalar_is_written = false;
  for (int k = made.leaves(); k < made.operand_count(); ++k) {
    operand& o = made.operands_[static_cast<std::size_t>(k)];
    if (o.kind != operand_kind::result) continue;
    const bool copied = std::any_of(later.begin(), later.end(), [&](const late_copy& c) {
      return share_memory(c.from.memory, o.memory);
    });
    if (o.source != nullptr && o.number < 0 && !copied && !is_read(o, passes + code->phases, end))
      o.discarded = true;
    if (o.discarded || o.rank > 0) continue;
    for (int leaf = 0; leaf < made.leaves(); ++leaf)
      scalar_is_written = scalar_is_written ||
                          may_share_elements(made.operands_[static_cast<std::size_t>(leaf)], o);
  }
  if (scalar_is_written) return {};
  if (overlaps(made.operands_.data(), made.leaves(), made.operand_count() - made.leaves(),
               made.space_))
    return {};
  row_plan p = made.plan();
  if (p.grid == 0) return {};
  p.per_element = made.cost_per_element();
  made.set_plan(p);
  return made;
}

// Whether each element that `read` reads is the result that `left` holds for this element's row.
bool row_chain::reads_own_row(const operand& read, const operand& left,
                              const geometry& reader) const {
  if (read.memory == nullptr || read.memory != left.memory || read.word[0] != left.word[0])
    return false;
  if (left.rank == 0) return true;
  const geometry& rows = phases_[0].space();
  const operand_layout of_reader = layout_of(reader, read);
  // Dimension of the reader, which has all dimensions of the rows' space or only the kept ones.
  int d = 0;
  for (int of_rows = 0; of_rows < rows.shape_rank; ++of_rows) {
    const bool reduced = (left.reduced >> of_rows & 1) != 0;
    if (reduced && reader.shape_rank < rows.shape_rank) continue;
    if (d == reader.shape_rank) return false;
    const std::int64_t extent = reader.shape[d], stride = of_reader.strides[d++];
    if (!reduced && extent != rows.shape[of_rows]) return false;
    if (extent != 1 && stride != (reduced ? 0 : left.strides[of_rows])) return false;
  }
  return d == reader.shape_rank;
}

// Collects the operands of the chain. Returns false if its phases use different ones.
bool row_chain::bind() {
  int outputs = 0;
  for (int p = 0; p < count(); ++p) outputs += phases_[p].code().outputs();
  operands_.resize(static_cast<std::size_t>(leaves() + outputs));
  for (int k = 0; k < leaves(); ++k) {
    // A scalar that no phase reads.
    operands_[static_cast<std::size_t>(k)].kind = operand_kind::value;
    operands_[static_cast<std::size_t>(k)].type = dtype::boolean;
  }
  std::vector<char> is_bound(static_cast<std::size_t>(leaves()), 0);
  const geometry& rows = phases_[0].space();
  // Any result, from which the reduced axes are known.
  const operand* row = nullptr;
  int at = leaves();
  for (int p = 0; p < count(); ++p) {
    const bound_pass& phase = phases_[p];
    const bool of_rows = code_->of_rows[p];
    if (phase.where() != phases_[0].where() || (!of_rows && !have_one_shape(phase.space(), rows)))
      return false;
    for (int i = 0; i < phase.code().inputs; ++i) {
      const phase_input from = code_->inputs[p][i];
      const operand& o = phase.operands()[i];
      if (from.is_leaf()) {
        const auto k = static_cast<std::size_t>(from.number());
        if (is_bound[k] != 0 && !is_one_operand(operands_[k], o)) return false;
        if (of_rows && has_elements(o)) return false;
        if (o.kind == operand_kind::neighbour) return false;
        operands_[k] = o;
        is_bound[k] = 1;
      } else if (!reads_own_row(o, targets_of(phases_[from.phase()])[from.number()],
                                phase.space())) {
        return false;
      }
    }
    for (int i = 0; i < phase.code().outputs(); ++i) {
      operand& o = operands_[static_cast<std::size_t>(at++)] = targets_of(phase)[i];
      if (o.kind == operand_kind::result && !o.discarded) {
        if (row == nullptr) row = &o;
        else if (row->rank != o.rank || (o.rank > 0 && row->reduced != o.reduced)) return false;
      }
      if (!of_rows) continue;
      // Elements of a phase that computes one value a row become results of the rows.
      if (row == nullptr) return false;
      const std::uint32_t reduced = row->rank == 0 ? (1u << rows.shape_rank) - 1 : row->reduced;
      const operand own = o;
      o.kind = operand_kind::result;
      o.reduced = reduced;
      o.needs_elements = false;
      o.rank = row->rank;
      if (own.rank != (own.rank == rows.shape_rank ? rows.shape_rank
                                                   : rows.shape_rank - std::popcount(reduced)))
        return false;
      for (int d = 0, k = 0; d < o.rank; ++d) {
        const bool is_reduced = (reduced >> d & 1) != 0;
        const bool has_axis = !is_reduced || own.rank == rows.shape_rank;
        if (has_axis && own.extents[k] != (is_reduced ? 1 : rows.shape[d])) return false;
        o.extents[d] = is_reduced ? 1 : own.extents[k];
        o.strides[d] = is_reduced ? 0 : own.strides[k];
        k += has_axis ? 1 : 0;
      }
    }
  }
  if (row != nullptr) reduced_ = row->rank == 0 ? (1u << rows.shape_rank) - 1 : row->reduced;
  return row != nullptr;
}

// Lays out one index space for all operands, with one reduced dimension, which is the last.
bool row_chain::lay_out() {
  geometry& g = space_;
  const int count = operand_count();
  detail::lay_out(g, operands_.data(), leaves(), count - leaves(), code_->lanes,
                  phases_[0].code().pass.view);
  if (!have_one_shape(g, phases_[0].space()) || g.count == 0 || g.results == 0) return false;
  int reduced = -1;
  for (int d = 0; d < g.rank; ++d) {
    if ((g.kept >> d & 1) != 0) continue;
    if (reduced >= 0) return false;
    reduced = d;
  }
  if (reduced < 0) return false;  // Rows have one element.
  lies_along_rows_ = reduced == g.rank - 1;
  move_dimension(g, count, reduced, g.rank - 1);
  g.linear = false;
  for (int k = 0; k < count; ++k)
    g.layouts[k].how =
        is_wide(g, operands_[static_cast<std::size_t>(k)], g.layouts[k], code_->lanes)
            ? access::wide
            : access::elements;
  return true;
}

cost row_chain::cost_per_element() const {
  cost all{};
  for (int i = 0; i < count(); ++i) {
    const cost each = phases_[i].cost_per_element();
    all.flops += each.flops;
    all.stores += each.stores;
    all.store_bytes += each.store_bytes;
  }
  for (int k = 0; k < leaves(); ++k) {
    const operand& o = operands_[static_cast<std::size_t>(k)];
    if (o.kind != operand_kind::array || first_of_array(operands_.data(), k) != k) continue;
    ++all.loads;
    all.load_bytes += size_of(o.type);
  }
  return all;
}

void row_chain::forget_discarded() {
  for (operand& o : operands_)
    if (o.discarded) o.memory = nullptr;
}

profiled_work row_chain::profile() const { return profile_of(phases_[count() - 1]); }

}  // namespace dsl::detail
