#include <dsl/exec/run.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "mem/buffer.hpp"
#include "exec/compiled_for.hpp"
#include "exec/copy.hpp"
#include "cuda/cuda.hpp"
#include "host/host.hpp"
#include "exec/layout.hpp"
#include "exec/parameters.hpp"
#include "sim/sim.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

namespace {

void require_apart(const operand& a, const operand& b, const pass_view& pass) {
  if (share_elements(a, b)) raise<shape_error>("two targets have an element in common: " + spell_pass(pass));
}

}  // namespace

operand_list::operand_list(const operand* first, int count) : all_(new operand[static_cast<std::size_t>(count)]), count_(static_cast<std::size_t>(count)) {
  std::copy(first, first + count, all_);
}

prepared::prepared(const program_code& code, const operand* operands, const launch& fixed)
    : code_(&code), operands_(operands, code.inputs + code.outputs()), fixed_(fixed) {
  lay_out(space_, operands_.data(), code.inputs, code.outputs(), code.pass.lanes, code.pass.view);
  for (int i = code.inputs; i < code.inputs + code.outputs(); ++i)
    for (int k = code.inputs; k < i; ++k) require_apart(operands_[static_cast<std::size_t>(i)], operands_[static_cast<std::size_t>(k)], code.pass.view);
}

cost prepared::cost_per_element() const {
  return cost_of(code_->pass.view, [this](std::uint64_t k) { return first_of_array(operands_.data(), static_cast<int>(k)); });
}

plan prepared::make_plan() const {
  plan p = plan_launch();
  p.per_element = cost_per_element();
  return p;
}

plan prepared::plan_launch() const {
  kernel_attributes attributes{};
  const auto compiled = [this](const auto* code) -> const auto& { return compiled_for(space_.where, code, code_->name, code_->pass.view, operands_.data()); };
  switch (space_.where.kind) {
    case backend::cuda: {
      const void* const kernel = compiled(code_->cuda).kernel[space_.linear ? 0 : 1];
      attributes = cuda::attributes(*code_, kernel, fixed_.block > 0 ? fixed_.block : default_block, space_.where.index);
      break;
    }
    case backend::host: compiled(code_->host); break;
    case backend::sim: compiled(code_->sim); break;
  }
  return detail::make_plan(space_, operands_.data(), code_->inputs, code_->pass, attributes, fixed_);
}

namespace {

// A target's stand-in, contiguous, in memory of its own.
operand temporary_for(const operand& target, buffer_ref& memory) {
  operand o = target;
  memory = buffer_ref::allocate(static_cast<std::size_t>(element_count(o.extents, o.rank, size_of(o.type)) * size_of(o.type)), o.memory->where);
  o.memory = memory.get();
  o.word[0] = reinterpret_cast<std::uintptr_t>(memory.data());
  std::int64_t step = 1;
  for (int d = o.rank - 1; d >= 0; --d) o.strides[d] = (o.reduced >> d & 1) != 0 ? 0 : step, step *= o.extents[d];
  return o;
}

void copy_elements(const operand& from, const operand& to) {
  operand from_to[] = {from, to};
  for (operand& o : from_to) o.kind = operand_kind::array;
  prepared(copy_code(size_of(to.type)), from_to, {}).run();
}

}  // namespace

struct prepared::late_copy {
  operand from, to;
  buffer_ref memory;
};

void prepared::write_aside(std::uint32_t outputs, std::vector<late_copy>& copies) {
  for (int i = 0; i < code_->outputs(); ++i) {
    if ((outputs >> i & 1) == 0) continue;
    operand& o = operands_[static_cast<std::size_t>(code_->inputs + i)];
    late_copy copy{{}, o, {}};
    o = copy.from = temporary_for(o, copy.memory);
    copies.push_back(std::move(copy));
  }
  lay_out(space_, operands_.data(), code_->inputs, code_->outputs(), code_->pass.lanes, code_->pass.view);
}

bool prepared::reads_memory_of(const operand& target) const {
  return std::any_of(operands_.begin(), operands_.begin() + code_->inputs, [&](const operand& o) { return o.memory != nullptr && o.memory == target.memory; });
}

void prepared::assign_all(prepared* passes, int count) {
  std::vector<late_copy> copies;
  for (prepared* p = passes; p != passes + count; ++p) {
    const int inputs = p->code_->inputs, outputs = p->code_->outputs();
    const bool overlaps_itself = overlaps(p->operands_.data(), inputs, outputs, p->space_);
    std::uint32_t aside = 0;
    for (int i = 0; i < outputs; ++i) {
      const operand& target = p->operands_[static_cast<std::size_t>(inputs + i)];
      const bool read_later = std::any_of(p + 1, passes + count, [&](const prepared& later) { return later.reads_memory_of(target); });
      if (read_later || (overlaps_itself && is_written_by_elements(target))) aside |= 1u << i;
    }
    if (aside != 0) p->write_aside(aside, copies);
  }
  for (const prepared* p = passes; count > 1 && p != passes + count; ++p) (void)p->make_plan();  // throws
  for (prepared* p = passes; p != passes + count; ++p) p->run();
  for (const late_copy& copy : copies) copy_elements(copy.from, copy.to);
}

statement::statement(std::size_t most) : passes_(new std::vector<prepared>) { passes_->reserve(most); }
statement::~statement() { delete passes_; }

void statement::add(const program_code& code, const operand* operands, const launch& fixed) {
  const prepared& made = passes_->emplace_back(code, operands, fixed);
  for (const prepared& before : *passes_)
    if (&before != &made) made.require_apart_from(before);
}

void statement::assign() { prepared::assign_all(passes_->data(), static_cast<int>(passes_->size())); }

void prepared::require_apart_from(const prepared& other) const {
  for (auto mine = operands_.begin() + code_->inputs; mine != operands_.end(); ++mine)
    for (auto theirs = other.operands_.begin() + other.code_->inputs; theirs != other.operands_.end(); ++theirs) require_apart(*mine, *theirs, code_->pass.view);
}

void prepared::require_in_place() const {
  if (overlaps(operands_.data(), code_->inputs, code_->outputs(), space_))
    raise<shape_error>("a loop's variables overlap each other or its parameters: " + spell_pass(code_->pass.view, operands_.data()));
}

void prepared::run(const std::uint64_t* recorded, const bool* stop) {
  if (code_->folds() ? space_.results == 0 : space_.elements == 0) return;
  const stream on = stream::current(space_.where);
  use_operands(operands_.data(), code_->inputs, code_->outputs(), on);
  if (space_.where.kind == backend::host)
    return run_on_host({*code_, compiled_for(space_.where, code_->host, code_->name, code_->pass.view, operands_.data()), operands_.data(), space_, recorded});
  run_kernel(recorded, stop, on);
}

namespace {

int log2_of(int power) {
  int n = 0;
  while ((1 << n) < power) ++n;
  return n;
}

tiling tiling_of(const geometry& g, const plan& p) {
  tiling t{};
  const auto pieces = [](std::int64_t n, std::int64_t piece) { return std::max<std::int64_t>(1, (n + piece - 1) / piece); };
  t.extents[0] = g.extents[g.rank - 1], t.extents[1] = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  t.log2_columns = log2_of(p.columns);
  t.rows = p.rows, t.outer_rank = std::max(0, g.rank - 2), t.shared_bytes = p.tile_bytes;
  t.width = p.width, t.height = p.height;
  t.along_rows = p.width > p.columns * p.lanes ? 1 : 0;
  for (int d = 0; d < g.rank; ++d) t.kept |= (g.kept >> d & 1) << (g.rank - 1 - d);
  t.across = divisor::of(pieces(t.extents[0], t.width)), t.down = divisor::of(pieces(t.extents[1], t.height));
  t.in_column = divisor::of(std::min(t.height, p.block));
  for (int d = 0; d < t.outer_rank; ++d) t.outer[d] = divisor::of(std::max<std::int64_t>(1, g.extents[g.rank - 3 - d]));
  return t;
}

}  // namespace

kernel_parameters pass_parameters(const program_code& code, const operand* operands, const geometry& g, const plan& p,
                                  const std::uint64_t* recorded, const bool* stop) {
  const int inputs = code.inputs, count = inputs + code.outputs();
  const bool columns_kept = g.kept != 0 && (g.kept >> (g.rank - 1) & 1) != 0;
  const kept_along kept = g.kept == 0 ? kept_along::none : columns_kept ? kept_along::columns : kept_along::rows;
  const sharing threads{log2_of(p.distance), log2_of(p.parts)};
  kernel_parameters given({g.elements, p.tiles, {g.count, p.splits, p.slots, threads, kept, nullptr, nullptr, stop}});
  if (!g.linear) given.put(tiling_of(g, p));
  int shared = 0;
  for (int k = 0; k < count; ++k) {
    const operand& o = operands[k];
    const walk& w = g.walks[k];
    std::uint64_t extra = extra_of(o, w, g.rank);
    if (o.kind == operand_kind::result) extra = recorded != nullptr ? recorded[k - inputs] : 0;
    if (o.kind == operand_kind::array && w.how == access::tiled) {
      const int tile = tile_bytes(p.width, p.height, size_of(o.type));
      if (shared + tile <= p.tile_bytes) extra = in_tile + static_cast<std::uint64_t>(shared), shared += tile;
    }
    given.put(argument{o.word[0], extra});
  }
  if (!g.linear) given.put_strides(g, count);
  return given;
}

void prepared::run_kernel(const std::uint64_t* recorded, const bool* stop, const stream& on) {
  const plan p = plan_launch();
  const int count = static_cast<int>(operands_.size());
  kernel_parameters given = pass_parameters(*code_, operands_.data(), space_, p, recorded, stop);

  const int path = space_.linear ? 0 : 1;
  if (space_.where.kind == backend::sim) {
    checked_ranges allowed = ranges_of(operands_.data(), count, *code_);
    for (int i = 0; recorded != nullptr && i < code_->outputs(); ++i)
      allowed.add(recorded[i], static_cast<std::size_t>(size_of(code_->pass.view.type(i))));
    return simulate(code_->sim->kernel[path], code_->pass.accumulator_bytes, given.data(), p, given.header().folds, allowed);
  }
  cuda::workspace scratch{};
  if (code_->folds() && p.splits > 1) {
    scratch = cuda::scratch_of(on, static_cast<std::size_t>(p.grid * p.slots * (p.block / p.parts) * code_->pass.accumulator_bytes));
    given.header().folds.partials = scratch.partials, given.header().folds.tickets = scratch.tickets;
  }
  void* all[] = {given.data()};
  cuda::launch_kernel({code_->cuda->kernel[path], p.grid, p.block, p.shared_bytes, all, code_->name, code_->cuda->architectures, code_->pass.view, operands_.data(), p.elements}, on);
}

void require_one_space(const operand* all, const part* parts, int count, const pass_view& pass) {
  geometry first, other;
  for (int i = 0; i < count; ++i) {
    geometry& g = i == 0 ? first : other;
    lay_out(g, all + parts[i].first, parts[i].count, 0, 1, pass_view{});
    const auto folded = [&](int k) { return parts[k].folds.axes & ((1u << first.shape_rank) - 1); };
    if (i > 0 && (g.shape_rank != first.shape_rank || !std::equal(g.shape, g.shape + g.shape_rank, first.shape) || folded(i) != folded(0)))
      raise<shape_error>("reductions beside arrays, over another index space: assign them apart from each other: " + spell_pass(pass, all));
  }
}

namespace {

bool is_same(const operand& a, const operand& b) {
  return a.kind == b.kind && a.type == b.type && a.rank == b.rank && a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.memory == b.memory &&
         std::equal(a.extents, a.extents + a.rank, b.extents) && std::equal(a.strides, a.strides + a.rank, b.strides) && a.size == b.size &&
         a.distance == b.distance && a.axis == b.axis && a.beyond == b.beyond;
}

}  // namespace

bool are_same_operands(const operand* all, const part* parts, int count) {
  const std::uint32_t axes = (1u << parts[0].folds.rank) - 1;
  for (int i = 1; i < count; ++i)
    if (((parts[i].folds.axes ^ parts[0].folds.axes) & axes) != 0) return false;
  for (int i = 1; i < count; ++i)
    for (int k = 0; k < parts[0].count; ++k)
      if (!is_same(all[parts[0].first + k], all[parts[i].first + k])) return false;
  return true;
}

void require_same_elements(const char* function, const operand* first, int first_count, const operand* second, int second_count) {
  geometry a, b;
  lay_out(a, first, first_count, 0, 1, pass_view{});
  lay_out(b, second, second_count, 0, 1, pass_view{});
  bool same = a.elements == b.elements;
  const int rank = std::min(a.shape_rank, b.shape_rank);
  for (int d = 0; d < rank; ++d) same = same && a.shape[a.shape_rank - 1 - d] == b.shape[b.shape_rank - 1 - d];
  if (!same)
    raise<shape_error>(std::string(function) + " of shapes " + spell_shape(a.shape, a.shape_rank) + " and " + spell_shape(b.shape, b.shape_rank) +
                       ": it multiplies element with element and stretches neither");
}

void require_distinct(const void* const* targets, int count) {
  for (int i = 0; i < count; ++i)
    if (std::find(targets, targets + i, targets[i]) != targets + i) raise<shape_error>("a target stands twice in one statement");
}

void shape_target(std::int64_t* extents, int rank, const geometry& g, std::uint32_t folded, const pass_view& pass, const operand* all) {
  int kept = 0;
  for (int d = 0; d < g.shape_rank; ++d) kept += (folded >> d & 1) != 0 ? 0 : 1;
  if (rank != kept && rank != g.shape_rank)
    raise<shape_error>("an array of rank " + std::to_string(rank) + " without memory cannot take shape " + spell_shape(g.shape, g.shape_rank) + ": " + spell_pass(pass, all));
  for (int d = 0; d < g.shape_rank; ++d) {
    const bool is_folded = (folded >> d & 1) != 0;
    if (!is_folded || rank == g.shape_rank) *extents++ = is_folded ? 1 : g.shape[d];
  }
}

operand position_operand() {
  operand o;
  o.kind = operand_kind::position, o.type = dtype::int64;
  return o;
}

void lie_along(operand& result, const fold_axes& folds) {
  const operand own = result;
  const bool keeps_axes = own.rank == folds.rank;
  result.kind = operand_kind::result, result.reduced = folds.axes;
  result.rank = own.rank == 0 ? 0 : folds.rank;
  for (int d = 0, k = 0; d < result.rank; ++d) {
    const bool folded = (folds.axes >> d & 1) != 0;
    if (folded && keeps_axes && own.extents[d] != 1)
      raise<shape_error>("a reduction that keeps its axes has extent 1 along axis " + std::to_string(d) + " and cannot be assigned to shape " + spell_shape(own.extents, own.rank));
    result.extents[d] = folded ? 1 : own.extents[keeps_axes ? d : k];
    result.strides[d] = folded ? 0 : own.strides[keeps_axes ? d : k];
    k += folded ? 0 : 1;
  }
}

}  // namespace dsl::detail
