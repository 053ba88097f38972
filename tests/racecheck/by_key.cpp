// Reductions by key on each path of a table, for racecheck: a table per warp, turns at one table
// with a copy for each lane, turns at tables with one copy, buckets, counters. Values are integers,
// so all sums are exact.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <vector>

#include <dsl/by_key.hpp>

namespace {

struct data {
  std::vector<std::int32_t> keys;
  std::vector<float> values;
};
data drawn(std::int64_t n, std::int64_t groups) {
  data d;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto random = static_cast<std::uint32_t>(i) * 2654435761u;
    d.keys.push_back(static_cast<std::int32_t>((random >> 7) % static_cast<std::uint32_t>(groups)));
    d.values.push_back(static_cast<float>(random % 17) - 5);
  }
  return d;
}

int wrong = 0;
template <class T> void compare(const char* what, std::int64_t groups, const dsl::array<T>& found,
                                const std::vector<T>& expected) {
  if (found.copy_to_host() == expected) return;
  std::printf("%s of %lld groups: WRONG\n", what, static_cast<long long>(groups));
  ++wrong;
}

void reduce(std::int64_t n, std::int64_t groups) {
  const data d = drawn(n, groups);
  const auto k = dsl::to_device(d.keys);
  const auto v = dsl::to_device(d.values);
  dsl::array<float> sums, least, greatest, alone = dsl::sum_by(k, v, groups);
  dsl::array<std::int64_t> counts = dsl::bincount(k, groups);
  dsl::tie(sums, least, greatest) =
      std::tuple{dsl::sum_by(k, 2 * v, groups),
                 dsl::reduce_by(k, v, groups, [](auto x) { return dsl::min(x); }),
                 dsl::reduce_by(k, v, groups, [](auto x) { return dsl::max(x); })};
  const auto count = static_cast<std::size_t>(groups);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> sum(count), twice(count), low(count, infinity), high(count, -infinity);
  std::vector<std::int64_t> how_many(count);
  for (std::size_t i = 0; i < d.keys.size(); ++i) {
    const auto g = static_cast<std::size_t>(d.keys[i]);
    sum[g] += d.values[i], twice[g] += 2 * d.values[i], ++how_many[g];
    low[g] = std::min(low[g], d.values[i]), high[g] = std::max(high[g], d.values[i]);
  }
  compare("sums", groups, alone, sum);
  compare("sums of three", groups, sums, twice);
  compare("least", groups, least, low);
  compare("greatest", groups, greatest, high);
  compare("counts", groups, counts, how_many);
}

}  // namespace

// by_key N GROUPS
int main(int, char** argv) {
  reduce(std::atoll(argv[1]), std::atoll(argv[2]));
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
