// The index space of an expression.
#include <dsl/exec/operand.hpp>

#include <algorithm>

#include "buffer.hpp"
#include "cuda.hpp"
#include "strided.hpp"
#include "text.hpp"

namespace dsl::detail {

namespace {

bool has_elements(const operand& o) { return o.kind == operand_kind::array || o.kind == operand_kind::index; }

device common_device(const operand* all, int count, const program_view& program) {
  const operand* first = nullptr;
  for (int i = 0; i < count; ++i) {
    if (all[i].memory == nullptr) continue;
    if (first == nullptr) first = &all[i];
    if (all[i].memory->where != first->memory->where)
      raise<device_error>("operands on different devices, " + std::string(first->memory->where.name()) + " and " +
                          std::string(all[i].memory->where.name()) + ", in " + spell_program(program, all));
  }
  return first != nullptr ? first->memory->where : device::current();
}

[[noreturn]] void throw_mismatch(const operand* inputs, int count, const program_view& program) {
  std::string shapes;
  for (int i = 0; i < count; ++i)
    if (has_elements(inputs[i])) shapes += (shapes.empty() ? "" : ", ") + spell_shape(inputs[i].extents, inputs[i].rank);
  raise<shape_error>("shapes do not broadcast: " + shapes + " in " + spell_program(program, inputs));
}

// NumPy's rule: extents are aligned on the right, and 1 stretches.
void broadcast_inputs(geometry& g, const operand* inputs, int count, const program_view& program) {
  for (int i = 0; i < count; ++i)
    if (has_elements(inputs[i])) g.shape_rank = std::max(g.shape_rank, inputs[i].rank);
  std::fill_n(g.shape, g.shape_rank, 1);
  for (int i = 0; i < count; ++i) {
    const operand& o = inputs[i];
    if (!has_elements(o)) continue;
    for (int d = 0; d < o.rank; ++d) {
      std::int64_t& extent = g.shape[g.shape_rank - o.rank + d];
      if (o.extents[d] == extent || o.extents[d] == 1) continue;
      if (extent != 1) throw_mismatch(inputs, count, program);
      extent = o.extents[d];
    }
  }
}

// An expression may be stretched to what it is assigned to, but not the other way round, and not where it is reduced as well.
void fit_outputs(geometry& g, const operand* all, int inputs, int count, const program_view& program) {
  const operand* const outputs = all + inputs;
  const operand* target = nullptr;
  bool reduced = false;
  for (int i = 0; i < count; ++i) {
    if (outputs[i].kind == operand_kind::result) reduced = true;
    else if (target == nullptr) target = &outputs[i];
  }
  if (target == nullptr) return;
  const auto fail = [&](const operand& o) {
    raise<shape_error>("an expression of shape " + spell_shape(g.shape, g.shape_rank) + " cannot be assigned to shape " + spell_shape(o.extents, o.rank) + ": " +
                       spell_program(program, all));
  };
  bool same = target->rank == g.shape_rank, fits = target->rank >= g.shape_rank;
  for (int d = 0; fits && d < g.shape_rank; ++d) {
    const std::int64_t have = g.shape[d], want = target->extents[target->rank - g.shape_rank + d];
    same = same && have == want;
    fits = have == want || have == 1;
  }
  if (!fits || (reduced && !same)) fail(*target);
  for (int i = 0; i < count; ++i) {
    const operand& o = outputs[i];
    if (o.kind == operand_kind::array && (o.rank != target->rank || !std::equal(o.extents, o.extents + o.rank, target->extents))) fail(o);
  }
  g.shape_rank = target->rank;
  std::copy_n(target->extents, target->rank, g.shape);
}

// Drops dimensions of extent 1 and merges neighbours that every operand walks as one.
void simplify(geometry& g, int count) {
  g.rank = 0;
  for (int d = 0; d < g.shape_rank; ++d) {
    if (g.shape[d] == 1) continue;
    bool merges = g.rank > 0;
    for (int k = 0; merges && k < count; ++k) merges = g.walks[k].strides[g.rank - 1] == g.walks[k].strides[d] * g.shape[d];
    const int to = merges ? g.rank - 1 : g.rank++;
    g.extents[to] = merges ? g.extents[to] * g.shape[d] : g.shape[d];
    for (int k = 0; k < count; ++k) g.walks[k].strides[to] = g.walks[k].strides[d];
  }
  if (g.rank > 0 && g.elements > 0) return;
  g.rank = 1, g.extents[0] = g.elements;
  for (int k = 0; k < count; ++k) g.walks[k].strides[0] = 1;
}

}  // namespace

void lay_out(geometry& g, const operand* all, int inputs, int outputs, int lanes, const program_view& program) {
  g.shape_rank = 0;
  const int count = inputs + outputs;
  g.where = common_device(all, count, program);
  broadcast_inputs(g, all, inputs, program);
  fit_outputs(g, all, inputs, outputs, program);
  g.elements = element_count(g.shape, g.shape_rank, 1);

  for (int k = 0; k < count; ++k) {
    g.walks[k] = {};
    if (!has_elements(all[k])) continue;
    for (int d = 0; d < all[k].rank; ++d)
      if (all[k].extents[d] != 1) g.walks[k].strides[g.shape_rank - all[k].rank + d] = all[k].strides[d];
  }
  simplify(g, count);

  g.linear = g.rank == 1;
  for (int k = 0; k < count; ++k) {
    const operand& o = all[k];
    walk& w = g.walks[k];
    if (!has_elements(o)) {
      std::fill_n(w.strides, max_rank, 0);
      continue;
    }
    g.linear = g.linear && w.strides[0] == 1;
    const auto size = static_cast<std::int64_t>(size_of(o.type)), vector = std::min<std::int64_t>(16, size * lanes);
    w.wide = o.kind == operand_kind::array && w.strides[g.rank - 1] == 1 && o.word[0] % static_cast<std::uint64_t>(vector) == 0;
    for (int d = 0; d + 1 < g.rank; ++d) w.wide = w.wide && w.strides[d] * size % vector == 0;
  }
}

namespace {

struct span { std::uint64_t begin, end; };

span bytes_of(const operand& o, const walk& w, const geometry& g) {
  std::int64_t low = 0, high = 0;
  for (int d = 0; d < g.rank; ++d) (w.strides[d] < 0 ? low : high) += (g.extents[d] - 1) * w.strides[d];
  const std::int64_t size = size_of(o.type);
  return {o.word[0] + static_cast<std::uint64_t>(low * size), o.word[0] + static_cast<std::uint64_t>((high + 1) * size)};
}

}  // namespace

bool overlaps(const operand* all, int inputs, int outputs, const geometry& g) {
  if (g.elements == 0) return false;
  for (int i = inputs; i < inputs + outputs; ++i) {
    if (all[i].kind != operand_kind::array) continue;
    const span mine = bytes_of(all[i], g.walks[i], g);
    for (int k = 0; k < i; ++k) {
      if (all[k].kind != operand_kind::array && all[k].kind != operand_kind::fetched) continue;
      const span other = bytes_of(all[k], g.walks[k], g);
      if (mine.end <= other.begin || other.end <= mine.begin) continue;
      bool same = all[i].word[0] == all[k].word[0] && size_of(all[i].type) == size_of(all[k].type);
      for (int d = 0; d < g.rank; ++d) same = same && (g.extents[d] == 1 || g.walks[i].strides[d] == g.walks[k].strides[d]);
      if (!same) return true;
    }
  }
  return false;
}

detour::detour(operand* outputs, int count) : outputs_(outputs), targets_(outputs, outputs + count) {
  for (int i = 0; i < count; ++i) {
    operand& o = outputs[i];
    if (o.kind != operand_kind::array) continue;
    const std::int64_t n = element_count(o.extents, o.rank, size_of(o.type));
    memory_.push_back(buffer_ref::allocate(static_cast<std::size_t>(n * size_of(o.type)), o.memory->where));
    o.memory = memory_.back().get();
    o.word[0] = reinterpret_cast<std::uintptr_t>(memory_.back().data());
    std::int64_t step = 1;
    for (int d = o.rank - 1; d >= 0; --d) o.strides[d] = step, step *= o.extents[d];
  }
}

void detour::arrive() {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const operand &to = targets_[i], &from = outputs_[i];
    if (to.kind != operand_kind::array) continue;
    const operand pair[] = {from, to};
    geometry g;
    lay_out(g, pair, 1, 1, 1, program_view{});
    const auto size = static_cast<std::size_t>(size_of(to.type));
    if (g.where.kind != backend::cuda) {
      scatter(reinterpret_cast<const unsigned char*>(from.word[0]), to, g, g.walks[1], 0, g.elements);
      continue;
    }
    const stream on = stream::current(g.where);
    use_operands(pair, 1, 1, on);
    cuda::strided_copy c{reinterpret_cast<void*>(to.word[0]), reinterpret_cast<const void*>(from.word[0]), g.elements, g.rank, {}, {}, {}};
    for (int d = 0; d < g.rank; ++d)
      c.extents[d] = g.extents[d], c.from_strides[d] = g.walks[0].strides[d], c.to_strides[d] = g.walks[1].strides[d];
    cuda::copy_elements(c, size, g.where.index, on.native());
  }
}

void use_operands(const operand* all, int inputs, int outputs, const stream& on) {
  for (int i = 0; i < inputs + outputs; ++i)
    if (all[i].memory != nullptr) use(all[i].memory, on, i >= inputs);
}

std::int64_t element_count(const std::int64_t* sizes, int rank, int element_size) {
  std::int64_t n = 1, bytes = 0;
  bool fits = true, empty = false;
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] < 0) raise<shape_error>("a negative extent in " + spell_shape(sizes, rank));
    empty = empty || sizes[d] == 0;
    fits = fits && !__builtin_mul_overflow(n, sizes[d], &n);
  }
  if (empty) return 0;
  if (!fits || __builtin_mul_overflow(n, element_size, &bytes)) raise<shape_error>("shape " + spell_shape(sizes, rank) + " is too large");
  return n;
}

void throw_size_mismatch(std::int64_t have, std::int64_t want, const char* what) {
  raise<shape_error>(std::string(what) + ": " + std::to_string(have) + " elements were given for " + std::to_string(want));
}

}  // namespace dsl::detail
