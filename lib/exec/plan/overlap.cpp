// Decides which operands have memory in common.
#include <dsl/exec/plan/operand.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "exec/plan/layout.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

struct span { std::uint64_t begin, end; };

// The whole buffer, since an operand with any address in it may read or write any part.
span bytes_of(const buffer& b) {
  const auto begin = reinterpret_cast<std::uintptr_t>(b.data);
  return {begin, begin + b.bytes};
}

struct term { std::int64_t step, most; };

// Whether rest = sum of step[i] * x[i] for some integers 0 <= x[i] <= most[i]. Steps descend. Gives
// up, with steps_left < 0, when the steps are used up.
bool is_sum_of(const term* terms, std::size_t count, std::int64_t rest, int& steps_left) {
  if (rest == 0) return true;
  if (count == 0 || --steps_left < 0) return false;
  std::int64_t reach = 0, common = 0;
  for (std::size_t i = 1; i < count; ++i) {
    reach += terms[i].step * terms[i].most;
    common = std::gcd(common, terms[i].step);
  }
  const auto [step, most] = terms[0];
  if (rest % std::gcd(common, step) != 0) return false;
  const std::int64_t least = rest > reach ? (rest - reach + step - 1) / step : 0;
  for (std::int64_t x = std::min(most, rest / step); x >= least && steps_left >= 0; --x)
    if (is_sum_of(terms + 1, count - 1, rest - x * step, steps_left)) return true;
  return false;
}

// Whether an element of a and one of b share a byte: whether first_a + sum of |stride_a| i + k =
// last_b - sum of |stride_b| j for some indices i, j and some offset k within the elements.
// Negative strides are reversed first. The unit of all lengths is the greatest common divisor of
// the sizes and the distance from a to b. Returns nullopt if the search was given up.
std::optional<bool> have_common_element(const operand& a, const operand& b) {
  const auto distance = static_cast<std::int64_t>(b.word[0] - a.word[0]);
  const std::int64_t unit =
      std::gcd(std::gcd(std::int64_t{size_of(a.type)}, std::int64_t{size_of(b.type)}), distance);
  const std::int64_t size_a = size_of(a.type) / unit, size_b = size_of(b.type) / unit;
  std::int64_t rest = distance / unit, reach = 0;
  std::array<term, 2 * max_rank> terms;
  std::size_t count = 0;
  for (const operand* const o : {&a, &b})
    for (int d = 0; d < o->rank; ++d) {
      if (o->extents[d] == 0) return false;
      const std::int64_t most = o->extents[d] - 1,
                         stride = o->strides[d] * (size_of(o->type) / unit);
      if (most == 0 || stride == 0) continue;
      if (o == &a ? stride < 0 : stride > 0) rest += std::abs(stride) * most;
      terms[count++] = {std::abs(stride), most};
      reach += std::abs(stride) * most;
    }
  if (rest + size_b <= 0 || rest - size_a >= reach) return false;
  std::sort(terms.begin(), terms.begin() + count,
            [](const term& x, const term& y) { return x.step > y.step; });
  int steps = 10'000;
  for (std::int64_t k = 1 - size_a; k < size_b; ++k)
    if (rest + k >= 0 && is_sum_of(terms.data(), count, rest + k, steps)) return true;
  if (steps < 0) return std::nullopt;
  return false;
}

}  // namespace

// A reduction to one value is not counted: it is written after everything has been read.
bool is_written_by_elements(const operand& o) {
  return o.kind == operand_kind::array || (o.kind == operand_kind::result && o.rank > 0);
}

bool overlaps(const operand* all, int inputs, int outputs, const geometry& g) {
  if (g.elements == 0) return false;
  const bool reduces = std::any_of(all + inputs, all + inputs + outputs,
                                   [](const operand& o) { return o.kind == operand_kind::result; });
  for (int i = inputs; i < inputs + outputs; ++i) {
    if (!is_written_by_elements(all[i])) continue;
    for (int k = 0; k < i; ++k) {
      if (all[k].kind == operand_kind::result && all[k].rank == 0) continue;
      // Results are written after the elements, but they may read a single value too.
      const bool moves = k < max_inputs && (g.beside >> k & 1) != 0;
      const bool in_place = k < inputs && !moves && all[i].kind == operand_kind::array &&
                            (all[k].kind == operand_kind::array ||
                             (all[k].kind == operand_kind::device_scalar && !reduces));
      bool same = in_place && all[i].word[0] == all[k].word[0] &&
                  size_of(all[i].type) == size_of(all[k].type);
      for (int d = 0; d < g.rank; ++d)
        same = same && (g.extents[d] == 1 || g.layouts[i].strides[d] == g.layouts[k].strides[d]);
      if (!same && may_share_elements(all[i], all[k])) return true;
    }
  }
  return false;
}

bool share_elements(const operand& a, const operand& b) {
  return share_memory(a.memory, b.memory) && have_common_element(a, b).value_or(false);
}

bool may_share_elements(const operand& a, const operand& b) {
  if (!share_memory(a.memory, b.memory)) return false;
  const auto is_anywhere = [](const operand& o) {
    return o.kind == operand_kind::address || o.step_bytes != 0;
  };
  if (is_anywhere(a) || is_anywhere(b)) return true;
  return have_common_element(a, b).value_or(true);
}

bool share_memory(const buffer* a, const buffer* b) {
  if (a == nullptr || b == nullptr) return false;
  const span mine = bytes_of(*a), other = bytes_of(*b);
  return a == b || (mine.begin < other.end && other.begin < mine.end);
}

bool is_apart(const operand& target, const operand* operands, int count) {
  return std::none_of(operands, operands + count, [&](const operand& o) {
    return o.memory != nullptr && o.word[0] != 0 && may_share_elements(target, o);
  });
}

bool is_packed_and_apart(const operand& target, const operand* operands, int count) {
  std::int64_t step = 1;
  for (int d = target.rank - 1; d >= 0; --d) {
    if (target.extents[d] != 1 && target.strides[d] != step) return false;
    step *= target.extents[d];
  }
  return is_apart(target, operands, count);
}

}  // namespace dsl::detail
