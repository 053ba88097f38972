#include "host/strided.hpp"

#include <algorithm>
#include <cstring>

#include "host/host.hpp"
#include "host/raw_elements.hpp"
#include "host/rows.hpp"

namespace dsl::detail {

namespace {

constexpr int any_step = 99;  // step unknown at compile time

// Compiled for each instruction set: GCC uses permutations for steps known at compile time.
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
  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void v2(void* to, const void* from, const run_of_rows& r) { run(to, from, r); }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET(DSL_DETAIL_V3)
  static void v3(void* to, const void* from, const run_of_rows& r) { run(to, from, r); }
  DSL_DETAIL_TARGET(DSL_DETAIL_V4)
  static void v4(void* to, const void* from, const run_of_rows& r) { run(to, from, r); }
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
}  // namespace

move_function packer(std::size_t size, std::int64_t step) {
  switch (size) {
    case 1: return packer<raw1>(step);
    case 2: return packer<raw2>(step);
    case 4: return packer<raw4>(step);
    case 8: return packer<raw8>(step);
    default: return packer<raw16>(step);
  }
}

namespace {

move_function unpacker(std::size_t size, std::int64_t step) {
  switch (size) {
    case 1: return unpacker<raw1>(step);
    case 2: return unpacker<raw2>(step);
    case 4: return unpacker<raw4>(step);
    case 8: return unpacker<raw8>(step);
    default: return unpacker<raw16>(step);
  }
}

}  // namespace

void block_place::move_to(std::int64_t first) {
  std::int64_t carry = first - first_;
  if (carry < 0) {
    std::fill_n(at_, max_rank, 0);
    carry = first;
    ++row_;
  }
  first_ = first;
  for (int d = space_.rank - 1; d >= 0 && carry > 0; --d) {
    const std::int64_t at = at_[d] + carry, extent = space_.extents[d];
    carry = at < extent ? 0 : at / extent;
    at_[d] = at - carry * extent;
    if (carry > 0) ++row_;
  }
}

unsigned char* lies_at(const operand& o, const geometry& g, const operand_layout& w,
                       const block_place& place, std::int64_t count) {
  const int last = g.rank - 1;
  if (last < 0 || o.kind != operand_kind::array || w.strides[last] != 1 ||
      place.at()[last] + count > g.extents[last])
    return nullptr;
  std::int64_t offset = 0;
  for (int d = 0; d <= last; ++d) offset += place.at()[d] * w.strides[d];
  return reinterpret_cast<unsigned char*>(o.word[0]) +
         offset * static_cast<std::int64_t>(size_of(o.type));
}

void gather(unsigned char* column, const operand& o, const geometry& g, const operand_layout& w,
            const block_place& place, std::int64_t count) {
  if (o.kind == operand_kind::array) {
    const auto size = static_cast<std::int64_t>(size_of(o.type));
    const move_function move =
        packer(static_cast<std::size_t>(size), g.rank > 0 ? w.strides[g.rank - 1] : 0);
    return for_rows(
        g, w, place, count, false,
        [&](std::int64_t done, const std::int64_t*, std::int64_t offset, const run_of_rows& r) {
          move(column + done * size, address(o) + offset * size, r);
        });
  }
  const std::int64_t unit = o.kind == operand_kind::address ? o.size : 1,
                     first = static_cast<std::int64_t>(o.word[0]);
  for_rows(g, w, place, count, false,
           [&](std::int64_t done, const std::int64_t*, std::int64_t offset, const run_of_rows& r) {
             std::int64_t* to = reinterpret_cast<std::int64_t*>(column) + done;
             for (std::int64_t row = 0; row < r.rows; ++row, offset += r.row_step)
               for (std::int64_t i = 0; i < r.count; ++i)
                 *to++ = first + (offset + i * r.step) * unit;
           });
}

void scatter(const unsigned char* column, const operand& o, const geometry& g,
             const operand_layout& w, const block_place& place, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(size_of(o.type));
  const move_function move =
      unpacker(static_cast<std::size_t>(size), g.rank > 0 ? w.strides[g.rank - 1] : 0);
  for_rows(g, w, place, count, false,
           [&](std::int64_t done, const std::int64_t*, std::int64_t offset, const run_of_rows& r) {
             move(reinterpret_cast<unsigned char*>(o.word[0]) + offset * size, column + done * size,
                  r);
           });
}

void repeat_last(unsigned char* to, std::size_t size, std::int64_t count) {
  packer(size, 0)(to, to - size, {1, 0, count, 0});
}

}  // namespace dsl::detail
