// Works on random keys and values, on a GPU and on the host.
#pragma once

#include "works.hpp"

namespace bench {

/// Random keys below the given number of groups, and values.
template <class K>
struct keyed {
  keyed(std::int64_t count, std::int64_t group_count)
      : n(count),
        groups(group_count),
        keys(dsl::eval(
            dsl::cast<K>((operand<float>(slot::b, n) - 0.5f) * static_cast<float>(groups)))),
        values(operand<float>(slot::a, n)),
        sums(target<float>(slot::out, groups)),
        counts(target<std::int64_t>(slot::out, groups)) {}
  std::int64_t n, groups;
  dsl::array<K> keys;
  dsl::view<const float> values;
  dsl::view<float> sums;
  dsl::view<std::int64_t> counts;
};

template <class K>
class work_by_key {
 public:
  work_by_key(const char* name, dsl::dtype type, std::int64_t n, std::int64_t groups, double bytes,
              result (*out)(const keyed<K>&))
      : n_(n),
        groups_(groups),
        out_(out),
        work_("by key", type, shape_of(n, groups), name, bytes * static_cast<double>(n)) {}
  template <class Call> work_by_key& by(const char* who, Call call) {
    work_.by(who, [n = n_, groups = groups_, out = out_, call] {
      const keyed<K> x(n, groups);
      return job{bound(x, call), out(x)};
    });
    return *this;
  }
  work_by_key& within(double tolerance) { return work_.within(tolerance), *this; }

 private:
  std::int64_t n_, groups_;
  result (*out_)(const keyed<K>&);
  work work_;
};

}  // namespace bench
