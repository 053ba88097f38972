#include <dsl/ode/integrate.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "mem/text.hpp"
#include "ode/limits.hpp"

namespace dsl::ode::detail {

void require(const char* function, bool possible, const char* name, double value,
             const char* wanted) {
  if (possible) return;
  dsl::detail::raise<value_error>(std::string(function) + ": " + name + " is " +
                                  dsl::detail::spell_number(value) + ", and is to be " + wanted);
}

void require_limits(const char* function, const tolerance& wanted) {
  const auto need = [function](bool possible, const char* name, double value, const char* be) {
    require(function, possible, name, value, be);
  };
  need(wanted.relative >= 0 && std::isfinite(wanted.relative), "relative", wanted.relative,
       "finite and not negative");
  need(wanted.absolute >= 0 && std::isfinite(wanted.absolute), "absolute", wanted.absolute,
       "finite and not negative");
  need(wanted.relative > 0 || wanted.absolute > 0, "absolute", 0, "positive where relative is 0");
  need(wanted.first_step >= 0, "first_step", wanted.first_step, "a magnitude, or 0");
  need(wanted.largest_step > 0, "largest_step", wanted.largest_step, "a magnitude");
  need(wanted.most_steps >= 0, "most_steps", static_cast<double>(wanted.most_steps),
       "a number of steps");
}

void require_possible(double t0, double t1, const tolerance& wanted) {
  require("integrate", std::isfinite(t0), "t0", t0, "finite");
  require("integrate", std::isfinite(t1), "t1", t1, "finite");
  require("integrate", std::isfinite(t1 - t0), "t1 - t0", t1 - t0, "finite");
  require_limits("integrate", wanted);
}

void held_steps::read(std::int64_t tried, double t0, const scalar<double>& h0,
                      const array<double, 1>& t, const array<double, 1>& h,
                      const array<bool, 1>& accepted) {
  std::vector<double> begin{t0}, size{h0.value()};
  std::vector<bool> taken;
  if (tried > 0) {
    const auto append = [tried](std::vector<double>& to, const array<double, 1>& history) {
      const auto rows = history(slice(0, tried)).copy_to_host();
      to.insert(to.end(), rows.begin(), rows.end());
    };
    append(begin, t);
    append(size, h);
    const auto rows = accepted(slice(0, tried)).copy_to_host();
    taken.assign(rows.begin(), rows.end());
  }
  count = 0;
  for (std::size_t k = 0; k < taken.size(); ++k) {
    if (!taken[k]) continue;
    const auto to = static_cast<std::size_t>(count++);
    begin[to] = begin[k];
    size[to] = size[k];
  }
  // Not divided among the devices of a mesh: each step of the loop reads one element.
  const auto in_memory = [](const std::vector<double>& from) {
    array<double, 1> made(
        dsl::detail::buffer_ref::allocate(from.size() * sizeof(double), device::current()),
        extents<1>{static_cast<std::int64_t>(from.size())});
    made.copy_from_host(from);
    return made;
  };
  begins = in_memory(begin);
  sizes = in_memory(size);
}

}  // namespace dsl::ode::detail
