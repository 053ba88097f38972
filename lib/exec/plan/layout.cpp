// Computes the index space of a pass: broadcast shape, order of dimensions, strides of operands.
#include <dsl/exec/plan/operand.hpp>

#include <algorithm>
#include <cstdlib>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

operand_layout layout_of(const geometry& g, const operand& o) {
  operand_layout w{};
  const int first = g.shape_rank - o.rank;
  for (int d = 0; d < o.rank; ++d)
    if (o.extents[d] != 1) w.strides[first + d] = o.strides[d];
  return w;
}

void find_moved_axes(geometry& g, const operand* all, int inputs, const pass_view& pass) {
  g.moved = pass.neighbours.axes;
  g.beside = pass.neighbours.moved;
  for (int k = 0; k < inputs && pass.neighbours.nodes > 0; ++k)
    if (all[k].kind == operand_kind::neighbour || all[k].kind == operand_kind::step)
      g.moved |= 1u << all[k].axis;
}

std::array<int, max_rank> merge_dimensions(geometry& g, int count, const int (&order)[max_rank],
                                           int rank, std::uint32_t unmerged) {
  std::array<int, max_rank> place{};
  for (int d = 0; d < g.shape_rank; ++d) unmerged |= (g.moved >> (g.shape_rank - 1 - d) & 1) << d;
  for (int k = 0; k < count; ++k) {
    const operand_layout from = g.layouts[k];
    for (int d = 0; d < rank; ++d) g.layouts[k].strides[d] = from.strides[order[d]];
  }
  g.rank = 0;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t extent = g.shape[order[d]];
    bool merges = d > 0 && ((unmerged >> order[d - 1] | unmerged >> order[d]) & 1) == 0;
    for (int k = 0; merges && k < count; ++k)
      merges = strides_merge(g.layouts[k].strides[g.rank - 1], g.layouts[k].strides[d], extent);
    const int to = merges ? g.rank - 1 : g.rank++;
    g.extents[to] = merges ? g.extents[to] * extent : extent;
    place[static_cast<std::size_t>(d)] = to;
    for (int k = 0; k < count; ++k) g.layouts[k].strides[to] = g.layouts[k].strides[d];
  }
  std::fill_n(g.dimension, max_rank, -1);
  for (int d = 0; d < rank; ++d)
    g.dimension[g.shape_rank - 1 - order[d]] = place[static_cast<std::size_t>(d)];
  return place;
}

void move_dimension(geometry& g, int count, int from, int to) {
  const auto move_inwards = [&](std::int64_t* values) {
    std::rotate(values + from, values + from + 1, values + to + 1);
  };
  move_inwards(g.extents);
  for (int k = 0; k < count; ++k) move_inwards(g.layouts[k].strides);
  for (int& dimension : g.dimension) {
    if (dimension == from) dimension = to;
    else if (dimension > from && dimension <= to) --dimension;
  }
  const std::uint32_t bit = g.kept >> from & 1, below = (1u << from) - 1,
                      between = ((2u << to) - 1) & ~below;
  g.kept = (g.kept & ~between) | (((g.kept & between) >> 1) & between) | bit << to;
}

bool is_wide(const geometry& g, const operand& o, const operand_layout& w, int lanes) {
  const auto size = static_cast<std::int64_t>(size_of(o.type)),
             vector = std::min<std::int64_t>(16, size * lanes);
  bool wide = (o.kind == operand_kind::array || o.kind == operand_kind::neighbour) &&
              w.strides[g.rank - 1] == 1 && o.word[0] % static_cast<std::uint64_t>(vector) == 0;
  for (int d = 0; d + 1 < g.rank; ++d) wide = wide && w.strides[d] * size % vector == 0;
  return wide;
}

namespace {

[[noreturn]] void throw_mismatch(const operand* inputs, int count, const pass_view& pass) {
  std::string shapes;
  for (int i = 0; i < count; ++i)
    if (has_elements(inputs[i]))
      shapes += (shapes.empty() ? "" : ", ") + spell_shape(inputs[i].extents, inputs[i].rank);
  const operand* first = nullptr;
  bool same_rank = true;
  for (int i = 0; i < count; ++i) {
    if (!has_elements(inputs[i])) continue;
    if (first == nullptr) first = &inputs[i];
    same_rank = same_rank && inputs[i].rank == first->rank;
  }
  raise<shape_error>(
      "shapes do not broadcast: " + shapes + " in " + spell_pass(pass, inputs) +
      (same_rank ? ""
                 : ": axes are aligned on the right, and dsl::expand_dims(x, -1) adds one there"));
}

// The shape without its reduced axes.
std::string spell_kept(const std::int64_t* sizes, int rank, std::uint32_t reduced) {
  std::int64_t kept[max_rank];
  int count = 0;
  for (int d = 0; d < rank; ++d)
    if ((reduced >> d & 1) == 0) kept[count++] = sizes[d];
  return spell_shape(kept, count);
}

// Checks the targets' shapes. An expression may be broadcast to its targets' shape, but targets are
// never broadcast, and a pass that also reduces broadcasts nothing.
void fit_outputs(geometry& g, const operand* all, int inputs, int count, const pass_view& pass) {
  const operand* const outputs = all + inputs;
  const operand* target = nullptr;
  bool reduced = false;
  for (int i = 0; i < count; ++i) {
    if (outputs[i].kind == operand_kind::result) reduced = true;
    else if (target == nullptr) target = &outputs[i];
  }
  const auto fail = [&](const operand& o) {
    raise<shape_error>("an expression of shape " + spell_shape(g.shape, g.shape_rank) +
                       " cannot be assigned to shape " + spell_shape(o.extents, o.rank) + ": " +
                       spell_pass(pass, all));
  };
  for (int i = 0; i < count; ++i) {
    const operand& o = outputs[i];
    if (o.kind != operand_kind::result || o.rank == 0) continue;
    for (int d = 0; d < o.rank; ++d)
      if ((o.reduced >> d & 1) == 0 && o.extents[d] != g.shape[d])
        raise<shape_error>("a reduction's result of shape " +
                           spell_kept(g.shape, g.shape_rank, o.reduced) +
                           " cannot be assigned to shape " +
                           spell_kept(o.extents, o.rank, o.reduced) + ": " + spell_pass(pass, all));
  }
  if (target == nullptr) return;
  bool same = target->rank == g.shape_rank, fits = target->rank >= g.shape_rank;
  for (int d = 0; fits && d < g.shape_rank; ++d) {
    const std::int64_t have = g.shape[d], want = target->extents[target->rank - g.shape_rank + d];
    same = same && have == want;
    fits = have == want || have == 1;
  }
  if (!fits || (reduced && !same)) fail(*target);
  for (int i = 0; i < count; ++i) {
    const operand& o = outputs[i];
    if (o.kind != operand_kind::array) continue;
    if (o.rank != target->rank || !std::equal(o.extents, o.extents + o.rank, target->extents))
      fail(o);
    const bool empty = std::find(o.extents, o.extents + o.rank, 0) != o.extents + o.rank;
    for (int d = 0; d < o.rank && !empty; ++d)
      if (o.strides[d] == 0 && o.extents[d] > 1)
        raise<shape_error>("shape " + spell_shape(o.extents, o.rank) +
                           " is stretched from one element along axis " + std::to_string(d) +
                           " and cannot be assigned to: " + spell_pass(pass, all));
  }
  g.shape_rank = target->rank;
  std::copy_n(target->extents, target->rank, g.shape);
}

// Orders the dimensions with an extent other than 1 by the outputs' strides, largest first; where
// these do not decide, by the inputs' strides. So writes are contiguous, and a formula on
// transposed arrays becomes linear as often as one on row-major arrays. Returns their number.
int order_dimensions(const geometry& g, const operand* all, int inputs, int outputs,
                     int (&order)[max_rank]) {
  const auto outer = [&](int a, int b) {
    for (int i = 0; i < inputs + outputs; ++i) {
      const int k = i < outputs ? inputs + i : i - outputs;
      if (all[k].kind == operand_kind::result || all[k].kind == operand_kind::position) continue;
      const std::int64_t* const strides = g.layouts[k].strides;
      const std::int64_t at_a = std::abs(strides[a]), at_b = std::abs(strides[b]);
      if (at_a != at_b && at_a != 0 && at_b != 0) return at_a > at_b;
    }
    return true;
  };
  int rank = 0;
  for (int d = 0; d < g.shape_rank; ++d) {
    if (g.shape[d] == 1) continue;
    int at = rank++;
    for (; at > 0 && !outer(order[at - 1], d); --at) order[at] = order[at - 1];
    order[at] = d;
  }
  return rank;
}

// Orders the dimensions and merges those that allow it.
void simplify(geometry& g, const operand* all, int inputs, int outputs) {
  const int count = inputs + outputs;
  int order[max_rank];
  const int rank = order_dimensions(g, all, inputs, outputs, order);
  merge_dimensions(g, count, order, rank);
  g.kept = 0;
  for (int k = inputs; k < count; ++k)
    for (int d = 0; d < g.rank; ++d)
      if (all[k].kind == operand_kind::result && g.layouts[k].strides[d] != 0) g.kept |= 1u << d;
  if (g.kept != 0 || (g.rank > 0 && g.elements > 0)) return;
  g.rank = 1;
  g.extents[0] = g.elements;
  for (int k = 0; k < count; ++k) g.layouts[k].strides[0] = 1;
}

constexpr std::int64_t short_extent = 16;

// Whether an input is contiguous along dimension d, but not along the innermost one.
bool lies_along(const geometry& g, int d, const operand& o, const operand_layout& w) {
  const std::int64_t inner = std::abs(w.strides[g.rank - 1]);
  return o.kind == operand_kind::array && inner > 1 && std::abs(w.strides[d]) == 1 &&
         g.extents[d] >= short_extent && g.extents[g.rank - 1] >= short_extent;
}

}  // namespace

void order_for_blocks(geometry& g, int count) {
  const bool inner_kept = is_kept(g, g.rank - 1);
  int second = -1;
  for (int d = g.rank - 2; d >= 0; --d)
    if (is_kept(g, d) != inner_kept &&
        (second < 0 || (inner_kept && g.extents[d] > g.extents[second])))
      second = d;
  if (second >= 0) return move_dimension(g, count, second, g.rank - 2);
  // All dimensions are kept, since each reduced axis has one element: insert a dimension of extent
  // 1.
  const int at = g.rank++ - 1;
  const auto insert = [&](std::int64_t* values, std::int64_t value) {
    values[at + 1] = values[at];
    values[at] = value;
  };
  insert(g.extents, 1);
  for (int k = 0; k < count; ++k) insert(g.layouts[k].strides, 0);
  for (int& dimension : g.dimension)
    if (dimension == at) ++dimension;
  g.kept = (g.kept & ((1u << at) - 1)) | 2u << at;
}

void order_pairs(geometry& g, const operand* all, int inputs, int count) {
  // Fewer rows or columns do not pay for a block's shared memory and barriers.
  constexpr std::int64_t least_rows = 16, least_columns = 64;
  if (g.rank < 2) return;
  const int last = g.rank - 1, second = last - 1, row = is_kept(g, last) ? second : last,
            column = last + second - row;
  bool along_rows = false, along_columns = false;
  for (int k = 0; k < inputs; ++k) {
    if (all[k].kind != operand_kind::array) continue;
    const bool in_row = g.layouts[k].strides[row] != 0,
               in_column = g.layouts[k].strides[column] != 0;
    if (in_row && in_column) return;
    along_rows = along_rows || in_row;
    along_columns = along_columns || in_column;
  }
  g.pairs = along_rows && along_columns && g.extents[row] >= least_columns &&
            g.extents[column] >= least_rows;
  if (g.pairs && row != last) move_dimension(g, count, row, last);
}

void order_for_rows(geometry& g, int count) {
  const int last = is_kept(g, g.rank - 1) ? g.rank - 2 : g.rank - 1;
  int to = last;
  for (int d = last; d >= 0; --d)
    if (!is_kept(g, d)) move_dimension(g, count, d, to--);
}

namespace {

// Blocks of threads cover the two last dimensions. Moves to the second last place a dimension along
// which some input is contiguous; otherwise one that is long enough for a block.
void choose_second(geometry& g, const operand* all, int inputs, int count) {
  if (g.rank < 2) return;
  int second = -1;
  for (int d = g.rank - 2; second < 0 && d >= 0; --d)
    for (int k = 0; k < inputs; ++k)
      if (lies_along(g, d, all[k], g.layouts[k])) second = d;
  if (second < 0) {
    second = g.rank - 2;
    for (int d = g.rank - 3; d >= 0 && g.extents[second] < short_extent; --d)
      if (g.extents[d] > g.extents[second]) second = d;
  }
  move_dimension(g, count, second, g.rank - 2);
}

access access_of(const geometry& g, const operand& o, const operand_layout& w, bool is_input,
                 int lanes) {
  if (is_input && g.pairs && o.kind == operand_kind::array && w.strides[g.rank - 1] != 0)
    return access::row;
  if (is_input && g.kept == 0 && g.rank > 1 && lies_along(g, g.rank - 2, o, w))
    return access::tiled;
  return is_wide(g, o, w, lanes) ? access::wide : access::elements;
}

}  // namespace

// NumPy's rule: axes are aligned on the right, and extents of 1 are broadcast.
void broadcast_shape(std::int64_t (&shape)[max_rank], int& rank, const operand* operands, int count,
                     const pass_view& pass) {
  rank = 0;
  for (int i = 0; i < count; ++i)
    if (has_elements(operands[i])) rank = std::max(rank, operands[i].rank);
  std::fill_n(shape, rank, 1);
  for (int i = 0; i < count; ++i) {
    const operand& o = operands[i];
    if (!has_elements(o)) continue;
    for (int d = 0; d < o.rank; ++d) {
      std::int64_t& extent = shape[rank - o.rank + d];
      if (o.extents[d] == extent || o.extents[d] == 1) continue;
      if (extent != 1) throw_mismatch(operands, count, pass);
      extent = o.extents[d];
    }
  }
}

bool is_one_operand(const operand& a, const operand& b) {
  return a.kind == b.kind && a.type == b.type && a.rank == b.rank && a.word[0] == b.word[0] &&
         a.word[1] == b.word[1] && a.memory == b.memory &&
         std::equal(a.extents, a.extents + a.rank, b.extents) &&
         std::equal(a.strides, a.strides + a.rank, b.strides) && a.size == b.size &&
         a.distance == b.distance && a.axis == b.axis && a.beyond == b.beyond;
}

bool is_same_operand(const operand& a, const operand& b) {
  const auto kind = [](const operand& o) {
    return o.kind == operand_kind::neighbour ? operand_kind::array : o.kind;
  };
  return a.memory != nullptr && a.memory == b.memory && a.word[0] == b.word[0] &&
         kind(a) == kind(b) && a.type == b.type && a.rank == b.rank &&
         std::equal(a.extents, a.extents + a.rank, b.extents) &&
         std::equal(a.strides, a.strides + a.rank, b.strides);
}

int first_of_array(const operand* all, int k) {
  return static_cast<int>(
      std::find_if(all, all + k, [&](const operand& o) { return is_same_operand(o, all[k]); }) -
      all);
}

device home_of_operands(const operand* all, int count) {
  const auto there =
      std::find_if(all, all + count, [](const operand& o) { return o.memory != nullptr; });
  return there != all + count ? there->memory->where : device::current();
}

namespace {

// spelled() names the formula for errors.
template <class Spelled>
device device_of_all(const operand* all, int count, const Spelled& spelled) {
  const operand* first = nullptr;
  for (int i = 0; i < count; ++i) {
    const operand_kind kind = all[i].kind;
    if (kind == operand_kind::value || kind == operand_kind::step || kind == operand_kind::index ||
        kind == operand_kind::position || all[i].discarded)
      continue;
    if (all[i].memory == nullptr)
      raise<memory_error>("an operand without memory, never assigned or moved from, in " +
                          spelled());
    if (all[i].out_of_date)
      raise<memory_error>(
          "a formula that was made before one of its arrays was given other memory (moved to, or x "
          "= dsl::eval(...)): make " +
          spelled() + " again after that, or dsl::eval it before");
    if (first == nullptr) first = &all[i];
    if (all[i].memory->where != first->memory->where)
      raise<device_error>("operands on different devices, " +
                          std::string(first->memory->where.name()) + " and " +
                          std::string(all[i].memory->where.name()) + ", in " + spelled());
  }
  return first != nullptr ? first->memory->where : device::current();
}

}  // namespace

device common_device(const operand* all, int count, const pass_view& pass) {
  return device_of_all(all, count, [&] { return spell_pass(pass, all); });
}

void require_one_device(const operand* all, int count, text (*describe)(const void*),
                        const void* what) {
  device_of_all(all, count, [&] { return std::string(describe(what).c_str()); });
}

void lay_out(geometry& g, const operand* all, int inputs, int outputs, int lanes,
             const pass_view& pass) {
  const int count = inputs + outputs;
  g.where = common_device(all, count, pass);
  broadcast_shape(g.shape, g.shape_rank, all, inputs, pass);
  fit_outputs(g, all, inputs, outputs, pass);
  g.elements = element_count(g.shape, g.shape_rank, 1);
  // Reduced axes, a bit each. Reductions to one value, without dimensions, reduce all of them.
  std::uint32_t reduced = ~0u;
  // The first output that is a result of some elements, or -1.
  int of_some = -1;
  for (int k = inputs; k < count; ++k) {
    if (of_some < 0 && all[k].kind == operand_kind::result && all[k].needs_elements)
      of_some = k - inputs;
    if (all[k].kind == operand_kind::result && all[k].rank > 0) reduced = all[k].reduced;
  }
  g.results = g.count = 1;
  for (int d = 0; d < g.shape_rank; ++d)
    ((reduced >> d & 1) != 0 ? g.count : g.results) *= g.shape[d];
  if (of_some >= 0 && pass.needs_elements && g.count == 0 && g.results > 0)
    raise<shape_error>("a reduction of no elements, which has no value: " +
                       spell_pass(pass, all, of_some));

  for (int k = 0; k < count; ++k) {
    g.layouts[k] = {};
    if (all[k].kind == operand_kind::position) {
      std::int64_t step = 1;
      for (int d = g.shape_rank - 1; d >= 0; --d)
        if ((reduced >> d & 1) != 0) {
          g.layouts[k].strides[d] = g.shape[d] == 1 ? 0 : step;
          step *= g.shape[d];
        }
    }
    if (all[k].kind == operand_kind::result && all[k].rank > 0)
      for (int d = 0; d < all[k].rank; ++d)
        if ((reduced >> d & 1) == 0 && g.shape[d] != 1) g.layouts[k].strides[d] = all[k].strides[d];
    if (has_elements(all[k])) g.layouts[k] = layout_of(g, all[k]);
  }
  find_moved_axes(g, all, inputs, pass);
  simplify(g, all, inputs, outputs);

  g.linear = g.rank == 1 && g.kept == 0 && pass.neighbours.nodes == 0;
  for (int k = 0; k < count; ++k)
    if (has_elements(all[k]) || all[k].kind == operand_kind::position)
      g.linear = g.linear && (g.layouts[k].strides[0] == 1 || is_one_address(g, all[k], k));
    else if (g.kept == 0) std::fill_n(g.layouts[k].strides, max_rank, 0);
  if (g.kept == 0 && !g.linear) choose_second(g, all, inputs, count);
  g.pairs = false;
  if (g.kept != 0 || (pass.reductions > 0 && !g.linear))
    layout_services::of(g.where).order_reduced(g, all, inputs, count, pass);
  for (int k = 0; k < count; ++k) {
    const bool reads_neighbours = k < max_inputs && (pass.neighbours.operands >> k & 1) != 0;
    g.layouts[k].how = access_of(g, all[k], g.layouts[k], k < inputs && !reads_neighbours, lanes);
  }
}

void use_operands(const operand* all, int inputs, int outputs, const stream& on) {
  for (int i = 0; i < inputs + outputs; ++i)
    if (all[i].memory != nullptr) use(all[i].memory, on, i >= inputs);
}

void require_range(const operand& o, integer_range range) {
  if (o.kind != operand_kind::value || kind_of(o.type) != kind::integer) return;
  const bool is_signed = info(o.type).is_signed;
  const char* const outside = range.outside(o.word[0], is_signed);
  if (outside == nullptr) return;
  std::string text = "the integer ";
  text +=
      is_signed ? std::to_string(static_cast<std::int64_t>(o.word[0])) : std::to_string(o.word[0]);
  text += std::string(" is out of bounds for ") + outside + ", the dtype that it is computed with";
  raise<overflow_error>(text);
}

}  // namespace dsl::detail
