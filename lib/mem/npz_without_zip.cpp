// .npz files without libzip: all functions throw.
#include <dsl/mem/npz.hpp>

#include "mem/npy.hpp"

namespace dsl {

namespace {

[[noreturn]] void refuse(file_path file) {
  detail::throw_file_error(
      detail::path_of(file),
      ".npz files need libzip, without which dsl was built: install libzip-dev and build it again");
}

}  // namespace

void detail::save_npz(file_path to, const npz_member*, std::size_t, npz_compression) { refuse(to); }

// The constructor throws, so the functions below are never called.
npz_file::npz_file(file_path from) : archive_(nullptr) { refuse(from); }
npz_file::~npz_file() = default;
std::int64_t npz_file::size() const { return 0; }
text npz_file::name(std::int64_t) const { return {}; }
bool npz_file::contains(const char*) const { return false; }
detail::npy_file npz_file::open(const char* name) const { refuse(name); }

}  // namespace dsl
