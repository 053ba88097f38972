// Adjacent elements of an array as vectors in OpenCL C.
#pragma once

#include <string>
#include <vector>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail::opencl {

/// Vectors of 16 bytes, or one of fewer bytes in all.
class array_vectors {
 public:
  array_vectors(dtype type, int elements);
  /// "p0_1": the second one of those named "p0".
  static std::string name(const std::string& of, int number) {
    return of + "_" + std::to_string(number);
  }
  /// The value of an element. `number` follows the vector's name: "[step]" in an array of vectors.
  std::string element(const std::string& of, const std::string& number, int lane) const;
  /// The vector of values, `lanes` of them.
  std::string of_values(const std::vector<std::string>& values) const;

  int count, lanes;  ///< Vectors, and elements of each.
  std::string type;  ///< "float4"

 private:
  dtype of_;
};

}  // namespace dsl::detail::opencl
