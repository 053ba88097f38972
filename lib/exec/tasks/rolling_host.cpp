// Rolling reductions on the host: by windows of 1, 2, 4, ... elements, each joined from two of half
// the length. A window is joined from those of its length's binary digits. All loops are over
// adjacent elements, which compilers vectorise; sums are added pairwise.
#include <algorithm>
#include <cmath>
#include <vector>

#include <tbb/parallel_for.h>

#include "exec/tasks/levels.hpp"
#include "exec/tasks/rolling_kernel.hpp"

namespace dsl::detail {

namespace {

// Each operand is an element of another window than the results that are written before it is read.
DSL_DETAIL_BEGIN_LOOPS
template <class V>
struct add_each {
  DSL_DETAIL_FN static void run(V* a, const V* b, std::size_t count) {
    DSL_DETAIL_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
  }
};
template <class V>
struct divide_each {
  DSL_DETAIL_FN static void run(V* a, V by, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a[i] /= by;
  }
};
template <class V, bool Max>
struct extreme_each {
  DSL_DETAIL_FN static void run(V* a, const V* b, std::size_t count) {
    DSL_DETAIL_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i)
      a[i] = Max ? math::max(a[i], b[i]) : math::min(a[i], b[i]);
  }
};
/// `share`: the other window's part of both windows' elements; `both`: that part of the first one's
/// number of elements.
struct variance_each {
  DSL_DETAIL_FN static void run(double* mean, double* squares, const double* other_mean,
                                const double* other_squares, double share, double both,
                                std::size_t count) {
    DSL_DETAIL_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i) {
      const double d = other_mean[i] - mean[i];
      mean[i] += d * share;
      squares[i] += other_squares[i] + d * d * both;
    }
  }
};
DSL_DETAIL_END_LOOPS

/// What is known of each window. `join` adds what is known of windows `ahead` elements later, of
/// `others` elements, to that of the first `count` windows, of `mine` elements.
template <class V>
struct joined_sums {
  std::vector<V> value;

  explicit joined_sums(std::size_t n) : value(n) {}
  void set(std::size_t i, V x) { value[i] = x; }
  void join(const joined_sums& with, std::size_t count, std::size_t ahead, double, double) {
    levels<add_each<V>>::run(value.data(), with.value.data() + ahead, count);
  }
  void finish(const rolling_task& task, std::size_t count) {
    if (task.function == rolling_function::mean)
      levels<divide_each<V>>::run(value.data(), static_cast<V>(task.window), count);
  }
};

template <class V, bool Max>
struct joined_extrema {
  std::vector<V> value;

  explicit joined_extrema(std::size_t n) : value(n) {}
  void set(std::size_t i, V x) { value[i] = x; }
  void join(const joined_extrema& with, std::size_t count, std::size_t ahead, double, double) {
    levels<extreme_each<V, Max>>::run(value.data(), with.value.data() + ahead, count);
  }
  void finish(const rolling_task&, std::size_t) {}
};

/// Sums of the squared differences from the means (Chan, Golub and LeVeque, Algorithms for
/// computing the sample variance, 1983).
struct joined_variances {
  std::vector<double> mean, value;

  explicit joined_variances(std::size_t n) : mean(n), value(n) {}
  void set(std::size_t i, double x) {
    mean[i] = x;
    value[i] = x - x;  // NaN for an infinity, as for more elements.
  }
  void join(const joined_variances& with, std::size_t count, std::size_t ahead, double mine,
            double others) {
    const double share = others / (mine + others);
    levels<variance_each>::run(mean.data(), value.data(), with.mean.data() + ahead,
                               with.value.data() + ahead, share, mine * share, count);
  }
  void finish(const rolling_task& task, std::size_t count) {
    const std::int64_t free = std::max<std::int64_t>(task.window - task.ddof, 0);
    levels<divide_each<double>>::run(value.data(), static_cast<double>(free), count);
    if (task.function == rolling_function::std)
      for (std::size_t i = 0; i < count; ++i) value[i] = std::sqrt(value[i]);
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
      else
        windows.join(powers, count, done, static_cast<double>(done), static_cast<double>(length));
      done += length;
    }
    if (2 * length <= window)
      powers.join(powers, elements - 2 * length + 1, length, static_cast<double>(length),
                  static_cast<double>(length));
  }
  windows.finish(task, count);
  with_memory_type<V>(task.result, [&](auto type) {
    using T = decltype(type);
    T* const to = static_cast<T*>(task.results) + row * (task.length - task.window + 1) + first;
    for (std::size_t i = 0; i < count; ++i) to[i] = rounded<T>(windows.value[i]);
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
