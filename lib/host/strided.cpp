#include "host/strided.hpp"

#include <algorithm>
#include <cstring>

#include "host/host.hpp"

namespace dsl::detail {

namespace {

// Elements by their size alone.
using word1 [[gnu::may_alias]] = std::uint8_t;
using word2 [[gnu::may_alias]] = std::uint16_t;
using word4 [[gnu::may_alias]] = std::uint32_t;
using word8 [[gnu::may_alias]] = std::uint64_t;
struct [[gnu::may_alias]] word16 { std::uint64_t first, second; };

// `rows` rows of `count` elements each. Rows of what is strided are `row_step` elements apart, their elements `step`; the others
// lie one behind the other.
struct run_of_rows { std::int64_t rows, row_step, count, step; };
using move_function = void (*)(void* to, const void* from, const run_of_rows&);

constexpr int any_step = 99;  // not known to the compiler

// For each instruction set: GCC makes permutations of steps that it knows.
template <class T, int Step, bool Packs>
struct mover {
  DSL_DETAIL_FN static void run(void* target, const void* source, const run_of_rows& r) {
    T* __restrict to = static_cast<T*>(target);
    const T* __restrict from = static_cast<const T*>(source);
    const std::int64_t step = Step == any_step ? r.step : Step;
    for (std::int64_t row = 0; row < r.rows; ++row) {
      for (std::int64_t i = 0; i < r.count; ++i) {
        if constexpr (Packs) to[i] = from[i * step];
        else to[i * step] = from[i];
      }
      to += Packs ? r.count : r.row_step;
      from += Packs ? r.row_step : r.count;
    }
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V2) static void v2(void* to, const void* from, const run_of_rows& r) { run(to, from, r); }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET(DSL_DETAIL_V3) static void v3(void* to, const void* from, const run_of_rows& r) { run(to, from, r); }
  DSL_DETAIL_TARGET(DSL_DETAIL_V4) static void v4(void* to, const void* from, const run_of_rows& r) { run(to, from, r); }
  static constexpr move_function level[] = {&v2, &v3, &v4};
#else
  static constexpr move_function level[] = {&v2, &v2, &v2};
#endif
};

template <class T>
move_function packer(std::int64_t step) {
  const int level = simd_level();
  switch (step) {
    case -1: return mover<T, -1, true>::level[level];
    case 0: return mover<T, 0, true>::level[level];
    case 1: return mover<T, 1, true>::level[level];
    case 2: return mover<T, 2, true>::level[level];
    case 3: return mover<T, 3, true>::level[level];
    case 4: return mover<T, 4, true>::level[level];
    default: return mover<T, any_step, true>::level[level];
  }
}
template <class T>
move_function unpacker(std::int64_t step) {
  const int level = simd_level();
  switch (step) {
    case 1: return mover<T, 1, false>::level[level];
    case 2: return mover<T, 2, false>::level[level];
    default: return mover<T, any_step, false>::level[level];
  }
}
move_function packer(std::size_t size, std::int64_t step) {
  switch (size) {
    case 1: return packer<word1>(step);
    case 2: return packer<word2>(step);
    case 4: return packer<word4>(step);
    case 8: return packer<word8>(step);
    default: return packer<word16>(step);
  }
}
move_function unpacker(std::size_t size, std::int64_t step) {
  switch (size) {
    case 1: return unpacker<word1>(step);
    case 2: return unpacker<word2>(step);
    case 4: return unpacker<word4>(step);
    case 8: return unpacker<word8>(step);
    default: return unpacker<word16>(step);
  }
}

// Calls each(done, at, offset, run) for `count` elements from a place on: as many whole rows of the innermost dimension as there
// are along the second one, or a part of a row. `at` is where they begin, `offset` where that lies.
template <class Each>
void for_rows(const geometry& g, const operand_layout& w, const block_place& place, std::int64_t count, bool row_by_row,
              const Each& each) {
  const int last = g.rank - 1;
  const std::int64_t inner = last >= 0 ? g.extents[last] : 1, step = last >= 0 ? w.strides[last] : 0;
  std::int64_t at[max_rank] = {}, offset = 0;
  for (int d = 0; d < last; ++d) {
    at[d] = place.at()[d];
    offset += at[d] * w.strides[d];
  }
  std::int64_t& x = at[std::max(last, 0)];
  x = place.at()[std::max(last, 0)];
  for (std::int64_t done = 0; done < count;) {
    std::int64_t rows = 1, run = std::min(inner - x, count - done);
    if (x == 0 && run == inner && last > 0 && !row_by_row)
      rows = std::min((count - done) / inner, g.extents[last - 1] - at[last - 1]);
    each(done, at, offset + x * step, run_of_rows{rows, last > 0 ? w.strides[last - 1] : 0, run, step});
    done += rows * run;
    x = 0;
    if (done >= count || last == 0) continue;
    at[last - 1] += rows;
    offset += rows * w.strides[last - 1];
    for (int d = last - 1; d > 0 && at[d] == g.extents[d]; --d) {
      offset += w.strides[d - 1] - at[d] * w.strides[d];
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

const unsigned char* address(const operand& o) { return reinterpret_cast<const unsigned char*>(o.word[0]); }

// A neighbour's place along its axis; -1: it is zero.
std::int64_t moved(const operand& o, const geometry& g, const operand_layout& w, std::int64_t at) {
  return w.axis < 0 ? inside(o.beyond, -o.distance, 1) : inside(o.beyond, at - o.distance, g.extents[w.axis]);
}

// Neighbours along the innermost dimension: those that are there, and those beyond either end.
void gather_along(unsigned char* column, const operand& o, const geometry& g, const operand_layout& w, const unsigned char* row,
                  std::int64_t x, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(size_of(o.type));
  const std::int64_t n = g.extents[w.axis], step = w.strides[w.axis], end = x + count;
  const auto copy = [&](std::int64_t to, std::int64_t from, std::int64_t by, std::int64_t elements) {
    if (elements > 0)
      packer(static_cast<std::size_t>(size), by)(column + (to - x) * size, row + from * step * size, {1, 0, elements, by});
  };
  const auto beyond = [&](std::int64_t begin, std::int64_t to) {
    if (begin >= to) return;
    const std::int64_t first = inside(o.beyond, begin - o.distance, n);
    if (o.beyond == boundary::zero) std::memset(column + (begin - x) * size, 0, static_cast<std::size_t>((to - begin) * size));
    else if (o.beyond == boundary::clamp) copy(begin, first, 0, to - begin);
    else if (o.beyond == boundary::wrap) copy(begin, first, step, to - begin);
    else
      for (std::int64_t i = begin; i < to; ++i) copy(i, inside(o.beyond, i - o.distance, n), 0, 1);
  };
  const std::int64_t begin = std::clamp(o.distance, x, end), until = std::clamp(n + o.distance, begin, end);
  beyond(x, begin);
  copy(begin, begin - o.distance, step, until - begin);
  beyond(until, end);
}

void gather_neighbours(unsigned char* column, const operand& o, const geometry& g, const operand_layout& w,
                       const block_place& place, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(size_of(o.type));
  const int last = g.rank - 1;
  const move_function move = packer(static_cast<std::size_t>(size), last >= 0 ? w.strides[last] : 0);
  for_rows(g, w, place, count, w.axis >= last - 1,
           [&](std::int64_t done, const std::int64_t* at, std::int64_t offset, const run_of_rows& r) {
             unsigned char* const to = column + done * size;
             if (w.axis == last && last >= 0)
               return gather_along(to, o, g, w, address(o) + (offset - at[last] * r.step) * size, at[last], r.count);
             const std::int64_t from = moved(o, g, w, w.axis < 0 ? 0 : at[w.axis]);
             if (from < 0) std::memset(to, 0, static_cast<std::size_t>(r.rows * r.count * size));
             else move(to, address(o) + (offset + (w.axis < 0 ? 0 : (from - at[w.axis]) * w.strides[w.axis])) * size, r);
           });
}

}  // namespace

void block_place::move_to(std::int64_t first) {
  std::int64_t carry = first - first_;
  if (carry < 0) {
    std::fill_n(at_, max_rank, 0);
    carry = first;
  }
  first_ = first;
  for (int d = space_.rank - 1; d >= 0 && carry > 0; --d) {
    const std::int64_t at = at_[d] + carry, extent = space_.extents[d];
    carry = at < extent ? 0 : at / extent;
    at_[d] = at - carry * extent;
  }
}

unsigned char* lies_at(const operand& o, const geometry& g, const operand_layout& w, const block_place& place,
                       std::int64_t count) {
  const int last = g.rank - 1;
  if (last < 0 || o.kind > operand_kind::neighbour || w.strides[last] != 1 || place.at()[last] + count > g.extents[last])
    return nullptr;
  std::int64_t offset = 0;
  for (int d = 0; d <= last; ++d) offset += place.at()[d] * w.strides[d];
  if (o.kind == operand_kind::neighbour) {
    const std::int64_t at = w.axis < 0 ? 0 : place.at()[w.axis], from = moved(o, g, w, at);
    if (from < 0 || (w.axis == last && (at < o.distance || at + count - o.distance > g.extents[last]))) return nullptr;
    if (w.axis >= 0) offset += (from - at) * w.strides[w.axis];
  }
  return reinterpret_cast<unsigned char*>(o.word[0]) + offset * static_cast<std::int64_t>(size_of(o.type));
}

void gather(unsigned char* column, const operand& o, const geometry& g, const operand_layout& w, const block_place& place,
            std::int64_t count) {
  if (o.kind == operand_kind::neighbour) return gather_neighbours(column, o, g, w, place, count);
  if (o.kind == operand_kind::array) {
    const auto size = static_cast<std::int64_t>(size_of(o.type));
    const move_function move = packer(static_cast<std::size_t>(size), g.rank > 0 ? w.strides[g.rank - 1] : 0);
    return for_rows(g, w, place, count, false,
                    [&](std::int64_t done, const std::int64_t*, std::int64_t offset, const run_of_rows& r) {
                      move(column + done * size, address(o) + offset * size, r);
                    });
  }
  const std::int64_t unit = o.kind == operand_kind::address ? o.size : 1, first = static_cast<std::int64_t>(o.word[0]);
  for_rows(g, w, place, count, false, [&](std::int64_t done, const std::int64_t*, std::int64_t offset, const run_of_rows& r) {
    std::int64_t* to = reinterpret_cast<std::int64_t*>(column) + done;
    for (std::int64_t row = 0; row < r.rows; ++row, offset += r.row_step)
      for (std::int64_t i = 0; i < r.count; ++i) *to++ = first + (offset + i * r.step) * unit;
  });
}

void scatter(const unsigned char* column, const operand& o, const geometry& g, const operand_layout& w, const block_place& place,
             std::int64_t count) {
  const auto size = static_cast<std::int64_t>(size_of(o.type));
  const move_function move = unpacker(static_cast<std::size_t>(size), g.rank > 0 ? w.strides[g.rank - 1] : 0);
  for_rows(g, w, place, count, false, [&](std::int64_t done, const std::int64_t*, std::int64_t offset, const run_of_rows& r) {
    move(reinterpret_cast<unsigned char*>(o.word[0]) + offset * size, column + done * size, r);
  });
}

void repeat_last(unsigned char* to, std::size_t size, std::int64_t count) { packer(size, 0)(to, to - size, {1, 0, count, 0}); }

}  // namespace dsl::detail
