// wanted: the operator of a reduction gives another dtype than its operands have
#include <dsl/dsl.hpp>

int main() {
  const auto ratio = dsl::reduce([](auto a, auto b) { return a * 0.5 + b; });
  return static_cast<int>(ratio(dsl::arange<int>(3)).value());
}
