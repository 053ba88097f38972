// Views and functions of shape as operands and targets, in any order, against a reference that maps
// indices one by one on the host.
#include "../on_device.hpp"
#include "places.hpp"

#include <complex>

namespace {

using dsl::end;
using dsl::slice;

struct shape : on_device {};
ON_EVERY_DEVICE(shape);

// An unsigned position of 2^63 or more is beyond the end; it does not count from the end.
TEST_P(shape, unsigned_subscripts) {
  auto x = counting(10);
  const auto r = reference(10);
  const std::size_t none = 0, most = ~std::size_t{0};
  EXPECT_THROW(x(none - 1), dsl::index_error);
  EXPECT_THROW(x(std::size_t{1} << 63), dsl::index_error);
  EXPECT_EQ(x(std::uint8_t{9}).value(), 9);
  EXPECT_EQ(x(4294967295u - 4294967288u).value(), 7);
  EXPECT_THROW(x(4294967295u), dsl::index_error);
  expect_view(x(slice(0, most)), r.slice(0, 0, std::nullopt, 1));
  expect_view(x(slice(most, end)), r.slice(0, 10, std::nullopt, 1));
  expect_view(x(slice(most, end, -1)), r.slice(0, std::nullopt, std::nullopt, -1));
  expect_view(x(slice(3, end, most)), r.slice(0, 3, 4, 1));
  EXPECT_THROW((x + 1)(none - 1), dsl::index_error);
}

TEST_P(shape, empty_views_launch_nothing) {
  auto x = counting(3, 4);
  auto none = x(slice(2, 2));
  none = 5;
  none += dsl::flip(none);
  expect_view(dsl::transpose(none), reference(0, 4).transpose());
  expect_view(dsl::reshape(none, 4, 0, 7), reference(4, 0, 7));
  expect_view(dsl::broadcast_to(none, 2, 0, 4), reference(2, 0, 4));
  EXPECT_EQ(dsl::eval(dsl::arange<int>(0)).size(), 0);
  EXPECT_EQ(dsl::eval(dsl::linspace<double>(0, 1, 0)).size(), 0);
  EXPECT_EQ(dsl::eval(dsl::index(1, 0, 3)).size(), 0);
  EXPECT_EQ(dsl::eval(dsl::broadcast_to(1.5, 0)).size(), 0);
  expect_view(x(), reference(3, 4));
}

TEST_P(shape, assigning_to_a_view_leaves_the_rest) {
  auto x = counting(4, 6);
  x(slice(1, 3), slice(end, end, -2)) = -1;
  auto want = counting(4, 6).copy_to_host();
  for (const std::size_t i : {1u, 2u})
    for (const std::size_t j : {1u, 3u, 5u}) want[6 * i + j] = -1;
  EXPECT_EQ(x.copy_to_host(), want);
  dsl::transpose(x)(2) = dsl::arange<int>(4) * 100;
  for (std::size_t i = 0; i < 4; ++i) want[6 * i + 2] = 100 * int(i);
  EXPECT_EQ(x.copy_to_host(), want);
  const dsl::array<int> line = dsl::arange<int>(6);
  x(3) = line;
  x(0) = x(3);
  for (std::size_t j = 0; j < 6; ++j) want[j] = want[18 + j] = int(j);
  x(1, slice(0, 2)) = x(0, 5);
  want[6] = want[7] = 5;
  x(2, slice(0, 2)) = dsl::scalar<int>(8);
  want[12] = want[13] = 8;
  EXPECT_EQ(x.copy_to_host(), want);
  dsl::diagonal(x) += 1000;
  for (std::size_t i = 0; i < 4; ++i) want[7 * i] += 1000;
  EXPECT_EQ(x.copy_to_host(), want);
  EXPECT_THROW(x(0) = dsl::arange<int>(5), dsl::shape_error);
  EXPECT_EQ(x.copy_to_host(), want);
}

// Large enough for more than one block and chunk.
TEST_P(shape, right_side_is_complete_before_the_first_write) {
  const int n = 20000, side = 150;
  auto a = counting(n);
  a(slice(1, end)) = a(slice(0, -1));
  auto want = counting(n).copy_to_host();
  for (std::size_t i = want.size() - 1; i > 0; --i) want[i] = want[i - 1];
  EXPECT_EQ(a.copy_to_host(), want);
  a = dsl::flip(a);
  std::reverse(want.begin(), want.end());
  EXPECT_EQ(a.copy_to_host(), want);
  a(slice(0, end, 2)) = a(slice(end, end, -2)) + a(slice(1, end, 2));
  auto before = want;
  for (std::size_t i = 0; i < want.size(); i += 2)
    want[i] = before[want.size() - 1 - i] + before[i + 1];
  EXPECT_EQ(a.copy_to_host(), want);

  auto m = counting(side, side);
  m += dsl::transpose(m);
  const auto at = [](std::size_t i, std::size_t j) { return int(i * side + j); };
  const auto sum = m.copy_to_host();
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) ASSERT_EQ(sum[i * side + j], at(i, j) + at(j, i));
  m = counting(side, side);
  dsl::transpose(m) = m;
  EXPECT_EQ(m.copy_to_host(), dsl::transpose(counting(side, side)).copy_to_host());
}

TEST_P(shape, random_chains_of_views_and_of_expressions) {
  for (unsigned seed = 0; seed < (simulated() ? 20u : 60u); ++seed) {
    std::mt19937 engine(seed);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
    };
    const std::int64_t n0 = pick(1, 7), n1 = pick(1, 9), n2 = pick(1, 40);
    auto x = counting(n0, n1, n2);
    const auto zeros = dsl::zeros<int>(n2);
    std::optional v = x.view();
    std::optional e = dsl::flip(dsl::flip(x + zeros));  // functions of shape keep this type
    auto want = reference(n0, n1, n2);
    std::string story = std::to_string(seed);
    const auto on_both = [&](const auto& change) {
      v.emplace(change(*v));
      e.emplace(change(*e));
    };
    for (int k = 0; k < 5; ++k) {
      const auto axis = static_cast<std::size_t>(pick(0, 2));
      const std::int64_t extent = want.shape[axis];
      switch (pick(0, 3)) {
        case 0: {
          const std::int64_t start = pick(-extent - 2, extent + 2),
                             stop = pick(-extent - 2, extent + 2),
                             step = pick(0, 1) == 1 ? pick(1, 3) : pick(-3, -1);
          const slice cut = pick(0, 2) > 0 ? slice(end, end, step) : slice(start, stop, step);
          on_both([&](const auto& y) {
            return axis == 0 ? y(cut) : axis == 1 ? y(slice(), cut) : y(slice(), slice(), cut);
          });
          want = cut.start.omitted ? want.slice(axis, std::nullopt, std::nullopt, step)
                                   : want.slice(axis, start, stop, step);
          story += " slice";
          break;
        }
        case 1:
          on_both([&](const auto& y) { return dsl::flip(y, static_cast<int>(axis)); });
          want = want.flip(axis);
          story += " flip";
          break;
        case 2: {
          std::vector<int> axes{0, 1, 2};
          std::shuffle(axes.begin(), axes.end(), engine);
          on_both([&](const auto& y) { return dsl::permute(y, axes[0], axes[1], axes[2]); });
          want = want.permute(axes);
          story += " permute";
          break;
        }
        default:
          on_both([](const auto& y) { return dsl::transpose(y); });
          want = want.transpose();
          story += " transpose";
      }
    }
    expect_view(*v, want, story);
    expect(*e, want, story);
    // The same elements as a target.
    *v = -1;
    ints left = counting(n0, n1, n2).copy_to_host();
    for (const auto place : want.places) left[static_cast<std::size_t>(place)] = -1;
    ASSERT_EQ(x.copy_to_host(), left) << story;
  }
}

TEST_P(shape, elements) {
  auto x = dsl::to_device(std::vector<double>{1, 2, 3});
  EXPECT_EQ(x(-1), 3.0);
  x(0) = 0.5;
  const double read = x(0) * 2;
  EXPECT_EQ(read, 1.0);
  x(1) = x(2);
  x(2) = dsl::scalar<double>(9);
  x(2) = dsl::to_device(std::vector<float>{3})(0);
  x(2) = dsl::sum(x);
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{0.5, 3, 6.5}));
  dsl::array<double> scaled = x * x(1);
  EXPECT_EQ(scaled.copy_to_host(), (std::vector<double>{1.5, 9, 19.5}));
  auto m = counting(3, 4);
  dsl::flip(m)(0, 0) = -7;
  EXPECT_EQ(m(2, 3), -7);
  EXPECT_THROW(m(3, 0), dsl::index_error);
  EXPECT_THROW(m(0, -5) = 1, dsl::index_error);
  dsl::array<std::complex<float>> z = dsl::full<std::complex<float>>({1, 2}, 3);
  z(1) = std::complex<float>(5, 6);
  EXPECT_EQ(z(1).value(), std::complex<float>(5, 6));
  auto b = dsl::zeros<bool>(3);
  b(2) = true;
  EXPECT_EQ(b.copy_to_host(), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(b(slice(end, end, -2)).copy_to_host(), (std::vector<bool>{true, false}));
}

TEST_P(shape, views_outlive_their_arrays) {
  const auto v = dsl::flip(dsl::reshape(counting(12), 3, 4), 0)(slice(0, 2));
  const auto e = dsl::transpose(counting(3, 4) + counting(3, 1));
  const auto one = counting(5)(3);
  expect(v, reference(3, 4).flip(0).slice(0, 0, 2, 1));
  EXPECT_EQ(dsl::eval(e).copy_to_host(), (ints{0, 5, 10, 1, 6, 11, 2, 7, 12, 3, 8, 13}));
  EXPECT_EQ(one, 3);
}

TEST_P(shape, const_arrays_give_views_that_only_read) {
  const auto x = counting(3, 4);
  auto y = counting(3, 4);
  static_assert(std::is_same_v<decltype(x(0)), dsl::view<const int, 1>>);
  static_assert(std::is_same_v<decltype(y(0)), dsl::view<int, 1>>);
  static_assert(std::is_same_v<decltype(dsl::transpose(x)), dsl::view<const int, 2>>);
  static_assert(std::is_same_v<decltype(dsl::transpose(y)), dsl::view<int, 2>>);
  static_assert(std::is_same_v<decltype(dsl::transpose(counting(3, 4))), dsl::view<int, 2>>);
  static_assert(std::is_same_v<decltype(dsl::broadcast_to(y, 3, 4)), dsl::view<const int, 2>>);
  static_assert(std::is_same_v<decltype(dsl::eval(x(0))), dsl::array<int, 1>>);
  const dsl::view<const int, 2> v = y;
  expect_view(v, reference(3, 4));
  expect(x(slice(), slice(1, end)) + y(slice(), slice(1, end)) * 0,
         reference(3, 4).slice(1, 1, std::nullopt, 1));
}

TEST_P(shape, stretched_targets_are_refused) {
  auto x = counting(3);
  const dsl::view<int, 2> stretched(x.view().owner(), x.data(), {4, 3}, {0, 1});
  EXPECT_THROW(stretched = dsl::arange<int>(3), dsl::shape_error);
  expect_view(stretched, reference(3).broadcast_to({4, 3}));
}

template <class F> std::string message(const F& f) {
  try {
    f();
  } catch (const dsl::memory_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_P(shape, views_without_memory_are_named) {
  dsl::view<int, 2> never;
  dsl::array<int, 2> unassigned, moved = counting(3, 4), target(3, 4);
  target = std::move(moved);
  const std::string rest = ": an operand without memory, never assigned or moved from";
  EXPECT_EQ(message([&] { never(0); }), "x(...)" + rest);
  EXPECT_EQ(message([&] { unassigned(0, 0) = 1; }), "x(...)" + rest);
  EXPECT_EQ(message([&] { dsl::transpose(moved); }), "transpose" + rest);
  EXPECT_EQ(message([&] { dsl::broadcast_to(never, 2, 2, 2); }), "broadcast_to" + rest);
  EXPECT_EQ(message([&] { never.copy_to_host(); }), "copy_to_host" + rest);
  EXPECT_EQ(message([&] { dsl::view<int, 0>().copy_to_host(); }), "copy_to_host" + rest);
  const std::string operand = "an operand without memory, never assigned or moved from, in ";
  EXPECT_EQ(message([&] { target = target + 2 * unassigned; }), operand + "a + 2 * b");
  EXPECT_EQ(message([&] { never = target; }), operand + "a");
  EXPECT_EQ(message([&] { dsl::scalar<std::int64_t> sum = dsl::sum(target * moved); }),
            operand + "an expression");
  EXPECT_EQ(message([&] { dsl::transpose(target + never); }), operand + "an expression");
  EXPECT_EQ(unassigned.copy_to_host(), ints{});
  dsl::scalar<int> s = 1, t = std::move(s);
  EXPECT_EQ(message([&] { s.value(); }), "value" + rest);
  EXPECT_EQ(t.value(), 1);
}

}  // namespace
