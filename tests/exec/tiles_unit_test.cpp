// The division of elements: each belongs to one tile of one group, and to one thread of it, for any
// shape, layout and plan.
#include <gtest/gtest.h>

#include <dsl/exec/run/run.hpp>

#include "exec/plan/layout.hpp"
#include "exec/plan/row_leads.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "random_operand.hpp"

#include <span>

namespace {

using namespace dsl::detail;
using dsl::op;

shape_of_test draw_shape(std::mt19937& engine, std::int64_t room = 5000) {
  shape_of_test shape(static_cast<std::size_t>(draw_below(engine, 6)));
  for (auto& n : shape) {
    const int kind = draw_below(engine, 4);
    n = kind == 0   ? 1 + draw_below(engine, 400)
        : kind == 1 ? 31 + draw_below(engine, 3)
                    : 1 + draw_below(engine, 5);
    n = std::min(n, std::max<std::int64_t>(room, 1));
    room /= n;
  }
  return shape;
}

// Launch numbers for a kernel that reduces to `results` results and has at most one block for each;
// 0 results: no reduction.
dsl::launch draw_launch(std::mt19937& engine, std::int64_t results) {
  const bool reduces = results > 0;
  const int block = 32 << draw_below(engine, 6);
  return {
      draw_below(engine, 2) == 0 ? 0
      : reduces                  ? block
                                 : block * (1 + draw_below(engine, 2)) / 2 / 32 * 32,
      reduces ? draw_below(engine, 2) * (static_cast<int>(results) + draw_below(engine, 20)) : 0};
}

// The extents of a shape, or the positions of a place, along the axes that are kept.
shape_of_test kept_of(const shape_of_test& all, std::uint32_t axes) {
  shape_of_test kept;
  for (std::size_t d = 0; d < all.size(); ++d)
    if ((axes >> d & 1) == 0) kept.push_back(all[d]);
  return kept;
}

// Target words of programs without kernels: a copy, and a reduction to the kept axes.
constexpr std::uint64_t copied[] = {target_word::make(false, 0).word},
                        reduced[] = {target_word::make(true, 0).word};
program_code code_without_kernels(bool reduces, int lanes) {
  program_code code{};
  code.inputs = 1;
  code.pass.view.reductions = reduces ? 1 : 0;
  code.pass.view.targets = reduces ? reduced : copied;
  code.pass.view.target_count = 1;
  code.pass.lanes = lanes;
  code.pass.accumulator_bytes = code.pass.state_bytes = 8;
  return code;
}

dsl::reduction_policy draw_policy(bool reduces, std::mt19937& engine) {
  dsl::reduction_policy p;
  if (!reduces) return p;
  p.vectors_ahead = 1 << draw_below(engine, 4);
  p.strided_vectors_ahead = 1 << draw_below(engine, 3);
  return p;
}

// The elements of all tiles, and their results, as blocks locate them.
template <bool Reduces>
std::vector<std::pair<std::int64_t, std::int64_t>> places_of_tiles(const void* parameters,
                                                                   const dsl::reduction_plan& p,
                                                                   bool groups) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  using arguments = strided_arguments<2>;
  const auto& args = *static_cast<const arguments*>(parameters);
  tile_place<arguments, 2, 0, Reduces> place(args);
  for (std::int64_t group = 0; group < (groups ? p.groups : 1); ++group)
    for (std::int64_t tile = 0; tile < p.tile.count; ++tile) {
      place.enter(static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(tile));
      EXPECT_LE(place.width, args.tiles_of.width);
      EXPECT_LE(place.height, args.tiles_of.height);
      for (int y = 0; y < place.height; ++y)
        for (int x = 0; x < place.width; ++x)
          all.emplace_back(place.offset[0] + x * args.strides[0][0] + y * args.strides[0][1],
                           place.offset[1] + x * args.strides[1][0] + y * args.strides[1][1]);
    }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(tiles, have_each_element_once) {
  std::mt19937 engine(1);
  int strided = 0, kept = 0;
  for (int round = 0; round < 1500; ++round) {
    const shape_of_test shape = draw_shape(engine);
    const bool reduces = round % 3 != 0;
    const auto rank = static_cast<int>(shape.size());
    const std::uint32_t axes = reduces ? engine() & ((1u << rank) - 1) : 0;
    const shape_of_test kept_shape = kept_of(shape, axes);
    const random_operand in =
        make_random_operand(shape, dsl::dtype::float32, dsl::backend::sim, true, engine);
    random_operand out =
        make_random_operand(kept_shape, dsl::dtype::float32, dsl::backend::sim, false, engine);
    operand all[] = {in.is, out.is};
    if (reduces) align_with_axes(all[1], {rank, axes});
    geometry g;
    const program_code code = code_without_kernels(reduces, 1 << draw_below(engine, 5));
    const dsl::reduction_policy policy = draw_policy(reduces, engine);
    // A reduction's index space is that of its inputs.
    if (reduces) all[0].rank = rank;
    if (reduces && in.is.rank != rank) continue;
    if (reduces && !std::equal(shape.begin(), shape.end(), in.is.extents)) continue;
    lay_out(g, all, 1, 1, code.pass.lanes, code.pass.view);
    const dsl::reduction_plan p =
        make_plan({}, g, all, 1, code.pass, policy, {},
                  draw_launch(engine, reduces ? std::max<std::int64_t>(1, g.results) : 0));
    ASSERT_EQ(p.grid, reduces ? p.groups * p.splits : p.tile.count) << p.describe().c_str();
    ASSERT_EQ(p.block % 32, 0);
    if (g.linear) {
      ASSERT_GE(p.tile.count * p.block * p.lanes * policy.vectors_ahead, g.elements)
          << p.describe().c_str();
      continue;
    }
    ++strided;
    kept += g.kept != 0 ? 1 : 0;
    kernel_parameters given = pass_parameters(code, all, g, p);
    const auto got = reduces ? places_of_tiles<true>(given.range(), p, g.kept != 0)
                             : places_of_tiles<false>(given.range(), p, false);
    std::vector<std::pair<std::int64_t, std::int64_t>> want;
    for_each_place(shape, [&](const shape_of_test& at) {
      want.emplace_back(in.offset(at), out.offset(kept_of(at, axes)));
    });
    std::sort(want.begin(), want.end());
    if (reduces && g.kept == 0) {  // one result, which has no place
      for (auto& each : want) each.second = 0;
    }
    ASSERT_EQ(got.size(), want.size()) << "round " << round << ": " << p.describe().c_str();
    ASSERT_EQ(got, want) << "round " << round << ": " << p.describe().c_str();
  }
  EXPECT_GT(strided, 500);
  EXPECT_GT(kept, 200);
}

// A block and its threads as in a kernel: threads in rows and columns, each with a place in a tile.
struct memory_range {
  const unsigned char* begin;
  std::size_t bytes;
  bool has(const void* at, std::size_t count) const {
    const auto* const first = static_cast<const unsigned char*>(at);
    return first >= begin && first + count <= begin + bytes;
  }
};
struct tally {
  memory_range in, out, shared;
  std::vector<int> written;  // number of writes to each byte of the target
  int mistakes = 0;
};

// Counts writes, and writes outside the target.
struct counting_memory {
  static constexpr bool calls_formula = true, may_load_unwritten = false;
  static constexpr int compute_capability = 0;
  unsigned char* of_block;
  tally* seen;
  unsigned char* shared() const { return of_block; }
  template <class T> T load(const void* address) const {
    const bool right = (seen->in.has(address, sizeof(T)) || seen->shared.has(address, sizeof(T))) &&
                       reinterpret_cast<std::uintptr_t>(address) % alignof(T) == 0;
    if (!right) return ++seen->mistakes, T{};
    return *static_cast<const T*>(address);
  }
  template <class T> void store_whole(T* address, const T& value) const { store(address, value); }
  template <class T> void store(T* address, const T& value) const {
    if (!seen->out.has(address, sizeof(T)) ||
        reinterpret_cast<std::uintptr_t>(address) % alignof(T) != 0) {
      ++seen->mistakes;
      return;
    }
    *address = value;
    const auto first = reinterpret_cast<const unsigned char*>(address) - seen->out.begin;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      ++seen->written[static_cast<std::size_t>(first) + i];
  }
  template <class T> void copy_async(T* to, const T* from) const {
    if (seen->shared.has(to, sizeof(T))) *to = load<T>(from);
    else ++seen->mistakes;
  }
};

using load_byte =
    program_with<program_nodes<1, 1>{{head::make(op::load, dsl::dtype::uint8, 0).word},
                                     {0},
                                     {reference::make(dsl::dtype::uint8, 0).word}}>;
using copy_bytes =
    pass_with<load_byte, no_program, words<target_word::make(false, 0).word>, pass_reductions<>>;

template <class Arguments> void copy_by_threads(const void* parameters,
                                                const dsl::reduction_plan& p,
                                                const counting_memory& memory) {
  kernel_body<copy_bytes, 1, Arguments, counting_memory> thread(
      *static_cast<const Arguments*>(parameters), memory);
  for (std::int64_t tile = 0; tile < p.grid; ++tile) {
    thread.enter(0, static_cast<std::uint32_t>(tile));
    if constexpr (Arguments::strided)
      for (int t = 0; p.tile.shared_bytes > 0 && t < p.block; ++t) thread.load_tile(t, p.block);
    for (int t = 0; t < p.block; ++t) thread.map(tile, t, p.block);
  }
}

TEST(tiles, threads_write_each_element_once) {
  std::mt19937 engine(2);
  const program_code& code = copy_code(1);
  int linear = 0, transposing = 0, with_leads = 0;
  for (int round = 0; round < 600; ++round) {
    const bool has_long_rows = round % 3 == 0;
    shape_of_test shape = draw_shape(engine, has_long_rows ? 60 : 5000);
    if (has_long_rows) shape.push_back(250 + draw_below(engine, 300));
    const random_operand in =
        make_random_operand(shape, dsl::dtype::uint8, dsl::backend::sim, true, engine);
    const random_operand out =
        make_random_operand(shape, dsl::dtype::uint8, dsl::backend::sim, false, engine);
    const operand all[] = {in.is, out.is};
    geometry g;
    lay_out(g, all, 1, 1, code.pass.lanes, code.pass.view);
    find_leads(g, all, 1, 2, code.pass);
    with_leads += g.leads.lanes > 0 ? 1 : 0;
    const dsl::reduction_plan p =
        make_plan({}, g, all, 1, code.pass, {}, {}, draw_launch(engine, 0));
    linear += g.linear ? 1 : 0;
    transposing += p.tile.shared_bytes > 0 ? 1 : 0;
    const std::vector<unsigned char> before(out.data(), out.data() + out.size);
    std::vector<unsigned char> shared(static_cast<std::size_t>(p.tile.shared_bytes) + 16);
    auto* const aligned =
        shared.data() + (16 - reinterpret_cast<std::uintptr_t>(shared.data()) % 16) % 16;
    tally seen{{in.data(), static_cast<std::size_t>(in.size)},
               {out.data(), before.size()},
               {aligned, static_cast<std::size_t>(p.tile.shared_bytes)},
               std::vector<int>(before.size(), 0)};
    const counting_memory memory{aligned, &seen};
    kernel_parameters given = pass_parameters(code, all, g, p);
    if (g.linear) copy_by_threads<linear_arguments<2>>(given.range(), p, memory);
    else copy_by_threads<strided_arguments<2>>(given.range(), p, memory);
    std::vector<int> times(before.size(), 0);
    auto want = before;
    for_each_place(shape, [&](const shape_of_test& at) {
      const auto to = static_cast<std::size_t>(out.first + out.offset(at));
      ++times[to];
      want[to] = in.data()[in.first + in.offset(at)];
    });
    ASSERT_EQ(seen.mistakes, 0) << "round " << round << ": " << p.describe().c_str();
    ASSERT_EQ(seen.written, times) << "round " << round << ": " << p.describe().c_str();
    ASSERT_EQ(std::vector<unsigned char>(out.data(), out.data() + out.size), want)
        << "round " << round << ": " << p.describe().c_str();
  }
  EXPECT_GT(with_leads, 40);
  EXPECT_GT(linear, 40);
  EXPECT_GT(transposing, 5);
}

// Elements of every size, copied by the library's own copy kernels, in the simulator and on the
// host.
TEST(tiles, copies_of_elements_of_any_size) {
  std::mt19937 engine(3);
  constexpr dsl::dtype types[] = {dsl::dtype::uint8, dsl::dtype::uint16, dsl::dtype::uint32,
                                  dsl::dtype::uint64, dsl::dtype::complex128};
  for (int round = 0; round < 600; ++round) {
    const shape_of_test shape = draw_shape(engine);
    const dsl::dtype type = types[round % 5];
    const dsl::device where = round % 2 == 0 ? dsl::backend::host : dsl::backend::sim;
    const random_operand in = make_random_operand(shape, type, where, true, engine),
                         out = make_random_operand(shape, type, where, false, engine);
    const auto size = static_cast<std::int64_t>(size_of(type));
    std::vector<unsigned char> want(out.data(), out.data() + out.size * size);
    for_each_place(shape, [&](const shape_of_test& at) {
      std::copy_n(in.data() + (in.first + in.offset(at)) * size, size,
                  want.begin() + (out.first + out.offset(at)) * size);
    });
    const operand all[] = {in.is, out.is};
    bound_pass copy(copy_code(static_cast<int>(size)), all,
                    where.kind == dsl::backend::sim ? draw_launch(engine, 0) : dsl::launch{});
    copy.run();
    ASSERT_EQ(std::vector<unsigned char>(out.data(), out.data() + out.size * size), want)
        << "round " << round << ": " << copy.make_plan().describe().c_str();
  }
}

// Random numbers of 64 bits: an element that is missing, counted twice or counted for another
// result changes the sum.
constexpr std::uint64_t number(int slot) { return reference::make(dsl::dtype::int64, slot).word; }
constexpr std::uint32_t number_by(op code, int slot) {
  return head::make(code, dsl::dtype::int64, slot).word;
}
using load_number = program_with<program_nodes<1, 1>{{number_by(op::load, 0)}, {0}, {number(0)}}>;
using total = program_with<program_nodes<1, 1>{{number_by(op::reduced, 0)}, {0}, {number(0)}}>;
using addition = program_with<program_nodes<3, 1>{
    {number_by(op::value, 0), number_by(op::value, 1), number_by(op::add, 2)},
    {0, 1, number(0) | number(1) << reference::bits},
    {number(2)}}>;
using sum_numbers = pass_with<load_number, total, words<target_word::make(true, 0).word>,
                              pass_reductions<pass_reduction<addition, words<0, 0>, 0, false>>>;

// Stores in `want`, the memory of `out`, the sums of the operands' elements along the axes.
void add_sums(std::vector<std::uint64_t>& want, const random_operand& out,
              std::span<const random_operand> in, const shape_of_test& shape, std::uint32_t axes) {
  const auto result_of = [&](const shape_of_test& at) {
    return static_cast<std::size_t>(out.first + out.offset(kept_of(at, axes)));
  };
  for_each_place(shape, [&](const shape_of_test& at) { want[result_of(at)] = 0; });
  for (const random_operand& each : in)
    for_each_place(shape, [&](const shape_of_test& at) {
      want[result_of(at)] +=
          reinterpret_cast<const std::uint64_t*>(each.data())[each.first + each.offset(at)];
    });
}

TEST(tiles, sums_have_each_element_once) {
  std::mt19937 engine(4);
  const program_code& code = code_of<unnamed, sum_numbers, 1>();
  for (int round = 0; round < 1200; ++round) {
    const shape_of_test shape = draw_shape(engine, round % 20 == 0 ? 100'000 : 5000);
    const auto rank = static_cast<int>(shape.size());
    const std::uint32_t axes = engine() & ((1u << rank) - 1);
    const shape_of_test kept = kept_of(shape, axes);
    const dsl::device where = round % 4 == 1 ? dsl::backend::sim : dsl::backend::host;
    const random_operand in = make_random_operand(shape, dsl::dtype::int64, where, false, engine),
                         out = make_random_operand(kept, dsl::dtype::int64, where, false, engine);
    auto* const to = reinterpret_cast<std::uint64_t*>(out.data());
    std::vector<std::uint64_t> want(to, to + out.size);
    add_sums(want, out, {&in, 1}, shape, axes);
    operand all[] = {in.is, out.is};
    align_with_axes(all[1], {rank, axes});
    dsl::launch fixed;
    if (where.kind == dsl::backend::sim)
      fixed = draw_launch(engine, std::max<std::int64_t>(1, out.size));
    fixed.block = std::min(fixed.block, 256);  // in larger blocks most threads would idle
    bound_pass sum(code, all, fixed);
    sum.run();
    ASSERT_EQ(std::vector<std::uint64_t>(to, to + out.size), want)
        << "round " << round << ", axes " << axes << ": " << sum.make_plan().describe().c_str();
  }
}

// The same for two devices, each with its own elements: both leave their partial results, and one
// combines them.
TEST(tiles, partial_results_of_two_devices_are_combined) {
  std::mt19937 engine(6);
  const program_code& code = code_of<unnamed, sum_numbers, 1>();
  const dsl::device where = dsl::backend::sim;
  int split = 0;
  for (int round = 0; round < 120; ++round) {
    const shape_of_test shape = draw_shape(engine, round % 20 == 0 ? 100'000 : 5000);
    const auto rank = static_cast<int>(shape.size());
    const std::uint32_t axes = engine() & ((1u << rank) - 1);
    const shape_of_test kept = kept_of(shape, axes);
    std::mt19937 same = engine;  // draws the same layout again
    const random_operand in[] = {
        make_random_operand(shape, dsl::dtype::int64, where, false, engine),
        make_random_operand(shape, dsl::dtype::int64, where, false, same)};
    for (std::int64_t i = 0; i < in[1].size; ++i)
      reinterpret_cast<std::uint64_t*>(in[1].data())[i] *= 3;
    const random_operand out = make_random_operand(kept, dsl::dtype::int64, where, false, engine);
    auto* const to = reinterpret_cast<std::uint64_t*>(out.data());
    std::vector<std::uint64_t> want(to, to + out.size);
    add_sums(want, out, in, shape, axes);
    const auto pass_of = [&](const random_operand& from) {
      operand all[] = {from.is, out.is};
      align_with_axes(all[1], {rank, axes});
      return bound_pass(code, all, {});
    };
    bound_pass passes[] = {pass_of(in[0]), pass_of(in[1])};
    if (passes[0].space().results == 0) continue;
    const partial_results_layout each = passes[0].partials(),
                                 both{each.groups, 2 * each.count, each.bytes};
    split += each.count > 1;
    std::vector<std::uint64_t> partials(both.all_bytes() / sizeof(std::uint64_t));
    for (const int k : {1, 0})
      passes[k].run({.part = reduction_part::to_partials,
                     .all = both,
                     .partials = partials.data(),
                     .first = k * each.count});
    passes[0].run({.part = reduction_part::from_partials,
                   .all = both,
                   .partials = partials.data(),
                   .count = 2 * passes[0].space().count});
    ASSERT_EQ(std::vector<std::uint64_t>(to, to + out.size), want)
        << "round " << round << ", axes " << axes << ": "
        << passes[0].make_plan().describe().c_str();
  }
  EXPECT_GT(split, 5);
}

// A plan depends only on the operands, the device and the call's fixed numbers. Parameters that are
// written one by one have the offsets of the kernel's struct.
TEST(kernel_parameters, lie_as_the_members_of_a_kernels_struct) {
  struct longest : haloed_arguments<3> {
    std::uint32_t odd;
    std::uint64_t last;
  };
  argument_header header{};
  header.elements = 7;
  kernel_parameters given(header);
  tiling tiles{};
  tiles.kept = 5;
  given.put(tiles);
  for (std::uint64_t k = 0; k < 3; ++k) given.put(argument{k, k + 10});
  for (std::int64_t k = 0; k < 3 * dsl::max_rank; ++k) given.put(k);
  halo_tiles halos{};
  halos.plane = 9;
  given.put(halos);
  for (std::uint32_t k = 0; k < 3; ++k) given.put(k);
  for (std::int32_t k = 0; k < 3; ++k) given.put(-k);
  given.put(std::uint32_t{11});
  given.put(std::uint64_t{12});
  const auto& read = *reinterpret_cast<const longest*>(given.range());
  EXPECT_EQ(read.elements, 7);
  EXPECT_EQ(read.tiles_of.kept, 5u);
  EXPECT_EQ(read.operand[2].descriptor, 12u);
  EXPECT_EQ(read.strides[2][dsl::max_rank - 1], 3 * dsl::max_rank - 1);
  EXPECT_EQ(read.halos.plane, 9u);
  EXPECT_EQ(read.place[2], 2u);
  EXPECT_EQ(read.beside[2], -2);
  EXPECT_EQ(read.odd, 11u);
  EXPECT_EQ(read.last, 12u);
  const auto fill = [&given] {
    for (int i = 0; i < 1 << 16; ++i) given.put(std::uint64_t{0});
  };
  EXPECT_THROW(fill(), dsl::memory_error);
}

TEST(tiles, a_plan_follows_from_what_it_is_asked_for) {
  std::mt19937 engine(5);
  const auto plan_of = [](const random_operand& in, const random_operand& out, int size,
                          const dsl::launch& fixed) {
    const operand all[] = {in.is, out.is};
    return std::string(bound_pass(copy_code(size), all, fixed).make_plan().describe().c_str());
  };
  const auto make = [&](dsl::dtype type, dsl::device where, std::int64_t n, std::int64_t first) {
    random_operand o = make_random_operand({n + first}, type, where, false, engine);
    o.is.extents[0] = n;
    o.is.strides[0] = 1;
    o.is.word[0] = reinterpret_cast<std::uintptr_t>(o.data()) +
                   static_cast<std::uint64_t>(first * size_of(type));
    return o;
  };
  const dsl::device host = dsl::backend::host, sim = dsl::backend::sim;
  const auto words = [&](dsl::device where, std::int64_t n, std::int64_t first) {
    return make(dsl::dtype::uint32, where, n, first);
  };
  const std::string plain = plan_of(words(sim, 5000, 0), words(sim, 5000, 0), 4, {});
  EXPECT_EQ(plain, plan_of(words(sim, 5000, 0), words(sim, 5000, 0), 4, {}));
  EXPECT_NE(plain, plan_of(words(sim, 5001, 0), words(sim, 5001, 0), 4, {}));
  EXPECT_NE(plain, plan_of(words(host, 5000, 0), words(host, 5000, 0), 4, {}));
  EXPECT_NE(plain, plan_of(words(sim, 5000, 0), words(sim, 5000, 0), 4, {.block = 64}));
  EXPECT_NE(plain, plan_of(make(dsl::dtype::uint8, sim, 5000, 0),
                           make(dsl::dtype::uint8, sim, 5000, 0), 1, {}));
  // Which operands are accessed in vectors is decided by the layout, not by the plan.
  for (const std::int64_t first : {0, 1, 2, 3, 4, 8}) {
    const random_operand in = words(sim, 5000, first), out = words(sim, 5000, 0);
    const operand all[] = {in.is, out.is};
    geometry g;
    lay_out(g, all, 1, 1, 4, pass_view{});
    EXPECT_EQ(g.layouts[0].how == access::wide, first % 4 == 0) << first;
    EXPECT_EQ(g.layouts[1].how, access::wide);
  }
}

}  // namespace
