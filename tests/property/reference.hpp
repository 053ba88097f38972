// What a formula must give, evaluated independently of the library: integers exactly, reals and
// complex numbers as intervals.
#pragma once

#include <string>
#include <vector>

#include "interval.hpp"
#include "tree.hpp"

namespace property {

/// A value of a dtype, or what is known of it. Integers and truth values are known or not at all.
struct value {
  dtype type{};
  bool is_known = true;
  std::uint64_t bits = 0;  // an integer's, sign-extended; a truth value's 0 or 1
  interval part[2] = {interval::point(0), interval::point(0)};  // a real number's in part[0]

  static value integer(dtype type, __int128 x);  // wraps
  static value of(truth t);
  static value unknown(dtype type);
  __int128 exact() const;
};

/// An element in memory.
value read(dtype type, const void* at);
/// One of `literals`.
const value& literal_at(int number);

/// `work` has a place for each node. The formula's value is the last one.
value evaluate(const tree& formula, const value* leaves, value* work);

/// As it would be stored: rounded to its dtype.
value stored(const value& v);

/// Whether an element in memory is one of the values that `expected` (stored) allows.
bool agrees(const value& expected, const void* at);

/// The least precise real dtype that a formula computes in.
dtype coarsest(const tree& formula);
/// Whether `expected` says so much, for that precision, that agreeing means something.
bool is_decided(const value& expected, dtype coarsest);

/// "where((a0 < 2), exp(a1), s3)": arrays are a, scalars in device memory s, those by value v.
std::string spell(const tree& formula, const bundle& leaves, int at);
std::string spell(const value& v);

}  // namespace property
