#include <dsl/linear/matmul.hpp>

#include <algorithm>
#include <array>
#include <string>

#include "linear/matrices.hpp"
#include "mem/back_end.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

matrix matrix_of(const operand& o, bool vector_is_column) {
  const char* const at = reinterpret_cast<const char*>(o.word[0]);
  if (o.rank == 1) {
    // Elements one `stride` after another are a column of rows, or, transposed, a row of columns.
    const std::int64_t n = o.extents[0], step = std::max<std::int64_t>(o.strides[0], 1);
    return vector_is_column ? matrix{at, n, 1, step, false} : matrix{at, 1, n, step, true};
  }
  const std::int64_t rows = o.extents[o.rank - 2], columns = o.extents[o.rank - 1],
                     down = o.strides[o.rank - 2], along = o.strides[o.rank - 1];
  if (is_row_major(o))
    return {at, rows, columns, std::max({down, columns, std::int64_t{1}}), false};
  return {at, rows, columns, std::max({along, rows, std::int64_t{1}}), true};
}

bool is_row_major(const operand& o) {
  const std::int64_t rows = o.extents[o.rank - 2], columns = o.extents[o.rank - 1];
  return (columns <= 1 || o.strides[o.rank - 1] == 1) &&
         (rows <= 1 || o.strides[o.rank - 2] >= std::max<std::int64_t>(columns, 1));
}

namespace {

bool is_column_major(const operand& o) {
  const std::int64_t rows = o.extents[o.rank - 2], columns = o.extents[o.rank - 1];
  return (rows <= 1 || o.strides[o.rank - 2] == 1) &&
         (columns <= 1 || o.strides[o.rank - 1] >= std::max<std::int64_t>(rows, 1));
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

void run_product(const operand& product, const operand& a, const operand& b) {
  const device where = product.memory->where;
  require_addressable(where, "matmul");
  products all{product.type,
               matrix_of(a, false),
               matrix_of(b, true),
               reinterpret_cast<void*>(product.word[0]),
               1,
               0,
               0,
               0};
  const std::int64_t size = all.a.rows * all.b.columns;
  std::array<batch_dimension, max_rank> batch;
  int count = 0;
  const int batch_rank = product.rank - (a.rank > 1) - (b.rank > 1);
  std::int64_t next_c = size;
  for (int d = batch_rank - 1; d >= 0; --d) {
    const std::int64_t n = product.extents[d];
    if (n == 0) return;
    const batch_dimension next{n, stride_of_batch(a, d, batch_rank),
                               stride_of_batch(b, d, batch_rank), next_c};
    next_c *= n;
    if (n == 1) continue;
    // One with the dimension inside it, if both factors go on at the same distances.
    if (count > 0) {
      batch_dimension& inner = batch[count - 1];
      if (next.next_a == inner.next_a * inner.count && next.next_b == inner.next_b * inner.count) {
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

text describe_product(const operand& a, const operand& b) {
  return text(("matmul of " + spell_shape(a.extents, a.rank) + " and " +
               spell_shape(b.extents, b.rank) + ": a call of the device's BLAS")
                  .c_str());
}

}  // namespace dsl::detail
