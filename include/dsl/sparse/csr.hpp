// Sparse matrices in compressed rows (CSR).
#pragma once

#include <dsl/exec/tasks/csr_product.hpp>
#include <dsl/lang/by_key.hpp>
#include <dsl/lang/scan.hpp>
#include <dsl/lang/select.hpp>
#include <dsl/lang/sort.hpp>

namespace dsl {

namespace detail {

template <class T>
concept sparse_element =
    element<T> && (dtype_v<T> == dtype::float32 || dtype_v<T> == dtype::float64 ||
                   kind_of(dtype_v<T>) == kind::complex);

/// Where the entries of a sparse matrix are, as an operand of a product.
struct csr_structure {
  view<const std::int32_t, 1> columns, offsets, parts;
  std::int64_t rows, width;
  std::int32_t long_rows, part_count;
};

/// Least and greatest element. Waits.
template <class X>
struct range_of_elements {
  std::int64_t least, greatest;
  explicit range_of_elements(const X& x) {
    scalar<std::int64_t> low, high;
    const auto wide = cast<std::int64_t>(x);
    tie(low, high) = std::tuple{min(wide), max(wide)};
    least = low.value();
    greatest = high.value();
  }
  bool is_within(std::int64_t first, std::int64_t end) const {
    return first <= least && greatest < end;
  }
};

}  // namespace detail

namespace sparse {

/// A sparse matrix in compressed rows (CSR), in the memory of one device: the values of its
/// entries row by row, their columns, and the offset of each row's first entry. Within a row
/// columns may stand in any order and more than once; they then count together.
///
/// T: float, double, or a complex number of these. At most 2^31 - 1 rows, columns and entries.
/// Copies are deep; a move does not copy.
/// ```cpp
/// // 1 0 2
/// // 0 0 0
/// // 0 3 0
/// const dsl::sparse::csr<float> a(3, 3, dsl::to_device(std::vector{1.f, 2.f, 3.f}),
///                                 dsl::to_device(std::vector{0, 2, 1}),
///                                 dsl::to_device(std::vector{0, 2, 2, 3}));
/// ```
template <detail::sparse_element T>
class csr {
 public:
  using value_type = T;

  /// A matrix of `rows` x `width` of three arrays, which a move saves from being copied. The k-th
  /// entry has the value values[k] and is in column columns[k]; row i has the entries from
  /// offsets[i] to before offsets[i + 1]. Waits, and throws shape_error if the lengths do not fit,
  /// value_error unless the offsets rise from 0 to the number of entries, index_error if a column
  /// is not in [0, width).
  csr(std::int64_t rows, std::int64_t width, array<T> values, array<std::int32_t> columns,
      array<std::int32_t> offsets)
      : values_(std::move(values)),
        columns_(std::move(columns)),
        offsets_(std::move(offsets)),
        rows_(rows),
        width_(width) {
    detail::require_csr_sizes(rows, width, values_.size());
    detail::require_csr_arrays(rows, values_.size(), columns_.size(), offsets_.size());
    check_columns();
    check_offsets();
  }

  std::int64_t extent(int axis) const { return axis == 0 ? rows_ : width_; }
  dsl::extents<2> extents() const { return {rows_, width_}; }
  /// Number of entries.
  std::int64_t entries() const { return values_.size(); }
  /// The device that has the matrix.
  device where() const { return offsets_.where(); }

  // The three arrays.
  const array<T>& values() const { return values_; }
  const array<std::int32_t>& columns() const { return columns_; }
  const array<std::int32_t>& offsets() const { return offsets_; }

  detail::csr_structure structure() const {
    return {columns_.view(), offsets_.view(), parts_.view(), rows_,
            width_,          long_rows_,      part_count_};
  }

 private:
  void check_columns() const {
    if (entries() == 0) return;
    const detail::range_of_elements of(columns_);
    if (!of.is_within(0, width_)) detail::throw_bad_column(of.least, of.greatest, width_);
  }
  void check_offsets() {
    bool are_right = offsets_(0).value() == 0 && offsets_(-1).value() == entries();
    std::int64_t longest = 0;
    if (rows_ > 0) {
      const auto offsets = cast<std::int64_t>(offsets_);
      const detail::range_of_elements lengths(offsets(slice(1, end)) - offsets(slice(0, -1)));
      are_right = are_right && lengths.least >= 0;
      longest = lengths.greatest;
    }
    if (!are_right) detail::throw_bad_offsets(rows_, entries());
    const device_guard guard(where());
    parts_ = array<std::int32_t>(1);
    if (longest <= detail::longest_csr_row(rows_, entries())) return;
    const auto found = detail::find_long_rows(offsets_.copy_to_host().data(), rows_);
    parts_ = to_device(found.table);
    long_rows_ = found.rows;
    part_count_ = found.parts;
  }

  array<T> values_;
  array<std::int32_t> columns_, offsets_, parts_;
  std::int64_t rows_, width_;
  std::int32_t long_rows_ = 0, part_count_ = 0;
};

}  // namespace sparse

namespace detail {

/// A matrix of entries in row-major order, of which no two have the same place. `keys`: row * width
/// + column.
template <class T>
sparse::csr<T> csr_of_sorted(std::int64_t rows, std::int64_t width, const array<std::int64_t>& keys,
                             array<T> values) {
  const std::int64_t divisor = width > 0 ? width : 1;
  return {rows, width, std::move(values), array<std::int32_t>(cast<std::int32_t>(keys % divisor)),
          array<std::int32_t>(
              cast<std::int32_t>(searchsorted(keys, arange<std::int64_t>(rows + 1) * width)))};
}

template <class T>
sparse::csr<T> csr_of_matrix(const array<T, 2>& m) {
  const dsl::extents<2> shape = m.extents();
  require_csr_sizes(shape[0], shape[1], 0);
  const auto is_entry = m != T(0);
  const array<std::int64_t> keys = compress(is_entry, index(0, shape) * shape[1] + index(1, shape));
  array<T> values = compress(is_entry, m);
  return csr_of_sorted<T>(shape[0], shape[1], keys, std::move(values));
}

template <class T>
sparse::csr<T> csr_of_entries(std::int64_t rows, std::int64_t width,
                              const array<std::int64_t>& row_of,
                              const array<std::int64_t>& column_of, const array<T>& values) {
  const std::int64_t n = values.size();
  require_csr_sizes(rows, width, n);
  require_coo(rows, width, row_of.size(), column_of.size(), n);
  if (n == 0) return csr_of_sorted<T>(rows, width, array<std::int64_t>(0), array<T>(0));
  const range_of_elements r(row_of), c(column_of);
  if (!r.is_within(0, rows)) throw_bad_row(r.least, r.greatest, rows);
  if (!c.is_within(0, width)) throw_bad_column(c.least, c.greatest, width);

  const array<std::int64_t> keys = row_of * width + column_of, order = argsort(keys),
                            sorted = take(keys, order);
  const auto number = arange<std::int64_t>(n);
  const array<bool> is_new =
      (number == 0) | (sorted != take(sorted, max(number - 1, std::int64_t{0})));
  const array<std::int64_t> place = cumsum(cast<std::int64_t>(is_new)) - 1,
                            places = compress(is_new, sorted);
  array<T> sums = sum_by(place, take(values, order), places.size());
  return csr_of_sorted<T>(rows, width, places, std::move(sums));
}

template <class X>
using sparse_value = element_t<trace_t<operand_t<X>>::type.type>;
template <class X>
constexpr bool require_sparse_values() {
  constexpr bool has_values = sparse_element<sparse_value<X>>;
  static_assert(has_values, "a sparse matrix has values of float, double or complex numbers");
  return has_values;
}

}  // namespace detail

namespace sparse {

/// The matrix of the elements of a matrix that are not zero; NaN is not zero. `m` is an array, a
/// view or an expression. Waits for their number. Throws shape_error if there are too many.
template <class M>
  requires detail::operands<M>
auto from_dense(const M& m) {
  using T = detail::sparse_value<M>;
  constexpr bool is_matrix = detail::operand_t<M>::rank == 2;
  static_assert(is_matrix, "dsl::sparse::from_dense takes a matrix, of two dimensions");
  if constexpr (!is_matrix || !detail::require_sparse_values<M>()) {
    return refused{};
  } else {
    const auto operand = detail::as_operand(m);
    const device_guard guard(detail::home_of(operand));
    return detail::csr_of_matrix<T>(operand);
  }
}

/// A matrix of `rows` x `width` with the value values[k] in row row_of[k] and column column_of[k],
/// in any order, as SciPy's coo_matrix: what is in one place is added up, always in the same order;
/// zeros stay entries. Three arrays, views or expressions of one length. Waits, and throws
/// shape_error for arrays of different lengths and index_error for a place outside the matrix.
/// ```cpp
/// const auto b = dsl::sparse::from_coo(rows, width, row_of, column_of, values);
/// ```
template <class I, class J, class V>
  requires detail::operands<I, J, V>
auto from_coo(std::int64_t rows, std::int64_t width, const I& row_of, const J& column_of,
              const V& values) {
  if constexpr (!detail::require_sparse_values<V>() || !detail::require_keys<I>() ||
                !detail::require_keys<J>()) {
    return refused{};
  } else {
    using T = detail::sparse_value<V>;
    const device_guard guard(detail::home_of(
        detail::as_operand(row_of), detail::as_operand(column_of), detail::as_operand(values)));
    return detail::csr_of_entries<T>(rows, width, cast<std::int64_t>(row_of),
                                     cast<std::int64_t>(column_of), values);
  }
}

}  // namespace sparse
}  // namespace dsl
