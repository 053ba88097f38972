#include "exec/processes/processes.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"

namespace dsl::detail {

namespace {

// Makes an operand refer to the process's own part of the memory.
void make_local(operand& o) {
  const process_part& part = *o.memory->part;
  o.word[0] = reinterpret_cast<std::uintptr_t>(part.base() + first_byte(o));
  o.memory = part.own().get();
}
mapping mapping_of(const operand& o) {
  mapping m;
  m.rank = o.rank;
  std::copy_n(o.extents, max_rank, m.extents);
  std::copy_n(o.strides, max_rank, m.strides);
  return m;
}
index_range bytes_spanned_by(const operand& o, std::int64_t first_row, std::int64_t rows,
                             int axis) {
  mapping m = mapping_of(o);
  if (m.rank > 0) {
    m.extents[axis] = rows;
    m.offset = first_row * m.strides[axis];
  }
  const index_range span = bytes_spanned(m, static_cast<std::size_t>(bytes_of_element(o)));
  return {first_byte(o) + span.first, first_byte(o) + span.end};
}

}  // namespace

std::uint32_t reduced_axes(const operand* targets, int count) {
  for (const operand* o = targets; o != targets + count; ++o)
    if (o->kind == operand_kind::result && o->rank > 0) return o->reduced;
  return ~0u;
}

local_operands::local_operands(const process_mesh& mesh, const operand* all, int inputs, int count,
                               const geometry& g, const pass_view& pass, bool whole, bool planned)
    : mesh_(mesh),
      whole_(whole),
      planned_(planned),
      pass_inputs_(inputs),
      operands_(all, all + count) {
  divide(all, inputs, count, g);
  // Without rows, plan as a process that has some.
  whole_ = whole_ || (planned && are_divided() && own_rows().count() == 0);
  for (int k = 0; k < count; ++k)
    localize(operands_[static_cast<std::size_t>(k)], k >= inputs, g, pass, all);
}

void local_operands::divide(const operand* all, int inputs, int count, const geometry& g) {
  const auto leads = [&](const operand& o) {
    return is_divided(o) && g.shape_rank > 0 && o.rank == g.shape_rank &&
           o.extents[0] == g.shape[0] &&
           (o.kind == operand_kind::array || o.kind == operand_kind::neighbour ||
            (o.kind == operand_kind::result && (o.reduced & 1) == 0));
  };
  const operand* leading = std::find_if(all + inputs, all + count, leads);
  if (leading == all + count) leading = std::find_if(all, all + inputs, leads);
  if (leading == all + inputs && !leads(*leading)) return;
  for (int p = 0; p < mesh_.size(); ++p) rows_.push_back(rows_along(*leading, 0, p));
}

bool local_operands::all_have_rows() const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [](const index_range& r) { return r.count() > 0; });
}

// Whether each process has what it needs of an operand: its own rows, or all of it.
bool local_operands::is_local(const operand& o, bool by_rows) const {
  if (element_count(mapping_of(o)) == 0) return true;
  for (int p = 0; p < mesh_.size(); ++p) {
    const index_range rows = are_divided() ? rows_[static_cast<std::size_t>(p)] : index_range{0, 1};
    if (rows.count() == 0) continue;
    const index_range span = by_rows ? bytes_spanned_by(o, rows.first, rows.count(), 0)
                                     : bytes_spanned_by(o, 0, o.extents[0], 0);
    if (!o.memory->part->bytes_of(p).contains(span)) return false;
  }
  return true;
}

bool local_operands::are_self_contained(const operand* all, const geometry& g) const {
  constexpr std::int64_t vector = 16;
  if (!are_divided() || !all_have_rows()) return false;
  return std::all_of(all, all + operands_.size(), [&](const operand& o) {
    const bool by_rows = varies_by_rows(o, g.shape_rank);
    if (o.memory == nullptr) return !by_rows && o.kind != operand_kind::position;
    if (!by_rows) return !is_divided(o);
    const bool is_target = &o - all >= pass_inputs_;
    if (o.kind != operand_kind::array || (is_divided(o) ? !is_local(o, true) : is_target))
      return false;
    for (int p = 0; p < mesh_.size(); ++p) {
      const std::int64_t before = is_divided(o) ? o.memory->part->bytes_of(p).first : 0,
                         first = rows_[static_cast<std::size_t>(p)].first * o.strides[0] *
                                 bytes_of_element(o);
      if ((first_byte(o) + first - before) % vector != 0) return false;
    }
    return true;
  });
}

// Gathers an operand's elements from all processes.
void local_operands::gather(operand& o) {
  if (planned_) return make_local(o);
  const process_part& part = *o.memory->part;
  const index_range span = bytes_spanned_by(o, 0, o.extents[0], 0);
  const buffer_ref& all =
      memory_.emplace_back(buffer_ref::allocate(static_cast<std::size_t>(span.count()), mesh_.own));
  auto* const first = static_cast<unsigned char*>(all.data());
  std::vector<std::size_t> sizes;
  for (int p = 0; p < mesh_.size(); ++p) {
    const index_range here = part.bytes_of(p).within(span);
    sizes.push_back(static_cast<std::size_t>(here.count()));
    if (p == mesh_.rank())
      copy(all, first + (here.first - span.first), part.own(), part.base() + here.first,
           sizes.back());
  }
  mesh_.all_gather(all, first, sizes);
  o.word[0] = reinterpret_cast<std::uintptr_t>(first) +
              static_cast<std::uint64_t>(first_byte(o) - span.first);
  o.memory = all.get();
}

// Redirects a target of which the process computes more than it has to a temporary.
void local_operands::redirect(operand& o, const pass_view& pass, const operand* all) {
  const operand target = o;
  const int axis = outermost_axis(target);
  for (int p = 0; p < mesh_.size(); ++p) {
    const index_range rows = rows_along(target, axis, p);
    if (rows.count() > 0 && !target.memory->part->bytes_of(p).contains(
                                bytes_spanned_by(target, rows.first, rows.count(), axis)))
      raise<device_error>("a target whose rows are in several processes each, in " +
                          spell_pass(pass, all));
  }
  make_local(o);
  o = temporary_for(o, memory_.emplace_back(), planned_);
  copies_.push_back({o, target});
}

void local_operands::localize(operand& o, bool is_target, const geometry& g, const pass_view& pass,
                              const operand* all) {
  const index_range rows =
      are_divided() && !whole_ ? own_rows() : index_range{0, g.shape_rank > 0 ? g.shape[0] : 1};
  const bool cuts = are_divided() && !whole_;
  const bool by_rows = varies_by_rows(o, g.shape_rank) ||
                       (is_target && o.kind == operand_kind::array && g.shape_rank > 0);
  if (o.memory == nullptr) {
    if (o.kind == operand_kind::position && cuts) {
      // Positions along a reduced axis are those in the whole array.
      const std::uint32_t reduced =
          reduced_axes(all + pass_inputs_, static_cast<int>(operands_.size()) - pass_inputs_);
      std::int64_t step = reduced & 1;
      for (int d = 1; d < g.shape_rank; ++d) step *= (reduced >> d & 1) != 0 ? g.shape[d] : 1;
      o.word[0] = static_cast<std::uint64_t>(rows.first * step);
    } else if (o.kind == operand_kind::index && by_rows && cuts) {
      o.word[0] += static_cast<std::uint64_t>(rows.first * o.strides[0]);
      o.extents[0] = rows.count();
    }
    return;
  }
  o.needs_elements = false;  // This process may have none.
  if (by_rows) {
    if (is_divided(o) && whole_) {
      if (is_target) return redirect(o, pass, all);
      return gather(o);
    }
    if (is_divided(o) && !planned_ && !is_local(o, true))
      raise<device_error>("an operand whose rows are in other processes than the target's, in " +
                          spell_pass(pass, all) +
                          ": copy it to the host and back, or work on dsl::local of it");
    if (cuts) {
      o.word[0] += static_cast<std::uint64_t>(rows.first * o.strides[0] * bytes_of_element(o));
      o.extents[0] = rows.count();
    }
  } else if (is_divided(o)) {
    if (is_target) return redirect(o, pass, all);
    if (o.kind == operand_kind::address)
      raise<device_error>("elements taken by their index, which may be in other processes, in " +
                          spell_pass(pass, all) +
                          ": copy them to the host, or work on dsl::local of the array");
    if (planned_ || whole_ || !is_local(o, false)) return gather(o);
  }
  make_local(o);
}

void local_operands::store() const {
  for (const late_copy& c : copies_) {
    operand from = c.from, to = c.to;
    const int axis = outermost_axis(to);
    const index_range rows = rows_along(to, axis, mesh_.rank());
    if (rows.count() == 0) continue;
    make_local(to);
    const std::int64_t size = size_of(to.type);
    for (operand* const o : {&from, &to}) {
      if (o->rank == 0) continue;
      o->word[0] += static_cast<std::uint64_t>(rows.first * o->strides[axis] * size);
      o->extents[axis] = rows.count();
    }
    copy_elements(from, to);
  }
}

}  // namespace dsl::detail
