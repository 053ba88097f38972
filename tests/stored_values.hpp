// Elements as NumPy's values are stored and compared: bytes, with a dtype that is known at run
// time.
#pragma once

#include <dsl/dsl.hpp>

#include <cstring>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace stored {

using bytes = std::vector<unsigned char>;

inline dsl::dtype dtype_named(const std::string& name) {
  for (int d = 0; d < dsl::dtype_count; ++d)
    if (name == dsl::name(static_cast<dsl::dtype>(d))) return static_cast<dsl::dtype>(d);
  throw std::runtime_error(std::string("no dtype ").append(name));
}

/// Appends one value from its text: its bits in hexadecimal, with a comma between a complex
/// number's parts.
inline void append_value(bytes& to, const std::string& word, dsl::dtype type) {
  std::istringstream parts(word);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::uint64_t bits = std::stoull(part, nullptr, 16);
    const auto* const first =
        reinterpret_cast<const unsigned char*>(&bits);  // little endian, as all that CUDA runs on
    to.insert(to.end(), first, first + dsl::size_of(dsl::real_of(type)));
  }
}
inline bytes read_values(std::istringstream& line, dsl::dtype type) {
  bytes values;
  for (std::string word; line >> word;) append_value(values, word, type);
  return values;
}

template <class T> T element_at(const bytes& from, std::size_t i) {
  T value;
  std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T> bytes bytes_of(const std::vector<T>& host) {
  bytes to(host.size() * sizeof(T));
  for (std::size_t i = 0; i < host.size(); ++i) {
    const T value = host[i];  // std::vector<bool> has no elements in memory
    std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
  }
  return to;
}

template <class T> dsl::array<T> to_array(const bytes& from) {
  return dsl::to_device(
      std::span(reinterpret_cast<const T*>(from.data()), from.size() / sizeof(T)));
}

inline double real_value(const bytes& from, std::size_t i, dsl::dtype type) {
  switch (type) {
    case dsl::dtype::float16: return element_at<dsl::half>(from, i);
    case dsl::dtype::bfloat16: return element_at<dsl::bfloat16>(from, i);
    case dsl::dtype::float32: return element_at<float>(from, i);
    default: return element_at<double>(from, i);
  }
}
/// An integer or a boolean, extended to 64 bits.
inline std::int64_t whole_value(const bytes& from, std::size_t i, dsl::dtype type) {
  const auto size = static_cast<std::size_t>(dsl::size_of(type));
  std::int64_t value = dsl::info(type).is_signed && from[(i + 1) * size - 1] >> 7 ? -1 : 0;
  std::memcpy(&value, from.data() + i * size, size);
  return value;
}

inline std::string printed(const bytes& from, std::size_t i, dsl::dtype type) {
  std::ostringstream to;
  to.precision(17);
  switch (dsl::kind_of(type)) {
    case dsl::kind::complex: {
      const dsl::dtype part = dsl::real_of(type);
      to << '(' << real_value(from, 2 * i, part) << ", " << real_value(from, 2 * i + 1, part)
         << ')';
      break;
    }
    case dsl::kind::real: to << real_value(from, i, type); break;
    default: {
      const std::int64_t value = whole_value(from, i, type);
      if (dsl::info(type).is_signed) to << value;
      else to << static_cast<std::uint64_t>(value);
    }
  }
  return to.str();
}

}  // namespace stored
