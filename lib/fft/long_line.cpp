// A long line as a matrix: transforms of its columns, a factor for each element, and transforms of
// its rows. Each is short enough for a core's cache, and the cores share them. J. W. Cooley and
// J. W. Tukey, Math. Comput. 19 (1965) 297; as six steps in D. H. Bailey, J. Supercomput. 4 (1990)
// 23.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fft/line.hpp"
#include "fft/line_memory.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

// The roots exp(-+2 pi i m / n) of any m < n as a product of two that are kept.
template <class T>
class roots {
 public:
  roots(std::int64_t n, bool inverse) {
    while ((std::int64_t{1} << 2 * bits_) < n) ++bits_;
    const std::int64_t few = std::int64_t{1} << bits_;
    for (std::int64_t k = 0; k < few; ++k) fine_.push_back(root_of_unity(k, n, !inverse));
    for (std::int64_t k = 0; k < n; k += few) coarse_.push_back(root_of_unity(k, n, !inverse));
  }
  std::complex<T> operator()(std::int64_t m) const {
    const auto coarse = static_cast<std::size_t>(m >> bits_),
               fine = static_cast<std::size_t>(m & ((std::int64_t{1} << bits_) - 1));
    return std::complex<T>(times(coarse_[coarse], fine_[fine]));
  }

 private:
  int bits_ = 0;
  std::vector<std::complex<double>> fine_, coarse_;
};

template <class T>
class long_line : public complex_line_transform<T> {
  using number = std::complex<T>;

 public:
  long_line(std::int64_t rows, std::int64_t columns, bool inverse)
      : rows_(rows),
        columns_(columns),
        of_columns_(make_library_transform<T>(rows, inverse)),
        of_rows_(make_library_transform<T>(columns, inverse)),
        roots_(rows * columns, inverse) {}

  void run(number* in, number* out) const override {
    const host_bytes memory(static_cast<std::size_t>(rows_ * columns_), sizeof(number));
    auto* const between = reinterpret_cast<number*>(memory.data());
    // Element (j, k) of the columns' transforms belongs to wave number j of the whole line.
    transform_all(
        *of_columns_, columns_, rows_,
        [&](std::int64_t k, std::int64_t j) { return in[j * columns_ + k]; },
        [&](std::int64_t k, std::int64_t j, number value) {
          between[j * columns_ + k] = times(value, roots_(j * k));
        });
    transform_all(
        *of_rows_, rows_, columns_,
        [&](std::int64_t j, std::int64_t k) { return between[j * columns_ + k]; },
        [&](std::int64_t j, std::int64_t k, number value) { out[k * rows_ + j] = value; });
  }

 private:
  // Lines side by side are read and written together, so that all elements of a cache line are
  // used.
  template <class Read, class Write>
  static void transform_all(const complex_line_transform<T>& transform, std::int64_t lines,
                            std::int64_t length, const Read& read, const Write& write) {
    constexpr std::int64_t together = 8;
    const std::int64_t groups = (lines + together - 1) / together;
    struct memory { line_memory<number> from, to; };
    spread_over_cores(
        groups, 1, [&] { return memory{{together, length}, {together, length}}; },
        [&](std::int64_t group, const memory& own) {
          const std::int64_t first = group * together, some = std::min(together, lines - first);
          for (std::int64_t k = 0; k < length; ++k)
            for (std::int64_t i = 0; i < some; ++i) own.from.line(i)[k] = read(first + i, k);
          for (std::int64_t i = 0; i < some; ++i) transform.run(own.from.line(i), own.to.line(i));
          for (std::int64_t k = 0; k < length; ++k)
            for (std::int64_t i = 0; i < some; ++i) write(first + i, k, own.to.line(i)[k]);
        });
  }

  std::int64_t rows_, columns_;
  std::unique_ptr<complex_line_transform<T>> of_columns_, of_rows_;
  roots<T> roots_;
};

// A line of one point is its transform.
template <class T>
struct same_line : complex_line_transform<T> {
  void run(std::complex<T>* in, std::complex<T>* out) const override { *out = *in; }
};

// The rows of the matrix that a line is: the greatest divisor that is at most the root of n. 1: the
// line stays whole.
std::int64_t rows_of_line(std::int64_t n) {
  constexpr std::int64_t long_enough = 1 << 15, least_rows = 8;
  if (n < long_enough) return 1;
  auto d = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % d != 0) --d;
  return d < least_rows ? 1 : d;
}

}  // namespace

bool is_long_line(std::int64_t n) { return rows_of_line(n) > 1; }

template <class T>
std::unique_ptr<complex_line_transform<T>> make_line_transform(std::int64_t n, bool inverse) {
  if (n == 1) return std::make_unique<same_line<T>>();
  if (const std::int64_t rows = rows_of_line(n); rows > 1)
    return std::make_unique<long_line<T>>(rows, n / rows, inverse);
  return make_library_transform<T>(n, inverse);
}
template std::unique_ptr<complex_line_transform<double>> make_line_transform(std::int64_t, bool);
#if DSL_FFTW
template std::unique_ptr<complex_line_transform<float>> make_line_transform(std::int64_t, bool);
#endif

}  // namespace dsl::detail
