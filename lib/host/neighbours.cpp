#include "host/neighbours.hpp"

#include <cstring>

#include "host/rows.hpp"

namespace dsl::detail {

namespace {

dimension_step resolve(const path_step& step, const operand* operands, const operand& of,
                       const geometry& g) {
  path_step s = step;
  if (s.slot >= 0) {
    const operand& given = operands[s.slot];
    s.axis = given.axis;
    s.beyond = given.beyond;
    s.distance = given.distance;
  }
  if (s.ends_inside && s.beyond == boundary::zero) s.beyond = boundary::clamp;
  const int dimension = dimension_of_axis(g, of, s.axis);
  return {dimension, s.beyond,
          least_distance(s.beyond, s.distance, dimension < 0 ? 1 : g.extents[dimension])};
}

steps_taken<neighbour_path::max_steps> walk(const std::vector<dimension_step>& steps,
                                            const std::int64_t* at, const geometry& g) {
  steps_taken<neighbour_path::max_steps> way;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const int d = steps[s].dimension;
    way.take(static_cast<int>(s), steps[s], d < 0 ? 0 : at[d], d < 0 ? 1 : g.extents[d]);
  }
  return way;
}

}  // namespace

neighbour_column::neighbour_column(const program_view& p, int node, const operand* operands,
                                   const geometry& g)
    : code_(head{p.heads[node]}.code()),
      type_(head{p.heads[node]}.type()),
      operand_(operands[p.payloads[node] & 0xffff]),
      layout_(g.layouts[p.payloads[node] & 0xffff]),
      space_(g),
      last_(g.rank - 1),
      coordinate_(-1) {
  if (code_ == op::coordinate) {
    base_ = code_;
    coordinate_ = dimension_of_axis(g, operand_, static_cast<int>(p.payloads[node] >> 16 & 0xffff));
    return;
  }
  const neighbour_path path = path_of(p, node);
  base_ = path.base;
  if (base_ == op::coordinate) coordinate_ = dimension_of_axis(g, operand_, path.axis);
  for (int s = 0; s < path.count; ++s) {
    const dimension_step step = resolve(path.step[s], operands, operand_, g);
    (step.dimension == last_ ? inner_ : outer_).push_back(step);
  }
  if (code_ != op::neighbour || base_ != op::load || !inner_.empty() || outer_.size() != 1 ||
      layout_.strides[last_] != 1)
    return;
  line_ = outer_[0].dimension;
  for (int d = last_; d > line_ && line_ >= 0; --d)
    if (layout_.strides[d - 1] != layout_.strides[d] * g.extents[d]) line_ = -1;
}

neighbour_column::source neighbour_column::source_of_row(const std::int64_t* at) const {
  const auto way = walk(outer_, at, space_);
  source from{0, way.exists};
  for (std::size_t s = 0; s < outer_.size(); ++s)
    if (outer_[s].dimension >= 0)
      from.offset += way.moved[s] * layout_.strides[outer_[s].dimension];
  return from;
}

const neighbour_column::source& neighbour_column::source_of_row_of(const block_place& place) const {
  if (known_row_ == place.row()) return known_source_;
  known_row_ = place.row();
  known_source_ = source_of_row(place.at());
  for (int d = 0; d < last_; ++d) known_source_.offset += place.at()[d] * layout_.strides[d];
  return known_source_;
}

std::int64_t neighbour_column::length_of_line(const block_place& place, std::int64_t count,
                                              unsigned char*& at) const {
  if (line_ < 0) return 0;
  const std::int64_t step = layout_.strides[line_], length = space_.extents[line_] * step,
                     moved = outer_[0].distance * step;
  std::int64_t x = 0, begin = 0;
  for (int d = 0; d <= last_; ++d) (d < line_ ? begin : x) += place.at()[d] * layout_.strides[d];
  if (x < moved) return 0;
  at = reinterpret_cast<unsigned char*>(operand_.word[0]) +
       (begin + x - moved) * static_cast<std::int64_t>(size_of(type_));
  return std::clamp<std::int64_t>(std::min(length, length + moved) - x, 0, count);
}

unsigned char* neighbour_column::lies_at(const block_place& place, std::int64_t count) const {
  if (unsigned char* at = nullptr; length_of_line(place, count, at) == count) return at;
  const std::int64_t x = place.at()[last_];
  if (code_ != op::neighbour || base_ != op::load || layout_.strides[last_] != 1 ||
      x + count > space_.extents[last_])
    return nullptr;
  const std::int64_t distance = inner_.empty() ? 0 : inner_[0].distance;
  if (inner_.size() > 1 || x < distance || x + count - distance > space_.extents[last_])
    return nullptr;
  const source& from = source_of_row_of(place);
  if (!from.exists) return nullptr;
  return reinterpret_cast<unsigned char*>(operand_.word[0]) +
         (from.offset + x - distance) * static_cast<std::int64_t>(size_of(type_));
}

void neighbour_column::gather(unsigned char* column, const block_place& place,
                              std::int64_t count) const {
  const auto size = static_cast<std::int64_t>(size_of(type_));
  if (in_ranges() && last_ >= 0 && place.at()[last_] + count <= space_.extents[last_]) {
    const source& from = source_of_row_of(place);
    if (!from.exists) std::memset(column, 0, static_cast<std::size_t>(count * size));
    else gather_ranges(column, from.offset * size, place.at()[last_], count);
    return;
  }
  block_place here = place;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t left = count - done;
    unsigned char* from = nullptr;
    std::int64_t length = length_of_line(here, left, from);
    if (length > 0)
      std::memcpy(column + done * size, from, static_cast<std::size_t>(length * size));
    else
      gather_rows(column + done * size, here,
                  length = line_ < 0 ? left : std::min(left, rest_of_row(here)));
    here.move_to(place.first() + (done += length));
  }
}

void neighbour_column::gather_rows(unsigned char* column, const block_place& place,
                                   std::int64_t count) const {
  const auto size = static_cast<std::int64_t>(size_of(type_));
  for_rows(
      space_, layout_, place, count, true,
      [&](std::int64_t done, const std::int64_t* at, std::int64_t offset, const run_of_rows& r) {
        unsigned char* const to = column + done * size;
        const source from = source_of_row(at);
        if (!from.exists) std::memset(to, 0, static_cast<std::size_t>(r.count * size));
        else if (in_ranges())
          gather_ranges(to, (offset - at[last_] * r.step + from.offset) * size, at[last_], r.count);
        else gather_each(to, from.offset + offset, at, r.count);
      });
}

// Gathers the elements that exist, and fills those beyond either end.
void neighbour_column::gather_ranges(unsigned char* column, std::int64_t row, std::int64_t x,
                                     std::int64_t count) const {
  const auto size = static_cast<std::int64_t>(size_of(type_));
  const std::int64_t n = space_.extents[last_], step = layout_.strides[last_], end = x + count;
  const auto [dimension, outside, distance] =
      inner_.empty() ? dimension_step{last_, boundary::clamp, 0} : inner_[0];
  const auto copy = [&](std::int64_t to, std::int64_t from, std::int64_t by,
                        std::int64_t elements) {
    if (elements <= 0) return;
    unsigned char* const first = column + (to - x) * size;
    if (code_ == op::inside) std::memset(first, 1, static_cast<std::size_t>(elements));
    else
      packer(static_cast<std::size_t>(size), by)(
          first, address(operand_) + row + from * step * size, {1, 0, elements, by});
  };
  const auto beyond = [&, beyond = outside, moved = distance](std::int64_t begin, std::int64_t to) {
    if (begin >= to) return;
    const std::int64_t first = inside(beyond, begin - moved, n);
    if (beyond == boundary::zero)
      std::memset(column + (begin - x) * size, 0, static_cast<std::size_t>((to - begin) * size));
    else if (beyond == boundary::clamp) copy(begin, first, 0, to - begin);
    else if (beyond == boundary::wrap) copy(begin, first, step, to - begin);
    else
      for (std::int64_t i = begin; i < to; ++i) copy(i, inside(beyond, i - moved, n), 0, 1);
  };
  const std::int64_t begin = std::clamp(distance, x, end),
                     until = std::clamp(n + distance, begin, end);
  beyond(x, begin);
  copy(begin, begin - distance, step, until - begin);
  beyond(until, end);
}

void neighbour_column::gather_each(unsigned char* to, std::int64_t offset, const std::int64_t* row,
                                   std::int64_t count) const {
  const auto size = static_cast<std::size_t>(size_of(type_));
  std::int64_t at[max_rank];
  std::copy_n(row, max_rank, at);
  const std::int64_t step = layout_.strides[last_];
  const auto outer = walk(outer_, at, space_);
  for (std::int64_t i = 0; i < count; ++i, ++at[last_], offset += step, to += size) {
    const auto inner = walk(inner_, at, space_);
    const std::int64_t moved = inner.along(last_, static_cast<int>(inner_.size())),
                       from = offset + moved * step;
    std::int64_t value = static_cast<std::int64_t>(operand_.word[0]) +
                         from * (base_ == op::address ? operand_.size : 1);
    if (base_ == op::coordinate)
      value = coordinate_ < 0 ? 0
              : coordinate_ == last_
                  ? at[last_] + moved
                  : at[coordinate_] + outer.along(coordinate_, static_cast<int>(outer_.size()));
    if (!inner.exists) std::memset(to, 0, size);
    else if (code_ == op::inside) *to = 1;
    else if (base_ == op::load)
      std::memcpy(to, address(operand_) + from * static_cast<std::int64_t>(size), size);
    else std::memcpy(to, &value, size);
  }
}

}  // namespace dsl::detail
