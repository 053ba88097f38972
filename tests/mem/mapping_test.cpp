// The arithmetic of shapes, which needs no memory: every element's place against a reference that
// maps indices one by one.
#include "../view_reference.hpp"

#include <gtest/gtest.h>

#include <dsl/mem/slice.hpp>

#include <limits>
#include <random>
#include <string>

namespace {

using dsl::detail::mapping;
using index = view_reference::index;
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();

mapping packed(const index& shape) {
  mapping m{static_cast<int>(shape.size()), {}, {}, 0};
  std::int64_t step = 1;
  for (int d = m.rank - 1; d >= 0; --d) {
    m.extents[d] = shape[static_cast<std::size_t>(d)];
    m.strides[d] = step;
    step *= m.extents[d];
  }
  return m;
}

index shape_of(const mapping& m) { return index(m.extents, m.extents + m.rank); }

std::vector<std::int64_t> places_of(const mapping& m) {
  std::vector<std::int64_t> places{m.offset};
  for (int d = 0; d < m.rank; ++d) {
    std::vector<std::int64_t> next;
    for (const std::int64_t p : places)
      for (std::int64_t i = 0; i < m.extents[d]; ++i) next.push_back(p + i * m.strides[d]);
    places = next;
  }
  return places;
}

mapping sliced(const mapping& m, std::vector<dsl::detail::subscript> chosen) {
  return dsl::detail::subscripted(m, chosen.data(), static_cast<int>(chosen.size()));
}

// Next to an extent of 0, strides and products of some extents must still be in range; NumPy
// refuses the same shapes.
TEST(mapping, sizes_pass_no_limit_beside_an_extent_of_0) {
  using dsl::detail::element_count;
  const std::int64_t big = std::int64_t{1} << 40;
  const auto count = [](const index& shape, int size) {
    return element_count(shape.data(), static_cast<int>(shape.size()), size);
  };
  for (const index& shape :
       {index{0, big, big}, index{big, 0, big}, index{big, big, 0}, index{0, most}})
    EXPECT_THROW(count(shape, 1), dsl::shape_error);
  for (const index& shape :
       {index{0, big, 1 << 18}, index{big, 0, 1 << 18}, index{1 << 18, big, 0}, index{0, 0, 0}})
    EXPECT_EQ(count(shape, 8), 0);
  EXPECT_EQ(count({big, 1 << 22}, 1), std::int64_t{1} << 62);
  EXPECT_THROW(count({big, 1 << 22}, 2), dsl::shape_error);
  const mapping wide = dsl::detail::diagonal(
      dsl::detail::broadcast_to(packed({1, most}), index{1, most}.data(), 2), 0);
  EXPECT_EQ(shape_of(wide), (index{1}));
  const mapping ends = sliced(packed({most}), {dsl::slice(0, dsl::end, most - 1)});
  EXPECT_EQ(shape_of(dsl::detail::reshape(ends, index{2, 1}.data(), 2)), (index{2, 1}));
  EXPECT_EQ(shape_of(dsl::detail::reshape(dsl::detail::broadcast_to(ends, index{3, 2}.data(), 2),
                                          index{3, 2, 1}.data(), 3)),
            (index{3, 2, 1}));
}

TEST(mapping, slices_as_python) {
  std::vector<std::optional<std::int64_t>> bounds{std::nullopt, least, most};
  for (std::int64_t b = -8; b <= 8; ++b) bounds.push_back(b);
  const auto bound = [](const std::optional<std::int64_t>& b) {
    return b ? dsl::detail::bound(*b) : dsl::detail::bound(dsl::end);
  };
  for (std::int64_t n = 0; n <= 6; ++n)
    for (const auto& start : bounds)
      for (const auto& stop : bounds)
        for (const std::int64_t step :
             {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::int64_t{-1},
              std::int64_t{-2}, std::int64_t{-7}}) {
          const mapping m = sliced(packed({n}), {dsl::slice(bound(start), bound(stop), step)});
          ASSERT_EQ(places_of(m), view_reference::positions(n, start, stop, step))
              << n << ": " << start.value_or(99) << ':' << stop.value_or(99) << ':' << step;
        }
  for (const std::int64_t step : {most, least, least + 1}) {
    const std::int64_t only = step > 0 ? 0 : 4;
    EXPECT_EQ(places_of(sliced(packed({5}), {dsl::slice(dsl::end, dsl::end, step)})), index{only});
  }
}

TEST(mapping, extents_and_strides_are_64_bit) {
  const mapping m = packed({5, std::int64_t{1} << 40, 3});
  const mapping part =
      sliced(m, {-1, dsl::slice(-2, dsl::end, -(std::int64_t{1} << 35)), dsl::slice(1, dsl::end)});
  EXPECT_EQ(shape_of(part), (index{32, 2}));
  EXPECT_EQ(part.offset, (4 * (std::int64_t{1} << 40) + (std::int64_t{1} << 40) - 2) * 3 + 1);
  EXPECT_EQ(part.strides[0], -3 * (std::int64_t{1} << 35));
  const mapping line = dsl::detail::reshape(m, std::vector<std::int64_t>{-1}.data(), 1);
  EXPECT_EQ(line.extents[0], 15 * (std::int64_t{1} << 40));
  const mapping back = dsl::detail::flip(line);
  EXPECT_EQ(back.offset, 15 * (std::int64_t{1} << 40) - 1);
  const std::int64_t huge[] = {std::int64_t{1} << 32, std::int64_t{1} << 32};
  EXPECT_THROW(dsl::detail::broadcast_to(mapping{}, huge, 2), dsl::shape_error);
  EXPECT_EQ(
      dsl::detail::diagonal(packed({std::int64_t{1} << 31, std::int64_t{1} << 31}), 5).extents[0],
      (std::int64_t{1} << 31) - 5);
  EXPECT_EQ(dsl::detail::diagonal(packed({4, 4}), least).extents[0], 0);
  EXPECT_EQ(dsl::detail::diagonal(packed({4, 4}), most).extents[0], 0);
}

TEST(mapping, counts_the_steps_of_ranges) {
  using dsl::detail::count_steps;
  for (std::int64_t start = -5; start <= 5; ++start)
    for (std::int64_t stop = -5; stop <= 5; ++stop)
      for (const std::int64_t step : {-3, -2, -1, 1, 2, 3}) {
        std::int64_t want = 0;
        for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) ++want;
        ASSERT_EQ(count_steps(start, stop, step), want) << start << ' ' << stop << ' ' << step;
        ASSERT_EQ(count_steps(double(start), double(stop), double(step)), want);
        if (start >= 0 && stop >= 0 && step > 0) {
          ASSERT_EQ(count_steps(std::uint64_t(start), std::uint64_t(stop), std::uint64_t(step)),
                    want);
        }
      }
  EXPECT_EQ(count_steps(most - 10, most, std::int64_t{3}), 4);  // doubles cannot distinguish these
  EXPECT_EQ(count_steps(most, least, least), 2);
  EXPECT_EQ(count_steps(0.0, 1.0, 0.3), 4);
  EXPECT_THROW(count_steps(least, most, std::int64_t{1}), dsl::shape_error);
  EXPECT_THROW(count_steps(0.0, 1.0, 0.0), dsl::shape_error);
  EXPECT_THROW(count_steps(0.0, INFINITY, 1.0), dsl::shape_error);
  EXPECT_THROW(count_steps(NAN, 1.0, 1.0), dsl::shape_error);
}

// Applies one function of shape with random arguments to both.
struct random_chain {
  std::mt19937 engine;
  mapping m;
  view_reference want;

  random_chain(unsigned seed, index shape)
      : engine(seed), m(packed(shape)), want(view_reference::of(shape)) {}
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  }

  // Whether strides can express these places in another shape.
  static bool is_strided(const view_reference& r) {
    mapping strided{static_cast<int>(r.shape.size()), {}, {}, r.places.empty() ? 0 : r.places[0]};
    std::int64_t step = 1;
    for (int d = strided.rank - 1; d >= 0; --d) {
      strided.extents[d] = r.shape[static_cast<std::size_t>(d)];
      if (strided.extents[d] > 1 && !r.places.empty())
        strided.strides[d] = r.places[static_cast<std::size_t>(step)] - r.places[0];
      step *= strided.extents[d];
    }
    return places_of(strided) == r.places;
  }

  std::string step() {
    const auto rank = static_cast<std::size_t>(m.rank);
    const auto axis = rank > 0 ? static_cast<std::size_t>(pick(0, m.rank - 1)) : 0;
    const int signed_axis = static_cast<int>(axis) - (pick(0, 1) == 1 ? m.rank : 0);
    const std::int64_t extent = rank > 0 ? m.extents[axis] : 0;
    const auto at_axis = [&](dsl::detail::subscript s) {
      std::vector<dsl::detail::subscript> chosen(axis, dsl::slice());
      chosen.push_back(s);
      m = sliced(m, chosen);
    };
    switch (pick(0, 9)) {
      case 0:
      case 1: {
        if (rank == 0) return "";
        const std::int64_t start = pick(-extent - 2, extent + 2),
                           stop = pick(-extent - 2, extent + 2), steps[] = {-3, -2, -1, 1, 1, 2, 3},
                           step = steps[pick(0, 6)];
        const bool open = pick(0, 3) == 0;
        at_axis(dsl::slice(start, open ? dsl::detail::bound(dsl::end) : dsl::detail::bound(stop),
                           step));
        want = want.slice(axis, start, open ? std::nullopt : std::optional(stop), step);
        return "slice";
      }
      case 2: {
        if (rank == 0 || extent == 0 || pick(0, 2) > 0) return "";
        const std::int64_t position = pick(-extent, extent - 1);
        at_axis(position);
        want = want.pick(axis, position < 0 ? position + extent : position);
        return "index";
      }
      case 3:
        if (rank == 0) return "";
        m = dsl::detail::flip(m, signed_axis);
        want = want.flip(axis);
        return "flip axis";
      case 4:
        m = dsl::detail::flip(m);
        for (std::size_t d = 0; d < rank; ++d) want = want.flip(d);
        return "flip";
      case 5: {
        std::vector<int> axes(rank);
        std::iota(axes.begin(), axes.end(), 0);
        std::shuffle(axes.begin(), axes.end(), engine);
        want = want.permute(axes);
        if (rank > 0 && pick(0, 1) == 1) axes[0] -= m.rank;
        m = dsl::detail::permute(m, axes.data(), m.rank);
        return "permute";
      }
      case 6: {
        if (rank < 2) return "";
        const std::int64_t offset = pick(-m.extents[0], m.extents[1]);
        m = dsl::detail::diagonal(m, offset);
        want = want.diagonal(offset);
        return "diagonal";
      }
      case 7: {  // adds broadcast axes, if there is room, and removes those of extent 1
        if (rank > 0 && extent == 1) {
          m = dsl::detail::squeeze(m, &signed_axis, 1);
          want = want.pick(axis, 0);
          return "squeeze";
        }
        if (rank > 5) return "";
        const int place = static_cast<int>(pick(0, m.rank));
        m = dsl::detail::expand_dims(m, &place, 1);
        index to = want.shape;
        to.insert(to.begin() + place, 1);
        want = want.reshape(to);
        return "expand_dims";
      }
      case 8: {
        index to = want.shape;
        for (auto& e : to) e = e == 1 ? pick(0, 3) : e;
        if (rank < 6 && pick(0, 1) == 1) to.insert(to.begin(), pick(1, 2));
        if (want.broadcast_to(to).count() > 20000) return "";
        m = dsl::detail::broadcast_to(m, to.data(), static_cast<int>(to.size()));
        want = want.broadcast_to(to);
        return "broadcast_to";
      }
      default: {  // a random factorisation; some extents are given as -1
        std::int64_t left = want.count();
        if (left == 0) return "";
        index to;
        for (int k = 0; k < 5 && left > 1; ++k) {
          std::int64_t factor = pick(1, 6);
          while (left % factor != 0) --factor;
          to.push_back(factor);
          left /= factor;
        }
        to.push_back(left);
        std::shuffle(to.begin(), to.end(), engine);
        index given = to;
        if (pick(0, 1) == 1)
          given[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(to.size()) - 1))] = -1;
        if (!is_strided(want.reshape(to))) {
          EXPECT_THROW(dsl::detail::reshape(m, given.data(), static_cast<int>(given.size())),
                       dsl::shape_error);
          return "";
        }
        m = dsl::detail::reshape(m, given.data(), static_cast<int>(given.size()));
        want = want.reshape(to);
        return "reshape";
      }
    }
  }
};

TEST(mapping, random_chains) {
  int longest = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 engine(seed);
    index shape;
    for (unsigned rank = seed % 5; rank > 0; --rank)
      shape.push_back(std::uniform_int_distribution<std::int64_t>(1, 7)(engine));
    random_chain chain(seed, shape);
    std::string story;
    int steps = 0;
    for (int k = 0; k < 8; ++k) {
      const std::string step = chain.step();
      if (step.empty()) continue;
      ++steps;
      story += step + ' ';
      ASSERT_EQ(shape_of(chain.m), chain.want.shape) << story << seed;
      ASSERT_EQ(places_of(chain.m), chain.want.places) << story << seed;
      bool in_order = true;
      for (std::size_t i = 0; i < chain.want.places.size(); ++i)
        in_order =
            in_order && chain.want.places[i] == chain.want.places[0] + static_cast<std::int64_t>(i);
      ASSERT_EQ(dsl::detail::is_contiguous(chain.m), in_order) << story << seed;
    }
    longest = std::max(longest, steps);
  }
  EXPECT_EQ(longest, 8);
}

template <class Error, class F> std::string message(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(mapping, errors_say_what_was_asked_of_which_shape) {
  using namespace dsl::detail;
  const mapping m = packed({3, 4});
  const auto reshape_to = [](const mapping& from, std::vector<std::int64_t> to) {
    return [=] { reshape(from, to.data(), static_cast<int>(to.size())); };
  };
  EXPECT_EQ(message<dsl::index_error>([&] { sliced(m, {0, 4}); }),
            "index 4 is out of range for axis 1 of extent 4, in shape (3, 4)");
  EXPECT_EQ(message<dsl::index_error>([&] { sliced(m, {-4}); }),
            "index -4 is out of range for axis 0 of extent 3, in shape (3, 4)");
  EXPECT_EQ(
      message<dsl::index_error>([&] { sliced(m, {std::size_t{0} - 1}); }),
      "index 9223372036854775807 or more is out of range for axis 0 of extent 3, in shape (3, 4)");
  EXPECT_EQ(message<dsl::index_error>([&] { sliced(packed({0}), {0}); }),
            "index 0 is out of range for axis 0 of extent 0, in shape (0)");
  EXPECT_EQ(message<dsl::index_error>([&] { sliced(m, {dsl::slice(), dsl::slice(0, 3, 0)}); }),
            "a slice's step is 0, along axis 1 of extent 4");
  EXPECT_EQ(message<dsl::shape_error>([&] { flip(m, 2); }),
            "flip of shape (3, 4): there is no axis 2: axes are 0 to 1, or -2 to -1 from the end");
  EXPECT_EQ(message<dsl::shape_error>([&] { flip(m, -3); }),
            "flip of shape (3, 4): there is no axis -3: axes are 0 to 1, or -2 to -1 from the end");
  const int twice[] = {1, -1};
  EXPECT_EQ(message<dsl::shape_error>([&] { permute(m, twice, 2); }),
            "permute of shape (3, 4): axis -1 is given twice");
  EXPECT_EQ(message<dsl::shape_error>([&] { squeeze(m, twice, 1); }),
            "squeeze of shape (3, 4): axis 1 is not of extent 1");
  const int far = 3;
  EXPECT_EQ(
      message<dsl::shape_error>([&] { expand_dims(m, &far, 1); }),
      "expand_dims of shape (3, 4): there is no axis 3: axes are 0 to 2, or -3 to -1 from the end");
  const std::int64_t five[] = {5, 4};
  EXPECT_EQ(message<dsl::shape_error>([&] { broadcast_to(m, five, 2); }),
            "shape (3, 4) does not broadcast to (5, 4)");
  EXPECT_EQ(message<dsl::shape_error>([&] { broadcast_to(m, five + 1, 1); }),
            "shape (3, 4) does not broadcast to (4)");
  EXPECT_EQ(message<dsl::shape_error>(reshape_to(m, {5, 2})),
            "cannot reshape (3, 4) to (5, 2): the numbers of elements differ");
  EXPECT_EQ(
      message<dsl::shape_error>(reshape_to(m, {5, -1})),
      "cannot reshape (3, 4) to (5, -1): no extent in the place of -1 gives as many elements");
  EXPECT_EQ(
      message<dsl::shape_error>(reshape_to(packed({0, 4}), {0, -1})),
      "cannot reshape (0, 4) to (0, -1): no extent in the place of -1 gives as many elements");
  EXPECT_NE(message<dsl::shape_error>(reshape_to(m, {-1, -1})).find("negative"), std::string::npos);
  EXPECT_EQ(message<dsl::shape_error>(reshape_to(transpose(m), {12})),
            "cannot reshape (4, 3) to (12): its elements do not lie in an order that allows it "
            "without a copy (dsl::eval makes one)");
  EXPECT_EQ(message<dsl::shape_error>([&] { index_mapping(2, five, 2); }),
            "index of shape (5, 4): there is no axis 2: axes are 0 to 1, or -2 to -1 from the end");
}

}  // namespace
