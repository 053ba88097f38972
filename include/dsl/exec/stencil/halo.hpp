// Neighbours at displacements known only at run time: slices of one array, and shifts. A block
// copies a tile of the array with its halo to shared memory once, and reads all neighbours there. A
// thread's lanes are 32 elements apart, so that adjacent threads read and write adjacent elements,
// whatever the displacement.
#pragma once

#include <array>

#include <dsl/exec/access/lanes.hpp>
#include <dsl/exec/stencil/neighbours.hpp>

namespace dsl::detail {

/// Whether a program reads arrays with elements of `size` bytes.
constexpr bool reads_size(const program_view& p, int size) {
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    if ((h.code() == op::load || h.code() == op::neighbour) && size_of(h.type()) == size)
      return true;
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
    const std::int64_t x = body.position(0) + t.first[0], y = body.position(1) + t.first[1],
                       z = body.position(2) + t.first[2];
    const unsigned char* const array =
        reinterpret_cast<const unsigned char*>(t.word) +
        along_other_dimensions(t) * static_cast<std::int64_t>(sizeof(Word));
    const std::int64_t corner = y * t.row_bytes + x * t.element_bytes;
    const bool has_rows = y >= 0 && y + t.rows <= t.extents[1];
    const share<Word> mine(t, body.args.halos.pitch, thread,
                           body.args.tiles_of.rows << body.args.tiles_of.log2_columns);
    const piece_range range = has_rows ? pieces_inside<Word>(t, x) : piece_range{0, 0};
    DSL_DETAIL_ROLLED
    for (int plane = 0; plane < t.planes + body.planes - 1; ++plane) {
      const std::int64_t found =
          z + plane >= 0 && z + plane < t.extents[2] ? z + plane : beyond_end(t, 2, z + plane);
      const unsigned char* const from = array + found * t.plane_bytes;
      const std::uint32_t to = t.offset + static_cast<std::uint32_t>(plane) * body.args.halos.plane;
      // Another plane may stand for one beyond an end, with another offset from a 16-byte boundary.
      const bool is_alike = found == z + plane || !mine.in_vectors ||
                            ((reinterpret_cast<std::uintptr_t>(from + corner) ^ to) & 15) == 0,
                 is_whole = found >= 0 && is_alike;
      if (is_whole && has_rows) mine.copy(body.memory, to, from + corner, range);
      if (!is_whole || range.count() < static_cast<int>(t.columns.by))
        load_across_ends<Word>(body.memory, t, found < 0 ? nullptr : from, x, y, to,
                               body.args.halos.pitch, is_whole ? range : piece_range{0, 0},
                               is_alike, thread, block);
    }
  }
  // The pieces of a row that are entirely inside the array.
  struct piece_range {
    int begin, end;
    DSL_DETAIL_KERNEL_FN int count() const { return end - begin; }
  };
  template <class Word>
  DSL_DETAIL_KERNEL_FN static piece_range pieces_inside(const halo_tile& t, std::int64_t x) {
    const int across = static_cast<int>(t.columns.by),
              shift = t.in_vectors != 0 ? log2_of_whole<Word> : 0, rest = (1 << shift) - 1;
    const std::int64_t before = t.before - x, behind = x + t.behind - t.extents[0];
    const int begin = before > 0 ? (static_cast<int>(before) + rest) >> shift : 0;
    const int end = behind > 0 ? across - ((static_cast<int>(behind) + rest) >> shift) : across;
    return begin < end ? piece_range{begin, end} : piece_range{0, 0};
  }
  template <class Word>
  static constexpr int log2_of_whole = sizeof(Word) == 1   ? 4
                                       : sizeof(Word) == 2 ? 3
                                       : sizeof(Word) == 4 ? 2
                                       : sizeof(Word) == 8 ? 1
                                                           : 0;
  // A thread's pieces of a plane: 16 bytes or an element each. From one piece to its next, the
  // thread moves a fixed number of rows and columns, and to the next row if that passes the row's
  // end.
  template <class Word>
  struct share {
    static constexpr int whole = 16 / static_cast<int>(sizeof(Word));
    std::uint32_t rows, across, first_row, first_column, first_to, rows_on, columns_on, to_on,
        to_back;
    std::int64_t first_from, from_on, from_back;
    bool in_vectors;

    DSL_DETAIL_KERNEL_FN share(const halo_tile& t, std::uint32_t pitch, int thread, int block)
        : rows(static_cast<std::uint32_t>(t.rows)),
          across(t.columns.by),
          in_vectors(t.in_vectors != 0) {
      const auto first = static_cast<std::uint32_t>(thread), on = static_cast<std::uint32_t>(block);
      const std::uint32_t piece_bytes = in_vectors ? 16 : t.element_bytes,
                          size = in_vectors ? 16 : sizeof(Word);
      const auto bytes = [&](std::uint32_t row, std::uint32_t column) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(row) * t.row_bytes +
                                         static_cast<std::uint64_t>(column) * piece_bytes);
      };
      first_row = t.columns.divide(first);
      first_column = first - first_row * across;
      first_to = first_row * pitch + first_column * size;
      first_from = bytes(first_row, first_column);
      rows_on = t.columns.divide(on);
      columns_on = on - rows_on * across;
      to_on = rows_on * pitch + columns_on * size;
      from_on = bytes(rows_on, columns_on);
      to_back = pitch - across * size;
      from_back = static_cast<std::int64_t>(t.row_bytes) - bytes(0, across);
    }
    DSL_DETAIL_KERNEL_FN void copy(memory_type memory, std::uint32_t to, const unsigned char* from,
                                   const piece_range& inside) const {
      std::uint32_t row = first_row, column = first_column;
      to += first_to;
      from += first_from;
      DSL_DETAIL_ROLLED
      while (row < rows) {
        if (column - static_cast<std::uint32_t>(inside.begin) <
            static_cast<std::uint32_t>(inside.count()))
          copy_piece(memory, in_vectors, to, from);
        row += rows_on;
        column += columns_on;
        to += to_on;
        from += from_on;
        if (column < across) continue;
        ++row;
        column -= across;
        to += to_back;
        from += from_back;
      }
    }
    // With vectors, copies the 16 aligned bytes that contain the place.
    DSL_DETAIL_KERNEL_FN static void copy_piece(memory_type memory, bool in_vectors,
                                                std::uint32_t to, const unsigned char* from) {
      const std::uint32_t behind = in_vectors ? 15 : 0;
      unsigned char* const there = memory.shared() + (to & ~behind);
      const unsigned char* const here = reinterpret_cast<const unsigned char*>(
          reinterpret_cast<std::uintptr_t>(from) & ~static_cast<std::uintptr_t>(behind));
      if (in_vectors)
        memory.copy_async_through_l1(reinterpret_cast<pack<Word, whole>*>(there),
                                     reinterpret_cast<const pack<Word, whole>*>(here));
      else memory.copy_async(reinterpret_cast<Word*>(there), reinterpret_cast<const Word*>(here));
    }
  };
  template <class Word>
  DSL_DETAIL_NOINLINE static void load_across_ends(memory_type memory, const halo_tile& t,
                                                   const unsigned char* plane, std::int64_t x,
                                                   std::int64_t y, std::uint32_t to,
                                                   std::uint32_t pitch, piece_range but,
                                                   bool is_alike, int thread, int block) {
    const bool in_vectors = t.in_vectors != 0;
    const int piece = in_vectors ? share<Word>::whole : 1,
              across = static_cast<int>(t.columns.by) - but.count();
    DSL_DETAIL_ROLLED
    for (int i = thread; i < across * t.rows; i += block) {
      const int row = i / across, number = i - row * across,
                column = (number < but.begin ? number : number + but.count()) * piece;
      const std::uint32_t line = to + static_cast<std::uint32_t>(row) * pitch,
                          behind = in_vectors ? line & 15u : 0;
      const std::uint32_t there =
          line - behind +
          static_cast<std::uint32_t>(column) * static_cast<std::uint32_t>(sizeof(Word));
      const std::int64_t at = x + column - static_cast<int>(behind / sizeof(Word)), own = y + row;
      const bool has_row = own >= 0 && own < t.extents[1];
      const std::int64_t found = has_row ? own : beyond_end(t, 1, own);
      const unsigned char* const from =
          plane == nullptr || found < 0 ? nullptr : plane + found * t.row_bytes;
      const unsigned char* const here = from + at * t.element_bytes;
      if (from != nullptr && at >= 0 && at + piece <= t.extents[0] &&
          ((has_row && is_alike) || !in_vectors ||
           reinterpret_cast<std::uintptr_t>(here) % 16 == 0)) {
        share<Word>::copy_piece(memory, in_vectors, there, here);
        continue;
      }
      Word* const to_each = reinterpret_cast<Word*>(memory.shared() + there);
      DSL_DETAIL_ROLLED
      for (int e = 0; e < piece; ++e) {
        const std::int64_t each = beyond_end(t, 0, at + e);
        if (from != nullptr && each >= 0)
          memory.copy_async(to_each + e,
                            reinterpret_cast<const Word*>(from + each * t.element_bytes));
        else memory.store(to_each + e, Word{});
      }
    }
  }
  // The element that stands for position `at` of an axis; negative: it is zero.
  DSL_DETAIL_NOINLINE static std::int64_t beyond_end(const halo_tile& t, int axis,
                                                     std::int64_t at) {
    return inside(t.beyond[axis], at, t.extents[axis]);
  }
  DSL_DETAIL_KERNEL_FN std::int64_t along_other_dimensions(const halo_tile& t) const {
    std::int64_t offset = 0;
    DSL_DETAIL_ROLLED
    for (int d = halo_tile::axes; d < body.args.tiles_of.outer_rank + 2; ++d)
      offset += body.position(d) * body.args.strides[t.operand][d];
    return offset;
  }
};

/// Computes a tile from shared memory.
template <class Body>
struct halo_walk {
  using group = typename Body::group;
  using program = typename Body::program;
  using pass = typename Body::pass;
  using results = typename Body::lane_results;
  static constexpr int lanes = Body::lanes, step = Body::lane_step;
  // Whether the formula must not see values of other elements in lanes that do not exist.
  static constexpr bool needs_own = Body::eval::gathers || calls_functors<program>;
  Body& body;

  DSL_DETAIL_KERNEL_FN void run(int thread) const { run(thread, typename Body::targets{}); }

 private:
  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN void run(int thread, std::index_sequence<I...>) const {
    const int step_across = lanes << body.args.tiles_of.log2_columns,
              rows = body.args.tiles_of.rows;
    const auto pitch = static_cast<std::int32_t>(body.args.halos.pitch), step_down = rows * pitch;
    const int begin = body.position(0) < 0 ? -static_cast<int>(body.position(0)) : 0;
    DSL_DETAIL_ROLLED
    for (int plane = 0;;) {
      DSL_DETAIL_ROLLED
      for (int column = body.column_of(thread); column < body.width; column += step_across) {
        group g;
        body.place_in_tile(g, column, body.row_of(thread));
        const int first = column < begin ? 1 : 0;
        const bool whole = first == 0 && g.count == lanes &&
                           ((body.step(Body::inputs + static_cast<int>(I)) == 1) && ...);
        unsigned char* to[] = {address_of<static_cast<int>(I)>(g)...};
        std::int32_t line =
            plane * static_cast<std::int32_t>(body.args.halos.plane) + g.row * pitch;
        DSL_DETAIL_ROLLED
        for (; g.row < body.height; g.row += rows, line += step_down) {
          source from{body, g, line};
          Body::eval::read(from);
          const results out = body.compute_read(g);
          (write_output<static_cast<int>(I)>(g, whole, first, out, to[I]), ...);
        }
      }
      if (++plane >= body.planes) return;
      body.enter_next_plane();
    }
  }
  struct source {
    const Body& body;
    group& g;
    std::int32_t line;  // The group's row in shared memory, in bytes.
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::load) {
        set_from_tile<D, Head>(body.args.place[N], 0);
      } else if constexpr (reads_tile<Code, Head>()) {
        set_from_tile<D, Head>(body.args.place[static_cast<int>(operand_read(
                                   program::view(), node_with(program::view(), Head)))],
                               displacement_bytes<D, Head>(path_steps<Head>{}));
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
    // The displacement of all steps of a path.
    template <std::uint32_t Head> using path_steps =
        std::make_integer_sequence<int, path_with_head<program, Head>.count>;
    template <dtype D, std::uint32_t Head, int... S>
    DSL_DETAIL_KERNEL_FN std::int32_t displacement_bytes(std::integer_sequence<int, S...>) const {
      return (0 + ... + bytes_of_step<D, Head, S>());
    }
    template <dtype D, std::uint32_t Head, int S>
    DSL_DETAIL_KERNEL_FN std::int32_t bytes_of_step() const {
      constexpr path_step step = path_with_head<program, Head>.step[S];
      if constexpr (step.slot >= 0) return body.args.beside[step.slot];
      else {
        const halo_tiles& tiles = body.args.halos;
        const auto dimension = body.args.tiles_of.dimension_of_axis >> 4 * step.axis & 0xf;
        const std::uint32_t apart = dimension == 0   ? sizeof(memory_t<D>)
                                    : dimension == 1 ? tiles.pitch
                                                     : tiles.plane;
        return -static_cast<std::int32_t>(step.distance) * static_cast<std::int32_t>(apart);
      }
    }
    template <dtype D, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void set_from_tile(std::uint32_t place, std::int32_t beside) {
      using T = memory_t<D>;
      const unsigned char* const row =
          body.memory.shared() + (line + g.column * static_cast<int>(sizeof(T)));
      const T* const from =
          reinterpret_cast<const T*>(row + (static_cast<std::int32_t>(place) + beside));
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        operand_lanes<Head>(g).set(
            l, body.memory.template load<T>(from + (needs_own && l >= g.count ? 0 : l * step)));
    }
  };

  template <int I>
  using target = memory_t<program::output(target_word{pass::target_words[I]}.output()).type()>;
  template <int I>
  DSL_DETAIL_KERNEL_FN unsigned char* address_of(const group& g) const {
    constexpr int k = Body::inputs + I;
    const std::int64_t at =
        body.offset_of(k) + g.column * body.args.strides[k][0] + g.row * body.args.strides[k][1];
    return reinterpret_cast<unsigned char*>(
        reinterpret_cast<target<I>*>(body.args.operand[k].word) + at);
  }
  // Writes a row's lanes from lane `first` on, and moves to the thread's next row.
  template <int I>
  DSL_DETAIL_KERNEL_FN void write_output(const group& g, bool whole, int first, const results& out,
                                         unsigned char*& row) const {
    constexpr int output = target_word{pass::target_words[I]}.output(), k = Body::inputs + I;
    using T = target<I>;
    T* to = reinterpret_cast<T*>(row);
    if (whole) {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        body.memory.store(to + l * step, static_cast<T>(nth<output>(out.of[l])));
    } else {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l, to += body.step(k) * step)
        if (l >= first && l < g.count)
          body.memory.store(to, static_cast<T>(nth<output>(out.of[l])));
    }
    row += body.args.tiles_of.rows * body.args.strides[k][1] * static_cast<std::int64_t>(sizeof(T));
  }
};

}  // namespace dsl::detail
