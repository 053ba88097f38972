// What the recipes' programs say if something differs.
#pragma once

#include <dsl/dsl.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

inline void expect(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition)

/// Whether an explanation begins with a line.
inline bool begins_with(const dsl::explanation& e, const char* line) {
  return std::strncmp(e.text().c_str(), line, std::strlen(line)) == 0;
}
