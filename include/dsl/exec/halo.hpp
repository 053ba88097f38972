// Elements beside each other, at places that are known when the kernel runs: slices of one array, and neighbours. A block brings
// a tile of the array with its halo into shared memory once, and all of them are read there. A thread's lanes lie 32 apart, so
// that threads side by side read and write elements side by side, wherever these begin.
#pragma once

#include <array>

#include <dsl/exec/lanes.hpp>
#include <dsl/exec/neighbours.hpp>

namespace dsl::detail {

/// Whether a program reads arrays of elements of so many bytes.
constexpr bool reads_size(const program_view& p, int size) {
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    if ((h.code() == op::load || h.code() == op::neighbour) && size_of(h.type()) == size) return true;
  }
  return false;
}

/// Starts a thread's share of the copies to shared memory. `Body` is a kernel_body.
template <class Body>
struct halo_loader {
  using memory_type = decltype(Body::memory);
  const Body& body;
  int thread, block;

  DSL_DETAIL_KERNEL_FN void run() const {
    DSL_DETAIL_ROLLED
    for (int i = 0; i < body.args.halos.count; ++i) {
      const halo_tile& t = body.args.halos.tile[i];
      load_as<std::uint8_t>(t);
      load_as<std::uint16_t>(t);
      load_as<std::uint32_t>(t);
      load_as<std::uint64_t>(t);
      load_as<std::array<std::uint64_t, 2>>(t);
    }
  }

 private:
  template <class Word>
  DSL_DETAIL_KERNEL_FN void load_as(const halo_tile& t) const {
    if constexpr (reads_size(Body::program::view(), sizeof(Word))) {
      if (t.size == sizeof(Word)) load<Word>(t);
    }
  }
  template <class Word>
  DSL_DETAIL_KERNEL_FN void load(const halo_tile& t) const {
    constexpr int whole = 16 / static_cast<int>(sizeof(Word));
    const int piece = t.in_vectors != 0 ? whole : 1;
    const std::uint32_t piece_bytes = t.in_vectors != 0 ? 16 : t.element_bytes;
    const std::int64_t x = body.position(0) + t.first[0], y = body.position(1) + t.first[1], z = body.position(2) + t.first[2];
    const unsigned char* const array =
        reinterpret_cast<const unsigned char*>(t.word) + along_other_dimensions(t) * static_cast<std::int64_t>(sizeof(Word));
    const range columns = range::within(x, t.extents[0]), rows = range::within(y, t.extents[1]);
    DSL_DETAIL_ROLLED
    for (int plane = 0; plane < t.planes + body.planes - 1; ++plane) {
      const std::int64_t found = z + plane >= 0 && z + plane < t.extents[2] ? z + plane : beyond_end(t, 2, z + plane);
      const unsigned char* const from = array + found * t.plane_bytes;
      const unsigned char* const corner = from + y * t.row_bytes + x * t.element_bytes;
      unsigned char* const to = body.memory.shared() + (t.offset + static_cast<std::uint32_t>(plane) * t.plane);
      DSL_DETAIL_ROLLED
      for (auto i = static_cast<std::uint32_t>(thread); i < t.count; i += static_cast<std::uint32_t>(block)) {
        const std::uint32_t row = t.columns.divide(i), column = i - row * t.columns.by;
        Word* const there = reinterpret_cast<Word*>(to + row * t.pitch) + static_cast<std::int32_t>(column) * piece;
        const unsigned char* const here = corner + (static_cast<std::uint64_t>(row) * t.row_bytes + column * piece_bytes);
        if (found < 0 || !rows.has(static_cast<int>(row), 1) || !columns.has(static_cast<int>(column) * piece, piece))
          copy_elements(body.memory, there, found < 0 ? nullptr : from, x + static_cast<std::int32_t>(column) * piece, y + row, t,
                        piece);
        else if (piece == 1) body.memory.copy_async(there, reinterpret_cast<const Word*>(here));
        else
          body.memory.copy_async_through_l1(reinterpret_cast<pack<Word, whole>*>(there),
                                            reinterpret_cast<const pack<Word, whole>*>(here));
      }
    }
  }
  // What of a tile's places lies within an array.
  struct range {
    std::int32_t begin, count;
    DSL_DETAIL_FN static range within(std::int64_t first, std::int64_t n) {
      constexpr std::int64_t most = 1 << 28;
      const std::int64_t begin = -first > -most ? -first : -most, end = n - first < most ? n - first : most;
      return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - begin)};
    }
    DSL_DETAIL_FN bool has(std::int32_t at, std::int32_t length) const {
      return static_cast<std::uint32_t>(at - begin) <= static_cast<std::uint32_t>(count - length);
    }
  };
  DSL_DETAIL_NOINLINE static std::int64_t beyond_end(const halo_tile& t, int axis, std::int64_t at) {
    return inside(t.beyond[axis], at, t.extents[axis]);
  }
  // One by one, as where they lie across an end; of no plane zeros.
  template <class Word>
  DSL_DETAIL_NOINLINE static void copy_elements(memory_type memory, Word* to, const unsigned char* plane, std::int64_t x,
                                                std::int64_t y, const halo_tile& t, int count) {
    const std::int64_t row = beyond_end(t, 1, y);
    DSL_DETAIL_ROLLED
    for (int i = 0; i < count; ++i) {
      const std::int64_t column = beyond_end(t, 0, x + i);
      if (plane != nullptr && row >= 0 && column >= 0)
        memory.copy_async(to + i, reinterpret_cast<const Word*>(plane + row * t.row_bytes + column * t.element_bytes));
      else memory.store(to + i, Word{});
    }
  }
  DSL_DETAIL_KERNEL_FN std::int64_t along_other_dimensions(const halo_tile& t) const {
    std::int64_t offset = 0;
    DSL_DETAIL_ROLLED
    for (int d = halo_tile::axes; d < body.args.tiles_of.outer_rank + 2; ++d)
      offset += body.position(d) * body.args.strides[t.operand][d];
    return offset;
  }
};

/// Computes a tile from there.
template <class Body>
struct halo_walk {
  using group = typename Body::group;
  using program = typename Body::program;
  using pass = typename Body::pass;
  using results = typename Body::lane_results;
  static constexpr int lanes = Body::lanes, step = Body::lane_step;
  // Whether a formula must not see elements of lanes that do not exist beside others'.
  static constexpr bool needs_own = Body::eval::gathers || calls_functors<program>;
  Body& body;

  DSL_DETAIL_KERNEL_FN void run(int thread) const { run(thread, typename Body::targets{}); }

 private:
  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN void run(int thread, std::index_sequence<I...> targets) const {
    const int step_across = lanes << body.args.tiles_of.log2_columns;
    DSL_DETAIL_ROLLED
    for (int plane = 0;;) {
      const std::int64_t corners[] = {body.offset_of(Body::inputs + static_cast<int>(I))...};
      DSL_DETAIL_ROLLED
      for (int column = body.column_of(thread); column < body.width; column += step_across) {
        group g;
        body.place_in_tile(g, column, 0);
        DSL_DETAIL_ROLLED
        for (g.row = body.row_of(thread); g.row < body.height; g.row += body.args.tiles_of.rows) {
          source from{body, g, plane};
          Body::eval::read(from);
          write(g, body.compute_read(g), corners, targets);
        }
      }
      if (++plane >= body.planes) return;
      body.enter_next_plane();
    }
  }
  struct source {
    const Body& body;
    group& g;
    int plane;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::load) {
        set_from_tile<D, Head>(body.args.place[N], 0);
      } else if constexpr (reads_tile<Code, Head>()) {
        const halo_place& p = body.args.place[static_cast<int>(operand_read(program::view(), node_with(program::view(), Head)))];
        set_from_tile<D, Head>(
            p, neighbour_reader<Body, group, Head>{body, g}.bytes_beside(sizeof(memory_t<D>), static_cast<std::int32_t>(p.pitch),
                                                                         static_cast<std::int32_t>(p.plane)));
      } else {
        body.template read<Code, D, N, Head>(g);
      }
    }

   private:
    template <op Code, std::uint32_t Head>
    static constexpr bool reads_tile() {
      if constexpr (Code != op::neighbour) return false;
      else return path_with_head<program, Head>.base == op::load;
    }
    template <dtype D, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void set_from_tile(const halo_place& p, std::int32_t beside) {
      using T = memory_t<D>;
      const std::int32_t at = static_cast<std::int32_t>(p.offset) + beside + plane * static_cast<std::int32_t>(p.plane) +
                              g.row * static_cast<std::int32_t>(p.pitch);
      const T* const row = reinterpret_cast<const T*>(body.memory.shared() + at) + g.column;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        operand_lanes<Head>(g).set(l, body.memory.template load<T>(row + (needs_own && l >= g.count ? 0 : l * step)));
    }
  };

  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN void write(const group& g, const results& out, const std::int64_t* corners,
                                  std::index_sequence<I...>) const {
    (write_output<static_cast<int>(I)>(g, out, corners[I]), ...);
  }
  template <int I>
  DSL_DETAIL_KERNEL_FN void write_output(const group& g, const results& out, std::int64_t corner) const {
    constexpr int output = target_word{pass::target_words[I]}.output(), k = Body::inputs + I;
    using T = memory_t<program::output(output).type()>;
    T* to = reinterpret_cast<T*>(body.args.operand[k].word) + corner + g.column * body.args.strides[k][0] +
            g.row * body.args.strides[k][1];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l, to += body.step(k) * step)
      if (l < g.count) body.memory.store(to, static_cast<T>(nth<output>(out.of[l])));
  }
};

}  // namespace dsl::detail
