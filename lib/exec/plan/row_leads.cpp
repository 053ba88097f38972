#include "exec/plan/row_leads.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"

namespace dsl::detail {

namespace {

// Rows of fewer vectors are mostly ends. The kernel counts a row's elements in 32 bits.
constexpr std::int64_t least_vectors = 16, longest_row = 1 << 30;
// Down columns the ends of rows are read in vectors too. The fewest rows for which that pays.
constexpr std::int64_t least_vectors_kept = 4, least_rows_kept = 64;

class lead_finder {
 public:
  lead_finder(const geometry& g, const operand* operands, int inputs, int count, int lanes)
      : g_(g), operands_(operands), inputs_(inputs), count_(count), lanes_(lanes) {}

  /// The leads with which most bytes are accessed in vectors; written ones count twice, because
  /// elements that are written one by one leave parts of sectors.
  row_leads best() const {
    row_leads found;
    int most = 0;
    for (int i = 0; i < count_; ++i) {
      const int k = i < count_ - inputs_ ? inputs_ + i : i - (count_ - inputs_);
      if (!has_vectors(k)) continue;
      const row_leads leads = leads_of(k);
      int bytes = 0;
      for (int other = 0; other < count_; ++other)
        if (has_leads(other, leads))
          bytes += (other < inputs_ ? 1 : 2) * size_of(operands_[other].type);
      if (bytes <= most) continue;
      most = bytes;
      found = leads;
    }
    const auto is_zero = [](std::uint32_t n) { return n == 0; };
    if (found.first == 0 && std::all_of(found.steps, found.steps + max_rank, is_zero)) return {};
    return found;
  }
  /// Whether each vector of an operand, behind rows' leads, is contiguous and aligned.
  bool has_leads(int k, const row_leads& leads) const {
    if (!has_vectors(k)) return false;
    const row_leads own = leads_of(k);
    const auto vector =
        static_cast<std::uint32_t>(std::min<std::int64_t>(16 / size_of(operands_[k].type), lanes_));
    const auto are_alike = [&](std::uint32_t a, std::uint32_t b) { return (a - b) % vector == 0; };
    return are_alike(own.first, leads.first) &&
           std::equal(own.steps, own.steps + max_rank, leads.steps, are_alike);
  }

  /// Whether columns may be reduced with these leads. Groups also read what the first vector of a
  /// row has before the row, and up to two vectors behind a row that another one follows. What they
  /// compute there is dropped. So all other operands are the same along a row, rows do not overlap,
  /// and all tiles of a group of blocks have the same leads.
  bool may_read_beyond(const row_leads& leads) const {
    if (g_.rank < 2 || g_.extents[g_.rank - 2] < least_rows_kept) return false;
    for (int d = 0; d + 2 < g_.rank; ++d)
      if (!is_kept(g_, d) && leads.steps[d] != 0) return false;
    for (int k = 0; k < inputs_; ++k) {
      const operand& o = operands_[k];
      if (o.kind == operand_kind::address || o.kind == operand_kind::neighbour) return false;
      if (o.kind != operand_kind::array) continue;
      const std::int64_t* const strides = g_.layouts[k].strides;
      if (strides[g_.rank - 1] == 0) continue;
      if (!has_leads(k, leads) || strides[g_.rank - 2] < g_.extents[g_.rank - 1]) return false;
    }
    return true;
  }

 private:
  bool has_vectors(int k) const {
    const operand& o = operands_[k];
    return o.kind == operand_kind::array && g_.layouts[k].strides[g_.rank - 1] == 1 &&
           o.word[0] % static_cast<std::uint64_t>(size_of(o.type)) == 0;
  }
  // An element's lead is the number of elements from it to the next multiple of a vector.
  row_leads leads_of(int k) const {
    row_leads found{lanes_, modulo(operands_[k].word[0] /
                                   static_cast<std::uint64_t>(size_of(operands_[k].type)))};
    for (int d = 0; d + 1 < g_.rank; ++d)
      found.steps[d] = modulo(static_cast<std::uint64_t>(g_.layouts[k].strides[d]));
    return found;
  }
  std::uint32_t modulo(std::uint64_t elements) const {
    return static_cast<std::uint32_t>(-elements) & static_cast<std::uint32_t>(lanes_ - 1);
  }

  const geometry& g_;
  const operand* operands_;
  int inputs_, count_, lanes_;
};

}  // namespace

void find_leads(geometry& g, const operand* operands, int inputs, int count,
                const pass_traits& pass) {
  g.leads = {};
  const int lanes = pass.lanes;
  if (g.linear || g.pairs || g.rank < 1 || g.elements == 0 || lanes < 2 ||
      pass.view.neighbours.nodes > 0)
    return;
  const bool keeps_columns = g.kept != 0 && is_kept(g, g.rank - 1);
  const std::int64_t row = g.extents[g.rank - 1];
  if (row < (keeps_columns ? least_vectors_kept : least_vectors) * lanes || row >= longest_row)
    return;
  const lead_finder finder(g, operands, inputs, count, lanes);
  const row_leads leads = finder.best();
  if (leads.lanes == 0) return;
  if (keeps_columns &&
      !(may_read_beyond_rows(pass.view, pass.accumulator_bytes) && finder.may_read_beyond(leads)))
    return;
  g.leads = leads;
  for (int k = 0; k < count; ++k)
    if (g.layouts[k].how == access::wide || g.layouts[k].how == access::elements)
      g.layouts[k].how = finder.has_leads(k, leads) ? access::wide : access::elements;
}

int columns_with_leads(const geometry& g, int columns, int lanes, int block) {
  while (g.leads.lanes > 0 && columns > 1 && block / columns % lanes != 0) columns /= 2;
  return columns;
}

}  // namespace dsl::detail
