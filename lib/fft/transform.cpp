#include "fft/transform.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include <dsl/fft/frequencies.hpp>

#include "exec/run/copy.hpp"
#include "mem/back_end.hpp"
#include "mem/mapping.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

// How many elements there are for so many points: of real numbers, a spectrum, or of their
// transform.
std::int64_t elements_for(std::int64_t points, dtype type, dtype other) {
  const bool is_half = kind_of(type) == kind::complex && kind_of(other) == kind::real;
  return is_half ? spectrum_of(points) : points;
}

// The real parts of complex elements.
operand real_part(operand o) {
  o.type = real_of(o.type);
  for (int d = 0; d < o.rank; ++d) o.strides[d] *= 2;
  return o;
}

bool is_empty(const operand& o) {
  return std::any_of(o.extents, o.extents + o.rank, [](std::int64_t n) { return n == 0; });
}

void set_zero(const operand& o) {
  const std::uint8_t zero = 0;
  const std::int64_t bytes =
      std::accumulate(o.extents, o.extents + o.rank, std::int64_t{size_of(o.type)},
                      [](std::int64_t a, std::int64_t b) { return a * b; });
  add_owner(*o.memory);
  fill(buffer_ref(o.memory), reinterpret_cast<void*>(o.word[0]), &zero, 1, bytes);
}

// A transform of one point, which is the number itself.
void copy_points(const operand& in, const operand& out) {
  if (is_same_operand(in, out)) return;
  if (in.type == out.type) return copy_elements(in, out);
  if (kind_of(in.type) == kind::complex) return copy_elements(real_part(in), out);
  set_zero(out);
  copy_elements(in, real_part(out));
}

}  // namespace

transform_axes axes_of_transform(const transform_request& request, int count,
                                 const std::int64_t* shape, int rank, bool halved, device where) {
  require_addressable(where, request.function);
  transform_axes found;
  found.count = count;
  for (int i = 0; i < count; ++i)
    found.axis[i] = request.axes > 0 ? request.axis[i] : rank - count + i;
  require_axes(found.axis, count, shape, rank);
  for (int i = 0; i < count; ++i) {
    int& axis = found.axis[i];
    if (axis < 0) axis += rank;
    const std::int64_t extent = shape[axis];
    std::int64_t& n = found.points[i];
    n = request.lengths > 0        ? request.length[i]
        : halved && i == count - 1 ? 2 * (extent - 1)
                                   : extent;
    if (n < 1)
      raise<shape_error>(std::string(request.function) + " of shape " + spell_shape(shape, rank) +
                         ": " + std::to_string(n) + " points along axis " + std::to_string(axis) +
                         ", of which there must be one at least");
  }
  return found;
}

double factor_of(const transform_axes& axes, fft_norm norm, bool inverse) {
  const double n = std::accumulate(
      axes.points, axes.points + axes.count, 1.0,
      [](double product, std::int64_t points) { return product * static_cast<double>(points); });
  if (norm == fft_norm::ortho) return 1 / std::sqrt(n);
  return (norm == fft_norm::backward) == inverse ? 1 / n : 1;
}

double frequency_step(std::int64_t n, double d, const char* function) {
  if (n < 1)
    raise<value_error>(std::string(function) + " of " + std::to_string(n) +
                       " points, of which there must be one at least");
  return 1 / (static_cast<double>(n) * d);
}

bool may_be_transformed(const operand& x) {
  if (x.kind != operand_kind::array) return false;
  for (int d = 0; d < x.rank; ++d)
    if (x.extents[d] > 1 && x.strides[d] < 1) return false;
  return true;
}

std::vector<batch_dimension> batch_of(const transform_task& task) {
  std::vector<batch_dimension> found;
  const transform_axes& axes = task.axes;
  for (int d = task.in.rank - 1; d >= 0; --d) {
    const std::int64_t n = task.in.extents[d];
    if (n == 1 || std::find(axes.axis, axes.axis + axes.count, d) != axes.axis + axes.count)
      continue;
    const batch_dimension next{n, task.in.strides[d], task.out.strides[d]};
    if (!found.empty()) {
      batch_dimension& inner = found.back();
      if (next.next_in == inner.next_in * inner.count &&
          next.next_out == inner.next_out * inner.count) {
        inner.count *= n;
        continue;
      }
    }
    found.push_back(next);
  }
  return found;
}

operand temporary_like(const operand& o, const std::int64_t* extents, device where,
                       buffer_ref& memory) {
  operand made = o;
  made.kind = operand_kind::array;
  std::copy_n(extents, o.rank, made.extents);
  set_row_major(made.strides, made.extents, made.rank);
  memory = buffer_ref::allocate(extents, o.rank, static_cast<std::size_t>(size_of(o.type)), where);
  made.memory = memory.get();
  made.word[0] = reinterpret_cast<std::uintptr_t>(memory.data());
  return made;
}

struct prepared_transform::state {
  transform_task task{};
  // Elements that are copied first, and the memory of which they become a part: the other elements
  // are zeros. None if there is no memory.
  operand cut{}, padded{};
  buffer_ref memory{};
  std::optional<stream> on{};
  std::unique_ptr<gpu_transform> on_gpu{};

  // x with the elements that a transform reads: cut off along its axes, or with zeros behind them,
  // for which memory is made unless they may be where the result will be.
  operand complete(const operand& x, const transform_axes& axes, const operand& result) {
    cut = x;
    std::int64_t extents[max_rank];
    std::copy_n(x.extents, x.rank, extents);
    bool is_padded = false;
    for (int i = 0; i < axes.count; ++i) {
      std::int64_t& n = extents[axes.axis[i]];
      n = elements_for(axes.points[i], x.type, result.type);
      is_padded = is_padded || n > x.extents[axes.axis[i]];
      cut.extents[axes.axis[i]] = std::min(n, x.extents[axes.axis[i]]);
    }
    if (!is_padded) return cut;
    padded =
        x.type == result.type ? result : temporary_like(x, extents, result.memory->where, memory);
    return padded;
  }
  void fill_padded() const {
    if (padded.memory == nullptr) return;
    operand filled = padded;
    std::copy_n(cut.extents, cut.rank, filled.extents);
    set_zero(padded);
    if (!is_empty(filled)) copy_elements(cut, filled);
  }
};

bool is_scaled_by_transform(device where) { return where.kind != backend::cuda; }
bool may_be_transformed_and_scaled(const operand& x) {
  return may_be_transformed(x) && is_scaled_by_transform(x.memory->where);
}

prepared_transform::prepared_transform(const transform_axes& axes, bool inverse,
                                       const operand& result, const operand& x, double factor) {
  const device where = result.memory->where;
  require_addressable(where, "fft");
  if (is_empty(result)) return;
  state_ = std::make_unique<state>();
  transform_task& task = state_->task;
  if (!is_scaled_by_transform(where)) factor = 1;
  task = {state_->complete(x, axes, result), result, {}, inverse, factor};
  // Along an axis of one point there is nothing else to do.
  for (int d = 0; d < x.rank; ++d)
    for (int i = 0; i < axes.count; ++i)
      if (axes.axis[i] == d && (axes.points[i] > 1 || factor != 1)) {
        task.axes.axis[task.axes.count] = d;
        task.axes.points[task.axes.count++] = axes.points[i];
      }
  if (task.axes.count == 0) return;
  state_->on = stream::current(where);
  if (where.kind == backend::cuda) state_->on_gpu = transform_for_gpu(task, *state_->on);
}
prepared_transform::~prepared_transform() = default;

void prepared_transform::run() {
  if (state_ == nullptr) return;
  state_->fill_padded();
  const transform_task& task = state_->task;
  if (task.axes.count == 0) return copy_points(task.in, task.out);
  const operand operands[] = {task.in, task.out};
  use_operands(operands, 1, 1, *state_->on);
  if (state_->on_gpu != nullptr) state_->on_gpu->run();
  else transform_on_host(task);
}

text describe_transform(const transform_axes& axes, bool inverse, const operand& x) {
  std::string along;
  for (int i = 0; i < axes.count; ++i) along += (i == 0 ? "" : ", ") + std::to_string(axes.axis[i]);
  return text(((inverse ? "inverse Fourier transform of " : "Fourier transform of ") +
               spell_shape(x.extents, x.rank) + " along " + (axes.count == 1 ? "axis " : "axes ") +
               along + ": a call of the device's library")
                  .c_str());
}

}  // namespace dsl::detail
