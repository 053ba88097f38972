// The operations that the tests apply, and their result dtypes: the tests' own table and rules.
#pragma once

#include "dtypes.hpp"

namespace property {

enum class operation : std::uint8_t {
  leaf,
  literal,
  cast,
#define OPERATION(name, ...) name,
#include "operations.inc"
};

/// promoted: np.result_type. widened: the same, int8 for truth values. floating: floating point, as
/// NumPy's functions convert integers. truth: each operand by itself. chosen: the second and the
/// third operand's.
enum class operands_rule : std::uint8_t { promoted, widened, floating, truth, chosen };
/// part: the dtype of a complex number's parts.
enum class result_rule : std::uint8_t { common, truth, part };

struct operation_info {
  const char* code;
  int arity;
  operands_rule operands;
  result_rule gives;
  kind lowest, highest;
};
inline constexpr operation_info operations[] = {
    {"", 0, {}, {}, {}, {}},
    {"", 0, {}, {}, {}, {}},
    {"", 1, operands_rule::promoted, {}, kind::boolean, kind::complex},
#define OPERATION(name, arity, operands, gives, lowest, highest, code) \
  {#code, arity, operands_rule::operands, result_rule::gives, kind::lowest, kind::highest},
#include "operations.inc"
};
inline constexpr int operation_count = sizeof operations / sizeof *operations;

constexpr const operation_info& info(operation what) { return operations[static_cast<int>(what)]; }
constexpr int arity(operation what) { return info(what).arity; }

/// np.result_type of several: arrays first, the higher kinds before the lower, so that int8 and
/// uint8 with float16 stay small.
constexpr typed promote(const typed* operands, int count) {
  typed sorts[2]{};
  bool there[2]{};
  for (int k = static_cast<int>(kind::complex); k >= 0; --k)
    for (int i = 0; i < count; ++i) {
      if (static_cast<int>(kind_of(operands[i].type)) != k) continue;
      const int s = operands[i].weak ? 1 : 0;
      sorts[s] = there[s] ? promote(sorts[s], operands[i]) : operands[i];
      there[s] = true;
    }
  return there[0] && there[1] ? promote(sorts[0], sorts[1]) : sorts[there[0] ? 0 : 1];
}

/// NumPy has functions for float16, float32 and float64, and uses the first that holds all
/// operands. A scalar counts if it is of a higher kind than the arrays (as the dtype that it
/// promotes them to), or if there are none.
constexpr typed promote_floating(const typed* operands, int count) {
  constexpr dtype floats[] = {dtype::float16, dtype::float16, dtype::float32,
                              dtype::float64, dtype::float64, dtype::float16,
                              dtype::float32, dtype::float64, dtype::float64};
  const auto as_float = [&](dtype t) {
    return t <= dtype::uint64 ? floats[static_cast<int>(t)] : t;
  };
  typed arrays[3]{};
  int n = 0;
  kind of_arrays{}, of_scalars{};
  for (int i = 0; i < count; ++i) {
    kind& highest = operands[i].weak ? of_scalars : of_arrays;
    highest = kind_of(operands[i].type) > highest ? kind_of(operands[i].type) : highest;
    if (!operands[i].weak) arrays[n++] = {as_float(operands[i].type)};
  }
  if (n > 0 && of_scalars <= of_arrays) return promote(arrays, n);
  const typed common = promote(operands, count);
  if (n == 0 && kind_of(common.type) < kind::real) return {dtype::float64, true};
  return {as_float(common.type), common.weak};
}

/// The dtype to which operands are converted before the operation.
constexpr typed common_of(operation what, const typed* operands) {
  const operation_info& o = info(what);
  if (o.operands == operands_rule::chosen) return promote(operands + 1, 2);
  if (o.operands == operands_rule::floating) return promote_floating(operands, o.arity);
  const typed common = promote(operands, o.arity);
  return o.operands == operands_rule::widened && common.type == dtype::boolean
             ? typed{dtype::int8, common.weak}
             : common;
}

constexpr bool is_drawn(operation what, const typed* operands) {
  const kind k = kind_of(common_of(what, operands).type);
  return info(what).lowest <= k && k <= info(what).highest;
}

constexpr typed result_of(operation what, const typed* operands) {
  const typed common = common_of(what, operands);
  switch (info(what).gives) {
    case result_rule::truth: return {dtype::boolean};
    case result_rule::part: return {part_of(common.type), common.weak};
    default: return common;
  }
}

}  // namespace property
