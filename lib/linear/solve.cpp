#include <dsl/linear/solve.hpp>

#include <algorithm>
#include <array>
#include <string>

#include "linear/packed_copy.hpp"
#include "linear/small_systems.hpp"
#include "linear/systems.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

bool is_packed(const operand& o) { return is_packed_and_apart(o, nullptr, 0); }

void require_square(const std::int64_t* extents, int rank, const char* function) {
  if (extents[rank - 2] != extents[rank - 1])
    raise<shape_error>(std::string(function) + " of matrices of shape " +
                       spell_shape(extents, rank) + ", which are not square");
}

void shape_of_solution(const std::int64_t* a, int rank_a, const std::int64_t* b, int rank_b,
                       std::int64_t* solution) {
  require_square(a, rank_a, "solve");
  const bool vectors = rank_b < rank_a;
  const int batch = rank_a - 2;
  const auto refuse = [&](const std::string& why) {
    raise<shape_error>("solve of matrices of shape " + spell_shape(a, rank_a) +
                       " and right sides of shape " + spell_shape(b, rank_b) + ": " + why);
  };
  if (b[rank_b - (vectors ? 1 : 2)] != a[rank_a - 1])
    refuse(std::to_string(a[rank_a - 1]) + " unknowns and " +
           std::to_string(b[rank_b - (vectors ? 1 : 2)]) + " equations");
  for (int d = 0; d < batch; ++d) {
    if (a[d] != b[d] && a[d] != 1 && b[d] != 1) refuse("the batches do not broadcast");
    solution[d] = a[d] == 1 ? b[d] : a[d];
  }
  std::copy(b + batch, b + rank_b, solution + batch);
}

text describe_systems(const operand& a) {
  const std::int64_t n = a.extents[a.rank - 1];
  return text(("systems of " + spell_shape(a.extents, a.rank) + ": " +
               std::string(n <= most_small_unknowns ? "a kernel, one thread a system"
                                                    : "calls of the device's LAPACK"))
                  .c_str());
}

namespace {

std::int64_t product_of(const std::int64_t* extents, int count) {
  std::int64_t all = 1;
  for (int d = 0; d < count; ++d) all *= extents[d];
  return all;
}

template <class T>
void run_small(const operand& solution, const operand& a, const operand& b, const stream& on) {
  const int batch = a.rank - 2;
  const std::int64_t n = a.extents[a.rank - 1], count = product_of(solution.extents, batch),
                     right_sides = b.rank < a.rank ? 1 : b.extents[b.rank - 1];
  const auto next = [batch](const operand& o, std::int64_t size) {
    return product_of(o.extents, batch) == 1 ? 0 : size;
  };
  const small_systems<T> all{reinterpret_cast<const T*>(a.word[0]),
                             reinterpret_cast<const T*>(b.word[0]),
                             reinterpret_cast<T*>(solution.word[0]),
                             count,
                             next(a, n * n),
                             next(b, n * right_sides),
                             right_sides};
  if (on.where().kind == backend::cuda) solve_small_on_gpu(all, n, on);
  else solve_small_on_host(all, n);
}

void run_small_of_type(const operand& solution, const operand& a, const operand& b,
                       const stream& on) {
  const operand operands[] = {a, b, solution};
  use_operands(operands, 2, 1, on);
  switch (solution.type) {
    case dtype::float32: return run_small<float>(solution, a, b, on);
    case dtype::float64: return run_small<double>(solution, a, b, on);
    case dtype::complex64: return run_small<dsl::complex<float>>(solution, a, b, on);
    default: return run_small<dsl::complex<double>>(solution, a, b, on);
  }
}

void run_large(const operand& solution, const packed_copy& factors, const packed_copy& sides,
               std::int64_t count, const stream& on) {
  const operand& a = factors.all;
  const operand& x = sides.all;
  const std::int64_t n = a.extents[a.rank - 1];
  const bool vectors = x.rank < a.rank;
  const operand operands[] = {a, x};
  use_operands(operands, 0, 2, on);
  const large_systems all{a.type,       n,         vectors ? 1 : x.extents[x.rank - 2], count,
                          factors.at(), sides.at()};
  if (on.where().kind == backend::cuda) solve_on_gpu(all, on);
  else solve_on_host(all);
  const operand solved = vectors ? x : transposed(x);
  copy_all(&solved, &solution, 1);
}

}  // namespace

void run_systems(const operand& solution, const operand& a, const operand& b) {
  const device where = solution.memory->where;
  require_addressable(where, "solve");
  if (product_of(solution.extents, solution.rank) == 0) return;
  const int batch = a.rank - 2;
  const std::int64_t n = a.extents[a.rank - 1];
  const stream on = stream::current(where);
  // The batch's shape, and matrices of n rows.
  std::array<std::int64_t, max_rank> shape;
  std::copy(solution.extents, solution.extents + batch, shape.begin());
  const auto of_batch = [&](std::int64_t rows, std::int64_t columns) {
    shape[static_cast<std::size_t>(batch)] = rows;
    shape[static_cast<std::size_t>(batch) + 1] = columns;
    return shape.data();
  };
  if (n > most_small_unknowns) {
    const packed_copy factors(a, of_batch(n, n), a.rank, where);
    const bool vectors = b.rank < a.rank;
    const packed_copy sides(vectors ? b : transposed(b),
                            vectors ? of_batch(n, 1) : of_batch(b.extents[b.rank - 1], n), b.rank,
                            where);
    return run_large(solution, factors, sides, product_of(solution.extents, batch), on);
  }
  // One matrix may be all systems'; a batch that is broadcast otherwise gets memory of its own.
  const auto fits = [&](const operand& o) {
    return std::equal(o.extents, o.extents + batch, solution.extents) ||
           product_of(o.extents, batch) == 1;
  };
  if (!fits(a))
    run_small_of_type(solution, packed_copy(a, of_batch(n, n), a.rank, where).all, b, on);
  else if (!fits(b))
    run_small_of_type(solution, a, packed_copy(b, solution.extents, b.rank, where).all, on);
  else run_small_of_type(solution, a, b, on);
}

}  // namespace dsl::detail
