// The state of a block of a loop that reads neighbours: a tile of each variable in shared memory.
// Elements at a tile's border go through two buffers in global memory, one for even and one for odd
// steps; from there other blocks, and the block itself, fill their halos.
#pragma once

#include <dsl/exec/loop/grid_memory.hpp>
#include <dsl/exec/loop/loop_variables.hpp>
#include <dsl/exec/loop/tile_arguments.hpp>

namespace dsl::detail {

/// The tile of a block, and the transfers of its elements. `OnChip`: all of it is in shared memory.
template <class Pass, int Inputs, int States, class Earlier, bool OnChip, class Memory, class Team>
struct tile_state
    : loop_elements<Pass, Inputs, tiled_loop_arguments<Inputs + Pass::targets, States>, Memory>,
      loop_variables<Pass, States> {
  using arguments = tiled_loop_arguments<Inputs + Pass::targets, States>;
  using base = loop_elements<Pass, Inputs, arguments, Memory>;
  using variables = loop_variables<Pass, States>;
  using base::args, base::lanes, base::memory, base::width, base::height, base::planes;
  using typename base::group, typename variables::states;
  using variables::for_arrays;
  using tiled_step = tiles_of_step<Pass, Earlier>;
  static constexpr tile_needs needs = tiled_step::needs(States);
  static constexpr int rows = OnChip ? needs.rows_on_chip : needs.rows;
  // Separate constants, because device code needs the members as constant expressions.
  template <int D> static constexpr int before = needs.before[D];
  template <int D> static constexpr int after = needs.after[D];
  template <int D> static constexpr int margin = needs.margin[D];
  template <int I> static constexpr bool has_halo = (needs.beside >> I & 1) != 0;
  /// What `find_vector` needs to know of a variable.
  template <int I>
  struct halo_of {
    static constexpr variable_ends shape = tiled_step::ends(I);
    static constexpr int lanes = base::lanes;
    using T = state_element<I, Pass>;
  };

  /// A range of rows and planes of the tile.
  struct box { std::int32_t first_row, first_plane, height, planes; };

  Team team;
  std::int64_t plane_of_tile = 0;  // The grid's plane that is the tile's first one.
  box on_chip{}, in_memory{};      // The parts of the tile in shared memory and in global memory.

  DSL_DETAIL_KERNEL_FN tile_state(const arguments& a, Memory m, Team t) : base(a, m), team(t) {}

  /// Finds the block's tile.
  DSL_DETAIL_KERNEL_FN void enter() {
    std::int64_t number = team.block(), first[3], end[3];
    DSL_DETAIL_UNROLL
    for (int d = 0; d < 3; ++d) {
      const std::int64_t tiles = args.tile.tiles[d], mine = number % tiles,
                         length = d == 0 ? lanes : 1;
      const std::int64_t pieces = (this->extent(d) + length - 1) / length;
      number /= tiles;
      first[d] = mine * pieces / tiles * length;
      end[d] = (mine + 1) * pieces / tiles * length;
    }
    const std::int64_t n = this->extent(0);
    this->corner[0] = first[0];
    this->corner[1] = first[1];
    plane_of_tile = first[2];
    width = static_cast<std::int32_t>((end[0] < n ? end[0] : n) - first[0]);
    height = static_cast<std::int32_t>(end[1] - first[1]);
    planes = static_cast<std::int32_t>(end[2] - first[2]);
    const bool by_planes = this->extent(2) > 1;
    const std::int32_t all = by_planes ? planes : height, least = by_planes ? 1 : rows,
                       most = args.tile.on_chip;
    // The part in memory has at least one patch's rows.
    const std::int32_t stay = OnChip || all <= most ? all : most < all - least ? most : all - least;
    on_chip = {0, 0, by_planes ? height : stay, by_planes ? stay : planes};
    in_memory = {by_planes ? 0 : stay, by_planes ? stay : 0, by_planes ? height : all - stay,
                 by_planes ? all - stay : planes};
    enter_plane(0);
    find_adjacent_block();
  }
  /// Moves to a plane of the tile.
  DSL_DETAIL_KERNEL_FN void enter_plane(int plane) {
    this->outer[0] = plane_of_tile + plane;
    DSL_DETAIL_UNROLL
    for (int k = 0; k < base::operands; ++k)
      this->offset[k] = this->corner[0] * args.strides[k][0] +
                        this->corner[1] * args.strides[k][1] + this->outer[0] * args.strides[k][2];
  }
  /// Moves to a plane in step k of the launch.
  DSL_DETAIL_KERNEL_FN void enter_plane(int plane, std::int64_t k) {
    enter_plane(plane);
    DSL_DETAIL_UNROLL
    for (int n = 0; n < Inputs; ++n)
      if (base::is_step_array(n)) this->offset[n] += this->elements_to_step(n, k);
  }

  /// Reads the tile to its position before an even step.
  DSL_DETAIL_KERNEL_FN void read_tile() const {
    // Rows of a patch beyond the tile are read, but their values are not used.
    if constexpr (!Memory::may_load_unwritten) {
      constexpr tile_needs of = needs;
      const auto bytes = static_cast<int>(args.tile.bytes(of));
      for (int i = team.thread(); i < bytes / 16; i += team.threads())
        memory.store(reinterpret_cast<quad*>(memory.shared()) + i, quad{});
      team.synchronize();
    }
    for_groups(on_chip, [&](int column, int row, int plane) {
      for_arrays([&]<int I, class T>() {
        memory.store(place_of<I, T>(column, row, plane, 0),
                     load<I, T>(column, row, plane, buffer<I, T>(0)));
      });
    });
  }
  /// Writes the tile to the variables' own memory after `steps` steps.
  DSL_DETAIL_KERNEL_FN void write_tile(std::int64_t steps) const {
    for_groups(on_chip, [&](int column, int row, int plane) {
      for_arrays([&]<int I, class T>() {
        store<T>(memory.template load<pack<T, lanes>>(place_of<I, T>(column, row, plane, steps)),
                 column, row, plane, buffer<I, T>(0));
      });
    });
    if (!OnChip && (steps & 1) != 0)
      for_groups(in_memory, [&](int column, int row, int plane) {
        for_halos([&]<int I, class T>() {
          store<T>(load<I, T>(column, row, plane, buffer<I, T>(steps)), column, row, plane,
                   buffer<I, T>(0));
        });
      });
  }

  /// The range of columns that are read, relative to the tile's first one.
  DSL_DETAIL_KERNEL_FN int first_read() const { return -before<0>; }
  DSL_DETAIL_KERNEL_FN int end_read() const { return width + after<0>; }

  /// Fills the halos before step k of the launch.
  DSL_DETAIL_KERNEL_FN void fill_halos(std::int64_t k) const {
    constexpr int left = whole_vectors(before<0>, lanes) / lanes;
    const int right_end = (end_read() + lanes - 1) / lanes,
              inner_end = after<0> > 0 ? width / lanes : right_end;
    const int bottom = on_chip.height, back = on_chip.planes;
    const frame around{
        {-left, right_end, -before<1>, bottom + after<1>, -before<2>, back + after<2>},
        {0, inner_end, 0, bottom, 0, back}};
    DSL_DETAIL_ROLLED
    for (int i = team.thread(); i < around.count(); i += team.threads()) {
      const group_place p = around.at(i);
      const int column = p.column * lanes;
      for_halos([&]<int I, class T>() {
        memory.store(place_of<I, T>(column, p.row, p.plane, k),
                     find_vector<halo_of<I>>(memory, buffer<I, T>(k), this->corner[0] + column,
                                             this->corner[1] + p.row, plane_of_tile + p.plane,
                                             first_read() - column, end_read() - column));
      });
    }
  }
  /// Stores to shared memory the first `end` rows that step k has computed, from `row` on.
  template <class Made>
  DSL_DETAIL_KERNEL_FN void store_on_chip(const Made& made, int column, int row, int plane, int end,
                                          std::int64_t k) const {
    for_arrays([&]<int I, class T>() {
      const int down = (has_halo<I> ? args.tile.pitch : args.tile.other_pitch) / lanes;
      pack<T, lanes>* const first = place_of<I, T>(column, row, plane, k + 1);
      DSL_DETAIL_UNROLL
      for (int r = 0; r < rows; ++r)
        if (r < end) memory.store(first + r * down, lanes_of<I>(made.of[r]));
    });
  }
  /// Stores rows [first, end) to global memory; if the patch stays in shared memory, only variables
  /// that others read.
  template <class Made>
  DSL_DETAIL_KERNEL_FN void store_in_memory(const Made& made, int column, int row, int plane,
                                            int first, int end, bool reads_shared,
                                            std::int64_t k) const {
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r)
      if (r >= first && r < end)
        for_arrays([&]<int I, class T>() {
          if (has_halo<I> || !reads_shared)
            store<T>(lanes_of<I>(made.of[r]), column, row + r, plane, buffer<I, T>(k + 1));
        });
  }

  /// Keeps rows [first, end) of the state after step k of the launch, beside the variables.
  template <class Made>
  DSL_DETAIL_KERNEL_FN void keep(const Made& made, int column, int row, int plane, int first,
                                 int end, std::int64_t k) const {
    for_arrays([&]<int I, class T>() {
      T* const all = reinterpret_cast<T*>(args.by_step[Inputs + I]);
      if (all == nullptr) return;
      const std::int64_t across = this->extent(0), plane_size = across * this->extent(1);
      const grid_memory<T> to{all + (args.loop.recorded + k) *
                                        distance_of_states(plane_size * this->extent(2), sizeof(T)),
                              {1, across, plane_size},
                              {across, this->extent(1), this->extent(2)},
                              across % lanes == 0};
      DSL_DETAIL_UNROLL
      for (int r = 0; r < rows; ++r)
        if (r >= first && r < end) store<T>(lanes_of<I>(made.of[r]), column, row + r, plane, to);
    });
  }

  // Groups of lanes of a tile: half-open ranges of columns, rows and planes.
  struct region { int left, right, top, bottom, front, back; };
  struct group_place { int column, row, plane; };

  /// The groups of a region outside a hole in it, numbered: whole rows above and below the hole,
  /// then the planes before and behind it, then the ends of the hole's rows.
  struct frame {
    region whole, hole;
    DSL_DETAIL_KERNEL_FN int wide() const { return positive(hole.right - hole.left); }
    DSL_DETAIL_KERNEL_FN int high() const { return positive(hole.bottom - hole.top); }
    DSL_DETAIL_KERNEL_FN int deep() const { return positive(hole.back - hole.front); }
    DSL_DETAIL_KERNEL_FN int across() const { return whole.right - whole.left; }
    DSL_DETAIL_KERNEL_FN int down() const { return whole.bottom - whole.top; }
    DSL_DETAIL_KERNEL_FN int through() const { return whole.back - whole.front; }
    DSL_DETAIL_KERNEL_FN int above() const { return deep() * (down() - high()) * across(); }
    DSL_DETAIL_KERNEL_FN int outside() const {
      return above() + (through() - deep()) * down() * across();
    }
    DSL_DETAIL_KERNEL_FN int count() const {
      return outside() + deep() * high() * (across() - wide());
    }
    DSL_DETAIL_KERNEL_FN bool has(const group_place& p) const {
      return p.column < hole.left || p.column >= hole.right || p.row < hole.top ||
             p.row >= hole.bottom || p.plane < hole.front || p.plane >= hole.back;
    }
    DSL_DETAIL_KERNEL_FN group_place at(int i) const {
      const bool is_above = i < above(), is_end = i >= outside();
      const unsigned number = static_cast<unsigned>(is_end     ? i - outside()
                                                    : is_above ? i
                                                               : i - above()),
                     length = static_cast<unsigned>(is_end ? across() - wide() : across()),
                     lines = static_cast<unsigned>(is_end     ? high()
                                                   : is_above ? down() - high()
                                                              : down());
      const unsigned line = number / length, depth = through() == 1 ? 0 : line / lines;
      group_place p{whole.left + static_cast<int>(number - line * length),
                    static_cast<int>(line - depth * lines), static_cast<int>(depth)};
      if (is_end && p.column >= hole.left) p.column += wide();
      p.row += is_end ? hole.top : whole.top;
      if (is_above && p.row >= hole.top) p.row += high();
      p.plane += is_end || is_above ? hole.front : whole.front;
      if (!is_end && !is_above && p.plane >= hole.front) p.plane += deep();
      return p;
    }

   private:
    DSL_DETAIL_KERNEL_FN static int positive(int n) { return n < 0 ? 0 : n; }
  };
  /// The patches, counted like groups and rows, that have elements at the border of the part on
  /// chip.
  DSL_DETAIL_KERNEL_FN frame side_patches() const {
    constexpr int left = whole_vectors(margin<0>, lanes) / lanes,
                  top = (margin<1> + rows - 1) / rows;
    const int columns = (width + lanes - 1) / lanes, lines = (on_chip.height + rows - 1) / rows,
              back = on_chip.planes;
    const int right = margin<0> > 0 ? (width - margin<0>) / lanes : columns,
              bottom = margin<1> > 0 ? (on_chip.height - margin<1>) / rows : lines;
    return {{0, columns, 0, lines, 0, back},
            {left, right, top, bottom, margin<2>, back - margin<2>}};
  }

  /// Calls each<number, element type>() for each array with a halo.
  template <class Each>
  DSL_DETAIL_KERNEL_FN static void for_halos(const Each& each) {
    for_arrays([&]<int I, class T>() { of_halo<I, T>(each); });
  }

  /// The place of a tile's group in shared memory before step k of the launch.
  template <int I, class T>
  DSL_DETAIL_KERNEL_FN pack<T, lanes>* place_of(int column, int row, int plane,
                                                std::int64_t k) const {
    const tile_schedule& t = args.tile;
    T* const first = reinterpret_cast<T*>(memory.shared() + bytes_before<I>());
    if constexpr (!has_halo<I>)
      return reinterpret_cast<pack<T, lanes>*>(
          first + (plane * t.other_plane + row * t.other_pitch + column));
    const int moved = (k & 1) == 0 ? t.shift : 0;
    return reinterpret_cast<pack<T, lanes>*>(first + (moved + (plane + before<2>)*t.plane +
                                                      (row + before<1>)*t.pitch + column +
                                                      whole_vectors(before<0>, lanes)));
  }

  // ---- blocks of adjacent tiles

  /// Announces that this block's borders after step k are in memory. Called after a barrier. Done
  /// by the last warp, which may have nothing else to do.
  DSL_DETAIL_KERNEL_FN void announce(std::int64_t k) const {
    if (team.blocks() <= 1 || team.thread() != team.threads() - 1) return;
    DSL_DETAIL_ROLLED
    for (int m = 0; m < team.members(); ++m)
      team.release(args.loop.copy(args.tile.arrivals, m) + team.block(),
                   args.loop.epoch + static_cast<unsigned>(k));
  }
  /// Waits until all adjacent blocks have announced step k. This block sees their writes after the
  /// next barrier.
  DSL_DETAIL_KERNEL_FN void wait_for_neighbours(std::int64_t k) {
    if (adjacent_progress_ == nullptr) return;
    const unsigned wanted = args.loop.epoch + static_cast<unsigned>(k);
    unsigned tries = 0;
    while (team.acquire(adjacent_progress_) < wanted)
      if (team.gives_up(tries,
                        adjacent_progress_ - args.loop.copy(args.tile.arrivals, team.member()),
                        static_cast<unsigned>(k))) {
        adjacent_progress_ = nullptr;  // Never waits again.
        return;
      }
  }

  /// The place of a group of a reused element.
  template <int K, class T>
  DSL_DETAIL_KERNEL_FN pack<T, lanes>* place_of_reused(int column, int row, int plane) const {
    const tile_schedule& t = args.tile;
    constexpr int first_byte = Earlier::bytes_of_reused(K, typename Earlier::reused_numbers{});
    constexpr tile_needs of = needs;
    T* const first =
        reinterpret_cast<T*>(memory.shared() + t.bytes(of) + first_byte * t.other_elements);
    return reinterpret_cast<pack<T, lanes>*>(
        first + (plane * t.other_plane + row * t.other_pitch + column));
  }

 protected:
  // A variable's elements in global memory before step k of the launch.
  template <int I, class T>
  DSL_DETAIL_KERNEL_FN grid_memory<T> buffer(std::int64_t k) const {
    const argument& own = args.operand[Inputs + I];
    const auto& strides = args.strides[Inputs + I];
    const std::int64_t n[] = {this->extent(0), this->extent(1), this->extent(2)};
    if (!has_halo<I> || (k & 1) == 0)
      return {reinterpret_cast<T*>(own.word),
              {strides[0], strides[1], strides[2]},
              {n[0], n[1], n[2]},
              own.descriptor == in_vectors};
    return {reinterpret_cast<T*>(args.other[I]),
            {1, n[0], n[0] * n[1]},
            {n[0], n[1], n[2]},
            n[0] % lanes == 0};
  }
  // The elements of an input in step k of the launch.
  template <int N, class T>
  DSL_DETAIL_KERNEL_FN grid_memory<T> parameter(std::int64_t k) const {
    const auto& strides = args.strides[N];
    return {reinterpret_cast<T*>(args.operand[N].word) + this->elements_to_step(N, k),
            {strides[0], strides[1], strides[2]},
            {this->extent(0), this->extent(1), this->extent(2)},
            this->how_reached(N) == in_vectors};
  }
  // The elements of a variable from an element of the tile on.
  template <int I, class T>
  DSL_DETAIL_KERNEL_FN pack<T, lanes> load(int column, int row, int plane,
                                           const grid_memory<T>& from) const {
    T* const first =
        from.at({this->corner[0] + column, this->corner[1] + row, plane_of_tile + plane});
    const int count = width - column;
    if (from.in_vectors && count >= lanes) return memory.template load<pack<T, lanes>>(first);
    pack<T, lanes> v;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      v.lane[l] = memory.template load<T>(first + (l < count ? l : 0) * from.strides[0]);
    return v;
  }
  template <class T>
  DSL_DETAIL_KERNEL_FN void store(const pack<T, lanes>& v, int column, int row, int plane,
                                  const grid_memory<T>& to) const {
    T* const first =
        to.at({this->corner[0] + column, this->corner[1] + row, plane_of_tile + plane});
    const int count = width - column;
    if (to.in_vectors && count >= lanes)
      return memory.store(reinterpret_cast<pack<T, lanes>*>(first), v);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      if (l < count) memory.store(first + l * to.strides[0], v.lane[l]);
  }

 private:
  // The progress of a block whose tile touches this one; one such block for each of the first
  // threads.
  const quad* adjacent_progress_ = nullptr;

  // One thread for each of the adjacent blocks, also across the grid's ends.
  DSL_DETAIL_KERNEL_FN void find_adjacent_block() {
    constexpr int around = 27;
    if (team.thread() >= around) return;
    int which = team.thread(), number = static_cast<int>(team.block()), other = 0, step = 1;
    DSL_DETAIL_UNROLL
    for (int d = 0; d < 3; ++d) {
      const int tiles = args.tile.tiles[d];
      int there = number % tiles + which % 3 - 1;
      if (there < 0) there += tiles;
      if (there >= tiles) there -= tiles;
      other += there * step;
      step *= tiles;
      number /= tiles;
      which /= 3;
    }
    if (other != team.block())
      adjacent_progress_ = args.loop.copy(args.tile.arrivals, team.member()) + other;
  }
  // Bytes of an element of all arrays before number `end`.
  static constexpr int bytes_of(int end, bool with_halo) {
    int bytes = 0;
    for (int i = 0; i < end; ++i)
      if (!Pass::is_result(i) && ((needs.beside >> i & 1) != 0) == with_halo)
        bytes += size_of(Pass::view().type(i));
    return bytes;
  }
  template <int I>
  DSL_DETAIL_KERNEL_FN int bytes_before() const {
    constexpr int halo = bytes_of(I, true), other = bytes_of(I, false);
    return halo * args.tile.elements + other * args.tile.other_elements;
  }

  // Calls visit(column, row, plane) for all of a thread's groups in a part of the tile.
  template <class Visit>
  DSL_DETAIL_KERNEL_FN void for_groups(const box& of, const Visit& visit) const {
    const int columns = (width + lanes - 1) / lanes;
    DSL_DETAIL_ROLLED
    for (int i = team.thread(); i < columns * of.height * of.planes; i += team.threads())
      visit(i % columns * lanes, of.first_row + i / columns % of.height,
            of.first_plane + i / columns / of.height);
  }
  template <int I, class T, class Each>
  DSL_DETAIL_KERNEL_FN static void of_halo([[maybe_unused]] const Each& each) {
    if constexpr (has_halo<I>) each.template operator()<I, T>();
  }
};

}  // namespace dsl::detail
