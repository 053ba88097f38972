// Computes the work of a kernel: bytes, and the slots of its operations.
#include "exec/explain/predict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "exec/explain/explain.hpp"
#include "exec/plan/layout.hpp"

namespace dsl::detail {

namespace {

// Least bytes of a memory transaction.
constexpr double sector = 32;

struct slots { float real, real64, integer, integer64, complex, complex128; };
constexpr slots slots_of_rows[] = {
#define DSL_SLOTS(name, ...) {__VA_ARGS__},
#include "exec/explain/slots.inc"
};
constexpr op rows_with_slots[] = {
#define DSL_SLOTS(name, ...) op::name,
#include "exec/explain/slots.inc"
};
// Whether slots.inc has all rows of the table of operations, in its order.
constexpr bool is_whole_table() {
  constexpr int first = static_cast<int>(op::add),
                count = static_cast<int>(std::size(rows_with_slots));
  for (int i = 0; i < count; ++i)
    if (static_cast<int>(rows_with_slots[i]) != first + i) return false;
  return first + count == static_cast<int>(std::size(op_table));
}
static_assert(is_whole_table(),
              "lib/exec/explain/slots.inc has a line for each row of ir/ops.inc, in its order");

// The unit that computes with values of a dtype.
unit unit_of(dtype type) {
  if (type == dtype::float64 || type == dtype::complex128) return unit::fp64;
  return kind_of(type) <= kind::integer ? unit::integer : unit::fp32;
}
float slots_of(op code, dtype type) {
  const slots& row = slots_of_rows[static_cast<int>(code) - static_cast<int>(op::add)];
  if (type == dtype::boolean) return 1;  // Booleans are predicates.
  if (type == dtype::float64) return row.real64;
  if (type == dtype::complex128) return row.complex128;
  if (type == dtype::complex64) return row.complex;
  if (kind_of(type) == kind::real) return row.real;
  return size_of(type) == 8 ? row.integer64 : row.integer;
}

// Slots of work that has no row in the table, measured in the same way. A conversion.
float slots_of_conversion(dtype from, dtype to) {
  const bool integers = kind_of(from) <= kind::integer && kind_of(to) <= kind::integer;
  if (integers) return 1;
  return size_of(from) == 8 || size_of(to) == 8 ? 8 : 2;
}
// A load or store of a dtype that is converted to compute with it.
float slots_of_memory(dtype type, bool is_written) {
  if (type == dtype::float16) return is_written ? 28 : 15;
  if (type == dtype::bfloat16) return is_written ? 4 : 1;
  return size_of(type) == 1 ? (is_written ? 4 : 3) : 0;
}
// An element at a computed index.
constexpr float slots_of_address = 4;
// An element that goes through a tile in shared memory.
constexpr float slots_of_tile = 30;
// A neighbour, with the test for the array's end, along the innermost dimension and along others.
constexpr float slots_of_neighbour = 60, slots_of_outer_neighbour = 30;
// Random bits; four elements share a block of the generator.
constexpr float slots_of_random = 25;
// A function of random bits.
constexpr float slots_of_random_function = 20;
// An element that joins a variance. Most of the rule folds away, since the element's count and
// deviation are constants.
constexpr float slots_of_variance = 6;
// A thread's own work and that for each of its operands, once for all elements that it takes at a
// time.
constexpr float slots_of_thread = 20, slots_of_operand = 6;
// The same for pairs, which a thread takes in a loop.
constexpr float slots_of_pairs = 6;
// The work of each thread that shares a result of a reduction along some axes.
constexpr float slots_of_result = 60;
// Exchange of one value between two threads.
constexpr float slots_of_exchange = 4;

// Operations at a unit's rate that make up the given slots. A multiply-add of double takes two
// slots.
double operations_of(unit u, double slots) { return u == unit::fp64 ? slots / 2 : slots; }

// Marks the products that nvcc fuses with an addition; each addition takes one product. A real
// product is fused if all its users are such additions. A complex one, of four instructions where
// an addition has two, is fused if it has one user.
std::vector<char> joined_products(const indexed_program& p) {
  const auto at = [](auto& values, int i) -> auto& { return values[static_cast<std::size_t>(i)]; };
  std::vector<std::vector<int>> users(static_cast<std::size_t>(p.size()));
  for (int i = 0; i < p.size(); ++i)
    for (int k = 0; k < operand_count(p.code(i)); ++k)
      if (const int from = p.operand(i, k); from >= 0) at(users, from).push_back(i);
  for (int k = 0; k < p.outputs(); ++k) at(users, p.output(k)).push_back(-1);
  std::vector<char> joined(static_cast<std::size_t>(p.size()), 0), has_product = joined;
  for (int i = 0; i < p.size(); ++i) {
    const kind of = kind_of(p.at(i).type());
    if ((p.code(i) != op::multiply && p.code(i) != op::square) || of < kind::real) continue;
    const bool all = std::all_of(at(users, i).begin(), at(users, i).end(), [&](int user) {
      return user >= 0 && (p.code(user) == op::add || p.code(user) == op::subtract) &&
             at(has_product, user) == 0;
    });
    if (!all || at(users, i).empty() || (of == kind::complex && at(users, i).size() > 1)) continue;
    at(joined, i) = 1;
    for (const int user : at(users, i)) at(has_product, user) = 1;
  }
  return joined;
}

// Marks the nodes that depend on scalars alone: a thread computes them once for all its elements.
std::vector<char> uniform_nodes(const indexed_program& p) {
  std::vector<char> uniform(static_cast<std::size_t>(p.size()), 0);
  for (int i = 0; i < p.size(); ++i) {
    const op code = p.code(i);
    bool all = code == op::value || code == op::constant || code == op::load_scalar ||
               operand_count(code) > 0;
    for (int k = 0; k < operand_count(code); ++k)
      all = all && uniform[static_cast<std::size_t>(p.operand(i, k))] != 0;
    uniform[static_cast<std::size_t>(i)] = all ? 1 : 0;
  }
  return uniform;
}

}  // namespace

void add_program(kernel_demand& w, const program_view& view, double elements, int lanes) {
  const indexed_program p(view);
  const std::vector<char> joined = joined_products(p), uniform = uniform_nodes(p);
  for (int i = 0; i < p.size(); ++i) {
    const op code = p.code(i);
    const double times = uniform[static_cast<std::size_t>(i)] != 0 ? elements / lanes : elements;
    const dtype result = p.at(i).type();
    if (code == op::call) w.calls_functors = true;
    if (code == op::convert)
      w[unit_of(result)] +=
          times *
          operations_of(unit_of(result), slots_of_conversion(p.at(p.operand(i, 0)).type(), result));
    if (code == op::gather) w[unit::integer] += times * slots_of_address;
    if (code >= op::random_bits && code <= op::random_permuted)
      w[unit::integer] += times * slots_of_random;
    if (code >= op::random_log && code <= op::random_normal)
      w[unit_of(result)] += times * slots_of_random_function;
    if (code < op::add) continue;
    dtype type = p.at(p.operand(i, info(code).arity - 1)).type();
    int complex_operands = 0;
    for (int k = 0; k < info(code).arity; ++k) {
      const dtype other = p.at(p.operand(i, k)).type();
      if (size_of(other) > size_of(type)) type = other;
      complex_operands += kind_of(other) == kind::complex ? 1 : 0;
    }
    double slots = static_cast<double>(slots_of(code, type));
    // A complex product with a real factor takes half the slots.
    if (complex_operands == 1 && info(code).arity == 2 && code == op::multiply) slots /= 2;
    if (joined[static_cast<std::size_t>(i)] != 0)
      slots = kind_of(type) == kind::complex ? slots / 2 : 0;
    w[unit_of(type)] += times * operations_of(unit_of(type), slots);
  }
}

namespace {

// Adds the work of finding neighbours, for reads and for inside().
void add_neighbours(kernel_demand& w, const program_view& p, const operand* operands,
                    const geometry& g) {
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    if (code != op::neighbour && code != op::inside) continue;
    const neighbour_path path = path_of(p, i);
    for (int s = 0; s < path.count; ++s) {
      const int axis = path.step[s].slot < 0 ? path.step[s].axis : operands[path.step[s].slot].axis;
      const bool inner = dimension_of_axis(g, operands[path.slot], axis) == g.rank - 1;
      w[unit::integer] +=
          static_cast<double>(g.elements) * (inner ? slots_of_neighbour : slots_of_outer_neighbour);
    }
  }
}

// Bytes of an array that are touched: each broadcast element once, and whole sectors of strided
// ones.
double touched_bytes(const geometry& g, const operand& o, const operand_layout& w) {
  double elements = 1, nearest = 1e18;
  for (int d = 0; d < g.rank; ++d) {
    if (w.strides[d] == 0 || g.extents[d] == 1) continue;
    elements *= static_cast<double>(g.extents[d]);
    nearest = std::min(nearest, static_cast<double>(std::abs(w.strides[d])));
  }
  const double size = size_of(o.type);
  return elements * (elements > 1 ? std::max(size, std::min(sector, nearest * size)) : size);
}

// Whether two views are a small displacement apart in the same memory, as in a stencil: reads of
// the second hit the cache.
bool is_neighbouring_view(const geometry& g, const operand& a, const operand_layout& of_a,
                          const operand& b, const operand_layout& of_b) {
  if (a.memory == nullptr || a.memory != b.memory || a.type != b.type) return false;
  if (!std::equal(of_a.strides, of_a.strides + g.rank, of_b.strides)) return false;
  const double distance =
      std::abs(static_cast<double>(static_cast<std::int64_t>(a.word[0] - b.word[0])));
  return distance < touched_bytes(g, a, of_a) / 2;
}

// The share of a tile's threads that have elements.
double used_threads(const geometry& g, int lanes, int columns) {
  if (g.rank == 0 || columns <= 0) return 1;
  const std::int64_t inner = g.extents[g.rank - 1],
                     width = static_cast<std::int64_t>(columns) * lanes;
  return static_cast<double>(inner) / static_cast<double>(pieces(inner, width) * width);
}

}  // namespace

kernel_demand demand_of(const pass_view& pass, const operand* operands, int inputs, int outputs,
                        const geometry& g, const plan& p, int columns, int threads_a_result) {
  kernel_demand w;
  w.elements = g.elements;
  w.flops = static_cast<double>(p.per_element.flops) * static_cast<double>(g.elements);
  const double n = static_cast<double>(g.elements);
  const bool on_host = g.where.kind == backend::host;
  int arrays = 0;
  for (int k = 0; k < inputs + outputs; ++k) {
    const operand& o = operands[k];
    const operand_layout& layout = g.layouts[k];
    const bool is_written = k >= inputs;
    if (o.discarded || o.kind == operand_kind::value || o.kind == operand_kind::step ||
        o.kind == operand_kind::index || o.kind == operand_kind::position)
      continue;
    if (o.kind == operand_kind::device_scalar || o.kind == operand_kind::result) {
      (is_written ? w.written_bytes : w.read_bytes) +=
          static_cast<double>(o.rank == 0 ? 1 : g.results) * size_of(o.type);
      continue;
    }
    ++arrays;
    const double each = o.kind == operand_kind::address ? n * o.size : touched_bytes(g, o, layout);
    bool is_cached =
        !is_written && o.kind == operand_kind::array && first_of_array(operands, k) != k;
    for (int i = 0; i < k && !is_written && !is_cached; ++i) {
      is_cached = is_same_operand(operands[i], o) ||
                  is_neighbouring_view(g, operands[i], g.layouts[i], o, layout);
      if (is_cached) w.cached_bytes += n * size_of(o.type);
    }
    if (!is_cached) (is_written ? w.written_bytes : w.read_bytes) += each;
    if (is_written && each > 1.5 * n * size_of(o.type)) w.partly_written += each;
    const bool is_in_place =
        is_written && std::any_of(operands, operands + inputs,
                                  [&](const operand& in) { return is_same_operand(in, o); });
    if (!is_cached && !is_in_place) w.footprint += each;
    if (on_host) continue;
    w[unit::integer] += n * static_cast<double>(slots_of_memory(o.type, is_written));
    if (layout.how == access::tiled) w[unit::integer] += n * slots_of_tile;
  }
  if (!on_host) add_neighbours(w, pass.elements, operands, g);
  add_program(w, pass.elements, n, p.lanes);
  for (int j = 0; j < pass.reductions; ++j) {
    if (pass.rules[j].output_count == 4)
      w[unit_of(pass.rules[j].output(1).type())] += n * slots_of_variance;
    else add_program(w, pass.rules[j], n);
  }
  if (pass.reductions > 0) add_program(w, pass.results, static_cast<double>(g.results));
  if (!on_host && g.pairs) w.overhead = n / p.lanes * slots_of_pairs;
  else if (!on_host) w.overhead = n / p.lanes * (slots_of_thread + slots_of_operand * arrays);
  w[unit::integer] += w.overhead;
  for (double& amount : w.amounts) amount /= used_threads(g, p.lanes, columns);
  // Threads that share a result halve their number in each step until one has it.
  if (pass.reductions > 0 && g.kept != 0 && !on_host) {
    const double sharing = static_cast<double>(g.results) * threads_a_result;
    w[unit::integer] += sharing * slots_of_result;
    for (int j = 0; j < pass.reductions; ++j) {
      const double joins = sharing * std::log2(threads_a_result);
      add_program(w, pass.rules[j], joins);
      w[unit::integer] += joins * slots_of_exchange * pass.rules[j].output_count;
    }
  }
  return w;
}

}  // namespace dsl::detail
