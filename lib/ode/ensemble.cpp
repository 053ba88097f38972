#include <dsl/ode/ensemble_gradient.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "mem/text.hpp"
#include "ode/limits.hpp"

namespace dsl::ode::detail {

void require_tolerance(const tolerance& wanted) { require_limits("ensemble", wanted); }
void require_finite(const char* name, double value) {
  require("ensemble", std::fabs(value) < 1e37, name, value, "finite, and less than 1e37");
}

void require_forward(const char* name, double span) {
  require("ensemble", span >= 0, name, span, "positive or 0: noise has no way back");
}

void require_steps(std::int64_t steps) {
  require("ensemble", steps > 0, "fixed_steps", static_cast<double>(steps), "positive");
}

void require_rows(std::int64_t steps, std::int64_t rows) {
  require("ensemble", steps > 0, "the steps of save_every", static_cast<double>(steps), "positive");
  require("ensemble", rows >= 0, "the rows of save_every", static_cast<double>(rows),
          "not negative");
}

void require_times(const std::vector<double>& times, double t0, double t1) {
  const double way = t1 < t0 ? -1 : 1;
  for (std::size_t k = 0; k < times.size(); ++k) {
    require("ensemble", std::isfinite(times[k]), "a time of save_at", times[k], "finite");
    require("ensemble", way * (times[k] - t0) >= 0 && way * (t1 - times[k]) >= 0,
            "a time of save_at", times[k], "between t0 and t1");
    require("ensemble", k == 0 || way * (times[k] - times[k - 1]) >= 0, "a time of save_at",
            times[k], "not before the one before it");
  }
}

void require_times(const std::vector<double>& times) {
  if (times.empty()) return;
  const bool falls = times.back() < times.front();
  require_times(times,
                falls ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest(),
                falls ? std::numeric_limits<double>::lowest() : std::numeric_limits<double>::max());
}

float as_float(double magnitude) {
  return static_cast<float>(std::clamp(magnitude, magnitude > 0 ? 1e-37 : 0.0, 1e38));
}

double unit_of(const tolerance& wanted) {
  if (wanted.absolute <= 0) return 1;
  return std::ldexp(1.0, std::clamp(-std::ilogb(wanted.absolute), -100, 100));
}

void require_fields(const operand* fields, int count) {
  for (int k = 0; k < count; ++k) {
    if (fields[k].memory == nullptr)
      dsl::detail::raise<memory_error>("ensemble: a field without memory");
    for (int j = 0; j < k; ++j) {
      if (fields[k].rank != fields[j].rank ||
          !std::equal(fields[k].extents, fields[k].extents + fields[k].rank, fields[j].extents))
        dsl::detail::raise<shape_error>(
            "ensemble: the fields have different shapes, " +
            dsl::detail::spell_shape(fields[j].extents, fields[j].rank) + " and " +
            dsl::detail::spell_shape(fields[k].extents, fields[k].rank));
      if (may_share(fields[k], fields + j, 1))
        dsl::detail::raise<shape_error>("ensemble: two fields share elements");
    }
  }
}

bool may_share(const operand& array, const operand* fields, int count) {
  return std::any_of(fields, fields + count,
                     [&](const operand& f) { return dsl::detail::may_share_elements(array, f); });
}

std::vector<operand> part_of(std::vector<operand> all, std::int64_t begin, std::int64_t elements) {
  for (operand& o : all) {
    if (o.kind != dsl::detail::operand_kind::array || o.rank == 0) continue;
    o.word[0] += static_cast<std::uint64_t>(begin * size_of(o.type));
    o.rank = 1;
    o.extents[0] = elements;
    o.strides[0] = 1;
  }
  return all;
}

std::int64_t elements_that_fit(std::int64_t elements, std::int64_t bytes, std::int64_t limit,
                               device where) {
  constexpr std::int64_t warp = 32;
  const std::int64_t fit = dsl::detail::states_that_fit(bytes, limit, where);
  return fit >= elements ? elements : std::max(warp, fit / warp * warp);
}

}  // namespace dsl::ode::detail
