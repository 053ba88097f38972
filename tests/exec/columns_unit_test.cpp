// How the host's loop loads operands block by block: first element, order of elements, and what is
// written back.
#include <gtest/gtest.h>

#include "host/columns.hpp"
#include "random_operand.hpp"

namespace {

using namespace dsl::detail;
using bytes = std::vector<unsigned char>;

constexpr dsl::dtype types[] = {dsl::dtype::uint8, dsl::dtype::uint16, dsl::dtype::uint32,
                                dsl::dtype::uint64, dsl::dtype::complex128};

shape_of_test draw_shape(std::mt19937& engine) {
  shape_of_test shape(static_cast<std::size_t>(draw_below(engine, 5)));
  std::int64_t room = 1500;
  for (auto& n : shape) {
    n = draw_below(engine, 4) == 0 ? 30 + draw_below(engine, 270) : 1 + draw_below(engine, 6);
    n = std::min(n, std::max<std::int64_t>(room, 1));
    room /= n;
  }
  return shape;
}

// An index space of some operands, and the places of its elements in visiting order.
struct laid_out {
  explicit laid_out(const std::vector<operand>& all, const pass_view& pass = {}) : operands(all) {
    lay_out(space, operands.data(), static_cast<int>(all.size()) - 1, 1, 1, pass);
    for_each_place(shape_of_test(space.extents, space.extents + space.rank),
                   [this](const shape_of_test& at) { places.push_back(at); });
  }
  std::int64_t offset(int k, const shape_of_test& at) const {
    std::int64_t sum = 0;
    for (int d = 0; d < space.rank; ++d)
      sum += at[static_cast<std::size_t>(d)] * space.layouts[k].strides[d];
    return sum;
  }
  std::int64_t size() const { return static_cast<std::int64_t>(places.size()); }
  std::vector<operand> operands;
  geometry space;
  std::vector<shape_of_test> places;
};

// Elements of operand k from `first` on, each located independently.
template <class Byte> bytes elements_of(const laid_out& l, int k, std::int64_t first,
                                        std::int64_t count, const Byte& element) {
  bytes all;
  const auto size = static_cast<std::size_t>(size_of(l.operands[static_cast<std::size_t>(k)].type));
  for (std::int64_t i = first; i < first + count; ++i) {
    const unsigned char* const at = element(l.places[static_cast<std::size_t>(i)]);
    for (std::size_t b = 0; b < size; ++b) all.push_back(at != nullptr ? at[b] : 0);
  }
  return all;
}

TEST(columns, a_block_begins_at_its_first_element) {
  std::mt19937 engine(1);
  for (int round = 0; round < 200; ++round) {
    geometry g;
    g.rank = draw_below(engine, 6);
    std::int64_t elements = 1;
    for (int d = 0; d < g.rank; ++d) elements *= g.extents[d] = 1 + draw_below(engine, 9);
    block_place place(g);
    std::int64_t first = 0;
    for (int step = 0; step < 60; ++step) {  // mostly forwards, sometimes back
      first = draw_below(engine, 4) == 0
                  ? draw_below(engine, static_cast<int>(elements))
                  : std::min<std::int64_t>(elements - 1, first + draw_below(engine, 40));
      place.move_to(first);
      for (std::int64_t d = g.rank - 1, rest = first; d >= 0; rest /= g.extents[d], --d)
        ASSERT_EQ(place.at()[d], rest % g.extents[d]) << first;
    }
  }
}

// Elements in memory, of each size: gathered, read in place, and written back.
TEST(columns, have_the_elements_of_an_array) {
  std::mt19937 engine(2);
  int side_by_side = 0;
  for (int round = 0; round < 1000; ++round) {
    const dsl::dtype type = types[round % 5];
    const shape_of_test shape = draw_shape(engine);
    const random_operand in = make_random_operand(shape, type, dsl::backend::host, true, engine),
                         out = make_random_operand(shape, type, dsl::backend::host, false, engine);
    const laid_out l({in.is, out.is});
    const auto size = static_cast<std::int64_t>(size_of(type));
    block_place place(l.space);
    for (int block = 0; block < 6; ++block) {
      const std::int64_t first = draw_below(engine, static_cast<int>(l.size())),
                         count = 1 + draw_below(engine, static_cast<int>(std::min<std::int64_t>(
                                                            l.size() - first, host_block)));
      place.move_to(first);
      const auto at = [&](const shape_of_test& p) {
        return in.data() + (in.first + l.offset(0, p)) * size;
      };
      const bytes want = elements_of(l, 0, first, count, at);
      bytes got(want.size() + 1, 0xcd);
      gather(got.data(), l.operands[0], l.space, l.space.layouts[0], place, count);
      ASSERT_EQ(got.back(), 0xcd) << round;
      got.pop_back();
      ASSERT_EQ(got, want) << "round " << round << ", " << count << " elements from " << first;
      // A direct pointer is given exactly if the elements are contiguous, within one row of the
      // space.
      const unsigned char* const direct =
          lies_at(l.operands[0], l.space, l.space.layouts[0], place, count);
      if (direct != nullptr) {
        ASSERT_TRUE(std::equal(want.begin(), want.end(), direct)) << round;
        ++side_by_side;
      }
      const int last = l.space.rank - 1;
      const bool in_one_row =
          last >= 0 && l.space.layouts[0].strides[last] == 1 &&
          l.places[static_cast<std::size_t>(first)][static_cast<std::size_t>(last)] + count <=
              l.space.extents[last];
      ASSERT_EQ(direct != nullptr, in_one_row) << round;

      bytes target(out.data(), out.data() + out.size * size);
      for (std::int64_t i = 0; i < count; ++i)
        std::copy_n(
            want.begin() + i * size, size,
            target.begin() +
                (out.first + l.offset(1, l.places[static_cast<std::size_t>(first + i)])) * size);
      scatter(want.data(), l.operands[1], l.space, l.space.layouts[1], place, count);
      ASSERT_EQ(bytes(out.data(), out.data() + out.size * size), target)
          << "round " << round << ", " << count << " elements from " << first;
    }
  }
  EXPECT_GT(side_by_side, 150);
}

// Place of the element that index i stands for, possibly outside 0 ... n - 1, by NumPy's pad modes;
// -1 for a zero.
std::int64_t place_beyond(dsl::boundary beyond, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  if (beyond == dsl::boundary::zero) return -1;
  if (beyond == dsl::boundary::clamp) return i < 0 ? 0 : n - 1;
  if (beyond == dsl::boundary::wrap) return (i % n + n) % n;
  std::int64_t at = i, step = 1;  // reflect: walk, and turn round at each end
  if (n == 1) return 0;
  at = 0;
  for (std::int64_t k = 0, end = std::abs(i); k < end; ++k) {
    if (at + step < 0 || at + step >= n) step = -step;
    at += step;
  }
  return at;
}

TEST(columns, a_place_beyond_an_end_is_found_as_numpy_pads) {
  for (int kind = 0; kind < 4; ++kind)
    for (std::int64_t n = 1; n < 9; ++n)
      for (std::int64_t distance = -40; distance <= 40; ++distance)
        for (std::int64_t i = 0; i < n; ++i) {
          const auto beyond = static_cast<dsl::boundary>(kind);
          const std::int64_t want = place_beyond(beyond, i - distance, n);
          ASSERT_EQ(inside(beyond, i - distance, n), want)
              << kind << ": " << i << " - " << distance << " of " << n;
          ASSERT_EQ(inside(beyond, i - least_distance(beyond, distance, n), n), want)
              << kind << ' ' << i << ' ' << distance;
        }
}

// A program that reads one neighbour, described by operand 0.
struct shifted_program {
  explicit shifted_program(dsl::dtype type)
      : heads{head::make(dsl::op::given_step, dsl::dtype::int64, 0).word,
              head::make(dsl::op::neighbour, type, 1).word},
        payloads{word_of(path_step{.slot = 0}, no_step),
                 fields(0, static_cast<int>(reference::make(dsl::dtype::int64, 0).word),
                        static_cast<int>(dsl::op::load))
                     .bits} {
    pass.elements = {heads, payloads, 2, nullptr, 0};
    pass.neighbours = neighbours_in(pass.elements);
  }
  std::uint32_t heads[2];
  std::uint64_t payloads[2];
  pass_view pass;
};

TEST(columns, have_the_neighbours_of_an_array) {
  std::mt19937 engine(3);
  for (int round = 0; round < 2000; ++round) {
    const dsl::dtype type = types[round % 5];
    shape_of_test shape = draw_shape(engine);
    if (shape.empty()) shape = {1 + draw_below(engine, 200)};
    random_operand in = make_random_operand(shape, type, dsl::backend::host, true, engine);
    const random_operand out = make_random_operand(shape, type, dsl::backend::host, false, engine);
    if (in.is.rank == 0) continue;
    operand& o = in.is;
    o.kind = operand_kind::neighbour;
    o.beyond = static_cast<dsl::boundary>(draw_below(engine, 4));
    o.axis = draw_below(engine, o.rank);
    const std::int64_t n = o.extents[o.rank - 1 - o.axis],
                       distance = draw_below(engine, static_cast<int>(4 * n + 3)) - 2 * n - 1;
    o.distance = least_distance(o.beyond, distance, n);
    const shifted_program program(type);
    const laid_out l({o, out.is}, program.pass);
    const auto size = static_cast<std::int64_t>(size_of(type));
    const operand_layout& w = l.space.layouts[0];
    const int along = dimension_of_axis(l.space, o, o.axis);
    const neighbour_column column(program.pass.elements, 1, l.operands.data(), l.space);
    const auto at = [&](const shape_of_test& p) -> const unsigned char* {
      std::int64_t offset = l.offset(0, p);
      const std::int64_t here = along < 0 ? 0 : p[static_cast<std::size_t>(along)],
                         from = place_beyond(o.beyond, here - distance, n);
      if (along >= 0) offset += (from - here) * w.strides[along];
      return from < 0 ? nullptr : in.data() + (in.first + offset) * size;
    };
    block_place place(l.space);
    for (int block = 0; block < 4; ++block) {
      const std::int64_t first = draw_below(engine, static_cast<int>(l.size())),
                         count = 1 + draw_below(engine, static_cast<int>(std::min<std::int64_t>(
                                                            l.size() - first, host_block)));
      place.move_to(first);
      const bytes want = elements_of(l, 0, first, count, at);
      bytes got(want.size(), 0xcd);
      column.gather(got.data(), place, count);
      ASSERT_EQ(got, want) << "round " << round << ", boundary " << static_cast<int>(o.beyond)
                           << ", distance " << distance << " of " << n << ", " << count << " from "
                           << first;
      if (const unsigned char* const direct = column.lies_at(place, count)) {
        ASSERT_TRUE(std::equal(want.begin(), want.end(), direct)) << round;
      }
    }
  }
}

// Positions and addresses are computed.
TEST(columns, have_positions_and_addresses) {
  std::mt19937 engine(4);
  for (int round = 0; round < 500; ++round) {
    const shape_of_test shape = draw_shape(engine);
    random_operand in =
        make_random_operand(shape, dsl::dtype::int64, dsl::backend::host, true, engine);
    const random_operand out =
        make_random_operand(shape, dsl::dtype::int64, dsl::backend::host, false, engine);
    in.is.kind = round % 2 == 0 ? operand_kind::index : operand_kind::address;
    in.is.size = 1 << draw_below(engine, 5);
    if (round % 2 == 0) in.is.word[0] = 1000;
    const laid_out l({in.is, out.is});
    const std::int64_t first = draw_below(engine, static_cast<int>(l.size())),
                       count = std::min<std::int64_t>(l.size() - first, host_block);
    block_place place(l.space);
    place.move_to(first);
    std::vector<std::int64_t> got(static_cast<std::size_t>(count)), want;
    const std::int64_t unit = round % 2 == 0 ? 1 : in.is.size;
    for (std::int64_t i = first; i < first + count; ++i)
      want.push_back(static_cast<std::int64_t>(in.is.word[0]) +
                     l.offset(0, l.places[static_cast<std::size_t>(i)]) * unit);
    gather(reinterpret_cast<unsigned char*>(got.data()), l.operands[0], l.space, l.space.layouts[0],
           place, count);
    ASSERT_EQ(got, want) << round;
  }
}

// The loop receives multiples of 64 elements; an incomplete block is padded with its last element.
TEST(columns, repeat_the_last_element_where_a_block_ends) {
  std::mt19937 engine(5);
  for (int round = 0; round < 500; ++round) {
    const shape_of_test shape = draw_shape(engine);
    const dsl::dtype type = types[round % 5];
    const random_operand in = make_random_operand(shape, type, dsl::backend::host, true, engine),
                         out = make_random_operand(shape, type, dsl::backend::host, false, engine);
    const laid_out l({in.is, out.is});
    const auto size = static_cast<std::size_t>(size_of(type));
    input_columns columns(l.operands.data(), 1, l.space, pass_view{});
    for (std::int64_t first = 0; first < l.size(); first += host_block) {
      const int valid = static_cast<int>(std::min<std::int64_t>(host_block, l.size() - first)),
                padded = padded_block(valid);
      ASSERT_TRUE(padded >= valid && padded % 64 == 0 && padded < valid + 64 &&
                  padded <= host_block);
      columns.read(first, valid);
      bytes want = elements_of(l, 0, first, valid, [&](const shape_of_test& p) {
        return in.data() + (in.first + l.offset(0, p)) * static_cast<std::int64_t>(size);
      });
      for (int i = valid; i < padded; ++i)
        for (std::size_t b = 0; b < size; ++b) want.push_back(want[want.size() - size]);
      const auto* const got = static_cast<const unsigned char*>(columns.at()[0]);
      ASSERT_EQ(bytes(got, got + want.size()), want) << "round " << round << ", from " << first;
    }
  }
}

}  // namespace
