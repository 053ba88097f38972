#include <dsl/linear/matmul.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "linear/matrices.hpp"
#include "mem/back_end.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

// Whether each row's elements follow each other, and the rows do not overlap.
bool is_row_major(const operand& o) {
  const std::int64_t rows = o.extents[o.rank - 2], columns = o.extents[o.rank - 1];
  return (columns <= 1 || o.strides[o.rank - 1] == 1) &&
         (rows <= 1 || o.strides[o.rank - 2] >= std::max<std::int64_t>(columns, 1));
}

bool is_column_major(const operand& o) {
  const std::int64_t rows = o.extents[o.rank - 2], columns = o.extents[o.rank - 1];
  return (rows <= 1 || o.strides[o.rank - 2] == 1) &&
         (columns <= 1 || o.strides[o.rank - 1] >= std::max<std::int64_t>(rows, 1));
}

// The last two dimensions of an operand; of one of rank 1 a matrix of one row or one column. BLAS
// knows conjugates of transposed matrices alone.
matrix matrix_of(const operand& o, bool vector_is_column, bool conjugated) {
  const char* const at = reinterpret_cast<const char*>(o.word[0]);
  if (o.rank == 1) {
    // Elements one `stride` after another are a column of rows, or, transposed, a row of columns.
    const std::int64_t n = o.extents[0], step = std::max<std::int64_t>(o.strides[0], 1);
    if (!vector_is_column) return {at, 1, n, step, true, conjugated};
    if (conjugated) return {at, n, 1, std::max<std::int64_t>(n, 1), true, true};
    return {at, n, 1, step, false, false};
  }
  const std::int64_t rows = o.extents[o.rank - 2], columns = o.extents[o.rank - 1],
                     down = o.strides[o.rank - 2], along = o.strides[o.rank - 1];
  if (!conjugated && is_row_major(o))
    return {at, rows, columns, std::max({down, columns, std::int64_t{1}}), false, false};
  return {at, rows, columns, std::max({along, rows, std::int64_t{1}}), true, conjugated};
}

// A dimension of a batch, and the distances in elements of both factors and of the product.
struct batch_dimension { std::int64_t count, next_a, next_b, next_c; };

std::int64_t stride_of_batch(const operand& o, int dimension, int rank) {
  const int own = dimension - (rank - (o.rank - 2));
  return o.rank > 2 && own >= 0 && o.extents[own] != 1 ? o.strides[own] : 0;
}

}  // namespace

bool may_be_multiplied(const operand& factor) {
  if (factor.kind != operand_kind::array) return false;
  if (factor.rank == 1) return factor.extents[0] <= 1 || factor.strides[0] >= 1;
  return is_row_major(factor) || is_column_major(factor);
}

bool may_be_conjugated(const operand& factor) {
  if (kind_of(factor.type) != kind::complex) return may_be_multiplied(factor);
  if (factor.kind != operand_kind::array) return false;
  if (factor.rank == 1) return factor.extents[0] <= 1 || factor.strides[0] == 1;
  return is_column_major(factor);
}

bool may_be_product(const operand& product) {
  if (product.kind != operand_kind::array) return false;
  // Rows whose elements follow each other, and that do not overlap.
  std::int64_t least = 1;
  for (int d = product.rank - 1; d >= 0; --d) {
    const std::int64_t n = product.extents[d], step = product.strides[d];
    if (n <= 1) continue;
    if (d == product.rank - 1 ? step != 1 : step < least) return false;
    least = step * n;
  }
  return true;
}

bool may_be_weight(dtype product, std::complex<double> weight) {
  if (real_of(product) != dtype::float64) weight = std::complex<float>(weight);
  return std::isfinite(weight.real()) && std::isfinite(weight.imag()) && weight != 0.0;
}

void shape_of_product(const std::int64_t* a, int rank_a, const std::int64_t* b, int rank_b,
                      std::int64_t* product) {
  const auto refuse = [&](const std::string& why) {
    raise<shape_error>("matmul of shapes " + spell_shape(a, rank_a) + " and " +
                       spell_shape(b, rank_b) + ": " + why);
  };
  const std::int64_t inner_a = a[rank_a - 1], inner_b = b[rank_b == 1 ? 0 : rank_b - 2];
  if (inner_a != inner_b)
    refuse("rows of " + std::to_string(inner_a) + " elements and columns of " +
           std::to_string(inner_b));
  const int batch_a = std::max(rank_a - 2, 0), batch_b = std::max(rank_b - 2, 0),
            batch = std::max(batch_a, batch_b);
  for (int d = 0; d < batch; ++d) {
    const std::int64_t of_a = d < batch - batch_a ? 1 : a[d - (batch - batch_a)],
                       of_b = d < batch - batch_b ? 1 : b[d - (batch - batch_b)];
    if (of_a != of_b && of_a != 1 && of_b != 1) refuse("the batches do not broadcast");
    *product++ = of_a == 1 ? of_b : of_a;
  }
  if (rank_a > 1) *product++ = a[rank_a - 2];
  if (rank_b > 1) *product = b[rank_b - 1];
}

void run_product(const operand& product, const operand* factors, unsigned conjugated,
                 const product_weights& weights) {
  const operand &a = factors[0], &b = factors[1];
  const device where = product.memory->where;
  require_addressable(where, "matmul");
  if (kind_of(product.type) != kind::complex) conjugated = 0;
  const matrix left = matrix_of(a, false, (conjugated & 1) != 0),
               right = matrix_of(b, true, (conjugated & 2) != 0);
  // A vector's elements are rows of one element, or one row.
  const bool has_rows = a.rank > 1 && b.rank > 1 && left.rows > 1;
  products all{product.type,
               weights.times,
               weights.plus,
               left,
               right,
               reinterpret_cast<void*>(product.word[0]),
               has_rows ? product.strides[product.rank - 2] : right.columns,
               1,
               0,
               0,
               0};
  const std::int64_t size = left.rows * right.columns;
  std::array<batch_dimension, max_rank> batch;
  int count = 0;
  const int batch_rank = product.rank - (a.rank > 1) - (b.rank > 1);
  for (int d = batch_rank - 1; d >= 0; --d) {
    const std::int64_t n = product.extents[d];
    if (n == 0) return;
    const batch_dimension next{n, stride_of_batch(a, d, batch_rank),
                               stride_of_batch(b, d, batch_rank), product.strides[d]};
    if (n == 1) continue;
    // One with the dimension inside it, if all three go on at the same distances.
    if (count > 0) {
      batch_dimension& inner = batch[count - 1];
      if (next.next_a == inner.next_a * inner.count && next.next_b == inner.next_b * inner.count &&
          next.next_c == inner.next_c * inner.count) {
        inner.count *= n;
        continue;
      }
    }
    batch[count++] = next;
  }
  if (size == 0) return;
  const stream on = stream::current(where);
  const operand operands[] = {a, b, product};
  use_operands(operands, 2, 1, on);
  if (count > 0)
    all.count = batch[0].count, all.next_a = batch[0].next_a, all.next_b = batch[0].next_b,
    all.next_c = batch[0].next_c;
  const std::int64_t bytes = size_of(product.type);
  const auto run = [&](const auto& self, int dimension, std::int64_t to_a, std::int64_t to_b,
                       std::int64_t to_c) -> void {
    if (dimension > 0) {
      const batch_dimension& d = batch[dimension];
      for (std::int64_t i = 0; i < d.count; ++i)
        self(self, dimension - 1, to_a + i * d.next_a, to_b + i * d.next_b, to_c + i * d.next_c);
      return;
    }
    products some = all;
    some.a.at += to_a * bytes;
    some.b.at += to_b * bytes;
    some.c = static_cast<char*>(some.c) + to_c * bytes;
    if (where.kind == backend::cuda) multiply_on_gpu(some, on);
    else multiply_on_host(some);
  };
  run(run, std::max(count - 1, 0), 0, 0, 0);
}

text describe_product(const operand* factors, const product_weights& weights) {
  std::string all = "matmul of " + spell_shape(factors[0].extents, factors[0].rank) + " and " +
                    spell_shape(factors[1].extents, factors[1].rank) +
                    ": a call of the device's BLAS";
  if (weights.times != 1.0) all += ", which multiplies it by a number";
  if (weights.plus != 0.0) all += ", which adds it to the target";
  return text(all.c_str());
}

}  // namespace dsl::detail
