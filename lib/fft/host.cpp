// Transforms on the host: line by line, the lines spread over the cores.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "fft/line.hpp"
#include "fft/line_memory.hpp"
#include "fft/lines.hpp"
#include "fft/recent.hpp"
#include "fft/transform.hpp"

namespace dsl::detail {

namespace {

// The lines that a thread works on: elements that lie side by side in memory, so many lines of
// them, and a line as its transform reads and writes it.
template <class Line>
struct working_lines {
  working_lines(const Line& line, std::int64_t together, std::int64_t ins, std::int64_t outs)
      : in(together, ins),
        out(together, outs),
        from(1, line.from_length()),
        to(1, line.to_length()) {}
  line_memory<std::remove_const_t<typename Line::input>> in;
  line_memory<typename Line::output> out;
  line_memory<typename Line::from> from;
  line_memory<typename Line::to> to;
};

template <class Line>
using transform_of = line_transform<typename Line::from, typename Line::to>;

template <class Line>
std::shared_ptr<const transform_of<Line>> kept_transform(const Line& line, std::int64_t points,
                                                         bool inverse) {
  constexpr std::size_t most = 16;
  static recent<std::tuple<std::int64_t, bool>, const transform_of<Line>> all(most);
  return all.get({points, inverse},
                 [&] { return std::shared_ptr<const transform_of<Line>>(line.make()); });
}

// One line. Elements that are transformed as they lie are not copied if they are aligned.
template <class Line>
void transform_line(const Line& line, const transform_of<Line>& transform,
                    const strided<typename Line::input>& x, const strided<typename Line::output>& y,
                    const working_lines<Line>& work) {
  typename Line::from* from = work.from.line();
  typename Line::to* to = work.to.line();
  bool is_read = false, is_written = false;
  const auto lies_well = [](const auto& of) {
    return of.step == 1 && reinterpret_cast<std::uintptr_t>(of.first) % line_alignment == 0;
  };
  if constexpr (Line::reads_directly)
    if ((is_read = lies_well(x))) from = const_cast<typename Line::from*>(x.first);
  if constexpr (Line::writes_directly)
    if ((is_written = lies_well(y) && static_cast<const void*>(x.first) != y.first)) to = y.first;
  if (!is_read) line.read(x, from);
  transform.run(from, to);
  if (!is_written) line.write(to, y);
}

// All lines along one axis. Lines that lie side by side are read together, so that all elements of
// some cache lines are used, and written together.
template <class Line>
void transform_lines(const Line& line, const transform_task& task) {
  using input = typename Line::input;
  using output = typename Line::output;
  const int axis = task.axes.axis[0];
  const std::int64_t ins = task.in.extents[axis], outs = task.out.extents[axis],
                     in_step = task.in.strides[axis], out_step = task.out.strides[axis];
  const auto transform = kept_transform(line, task.axes.points[0], task.inverse);
  std::vector<batch_dimension> batch = batch_of(task);
  if (batch.empty()) batch.push_back({1, 0, 0});
  constexpr std::int64_t bytes_of_group = 1 << 19, bytes_side_by_side = 128,
                         of_element = sizeof(output);
  const bool is_side_by_side = batch[0].next_in < in_step || batch[0].next_out < out_step;
  const std::int64_t together =
      is_side_by_side
          ? std::clamp<std::int64_t>(bytes_of_group / (std::max(ins, outs) * of_element), 1,
                                     bytes_side_by_side / of_element)
          : 1;
  const std::int64_t groups = (batch[0].count + together - 1) / together;
  std::int64_t count = groups;
  for (std::size_t d = 1; d < batch.size(); ++d) count *= batch[d].count;

  const auto run = [&](std::int64_t number, const working_lines<Line>& work) {
    const std::int64_t first = number % groups * together,
                       some = std::min(together, batch[0].count - first);
    std::int64_t to_in = first * batch[0].next_in, to_out = first * batch[0].next_out,
                 rest = number / groups;
    for (std::size_t d = 1; d < batch.size(); ++d) {
      to_in += rest % batch[d].count * batch[d].next_in;
      to_out += rest % batch[d].count * batch[d].next_out;
      rest /= batch[d].count;
    }
    input* const x = reinterpret_cast<input*>(task.in.word[0]) + to_in;
    output* const y = reinterpret_cast<output*>(task.out.word[0]) + to_out;
    if (together == 1)
      return transform_line<Line>(line, *transform, {x, in_step}, {y, out_step}, work);
    for (std::int64_t k = 0; k < ins; ++k)
      for (std::int64_t i = 0; i < some; ++i)
        work.in.line(i)[k] = x[k * in_step + i * batch[0].next_in];
    for (std::int64_t i = 0; i < some; ++i)
      transform_line<Line>(line, *transform, {work.in.line(i), 1}, {work.out.line(i), 1}, work);
    for (std::int64_t k = 0; k < outs; ++k)
      for (std::int64_t i = 0; i < some; ++i)
        y[k * out_step + i * batch[0].next_out] = work.out.line(i)[k];
  };
  // Enough lines for a thread that starting it pays.
  constexpr std::int64_t elements_of_thread = 1 << 13;
  const std::int64_t grain =
      std::max<std::int64_t>(1, elements_of_thread / (std::max(ins, outs) * together));
  const std::int64_t several = together > 1 ? together : 0;
  spread_over_cores(
      count, grain, [&] { return working_lines<Line>(line, several, ins, outs); }, run);
}

// T: what the elements are made of; C: what they are computed in.
template <class T, class C>
void transform_axis(const transform_task& task) {
  using number = std::complex<T>;
  using computed = std::complex<C>;
  const int axis = task.axes.axis[0];
  const std::int64_t n = task.axes.points[0], ins = task.in.extents[axis],
                     outs = task.out.extents[axis];
  const bool is_real = kind_of(task.in.type) == kind::real,
             to_real = kind_of(task.out.type) == kind::real;
  if (!is_real && !to_real)
    return transform_lines(
        whole_line<number, number, computed, computed>{ins, outs, n, task.inverse}, task);
#if DSL_FFTW
  // A long one is packed into a line of complex numbers, which the cores share.
  if (!is_long_line(n % 2 == 0 ? n / 2 : n)) {
    if (is_real) transform_lines(whole_line<T, number, T, number>{ins, outs, n, false}, task);
    else transform_lines(line_of_spectrum<T>{n, static_cast<T>(task.factor)}, task);
    return;
  }
#endif
  if (is_real) transform_lines(packed_to_spectrum<T, C>(n), task);
  else transform_lines(packed_of_spectrum<T, C>(n, task.factor), task);
}

}  // namespace

void transform_on_host(const transform_task& task) {
  transform_task one = task;
  for (int i = 0; i < task.axes.count; ++i) {
    one.axes = {1, {task.axes.axis[i]}, {task.axes.points[i]}};
    if (real_of(task.out.type) == dtype::float32) transform_axis<float, computed_float>(one);
    else transform_axis<double, double>(one);
    one.in = one.out;
  }
}

}  // namespace dsl::detail
