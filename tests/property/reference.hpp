// The expected value of a formula, evaluated independently of the library: integers exactly, reals
// and complex numbers as intervals.
#pragma once

#include <string>
#include <vector>

#include "interval.hpp"
#include "tree.hpp"

namespace property {

/// A value of a dtype, as far as it is determined. Integers and truth values are either known or
/// unknown.
struct value {
  dtype type{};
  bool is_known = true;
  std::uint64_t bits = 0;  // an integer's, sign-extended; a truth value's 0 or 1
  interval part[2] = {interval::point(0), interval::point(0)};  // a real number is part[0]

  static value integer(dtype type, __int128 x);  // wraps
  static value of(truth t);
  static value unknown(dtype type);
  __int128 exact() const;
};

/// Reads an element from memory.
value read(dtype type, const void* at);
/// Element `number` of `literals`.
const value& literal_at(int number);

/// `work` has an entry for each node. The formula's value is the last one.
value evaluate(const tree& formula, const value* leaves, value* work);

/// The value as stored: rounded to its dtype.
value stored(const value& v);

/// Whether an element in memory is one of the values that `expected` (stored) allows.
bool agrees(const value& expected, const void* at);

/// The least precise real dtype that a formula computes in.
dtype coarsest(const tree& formula);
/// Whether `expected` is narrow enough, for that precision, for agreement to mean something.
bool is_decided(const value& expected, dtype coarsest);

/// "where((a0 < 2), exp(a1), s3)": a: arrays, s: scalars in device memory, v: scalars by value.
std::string spell(const tree& formula, const bundle& leaves, int at);
std::string spell(const value& v);

}  // namespace property
