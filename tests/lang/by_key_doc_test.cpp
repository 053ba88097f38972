// The examples of docs/by_key.md do what is said of them.
#include "../on_device.hpp"

#include <dsl/by_key.hpp>

namespace {

struct by_key_doc : on_device {};
ON_EVERY_DEVICE(by_key_doc);

TEST_P(by_key_doc, first) {
  const auto keys = dsl::to_device(std::vector<std::int32_t>{0, 3, 0, 1, 3});
  auto values = dsl::to_device(std::vector<float>{1, 2, 3, 4, 6});
#include <docs/by_key/by-key-and-selection.inc>
  EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{8, 8, 0, 16}));
  EXPECT_EQ(counts.copy_to_host(), (std::vector<std::int64_t>{2, 1, 0, 2}));
  EXPECT_EQ(means.copy_to_host()[3], 4);
  EXPECT_EQ(bins.copy_to_host(), (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(large.copy_to_host(), (std::vector<float>{9, 16, 36}));
  EXPECT_EQ(values.copy_to_host(), (std::vector<float>{1, 2, 3, 4, 0}));
#include <docs/by_key/by-key.inc>
  EXPECT_EQ(in_bins.copy_to_host(), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(squares.value(), 30);
  EXPECT_EQ(highest.value(), 4);
}

TEST_P(by_key_doc, selection) {
  const auto x = dsl::to_device(std::vector<float>{4, -1, 9});
#include <docs/by_key/selection.inc>
  EXPECT_EQ(count.value(), 2);
  EXPECT_EQ(dsl::eval(kept(dsl::slice(0, 2))).copy_to_host(), (std::vector<float>{2, 3}));
}

// The examples at the declarations.
TEST_P(by_key_doc, declarations) {
  auto x = dsl::to_device(std::vector<float>{4, -1, 16});
  const auto m = dsl::reshape(x, 1, 3);
  dsl::array<float> kept;
  dsl::array<std::int64_t> rows, columns;
  dsl::scalar<std::int64_t> count;
  {
    dsl::array<float> positive = dsl::compress(x > 0, sqrt(x));
    dsl::tie(kept, count) = dsl::compress(x > 0, sqrt(x));
    EXPECT_EQ(positive.copy_to_host(), (std::vector<float>{2, 4}));
    EXPECT_EQ(count.value(), 2);
  }
  {
    dsl::array<std::int64_t> where = dsl::nonzero(x > 0);
    dsl::tie(rows, columns, count) = dsl::nonzero(m);
    EXPECT_EQ(where.copy_to_host(), (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(columns.copy_to_host(), (std::vector<std::int64_t>{0, 1, 2}));
  }
  const auto edges = dsl::to_device(std::vector<float>{-1, 4, 10});
  dsl::array<std::int64_t> bin = dsl::searchsorted(edges, x, dsl::right) - 1;
  EXPECT_EQ(bin.copy_to_host(), (std::vector<std::int64_t>{1, 0, 2}));
  dsl::assign_where(x > 15.f, x, 0.f);
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{4, -1, 0}));
}

TEST_P(by_key_doc, sorting) {
  auto x = dsl::to_device(std::vector<float>{3, 1, 3, 2});
#include <docs/by_key/sorting.inc>
  EXPECT_EQ(order.copy_to_host(), (std::vector<std::int64_t>{1, 3, 0, 2}));
  EXPECT_EQ(sorted.copy_to_host(), (std::vector<float>{1, 2, 3, 3}));
  EXPECT_EQ(distinct.copy_to_host(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(middle.value(), 2.5f);
  EXPECT_EQ(ranks.copy_to_host(), (std::vector<std::int64_t>{2, 0, 2, 1}));
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{33, 11, 33, 22}));
}

TEST_P(by_key_doc, the_largest) {
  const auto score = dsl::to_device(std::vector<float>{3, 1, 3, 2, 7});
#include <docs/by_key/the-largest.inc>
  EXPECT_EQ(best.copy_to_host(), (std::vector<std::int64_t>{4, 0, 2}));
  EXPECT_EQ(highest.copy_to_host(), (std::vector<float>{7, 3, 3}));
  EXPECT_EQ(box.copy_to_host(), (std::vector<float>{2, 3, 3}));
}

}  // namespace
