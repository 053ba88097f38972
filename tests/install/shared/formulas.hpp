// Interface of the two libraries, first and second. Both contain the formula 2 * x + 1.
#pragma once

#include <dsl/dsl.hpp>

namespace first {
dsl::array<float> doubled(const dsl::array<float>& x);
dsl::scalar<float> total(const dsl::array<float>& x);
}  // namespace first

namespace second {
dsl::array<float> doubled(const dsl::array<float>& x);
dsl::array<float> refused(const dsl::array<float>& x);
}  // namespace second
