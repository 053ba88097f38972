// The examples of docs/scans.md do what is said of them.
#include "../on_device.hpp"

#include <dsl/scan.hpp>

#include <complex>

namespace {

using namespace std::complex_literals;

struct scans_doc : on_device {};
ON_EVERY_DEVICE(scans_doc);

TEST_P(scans_doc, sums) {
  const auto speed = dsl::to_device(std::vector<double>{1, 2, 4});
  const auto counts = dsl::to_device(std::vector<std::int32_t>{3, 0, 2});
  const dsl::array<std::int32_t, 2> image = dsl::full<std::int32_t>(1, 2, 3) * counts;
#include <docs/scans/scans.inc>
  EXPECT_EQ(path.copy_to_host(), (std::vector<double>{0.5, 1.5, 3.5}));
  EXPECT_EQ(table.copy_to_host(), (std::vector<std::int64_t>{3, 0, 2, 6, 0, 4}));
  EXPECT_EQ(first.copy_to_host(), (std::vector<std::int64_t>{0, 3, 3}));
  EXPECT_DOUBLE_EQ(off.value(), (0.25 + 2.25 + 12.25) / 3);
}

TEST_P(scans_doc, recurrence) {
  std::vector<double> factors, terms, want;
  const double x0 = 2;
  double last = x0;
  for (int i = 0; i < 5000; ++i) {
    factors.push_back((i * 37 % 19 - 9) / 10.0);
    terms.push_back(i % 11 / 4.0);
    want.push_back(last = factors.back() * last + terms.back());
  }
  const auto a = dsl::to_device(factors), b = dsl::to_device(terms);
#include <docs/scans/operators.inc>
  const auto got = x.copy_to_host();
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-12 * (1 + std::abs(want[i]))) << i;
}

}  // namespace
