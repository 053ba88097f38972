#include <dsl/linear/decompositions.hpp>

#include "linear/decompositions.hpp"
#include "linear/packed_copy.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

std::int64_t matrices_in(const operand& o) {
  std::int64_t count = 1;
  for (int d = 0; d < o.rank - 2; ++d) count *= o.extents[d];
  return count;
}
void* at(const operand& o) { return reinterpret_cast<void*>(o.word[0]); }

template <class Call, std::size_t N>
void run(const Call& call, const operand (&written)[N], const char* function) {
  const device where = written[0].memory->where;
  require_addressable(where, function);
  const stream on = stream::current(where);
  use_operands(written, 0, static_cast<int>(N), on);
  if (where.kind == backend::cuda) decompose_on_gpu(call, on);
  else decompose_on_host(call);
}

bool has_elements(const operand& matrices) {
  return matrices_in(matrices) * matrices.extents[matrices.rank - 1] *
             matrices.extents[matrices.rank - 2] >
         0;
}

}  // namespace

void run_cholesky(const operand& lower, const operand& a) {
  require_addressable(lower.memory->where, "cholesky");
  if (!has_elements(a)) return;
  copy_all(&a, &lower, 1);
  run(cholesky_call{a.type, a.extents[a.rank - 1], matrices_in(a), at(lower)}, {lower}, "cholesky");
}

void run_eigh(const operand& values, const operand& vectors) {
  if (!has_elements(vectors)) return;
  run(eigh_call{vectors.type, vectors.extents[vectors.rank - 1], matrices_in(vectors), at(values),
                at(vectors)},
      {values, vectors}, "eigh");
}

void run_svd(const operand& u, const operand& s, const operand& vh, const operand& a) {
  if (!has_elements(a)) return;
  run(svd_call{a.type, a.extents[a.rank - 2], a.extents[a.rank - 1], matrices_in(a), at(a), at(u),
               at(s), at(vh)},
      {u, s, vh, a}, "svd");
}

void run_singular_values(const operand& s, const operand& a) {
  const device where = s.memory->where;
  require_addressable(where, "svdvals");
  if (!has_elements(a)) return;
  const bool is_tall = a.extents[a.rank - 2] > a.extents[a.rank - 1];
  const operand wide = is_tall ? transposed(a) : a;
  const packed_copy copy(wide, wide.extents, wide.rank, where);
  run(svd_call{a.type, wide.extents[a.rank - 2], wide.extents[a.rank - 1], matrices_in(a),
               copy.at(), nullptr, at(s), nullptr},
      {s, copy.all}, "svdvals");
}

text describe_singular_values(const operand& a) {
  return text(
      ("svdvals of " + spell_shape(a.extents, a.rank) + ": calls of the device's LAPACK").c_str());
}

text describe_cholesky(const operand& a) {
  return text(
      ("cholesky of " + spell_shape(a.extents, a.rank) + ": calls of the device's LAPACK").c_str());
}

}  // namespace dsl::detail
