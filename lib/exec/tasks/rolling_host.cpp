// Rolling reductions on the host: by windows of 1, 2, 4, ... elements, each joined from two of half
// the length. A window is joined from those of its length's binary digits. All loops are over
// adjacent elements, which compilers vectorise; sums are added pairwise.
#include <algorithm>
#include <cmath>
#include <vector>

#include <tbb/parallel_for.h>

#include "exec/tasks/rolling_kernel.hpp"

namespace dsl::detail {

namespace {

template <class V>
struct joined_sums {
  std::vector<V> sum;
  explicit joined_sums(std::size_t n) : sum(n) {}
  void set(std::size_t i, V x) { sum[i] = x; }
  /// Joins `count` windows of `mine` elements with those of `others` elements that begin `ahead`
  /// later.
  void join(const joined_sums& with, std::size_t count, std::size_t ahead, V, V) {
    V* const a = sum.data();
    const V* const b = with.sum.data() + ahead;
    for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
  }
  V result(const rolling_task& task, std::size_t i) const {
    return rolling_sum<V>::result(task, sum[i]);
  }
};

template <class V, bool Max>
struct joined_extrema : joined_sums<V> {
  using joined_sums<V>::joined_sums;
  void join(const joined_extrema& with, std::size_t count, std::size_t ahead, V, V) {
    V* const a = this->sum.data();
    const V* const b = with.sum.data() + ahead;
    for (std::size_t i = 0; i < count; ++i)
      a[i] = Max ? math::max(a[i], b[i]) : math::min(a[i], b[i]);
  }
  V result(const rolling_task&, std::size_t i) const { return this->sum[i]; }
};

/// Means, and sums of the squared differences from them (Chan, Golub and LeVeque, Algorithms for
/// computing the sample variance, 1983).
struct joined_variances {
  std::vector<double> mean, squares;
  explicit joined_variances(std::size_t n) : mean(n), squares(n) {}
  void set(std::size_t i, double x) {
    mean[i] = x;
    squares[i] = x - x;  // NaN for an infinity, as for more elements.
  }
  void join(const joined_variances& with, std::size_t count, std::size_t ahead, double mine,
            double others) {
    double *const m = mean.data(), *const s = squares.data();
    const double *const other_m = with.mean.data() + ahead, *const other_s =
                                                                with.squares.data() + ahead;
    const double share = others / (mine + others), both = mine * share;
    for (std::size_t i = 0; i < count; ++i) {
      const double d = other_m[i] - m[i];
      m[i] += d * share;
      s[i] += other_s[i] + d * d * both;
    }
  }
  double result(const rolling_task& task, std::size_t i) const {
    const std::int64_t free = std::max<std::int64_t>(task.window - task.ddof, 0);
    const double variance = squares[i] / static_cast<double>(free);
    return task.function == rolling_function::std ? std::sqrt(variance) : variance;
  }
};

/// `count` windows from element `first` of a row on.
template <class V, class Joined>
void reduce_some(const rolling_task& task, std::int64_t row, std::int64_t first,
                 std::size_t count) {
  const auto window = static_cast<std::size_t>(task.window), elements = count + window - 1;
  // Windows of `length` elements, and those of `done`.
  Joined powers(elements), windows(0);
  with_memory_type<V>(task.type, [&](auto type) {
    using T = decltype(type);
    const T* const from = static_cast<const T*>(task.elements) + row * task.length + first;
    for (std::size_t i = 0; i < elements; ++i) powers.set(i, widened<V>(from[i]));
  });
  std::size_t done = 0;
  for (std::size_t length = 1; length <= window; length *= 2) {
    if ((window & length) != 0) {
      if (done == 0) windows = powers;
      else windows.join(powers, count, done, static_cast<V>(done), static_cast<V>(length));
      done += length;
    }
    if (2 * length <= window)
      powers.join(powers, elements - 2 * length + 1, length, static_cast<V>(length),
                  static_cast<V>(length));
  }
  with_memory_type<V>(task.result, [&](auto type) {
    using T = decltype(type);
    T* const to = static_cast<T*>(task.results) + row * (task.length - task.window + 1) + first;
    for (std::size_t i = 0; i < count; ++i) to[i] = rounded<T>(windows.result(task, i));
  });
}

template <class V, class Joined>
void reduce_all(const rolling_task& task) {
  // Few enough that they stay in a core's caches, and many more than a window has.
  const std::int64_t results = task.length - task.window + 1,
                     some = std::max<std::int64_t>(4096, 4 * task.window),
                     parts = (results + some - 1) / some;
  tbb::parallel_for(std::int64_t{0}, task.count / task.length * parts, [&](std::int64_t part) {
    const std::int64_t first = part % parts * some;
    reduce_some<V, Joined>(task, part / parts, first,
                           static_cast<std::size_t>(std::min(some, results - first)));
  });
}

template <class V> void reduce_as(const rolling_task& task, rolling_sum<V>) {
  reduce_all<V, joined_sums<V>>(task);
}
template <class V, bool Max> void reduce_as(const rolling_task& task, rolling_extremum<V, Max>) {
  reduce_all<V, joined_extrema<V, Max>>(task);
}
template <class V> void reduce_as(const rolling_task& task, rolling_variance<V>) {
  reduce_all<V, joined_variances>(task);
}

}  // namespace

void run_in_memory(const rolling_task& task) {
  with_rolling_function(task, [&](auto function) { reduce_as(task, function); });
}

}  // namespace dsl::detail
