// Fuzz target: a .npy file of arbitrary bytes is either read or refused with a file_error.
#include "memory_file.hpp"

#include <dsl/mem/npy.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using dsl::dtype;

// The dtype and shape of a file, as the error for another requested dtype states them:
// "...: holds float32 (2, 3); asked for: ..."
struct holding {
  dtype type{};
  int rank = 0;
};
holding what_is_in(const dsl::detail::npy_file& file) {
  std::string what;
  try {
    file.require(dtype::bfloat16, 0);
  } catch (const dsl::file_error& e) {
    what = e.what();
  }
  const std::size_t begin = what.find("holds ") + 6, space = what.find(' ', begin),
                    end = what.find(')', space);
  const std::string name = what.substr(begin, space - begin),
                    sizes = what.substr(space + 2, end - space - 2);
  holding found;
  while (name != dsl::name(found.type))
    found.type = static_cast<dtype>(static_cast<int>(found.type) + 1);
  found.rank =
      sizes.empty() ? 0 : static_cast<int>(std::count(sizes.begin(), sizes.end(), ',')) + 1;
  return found;
}

template <int... Rank>
std::int64_t elements_in(const dsl::detail::npy_file& file, int rank,
                         std::integer_sequence<int, Rank...>) {
  std::int64_t n = 0;
  ((rank == Rank ? n = dsl::detail::element_count(file.extents<Rank>().data(), Rank, 1) : 0), ...);
  return n;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static memory_file file;
  try {
    dsl::detail::npy_file in(file.holding(bytes, size));
    const holding found = what_is_in(in);
    in.require(found.type, found.rank);
    const std::int64_t count =
        elements_in(in, found.rank, std::make_integer_sequence<int, dsl::max_rank + 1>{});
    const auto wanted =
        static_cast<std::size_t>(count) * static_cast<std::size_t>(dsl::size_of(found.type));
    if (wanted > size) std::abort();  // more elements than the file has
    std::vector<std::uint8_t> elements(wanted);
    in.read(elements.data());
    if (found.type == dtype::boolean &&
        std::any_of(elements.begin(), elements.end(), [](std::uint8_t b) { return b > 1; }))
      std::abort();
  } catch (const dsl::file_error&) {}
  return 0;
}
