// Transforms on the host: line by line, the lines spread over the cores.
#include <algorithm>
#include <complex>
#include <tuple>
#include <type_traits>
#include <vector>

#include <tbb/parallel_for.h>

#include "fft/line.hpp"
#include "fft/recent.hpp"
#include "fft/transform.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

template <class C>
std::shared_ptr<const line_transform<C>> kept_line_transform(std::int64_t n, bool inverse) {
  constexpr std::size_t most = 16;
  static recent<std::tuple<std::int64_t, bool>, const line_transform<C>> all(most);
  return all.get({n, inverse}, [&] {
    return std::shared_ptr<const line_transform<C>>(make_line_transform<C>(n, inverse));
  });
}

// Elements of one line, at a constant distance.
template <class T>
struct strided {
  T* first;
  std::int64_t step;
  T& operator[](std::int64_t i) const { return first[i * step]; }
};

// Uninitialised memory that lines are worked on in.
template <class T>
class working_memory {
 public:
  explicit working_memory(std::int64_t elements)
      : bytes_(static_cast<std::size_t>(elements), sizeof(T)) {}
  T* elements() const { return reinterpret_cast<T*>(bytes_.data()); }

 private:
  host_bytes bytes_;
};

// What one thread needs for a group of lines: their elements, which follow each other, and the
// complex numbers that are transformed.
template <class C, class Line>
struct working_lines {
  using input = std::remove_const_t<typename Line::input>;
  working_memory<input> in;
  working_memory<typename Line::output> out;
  working_memory<std::complex<C>> from, to;
};

// Each kind of line reads its elements into complex numbers that are transformed, and writes the
// results. T: what the elements are made of; C: what they are computed in.
template <class T, class C>
struct complex_line {
  using input = const std::complex<T>;
  using output = std::complex<T>;
  std::int64_t n;

  std::int64_t length() const { return n; }
  void read(const strided<input>& x, std::complex<C>* z) const {
    for (std::int64_t k = 0; k < n; ++k) z[k] = std::complex<C>(x[k]);
  }
  void write(const std::complex<C>* z, const strided<output>& y) const {
    for (std::int64_t k = 0; k < n; ++k) y[k] = std::complex<T>(z[k]);
  }
};

// Real lines of an even number of points are complex ones of half as many: their even elements are
// the real parts, their odd elements the imaginary ones. Of an odd number, the imaginary parts are
// zeros.
template <class T, class C>
class real_line {
 public:
  std::int64_t length() const { return is_even_ ? n_ / 2 : n_; }

 protected:
  real_line(std::int64_t n, bool inverse) : n_(n), is_even_(n % 2 == 0) {
    if (!is_even_) return;
    for (std::int64_t k = 0; k <= n / 2; ++k) turns_.emplace_back(root_of_unity(k, n, !inverse));
  }
  std::int64_t n_;
  bool is_even_;
  std::vector<std::complex<C>> turns_;
};

template <class T, class C>
struct line_to_spectrum : real_line<T, C> {
  using input = const T;
  using output = std::complex<T>;
  using real_line<T, C>::n_, real_line<T, C>::is_even_, real_line<T, C>::turns_;
  explicit line_to_spectrum(std::int64_t n) : real_line<T, C>(n, false) {}

  void read(const strided<input>& x, std::complex<C>* z) const {
    if (is_even_)
      for (std::int64_t k = 0; k < n_ / 2; ++k)
        z[k] = {static_cast<C>(x[2 * k]), static_cast<C>(x[2 * k + 1])};
    else
      for (std::int64_t k = 0; k < n_; ++k) z[k] = static_cast<C>(x[k]);
  }
  void write(const std::complex<C>* z, const strided<output>& y) const {
    const std::int64_t half = n_ / 2;
    if (!is_even_) {
      for (std::int64_t k = 0; k <= half; ++k) y[k] = std::complex<T>(z[k]);
      return;
    }
    for (std::int64_t k = 0; k <= half; ++k) {
      const std::complex<C> a = z[k == half ? 0 : k], b = std::conj(z[k == 0 ? 0 : half - k]),
                            even = (a + b) * C(0.5), odd = (a - b) * C(0.5),
                            turned = times(turns_[static_cast<std::size_t>(k)], odd);
      y[k] = {static_cast<T>(even.real() + turned.imag()),
              static_cast<T>(even.imag() - turned.real())};
    }
  }
};

/// Of a spectrum whose first element is real, as is its last one for an even number of points.
template <class T, class C>
struct line_of_spectrum : real_line<T, C> {
  using input = const std::complex<T>;
  using output = T;
  using real_line<T, C>::n_, real_line<T, C>::is_even_, real_line<T, C>::turns_;
  explicit line_of_spectrum(std::int64_t n) : real_line<T, C>(n, true) {}

  void read(const strided<input>& x, std::complex<C>* z) const {
    const std::int64_t half = n_ / 2;
    if (!is_even_) {
      z[0] = std::complex<C>(x[0]);
      for (std::int64_t k = 1; k <= half; ++k) {
        z[k] = std::complex<C>(x[k]);
        z[n_ - k] = std::conj(z[k]);
      }
      return;
    }
    for (std::int64_t k = 0; k < half; ++k) {
      const std::complex<C> a(x[k]), b = std::conj(std::complex<C>(x[half - k])), even = a + b,
                                     turned = times(turns_[static_cast<std::size_t>(k)], a - b);
      z[k] = {even.real() - turned.imag(), even.imag() + turned.real()};
    }
  }
  void write(const std::complex<C>* z, const strided<output>& y) const {
    if (is_even_)
      for (std::int64_t k = 0; k < n_ / 2; ++k) {
        y[2 * k] = static_cast<T>(z[k].real());
        y[2 * k + 1] = static_cast<T>(z[k].imag());
      }
    else
      for (std::int64_t k = 0; k < n_; ++k) y[k] = static_cast<T>(z[k].real());
  }
};

// All lines along one axis. Lines that lie side by side are read together, so that all elements of
// a cache line are used.
template <class C, class Line>
void transform_lines(const Line& line, const transform_task& task) {
  using input = typename Line::input;
  using output = typename Line::output;
  const int axis = task.axes.axis[0];
  const std::int64_t length = line.length(), in_step = task.in.strides[axis],
                     out_step = task.out.strides[axis];
  const auto transform = kept_line_transform<C>(length, task.inverse);
  std::vector<batch_dimension> batch = batch_of(task);
  if (batch.empty()) batch.push_back({1, 0, 0});
  constexpr std::int64_t elements_of_group = 1 << 16, lines_of_group = 8;
  const bool is_side_by_side = batch[0].next_in < in_step || batch[0].next_out < out_step;
  const std::int64_t together =
      is_side_by_side ? std::clamp<std::int64_t>(elements_of_group / length, 1, lines_of_group) : 1;
  const std::int64_t groups = (batch[0].count + together - 1) / together;
  std::int64_t count = groups;
  for (std::size_t d = 1; d < batch.size(); ++d) count *= batch[d].count;

  const std::int64_t ins = task.in.extents[axis], outs = task.out.extents[axis];
  const auto run = [&](std::int64_t number, const working_lines<C, Line>& work) {
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
    std::complex<C>* const from = work.from.elements();
    std::complex<C>* const to = work.to.elements();
    if (together == 1) {
      if constexpr (std::is_same_v<output, std::complex<C>> &&
                    std::is_same_v<input, const std::complex<C>>) {
        if (in_step == 1 && out_step == 1) {
          if (x != y) return transform->run(x, y);
          transform->run(x, to);
          std::copy_n(to, length, y);
          return;
        }
      }
      line.read({x, in_step}, from);
      transform->run(from, to);
      line.write(to, {y, out_step});
      return;
    }
    for (std::int64_t k = 0; k < ins; ++k)
      for (std::int64_t i = 0; i < some; ++i)
        work.in.elements()[i * ins + k] = x[k * in_step + i * batch[0].next_in];
    for (std::int64_t i = 0; i < some; ++i) {
      line.read({work.in.elements() + i * ins, 1}, from);
      transform->run(from, to);
      line.write(to, {work.out.elements() + i * outs, 1});
    }
    for (std::int64_t k = 0; k < outs; ++k)
      for (std::int64_t i = 0; i < some; ++i)
        y[k * out_step + i * batch[0].next_out] = work.out.elements()[i * outs + k];
  };
  // Enough lines for a thread that starting it pays.
  constexpr std::int64_t elements_of_thread = 1 << 13;
  const std::int64_t grain = std::max<std::int64_t>(1, elements_of_thread / (length * together));
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, grain),
                    [&](const tbb::blocked_range<std::int64_t>& range) {
                      const std::int64_t several = together > 1 ? together : 0;
                      const working_lines<C, Line> work{
                          working_memory<std::remove_const_t<input>>(ins * several),
                          working_memory<output>(outs * several),
                          working_memory<std::complex<C>>(length),
                          working_memory<std::complex<C>>(length)};
                      for (std::int64_t i = range.begin(); i != range.end(); ++i) run(i, work);
                    });
}

template <class T, class C>
void transform_axis(const transform_task& task) {
  const std::int64_t n = task.axes.points[0];
  if (kind_of(task.in.type) == kind::real) transform_lines<C>(line_to_spectrum<T, C>(n), task);
  else if (kind_of(task.out.type) == kind::real)
    transform_lines<C>(line_of_spectrum<T, C>(n), task);
  else transform_lines<C>(complex_line<T, C>{n}, task);
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
