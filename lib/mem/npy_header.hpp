// How NumPy writes dtypes and the headers of .npy files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dsl/ir/dtype.hpp>
#include <dsl/mem/mapping.hpp>

namespace dsl::detail {

/// A dtype as NumPy's array protocol has it, "<f4"; empty for bfloat16, which it does not know. And
/// the other way round, of this machine's byte order.
std::string description_of(dtype type);
std::optional<dtype> dtype_of_description(std::string_view description);

/// What stands before the elements, to the byte as NumPy writes it: with room for a first extent of
/// 21 digits, and of a length that is a multiple of 64.
std::string header_of(dtype type, const mapping& shape);

struct npy_header {
  std::string description;  // '<f4'
  bool is_fortran = false;
  std::vector<std::int64_t> shape;
};

/// The header's dictionary: each of the three keys once, in any order, and nothing behind it. False
/// where it is something else.
bool parse(const std::string& text, npy_header& to);

}  // namespace dsl::detail
