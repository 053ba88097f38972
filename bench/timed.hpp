// Times of calls, as rows of a table.
#pragma once

#include <dsl/dsl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

/// Milliseconds of a call: the median of up to 20 measurements of at least 10 ms each.
template <class Call>
double milliseconds(const Call& call) {
  const auto measured = [&](int calls) {
    dsl::device::current().synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    dsl::device::current().synchronize();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    return took.count() / calls;
  };
  measured(1);
  const double about = std::max(1e-4, std::min(measured(1), measured(1)));
  const int calls = static_cast<int>(std::clamp(10 / about, 1.0, 1e4));
  std::vector<double> times(static_cast<std::size_t>(std::clamp(1e3 / (about * calls), 3.0, 20.0)));
  for (double& each : times) each = measured(calls);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

inline void print(const std::string& statement, const char* by, double ms, double beside) {
  std::printf("| %s | %s | %.4g | %.3g |\n", statement.c_str(), by, ms, beside / ms);
  std::fflush(stdout);
}
