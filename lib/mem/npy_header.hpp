// NumPy's spelling of dtypes, and the headers of .npy files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dsl/ir/dtype.hpp>
#include <dsl/mem/mapping.hpp>

namespace dsl::detail {

/// A dtype as in NumPy's array protocol, "<f4"; empty for bfloat16, which NumPy lacks. The inverse
/// accepts this machine's byte order only.
std::string description_of(dtype type);
std::optional<dtype> dtype_of_description(std::string_view description);

/// The bytes before the elements, exactly as NumPy writes them: with room for a first extent of 21
/// digits, padded to a multiple of 64.
std::string header_of(dtype type, const mapping& shape);

struct npy_header {
  std::string description;  // '<f4'
  bool is_fortran = false;
  std::vector<std::int64_t> shape;
};

/// Parses a header's dictionary: each of the three keys once, in any order, and nothing after it.
/// Returns false for anything else.
bool parse(const std::string& text, npy_header& to);

}  // namespace dsl::detail
