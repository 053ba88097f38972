// The cost model: bytes of memory at the bandwidth that was measured for as many, and operations at measured rates.
#include "exec/predict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "exec/explain.hpp"
#include "exec/layout.hpp"
#include "exec/scan.hpp"

namespace dsl::detail {

namespace {

constexpr double sector = 32;  // bytes that a memory transaction has at least
constexpr int warp = 32, line = 128;

struct slots { float real, real64, integer, integer64, complex, complex128; };
constexpr slots slots_of_rows[] = {
#define DSL_SLOTS(name, ...) {__VA_ARGS__},
#include "exec/slots.inc"
};
constexpr op rows_with_slots[] = {
#define DSL_SLOTS(name, ...) op::name,
#include "exec/slots.inc"
};
// In the order of the table, and none is missing.
constexpr bool is_whole_table() {
  constexpr int first = static_cast<int>(op::add), count = static_cast<int>(std::size(rows_with_slots));
  for (int i = 0; i < count; ++i)
    if (static_cast<int>(rows_with_slots[i]) != first + i) return false;
  return first + count == static_cast<int>(std::size(op_table));
}
static_assert(is_whole_table(), "lib/exec/slots.inc has a line for each row of ir/ops.inc, in its order");

// What computes with values of a dtype.
unit unit_of(dtype type) {
  if (type == dtype::float64 || type == dtype::complex128) return unit::fp64;
  return kind_of(type) <= kind::integer ? unit::integer : unit::fp32;
}
float slots_of(op code, dtype type) {
  const slots& row = slots_of_rows[static_cast<int>(code) - static_cast<int>(op::add)];
  if (type == dtype::float64) return row.real64;
  if (type == dtype::complex128) return row.complex128;
  if (type == dtype::complex64) return row.complex;
  if (kind_of(type) == kind::real) return row.real;
  return size_of(type) == 8 ? row.integer64 : row.integer;
}

// Conversions: between registers; the two 16-bit floating point dtypes are computed with as float. In the same slots.
float slots_of_conversion(dtype from, dtype to) {
  const bool integers = kind_of(from) <= kind::integer && kind_of(to) <= kind::integer;
  if (integers) return 1;
  return size_of(from) == 8 || size_of(to) == 8 ? 8 : 2;
}
// What comes from memory, or goes there, is not always what is computed with.
float slots_of_memory(dtype type, bool is_written) {
  if (type == dtype::float16) return is_written ? 28 : 15;
  if (type == dtype::bfloat16) return is_written ? 4 : 1;
  return size_of(type) == 1 ? (is_written ? 4 : 3) : 0;
}

constexpr float slots_of_address = 4;     // an element at a computed place
constexpr float slots_of_tile = 30;       // an element that comes by a tile in shared memory
constexpr float slots_of_neighbour = 20;  // a neighbour along the innermost dimension, with what stands beyond the end
constexpr float slots_of_thread = 20, slots_of_operand = 6;  // for all elements that a thread takes at a time

// How often a rate's operation stands for a slot: multiply-adds of double take two.
double operations_of(unit u, double slots) { return u == unit::fp64 ? slots / 2 : slots; }

void add_program(kernel_demand& w, const program_view& p, double times) {
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    const op code = h.code();
    if (code == op::call) w.calls_functors = true;
    if (code == op::convert) {
      const dtype from = reference::of(p.payloads[i], 0).type();
      w[unit_of(h.type())] += times * operations_of(unit_of(h.type()), slots_of_conversion(from, h.type()));
    }
    if (code == op::gather) w[unit::integer] += times * slots_of_address;
    if (code < op::add) continue;
    dtype type = reference::of(p.payloads[i], info(code).arity - 1).type();
    for (int k = 0; k < info(code).arity; ++k)
      if (const dtype other = reference::of(p.payloads[i], k).type(); size_of(other) > size_of(type)) type = other;
    w[unit_of(type)] += times * operations_of(unit_of(type), static_cast<double>(slots_of(code, type)));
  }
}

bool is_variance(const program_view& rule) { return rule.output_count == 4; }

// Bytes of an array that are touched: of what is broadcast each element once, of what is strided whole sectors.
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

// Cache lines that a warp's accesses to an operand touch, an element.
double lines_an_element(const geometry& g, const operand& o, const operand_layout& w, int lanes) {
  const double size = size_of(o.type);
  if (g.rank == 0 || w.strides[g.rank - 1] == 0) return 0;
  const double span = std::abs(static_cast<double>(w.strides[g.rank - 1])) * size;  // from one element to the next
  if (w.how == access::wide) return size / line;
  // Threads are so many elements apart, and each access of a warp touches a line for every 128 bytes.
  return std::clamp(warp * span * lanes / line, 1.0, static_cast<double>(warp)) / warp;
}

}  // namespace

kernel_demand demand_of(const pass_view& pass, const operand* operands, int inputs, int outputs, const geometry& g, const plan& p) {
  kernel_demand w;
  w.elements = g.elements;
  w.flops = static_cast<double>(p.per_element.flops) * static_cast<double>(g.elements);
  const double n = static_cast<double>(g.elements);
  int arrays = 0;
  for (int k = 0; k < inputs + outputs; ++k) {
    const operand& o = operands[k];
    const operand_layout& layout = g.layouts[k];
    const bool is_written = k >= inputs;
    if (o.discarded || o.kind == operand_kind::value || o.kind == operand_kind::index || o.kind == operand_kind::position)
      continue;
    if (o.kind == operand_kind::device_scalar || (o.kind == operand_kind::result && o.rank == 0)) {
      (is_written ? w.written_bytes : w.read_bytes) += size_of(o.type);
      continue;
    }
    if (o.kind == operand_kind::result) {
      w.written_bytes += static_cast<double>(g.results) * size_of(o.type);
      continue;
    }
    ++arrays;
    const double each = o.kind == operand_kind::address ? n * o.size : touched_bytes(g, o, layout);
    const bool is_again = !is_written && first_of_array(operands, k) != k;
    if (!is_again) (is_written ? w.written_bytes : w.read_bytes) += each;
    if (is_written && each > 1.5 * n * size_of(o.type)) w.partly_written += each;
    const bool is_written_in_place =
        is_written && std::any_of(operands, operands + inputs, [&](const operand& in) { return is_same_operand(in, o); });
    if (!is_again && !is_written_in_place) w.footprint += each;
    const double size = o.kind == operand_kind::address ? o.size : size_of(o.type);
    w.cache_bytes += layout.how == access::wide ? n * size : n * std::max(size, 0.0);
    if (g.where.kind == backend::host) continue;
    w[unit::lines] += n * (o.kind == operand_kind::address ? 1.0 / warp : lines_an_element(g, o, layout, p.lanes));
    w[unit::fp32] += n * static_cast<double>(slots_of_memory(o.type, is_written));
    if (layout.how == access::tiled) w[unit::integer] += n * slots_of_tile;
    if (o.kind == operand_kind::neighbour && layout.axis == g.rank - 1) w[unit::integer] += n * slots_of_neighbour;
  }
  add_program(w, pass.elements, n);
  for (int j = 0; j < pass.reductions; ++j) {
    // Of what is known of one element, most of this rule folds away.
    constexpr double slots_of_variance = 6;
    if (is_variance(pass.rules[j])) w[unit_of(pass.rules[j].output(1).type())] += n * slots_of_variance;
    else add_program(w, pass.rules[j], n);
  }
  if (pass.reductions > 0) add_program(w, pass.results, static_cast<double>(g.results));
  if (g.where.kind != backend::host) w[unit::integer] += n / p.lanes * (slots_of_thread + slots_of_operand * arrays);
  return w;
}

kernel_demand demand_of_scan(const scan_code& code, const operand* operands, const scan_space& s, const scan_plan& p) {
  kernel_demand w = demand_of(code.view, operands, code.inputs, 1, s.space, p);
  add_program(w, code.combine, static_cast<double>(w.elements));
  // Chunks of columns are read for their totals, and once more for the scan.
  if (p.along_columns && p.chunks > 1) w.read_bytes *= 2;
  return w;
}

prediction predict(const kernel_demand& work, device where) {
  prediction p;
  if (work.calls_functors) {
    p.why_none = "what functors take is not known";
    return p;
  }
  const calibration* const c = calibration_of(where);
  if (c == nullptr) {
    p.why_none = "times of " + std::string(where.name()) + " say nothing of a device's";
    return p;
  }
  p.launch = c->launch;
  const double bytes = work.read_bytes + work.written_bytes, written = bytes > 0 ? work.written_bytes / bytes : 0;
  // The curves are of calls in a row, on arrays of so many bytes: what the cache holds of them comes from there.
  const double in_place = bytes > 0 ? work.footprint / bytes : 1;
  const auto seconds = [&](const measured_curve& curve) { return curve(work.footprint) / std::max(in_place, 1e-3); };
  const double floor = c->read(0);
  const double of_reads = std::max(floor, floor + (seconds(c->read) - floor / std::max(in_place, 1e-3))),
               of_copies = std::max(floor, floor + (seconds(c->copied) - floor / std::max(in_place, 1e-3)));
  p.memory = of_reads + (of_copies - of_reads) * 2 * written;
  if (c->partial_writes > 0) p.memory += work.partly_written / c->partial_writes - work.partly_written / c->copied.bandwidth();
  double lines = 0;
  for (int u = 0; u < unit_count; ++u) {
    if (c->rate[static_cast<std::size_t>(u)] <= 0) continue;
    const double mine = work.amounts[static_cast<std::size_t>(u)] / c->rate[static_cast<std::size_t>(u)];
    if (static_cast<unit>(u) == unit::lines) lines = mine;
    else p.arithmetic += mine;
  }
  p.memory = std::max(0.0, p.memory - floor);
  // None hides the others wholly: the root of the sum of squares.
  const double busy = std::hypot(p.memory, lines, p.arithmetic);
  p.seconds = std::max(p.launch, floor + busy);
  if (p.launch >= p.seconds) p.binds = "the launch";
  else if (p.arithmetic > std::max(p.memory, lines)) p.binds = "arithmetic";
  else p.binds = lines > p.memory ? "access element by element" : "memory";
  return p;
}

prediction predict_step(const kernel_demand& work, const loop_plan& plan) {
  kernel_demand step = work;
  if (plan.loop < strategy::elementwise) return predict(step, plan.where);
  // What stays on chip does not come from memory.
  const double vectors = plan.held + plan.in_shared + plan.streamed;
  const double streamed = plan.loop == strategy::elementwise || vectors <= 0 ? 0 : plan.streamed / vectors;
  step.read_bytes *= streamed;
  step.written_bytes *= streamed;
  prediction p = predict(step, plan.where);
  if (std::isnan(p.seconds)) return p;
  const calibration& c = *calibration_of(plan.where);
  // Blocks exchange sums once a step; measured on an H200: 1.1 us for all blocks, 0.4 us within one.
  const double exchange = plan.loop == strategy::elementwise ? 0 : plan.loop == strategy::one_block ? 0.4e-6 : 1.1e-6;
  if (streamed == 0) p.memory = 0;
  p.launch = 0;
  const double busy = std::hypot(p.memory, p.arithmetic);
  p.seconds = busy + exchange;
  p.binds = exchange > busy ? "the exchange of sums" : p.arithmetic > p.memory ? "arithmetic" : "memory";
  return p;
}

std::string name_of_scan(const scan_code& code) {
  const indexed_program combine(code.combine);
  switch (combine.code(combine.output(0))) {
    case op::add: return "cumsum";
    case op::multiply: return "cumprod";
    default: return "scan";
  }
}

}  // namespace dsl::detail
