// A step's work of one thread of a loop that reads neighbours.
#pragma once

#include <dsl/exec/loop/loop_scalars.hpp>
#include <dsl/exec/loop/tile_state.hpp>

namespace dsl::detail {

/// A program's windows of a loop's variables and of its arrays that differ from step to step.
template <class Program, int Lanes, int Rows, class Numbers> struct loop_windows;
template <class Program, int Lanes, int Rows, std::size_t... I>
struct loop_windows<Program, Lanes, Rows, std::index_sequence<I...>>
    : window_values<Program, static_cast<int>(I), Lanes, Rows>... {
  using program = Program;
};

/// Computes a step with the threads of a block. Where all tiles are on chip, the code for elements
/// elsewhere would take half of the registers.
template <class Pass, int Inputs, int States, int Stop, class Earlier, bool OnChip, class Memory,
          class Team>
struct tile_body : loop_scalars<tile_state<Pass, Inputs, States, Earlier, OnChip, Memory, Team>,
                                Pass, Inputs, States, Stop, Earlier> {
  using base = loop_scalars<tile_state<Pass, Inputs, States, Earlier, OnChip, Memory, Team>, Pass,
                            Inputs, States, Stop, Earlier>;
  using base::args, base::lanes, base::memory, base::team, base::width;
  using base::base;
  using typename base::accumulators, typename base::eval, typename base::group,
      typename base::lane_results, typename base::program, typename base::reductions,
      typename base::scalars, typename base::states;

  static constexpr int rows = base::rows;
  using window_numbers =
      std::make_index_sequence<static_cast<std::size_t>(base::step_arrays == 0 ? States : Inputs)>;

  struct thread_state { std::int64_t steps; };

  DSL_DETAIL_KERNEL_FN void begin(thread_state& t) {
    t.steps = 0;
    this->enter();
    this->read_tile();
    threads_ = tile_threads::of((width + lanes - 1) / lanes, team.threads());
    column_ = team.thread() % threads_.across;
    line_ = team.thread() / threads_.across;
    const int rounds_in_memory = rounds_of(this->in_memory),
              rounds_on_chip = rounds_of(this->on_chip);
    first_side_ = rounds_in_memory;
    first_on_chip_ =
        rounds_in_memory +
        (rounds_on_chip > 1 ? (this->side_patches().count() + team.threads() - 1) / team.threads()
                            : 0);
    all_rounds_ = first_on_chip_ + rounds_on_chip;
    announced_ = rounds_on_chip > 1 ? first_on_chip_ - 1 : all_rounds_ - 1;
  }

  /// Waits for the borders of adjacent tiles after step k - 1, and reads them.
  DSL_DETAIL_KERNEL_FN void begin_step(thread_state&, std::int64_t k) {
    if (k > 0) this->wait_for_neighbours(k - 1);
    team.synchronize();
    this->fill_halos(k);
    team.synchronize();
  }
  /// Computes a block's share of phase P of step k, which changes no variable. Returns a thread's
  /// partial results.
  template <int P>
  DSL_DETAIL_KERNEL_FN auto reduce_phase(thread_state&, const scalars& s, std::int64_t k) {
    using reduced = typename base::template reductions_of_phase<P>;
    using elements = loop_elements<typename base::template pass_of_phase<P>, Inputs,
                                   typename base::arguments, Memory, lanes>;
    typename reduced::accumulators sums = reduced::identities();
    DSL_DETAIL_ROLLED
    for (int round = 0; round < all_rounds_; ++round) {
      if (round == first_side_) round = first_on_chip_;  // Borders are also among the others.
      const patch p = patch_of(round, k);
      if (!p.exists) continue;
      elements phase(args, memory);
      compute_patch(
          p, s, k,
          [&] {
            phase.enter_with(*this);
            return &phase;
          },
          [&](const elements& of, int r, const auto& row) {
            typename reduced::accumulators joined = reduced::identities();
            const auto out = of.compute_read(row);
            Earlier::template for_reused<P>([&]<int K, class T, int Output>() {
              pack<T, lanes> values;
              DSL_DETAIL_UNROLL
              for (int l = 0; l < lanes; ++l)
                values.lane[l] = static_cast<T>(nth<Output>(out.of[l]));
              if (r < p.end)
                memory.store(this->template place_of_reused<K, T>(p.column, p.row + r, p.plane),
                             values);
            });
            DSL_DETAIL_UNROLL
            for (int l = 0; l < lanes; ++l)
              if (p.counts(r) && l < row.count)
                reduced::add(joined, reduced::of_element(out.of[l]));
            reduced::add(sums, joined);
          });
    }
    return sums;
  }

  /// Computes a block's share of a step. Returns a thread's partial results.
  DSL_DETAIL_KERNEL_FN accumulators step(thread_state& t, const scalars& s, std::int64_t k) {
    accumulators sums = reductions::identities();
    // The borders that other blocks wait for come first, so that they are on their way while the
    // tile is computed.
    DSL_DETAIL_ROLLED
    for (int round = 0; round < all_rounds_; ++round) {
      const patch p = patch_of(round, k);
      made_rows made;
      if (p.exists) make(made, p, s, k, sums);
      if (p.exists && p.writes_global)
        this->store_in_memory(made, p.column, p.row, p.plane, p.first, p.end, p.reads_shared, k);
      if constexpr (Stop == keeps_states)
        if (p.exists && (p.writes_shared || !p.reads_shared))
          this->keep(made, p.column, p.row, p.plane, p.first, p.end, k);
      if (p.writes_shared || round == announced_) team.synchronize();
      if (round == announced_) this->announce(k);
      if (p.exists && p.writes_shared)
        this->store_on_chip(made, p.column, p.row, p.plane, p.end, k);
    }
    t.steps = k + 1;
    return sums;
  }

  DSL_DETAIL_KERNEL_FN void end(thread_state& t) {
    if (t.steps > 0) this->wait_for_neighbours(t.steps - 1);
    team.synchronize();
    this->write_tile(t.steps);
  }

 private:
  template <int I> static constexpr bool is_array = base::template is_array<I>;
  template <int I> static constexpr int output = base::template output<I>;
  struct made_rows { state_lanes<Pass, lanes, states> of[rows]; };

  tile_threads threads_{};
  // The thread's, among `threads_`.
  int column_ = 0, line_ = 0;
  // A thread takes one patch in each round: first patches in memory, then those at the border of
  // the part on chip, unless all of that part takes a single round, and then all patches on chip.
  // After round `announced_` other blocks can read everything they need.
  int first_side_ = 0, first_on_chip_ = 0, all_rounds_ = 0, announced_ = 0;

  // The position of a thread's patch in the tile, and its own rows [first, end).
  struct patch {
    // reads_shared: read from shared memory. writes_global: stored to global memory. writes_shared:
    // stored to shared memory.
    bool exists, reads_shared, writes_global, writes_shared;
    int column, row, plane, first, end;
    DSL_DETAIL_FN bool counts(int r) const {
      return r >= first && r < end && (writes_shared || !reads_shared);
    }
  };
  DSL_DETAIL_KERNEL_FN static int lines_of(const typename base::box& b) {
    return (b.height + rows - 1) / rows;
  }
  DSL_DETAIL_KERNEL_FN int rounds_of(const typename base::box& b) const {
    return threads_.rounds(lines_of(b) * b.planes);
  }
  DSL_DETAIL_KERNEL_FN patch patch_of(int round, std::int64_t k) const {
    const bool reads_shared = OnChip || round >= first_side_,
               writes_shared = round >= first_on_chip_;
    typename base::box b = this->in_memory;
    // A reference to one of the two would put them into local memory.
    if (reads_shared) b = this->on_chip;
    const typename base::frame sides = this->side_patches();
    const int lines = lines_of(b);
    typename base::group_place at;
    bool exists;
    if (reads_shared && !writes_shared) {
      const int number = (round - first_side_) * team.threads() + team.thread();
      exists = number < sides.count();
      at = sides.at(exists ? number : 0);
    } else {
      // In shared memory in the direction in which the tile moves, so that overwritten elements
      // have been read.
      const int number = !reads_shared  ? round
                         : (k & 1) == 0 ? round - first_on_chip_
                                        : all_rounds_ - 1 - round;
      const int parts = threads_.parts, turn = parts == 1 ? number : number / parts;
      const int line = turn * threads_.down + line_;
      at.column = (number - turn * parts) * threads_.across + column_;
      at.plane = b.planes == 1 ? 0 : line / lines;
      at.row = line - at.plane * lines;
      exists = line_ < threads_.down && at.column * lanes < width && line < lines * b.planes;
    }
    const bool writes_global = !writes_shared || (first_on_chip_ == first_side_ && sides.has(at));
    const int column = at.column * lanes, row = at.row * rows, end = b.height - row,
              missing = end < rows ? rows - end : 0;
    // Beyond the tile there is room in shared memory; in global memory there are other blocks'
    // elements, so the patch begins earlier there.
    if (reads_shared)
      return {exists, true, writes_global, writes_shared, column, row, at.plane, 0, end};
    return {
        exists,  false, true, false, column, b.first_row + row - missing, b.first_plane + at.plane,
        missing, rows};
  }

  // Evaluates a pass on the rows of a patch: calls use(elements, row number, row) for each, where
  // enter() gives the pass's elements at the patch's place.
  template <class Enter, class Use>
  DSL_DETAIL_KERNEL_FN void compute_patch(const patch& p, const scalars& s, std::int64_t k,
                                          const Enter& enter, const Use& use) {
    if (base::step_arrays != 0 || this->extent(2) > 1) this->enter_plane(p.plane, k);
    auto& elements = *enter();
    using elements_type = std::remove_cvref_t<decltype(elements)>;
    using formula = typename elements_type::program;
    using windows = loop_windows<formula, lanes, rows, window_numbers>;
    windows around;
    base::for_halos([&]<int I, class T>() {
      using window = window_values<formula, I, lanes, rows>;
      if constexpr (window::shape.any())
        this->template load_window<I, T>(static_cast<window&>(around), p, k);
    });
    load_step_arrays(around, p, k, window_numbers{});
    typename elements_type::group of_row[rows];
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r)  // The nearest row stands in for missing ones.
      elements.place_in_tile(of_row[r], p.column,
                             p.row + (r < p.first ? p.first
                                      : r < p.end ? r
                                                  : p.end - 1));
    source<elements_type, windows> from{*this, elements, of_row, around, s, p, k};
    elements_type::eval::read(from);
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r) use(elements, r, of_row[r]);
  }
  // Computes the elements of a patch after the step.
  DSL_DETAIL_KERNEL_FN void make(made_rows& made, const patch& p, const scalars& s, std::int64_t k,
                                 accumulators& sums) {
    accumulators joined = reductions::identities();
    compute_patch(
        p, s, k, [this] { return this; },
        [&](const tile_body& of, int r, const group& row) {
          const lane_results out = of.compute_read(row);
          base::for_arrays([&]<int I, class T>() {
            DSL_DETAIL_UNROLL
            for (int l = 0; l < lanes; ++l)
              lanes_of<I>(made.of[r]).lane[l] = static_cast<T>(nth<output<I>>(out.of[l]));
          });
          DSL_DETAIL_UNROLL
          for (int l = 0; l < lanes; ++l)
            if (p.counts(r) && l < row.count)
              reductions::add(joined, reductions::of_element(out.of[l]));
        });
    reductions::add(sums, joined);
  }

  template <int I, class T, class Window>
  DSL_DETAIL_KERNEL_FN void load_window(Window& w, const patch& p, std::int64_t k) const {
    if (OnChip || p.reads_shared) {
      const T* const first = this->template place_of<I, T>(p.column, p.row, p.plane, k)->lane;
      return w.load_vectors(memory, first, args.tile.pitch, args.tile.plane);
    }
    load_window(w, p, this->template buffer<I, T>(k));
  }
  template <class Windows, std::size_t... N>
  DSL_DETAIL_KERNEL_FN void load_step_arrays(Windows& around, const patch& p, std::int64_t k,
                                             std::index_sequence<N...>) const {
    const auto load = [&]<int K, class Window>(Window& w) {
      if constexpr (K >= States && Window::shape.any())
        load_window(w, p, this->template parameter<K, typename Window::T>(k));
    };
    (load.template operator()<static_cast<int>(N)>(
         static_cast<window_values<typename Windows::program, static_cast<int>(N), lanes, rows>&>(
             around)),
     ...);
  }
  template <class Window, class T>
  DSL_DETAIL_KERNEL_FN void load_window(Window& w, const patch& p, grid_memory<T> from) const {
    constexpr window_shape shape = Window::shape;
    const std::int64_t x = this->corner[0] + p.column, y = this->corner[1] + p.row,
                       z = this->outer[0];
    // Where tiles are partly in memory, one more body would cost registers.
    constexpr bool takes_elements = base::step_arrays != 0;
    const bool inner = (takes_elements || from.in_vectors) && x >= shape.left * lanes &&
                       x + (shape.vectors - shape.left) * lanes <= this->extent(0) &&
                       y >= shape.above && y + shape.rows - shape.above <= this->extent(1) &&
                       z >= shape.front && z + shape.planes - shape.front <= this->extent(2);
    if (inner && (!takes_elements || from.in_vectors))
      w.load_vectors(memory, static_cast<const T*>(from.at({x, y, z})), from.strides[1],
                     from.strides[2]);
    else if (takes_elements && inner)
      w.load_elements(memory, static_cast<const T*>(from.at({x, y, z})), from.strides[0],
                      from.strides[1], from.strides[2]);
    else
      w = find_window<Window>(memory, from, x, y, z, this->first_read() - p.column,
                              this->end_read() - p.column);
  }
  // Reads a variable whose neighbours are not read.
  template <int I, std::uint32_t Head, class Group>
  DSL_DETAIL_KERNEL_FN void read_own(Group (&of_row)[rows], const patch& p, std::int64_t k) const {
    using T = state_element<I, Pass>;
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r) {
      Group& g = of_row[r];
      if (OnChip || p.reads_shared) {
        operand_lanes<Head>(g).load(
            memory, this->template place_of<I, T>(g.column, g.row, p.plane, k)->lane);
      } else {
        const pack<T, lanes> v =
            this->template load<I, T>(g.column, g.row, p.plane, this->template buffer<I, T>(k));
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) operand_lanes<Head>(g).set(l, v.lane[l]);
      }
    }
  }

  template <class Elements, class Windows>
  struct source {
    using program = typename Elements::program;
    const tile_body& body;
    const Elements& elements;
    typename Elements::group (&of_row)[rows];
    const Windows& around;
    const scalars& known;
    const patch& p;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::inside && place_with_head<program, Head>.is_near) {
        constexpr near_place place = place_with_head<program, Head>;
        set_lanes<Head, lanes>(of_row, [&](int r, int l) {
          return exists_near<0>(elements, place, of_row[r].column + l) &&
                 exists_near<1>(elements, place, of_row[r].row) &&
                 exists_near<2>(elements, place, 0);
        });
      } else if constexpr (constexpr int slot = operand<Code, N, Head>(); slot < 0) {
        DSL_DETAIL_UNROLL
        for (int r = 0; r < rows; ++r)
          elements.template read_parameter<Code, D, N, Head>(of_row[r], k);
      } else if constexpr (Earlier::is_reused(slot)) {
        constexpr int number = slot - Earlier::first_reused;
        using T = memory_t<Earlier::template type_of_reused<number>>;
        DSL_DETAIL_UNROLL
        for (int r = 0; r < rows; ++r) {
          auto& g = of_row[r];
          operand_lanes<Head>(g).load(
              body.memory,
              body.template place_of_reused<number, T>(g.column, g.row, p.plane)->lane);
        }
      } else if constexpr (is_scalar<slot>()) {
        set_lanes<Head, lanes>(of_row,
                               [&](int, int) { return base::template known_scalar<slot>(known); });
      } else if constexpr (has_window<slot>()) {
        constexpr near_place place = place_with_head<program, Head>;
        const auto& window = static_cast<const window_values<program, slot, lanes, rows>&>(around);
        set_lanes<Head, lanes>(of_row, [&](int r, int l) { return window.value(place, r, l); });
      } else {
        body.template read_own<slot, Head>(of_row, p, k);
      }
    }

   private:
    template <int Slot>
    static constexpr bool has_window() {
      return window_values<program, Slot, lanes, rows>::shape.any();
    }
    // The variable, the value or the array with a window that a node reads, or -1.
    template <op Code, int N, std::uint32_t Head>
    static constexpr int operand() {
      constexpr int slot = Code == op::neighbour ? slot_with_head<program, Head> : N;
      if constexpr (Code == op::inside || Code == op::coordinate) return -1;
      else if constexpr (slot < States) return slot;
      else if constexpr (Code != op::neighbour &&
                         (Earlier::is_value(slot) || Earlier::is_reused(slot)))
        return slot;
      else if constexpr (Elements::is_step_array(slot))
        return place_with_head<program, Head>.is_near && has_window<slot>() ? slot : -1;
      else return -1;
    }
    template <int Slot>
    static constexpr bool is_scalar() {
      if constexpr (Slot < States) return !is_array<Slot>;
      else return !Elements::is_step_array(Slot);
    }
  };
};

}  // namespace dsl::detail
