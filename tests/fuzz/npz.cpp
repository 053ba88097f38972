// Fuzz target: an archive of arbitrary bytes is either read or refused with a file_error, and no
// allocation is larger than its bytes can fill.
#include "memory_file.hpp"

#include <dsl/mem/npz.hpp>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static memory_file file;
  try {
    const dsl::npz_file in(file.holding(bytes, size));
    for (std::int64_t i = 0; i < in.size(); ++i) {
      const dsl::text name = in.name(i);
      if (!in.contains(name.c_str())) std::abort();
      try {
        const std::int64_t elements = in.load<float, 2>(name.c_str()).size();
        if (static_cast<std::size_t>(elements) * sizeof(float) > 1032 * size) std::abort();
      } catch (const dsl::file_error&) {}
    }
  } catch (const dsl::file_error&) {}
  return 0;
}
