// docs/interoperability.md's example with Thrust, whose vectors are in the host's memory here.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>

#include <dsl/dsl.hpp>

#include <cmath>

int main() {
  const dsl::device_guard guard(dsl::backend::host);
#include <docs/interoperability/thrust.inc>
  double expected = 0;
  for (int i = 0; i < 1000; ++i) expected += i / (1.0 + i);
  return std::abs(static_cast<double>(total) - expected) < 1e-2 ? 0 : 1;
}
