// The work of one thread of a pass, over a memory (team.hpp).
#pragma once

#include <dsl/exec/access/tile_loader.hpp>
#include <dsl/exec/map/operands_of_pass.hpp>
#include <dsl/exec/map/singles.hpp>
#include <dsl/exec/reduce/alike_rows.hpp>
#include <dsl/exec/reduce/pairs.hpp>
#include <dsl/exec/reduce/totals_source.hpp>
#include <dsl/exec/stencil/displaced.hpp>
#include <dsl/exec/stencil/halo.hpp>
#include <dsl/exec/stencil/patch.hpp>
#include <dsl/ir/cost.hpp>

namespace dsl::detail {

/// One thread of a pass: reads `lanes` elements of every operand, evaluates them, and stores or
/// reduces the outputs. If fewer elements are left (the tail, the end of a row), the first one
/// stands in for the missing ones, so that there is one evaluation and no second copy of its code.
/// `Memory` performs the accesses.
template <class Pass, int Inputs, class Arguments, class Memory,
          int Lanes = lanes_of_kernel<Pass, Arguments>>
struct kernel_body : lanes_in_pass<Pass, Inputs, Arguments, Memory, Lanes> {
  using pass = Pass;
  using program = typename Pass::elements;
  using eval = evaluator<program>;
  using reductions = reductions_of<typename Pass::reductions>;
  using accumulators = typename reductions::accumulators;
  static constexpr bool strided = Arguments::strided;
  static constexpr int lanes = Lanes;
  static constexpr int inputs = Inputs;
  using group = lane_group<eval, lanes>;
  static constexpr reduction_policy policy = pass_policy<Pass>(Memory::compute_capability);
  static constexpr int ahead = strided ? policy.strided_vectors_ahead : policy.vectors_ahead;
  // Accumulators of a thread: one for each lane if each lane has its own result, or one for each
  // group that is read ahead.
  static constexpr int sums_a_thread = Arguments::strided && lanes > ahead ? lanes : ahead;
  using targets = std::make_index_sequence<Pass::targets>;
  // A long formula is compiled once for all lanes and both paths; next to its work a call is cheap.
  static constexpr bool calls_formula = Memory::calls_formula ||
                                        program::nodes >
                                            policy.inlined_nodes*(eval::gathers ? 2 : 1);
  static constexpr bool tells_alignment = eval::draws && !calls_formula && lanes > 1;

  // Formulas whose computation takes longer than their accesses.
  static constexpr bool computes_quickly = !strided && lanes > 1 && !calls_formula &&
                                           !eval::gathers && !eval::calls &&
                                           eval::quick_forms > 1 &&
                                           instructions_of(program::view()) >= 128;

  static constexpr neighbours_read neighbours = Pass::view().neighbours;
  using access = operands_of_pass<Pass, Inputs, Arguments, Memory>;
  using lanes_in_tile = lanes_in_pass<Pass, Inputs, Arguments, Memory, Lanes>;
  using access::enter, access::extent, access::position, access::place, access::step;
  using access::operands, access::args, access::offset, access::width, access::height,
      access::memory;
  using lanes_in_tile::column_of, lanes_in_tile::row_of, lanes_in_tile::place_in_tile,
      lanes_in_tile::cut_at_ends, lanes_in_tile::column_shift, lanes_in_tile::are_whole,
      lanes_in_tile::end_of_columns, lanes_in_tile::lane_step;
  static constexpr patch_needs patches =
      takes_patches<Arguments> ? patch_needs_of<Pass>() : patch_needs{};

  DSL_DETAIL_KERNEL_FN kernel_body(const Arguments& a, Memory m) : lanes_in_tile(a, m) {}
  /// In the tile that a body with other lanes has entered.
  DSL_DETAIL_KERNEL_FN explicit kernel_body(const access& entered) : lanes_in_tile(entered) {}
  /// The same work, element by element.
  using of_one = kernel_body<Pass, Inputs, Arguments, Memory, 1>;

  template <int Log2Size> static constexpr std::uint64_t arrays_of =
      arrays_of_size(program::view(), Log2Size);
  /// Copies to shared memory the parts of the entered tile that the block reads there. Called by
  /// all threads of a block.
  DSL_DETAIL_KERNEL_FN void load_tile(int thread, int block) {
    if constexpr (takes_halos<Arguments>)
      return halo_loader<kernel_body>{*this, thread, block}.run();
    const tile_loader<access, Memory> loader{*this, memory, neighbours.operands, thread, block};
    loader.template load_arrays<arrays_of<0>, arrays_of<1>, arrays_of<2>, arrays_of<3>,
                                arrays_of<4>>();
  }

  /// Computes and stores a thread's elements of the entered tile.
  DSL_DETAIL_KERNEL_FN void map(std::int64_t tile, int thread, int block) {
    if constexpr (!Arguments::strided) {
      const std::uint32_t groups =
          static_cast<std::uint32_t>(policy.vectors) * static_cast<std::uint32_t>(block);
      const auto number = static_cast<std::uint64_t>(static_cast<std::uint32_t>(tile)) * groups;
      const auto first =
          static_cast<std::int64_t>(number + static_cast<std::uint32_t>(thread)) * lanes;
      if constexpr (policy.vectors > 1) map_lines(first, static_cast<std::int64_t>(block) * lanes);
      else map_line(first);
    } else {
      group g;
      if constexpr (patches.rows > 0) {
        const auto write_group = [](auto& body, const auto& of, const auto& out) {
          body.write_all(of, out, targets{});
        };
        return patch_walk<kernel_body>{*this}.run(thread, write_group);
      }
      if constexpr (takes_halos<Arguments>) return halo_walk<kernel_body>{*this}.run(thread);
      place_in_tile(g, column_of(thread) + column_shift(thread), row_of(thread));
      if (g.count <= 0) return;
      DSL_DETAIL_ROLLED
      for (; g.row < height; g.row += args.tiles_of.rows) write_all(g, compute(g), targets{});
    }
  }

  /// Reduces a thread's elements of the entered tile to its accumulators.
  template <bool Compact = false>
  DSL_DETAIL_KERNEL_FN void reduce(std::int64_t tile, int thread, int block, accumulators* sums) {
    if constexpr (!Arguments::strided) {
      const std::int64_t first = (tile * ahead * block + thread) * lanes,
                         apart = static_cast<std::int64_t>(block) * lanes;
      reduce_ahead<false>(first + (ahead - 1) * apart + lanes <= args.elements, sums,
                          [&](group& g, int u, bool whole) {
                            g.first = first + u * apart;
                            g.count = whole ? lanes : lanes_from(g.first);
                          });
    } else {
      if constexpr (patches.rows > 0) {
        const auto add_group = [sums](auto& body, const auto& of, const auto& out) {
          body.write_and_add(of, out, sums, sums[0]);
        };
        return patch_walk<kernel_body>{*this}.run(thread, add_group);
      }
      const tiling& t = args.tiles_of;
      if constexpr (may_have_alike_rows<kernel_body> && !Compact)
        if (t.has_alike_rows != 0)
          return alike_rows<kernel_body>{*this, column_of(thread), sums}.reduce(row_of(thread));
      const int across = t.along_rows != 0 ? t.group_distance : 0, down = t.group_distance - across;
      const int end = end_of_columns();
      DSL_DETAIL_ROLLED
      for (int column = column_of(thread) + column_shift(thread), row = row_of(thread);
           column < end && row < height; column += ahead * across, row += ahead * down) {
        if constexpr (may_pair(Pass::view())) {
          if (t.pairs != 0) column = row_of_pairs<kernel_body>::reduce(*this, column, row, sums[0]);
        }
        reduce_ahead<may_have_singles<kernel_body> && !Compact>(
            are_whole(column, column + (ahead - 1) * across, row + (ahead - 1) * down) &&
                row + (ahead - 1) * down < height,
            sums, [&](group& g, int u, bool whole) {
              const int steps = whole && !Compact ? 0 : u;
              g.column = column + steps * across;
              g.row = row + steps * down;
              g.further = u - steps;
              g.count = lanes;
              if (whole) return;
              if (g.column >= end || g.row >= height) g.count = 0;
              else cut_at_ends(g);
            });
      }
    }
  }

  /// Computes the results from the accumulators and stores them: result `result_index` of the
  /// thread that owns them.
  DSL_DETAIL_KERNEL_FN void finish(const accumulators& totals, int owner, int result_index) {
    std::uint32_t at = 0;  // The position along the kept dimension.
    if constexpr (Arguments::strided) {
      const kept_along kept = args.reduction.kept;
      if (kept != kept_along::none) {
        const bool columns = kept == kept_along::columns;
        at = static_cast<std::uint32_t>(columns ? owner * lanes + result_index
                                                : owner + result_index * args.tiles_of.rows);
        if (at >= static_cast<std::uint32_t>(columns ? width : height)) return;
      }
    }
    using after = evaluator<typename Pass::results>;
    totals_source<kernel_body, typename after::inputs> from{*this, totals, {}};
    after::read(from);
    // Short code may be inlined in the several places that call this.
    constexpr bool is_short = instructions_of(Pass::results::view()) <= 16;
    if constexpr (is_short) store_results(after::compute(from.in), at, targets{});
    else store_results(after::compute_out_of_line(from.in), at, targets{});
  }

 protected:
  template <class, int, class, class, int> friend struct kernel_body;
  template <class, class, std::uint32_t> friend struct neighbour_reader;
  template <class> friend struct patch_walk;
  template <class> friend class displaced_reader;
  template <class> friend struct halo_loader;
  template <class> friend struct halo_walk;
  template <class, int, int, int> friend struct window;
  template <class Body, op Code, dtype D, std::uint32_t Head> friend void read_near(
      const Body&, typename Body::group&);
  template <class, class> friend struct own_reader;
  template <class, class> friend struct row_reader;
  template <class> friend struct row_of_pairs;
  template <class, class> friend struct totals_source;
  template <class> friend struct single_reader;
  template <class> friend struct alike_rows;
  template <class, int> friend struct alike_row_reader;
  template <class> friend struct single_spreader;

  template <op Code, dtype D, int N>
  DSL_DETAIL_KERNEL_FN value_t<D> scalar_operand() const {
    const argument& a = args.operand[N];
    if constexpr (Code == op::load_scalar)
      return memory.template load<memory_t<D>>(reinterpret_cast<const memory_t<D>*>(a.word));
    else return from_literal<value_t<D>>(literal{a.word, a.descriptor});
  }

  template <class Results, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void store_results(const Results& results, std::uint32_t at,
                                          std::index_sequence<I...>) {
    (store_result<static_cast<int>(I)>(results, at), ...);
  }
  template <int I, class Results>
  DSL_DETAIL_KERNEL_FN void store_result(const Results& results, std::uint32_t at) {
    constexpr target_word t{Pass::target_words[I]};
    if constexpr (t.is_result()) {
      using T = memory_t<Pass::results::output(t.output()).type()>;
      constexpr int k = Inputs + I;
      const T result = static_cast<T>(nth<t.output()>(results));
      T* to = reinterpret_cast<T*>(args.operand[k].word);
      if (Pass::targets > 1 && to == nullptr) return;  // discarded
      if constexpr (Arguments::strided)
        to += offset[k] + at * (args.reduction.kept == kept_along::columns ? args.strides[k][0]
                                                                           : args.strides[k][1]);
      memory.store(to, result);
      if (args.operand[k].descriptor != 0)
        memory.store(reinterpret_cast<T*>(args.operand[k].descriptor), result);
    }
  }

  DSL_DETAIL_KERNEL_FN int lanes_from(std::int64_t first) const {
    return args.elements - first < lanes ? static_cast<int>(args.elements - first) : lanes;
  }
  struct lane_results { typename eval::results of[lanes]; };
  DSL_DETAIL_KERNEL_FN void map_line(std::int64_t first) {
    group g;
    g.first = first;
    if (read_line(g)) map_group(g);
  }
  // Several groups: one check tells whether all of them are whole.
  DSL_DETAIL_KERNEL_FN void map_lines(std::int64_t first, std::int64_t apart) {
    if (first + (policy.vectors - 1) * apart + lanes <= args.elements) {
      DSL_DETAIL_ROLLED
      for (int v = 0; v < policy.vectors; ++v) {
        group g;
        g.first = first + v * apart;
        g.count = lanes;
        g.in_vectors = reads_vectors();
        read_operands(g);
        map_group(g);
      }
    } else {
      of_one each{args, memory};
      DSL_DETAIL_ROLLED
      for (int k = 0; k < policy.vectors * lanes; ++k)
        each.map_line(first + k / lanes * apart + k % lanes);
    }
  }
  DSL_DETAIL_KERNEL_FN void map_group(const group& g) {
    if constexpr (computes_quickly) {
      lane_results out;
      lane_range range;
      g.template each_lane<tells_alignment>(
          [&](const group& of, int l) { out.of[l] = eval::compute_quickly(of.lane(l), range); });
      if (!range.in_doubt()) return write_all(g, out, targets{});
      // Reads from memory again, so that the operands need not stay in registers.
      of_one each{args, memory};
      DSL_DETAIL_ROLLED
      for (int l = 0; l < g.count; ++l) each.map_line(g.first + l);
    } else {
      write_all(g, compute_read(g), targets{});
    }
  }
  // Finds how many elements a group has, unless it is whole vectors, and reads them. Returns
  // whether there are any.
  DSL_DETAIL_KERNEL_FN bool read_line(group& g) const {
    g.in_vectors = reads_vectors() && g.first + lanes <= args.elements;
    g.count = lanes;
    if (!g.in_vectors) {
      g.count = lanes_from(g.first);
      if (g.count <= 0) return false;
    }
    read_operands(g);
    return true;
  }
  DSL_DETAIL_KERNEL_FN lane_results compute(group& g) const {
    // The strided path checks each operand instead, because this would take more registers there.
    g.in_vectors = !strided && reads_vectors() && g.count == lanes;
    read_operands(g);
    return compute_read(g);
  }
  DSL_DETAIL_KERNEL_FN void read_operands(group& g) const {
    if constexpr (takes_displaced<Arguments>) {
      displaced_reader<kernel_body> all(*this, g);
      return eval::read(all);
    }
    if (g.in_vectors) {  // No branch between the loads.
      reader<true, false> arrays{*this, g};
      eval::read(arrays);
    } else {
      reader<true, false> arrays{*this, g};
      eval::read(arrays);
    }
    if constexpr (reads_more_than_arrays) {
      reader<false, true> rest{*this, g};
      eval::read(rest);
    }
  }
  // Whether all arrays are written in whole vectors.
  DSL_DETAIL_KERNEL_FN bool stores_vectors() const { return stores_vectors(targets{}); }
  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN bool stores_vectors(std::index_sequence<I...>) const {
    return (... && (target_word{Pass::target_words[I]}.is_result() ||
                    args.operand[Inputs + I].descriptor == in_vectors));
  }
  // Whether no operand is accessed element by element.
  DSL_DETAIL_KERNEL_FN bool reads_vectors() const {
    constexpr bool moves = [] {
      for (int i = 0; i < program::nodes; ++i)
        if (is_placed(head{program::view().heads[i]}.code())) return true;
      return false;
    }();
    return !moves && args.in_vectors != 0;
  }
  DSL_DETAIL_KERNEL_FN lane_results compute_read(const group& g) const {
    lane_results out;
    g.template each_lane<tells_alignment>([&](const group& of, int l) {
      if constexpr (Memory::calls_formula && eval::gathers)
        out.of[l] = eval::compute_out_of_line(of.lane(l), memory);
      else if constexpr (calls_formula) out.of[l] = eval::compute_out_of_line(of.lane(l));
      else out.of[l] = eval::compute(of.lane(l));
    });
    return out;
  }
  // Groups that are whole have code of their own if several are read ahead, or if an accumulator is
  // wide: with a number of elements that is known, adding a group to a variance divides nothing.
  static constexpr bool reads_whole_ahead = ahead > 1 || reductions::most_bytes > 8;
  // Places groups and reduces them. If all are whole, they are read before the first is computed,
  // without a branch in between, because otherwise nvcc would compute between the loads.
  template <bool Singles, class PlaceGroup>
  DSL_DETAIL_KERNEL_FN void reduce_ahead(bool whole, accumulators* sums,
                                         const PlaceGroup& place_group) {
    if (reads_whole_ahead && whole && (reads_vectors() || (Singles && args.has_singles != 0))) {
      group g[ahead];
      DSL_DETAIL_UNROLL
      for (int u = 0; u < ahead; ++u) {
        place_group(g[u], u, true);
        g[u].in_vectors = reads_vectors();
        read_ahead<Singles>(g[u]);
      }
      DSL_DETAIL_UNROLL
      for (int u = 0; u < ahead; ++u) {
        if constexpr (Singles) single_spreader<kernel_body>::spread_all(*this, g[u]);
        write_and_add(g[u], compute_read(g[u]), sums, sums[u]);
      }
      return;
    }
    DSL_DETAIL_ROLLED
    for (int u = 0; u < ahead; ++u) {
      group g;
      place_group(g, u, false);
      if (g.count <= 0) return;
      add_group(g, compute(g), sums, u);
    }
  }
  // Adds a group to the accumulators of its number.
  DSL_DETAIL_KERNEL_FN void add_group(const group& g, const lane_results& out, accumulators* sums,
                                      int number) {
    accumulators mine = reductions::identities();
    write_and_add(g, out, sums, mine);
    DSL_DETAIL_UNROLL
    // A variable index would put all accumulators into local memory.
    for (int s = 0; s < ahead; ++s)
      if (s == number) reductions::add(sums[s], mine);
  }
  // Starts to read a whole group.
  template <bool Singles>
  DSL_DETAIL_KERNEL_FN void read_ahead(group& g) const {
    std::conditional_t<Singles, single_reader<kernel_body>, reader<>> from{*this, g};
    eval::read(from);
  }
  // If columns are kept, each lane has its own accumulator.
  DSL_DETAIL_KERNEL_FN void write_and_add(const group& g, const lane_results& out,
                                          accumulators* by_lane, accumulators& all) {
    write_all(g, out, targets{});
    if (Arguments::strided && args.reduction.kept == kept_along::columns) {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        if (l < g.count)
          reductions::add(by_lane[l < sums_a_thread ? l : 0], reductions::of_element(out.of[l]));
    } else {
      reductions::template add_lanes<program>(all, out.of, g.count,
                                              [this](int operand) { return step(operand); });
    }
  }

  DSL_DETAIL_KERNEL_FN std::uint64_t how_reached(int k) const {
    return access::how_reached(k, neighbours.operands);
  }
  static constexpr bool is_in_array(op code) { return code == op::load || is_placed(code); }
  static constexpr bool reads_more_than_arrays = [] {
    for (const int node : eval::input_nodes)
      if (!is_in_array(eval::head_of(node).code())) return true;
    return false;
  }();
  template <bool Arrays = true, bool Rest = true>
  struct reader {
    const kernel_body& body;
    group& g;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (is_in_array(Code) ? Arrays : Rest) body.template read<Code, D, N, Head>(g);
    }
  };
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read(group& g) const {
    using T = memory_t<D>;
    const argument& a = args.operand[is_placed(Code) ? 0 : N];
    if constexpr (Code == op::load) {
      this->load(N, g, reinterpret_cast<const T*>(a.word) + place(N, g), how_reached(N),
                 operand_lanes<Head>(g));
    } else if constexpr (is_placed(Code)) {
      if constexpr (!Arguments::strided) return;
      else if constexpr (place_with_head<program, Head>.is_near)
        read_near<kernel_body, Code, D, Head>(*this, g);
      else neighbour_reader<kernel_body, group, Head>{*this, g}.template read<Code, D>();
    } else if constexpr (Code == op::index || Code == op::address) {
      const std::int64_t unit = Code == op::index ? 1 : static_cast<std::int64_t>(how_reached(N));
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        operand_lanes<Head>(g).set(
            l, static_cast<value_t<D>>(a.word) +
                   static_cast<value_t<D>>(
                       (place(N, g) + (l < g.count ? l : 0) * lane_step * step(N)) * unit));
    } else {
      const value_t<D> scalar = scalar_operand<Code, D, N>();
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) operand_lanes<Head>(g).set(l, scalar);
    }
  }

  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN void write_all(const group& g, const lane_results& out,
                                      std::index_sequence<I...>) {
    if (g.in_vectors)
      (write<static_cast<int>(I)>(g, out, true), ...);  // No branch between the stores.
    else (write<static_cast<int>(I)>(g, out, false), ...);
  }
  template <int I>
  DSL_DETAIL_KERNEL_FN void write(const group& g, const lane_results& out, bool whole) {
    constexpr target_word t{Pass::target_words[I]};
    if constexpr (!t.is_result()) {
      using T = memory_t<program::output(t.output()).type()>;
      pack<T, lanes> all;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) all.lane[l] = static_cast<T>(nth<t.output()>(out.of[l]));
      this->store(Inputs + I, g, all, whole);
    }
  }
};

}  // namespace dsl::detail
