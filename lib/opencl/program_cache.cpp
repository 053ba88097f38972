#include "opencl/program_cache.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dsl::detail::opencl {

namespace {

namespace fs = std::filesystem;

// FNV-1a, the same in every program.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

// What stands before a file's identity and binary. The identity is stored whole, so programs whose
// names have the same hash are told apart.
struct file_header {
  char magic[8] = {'d', 's', 'l', 'O', 'C', 'L', '0', '1'};
  std::uint64_t identity_bytes, binary_bytes, binary_hash;

  file_header(std::string_view identity, std::string_view binary)
      : identity_bytes(identity.size()), binary_bytes(binary.size()), binary_hash(hash(binary)) {}
};

// Empty if the environment names none.
fs::path folder() {
  const auto named = [](const char* variable) -> fs::path {
    const char* const value = std::getenv(variable);
    return value != nullptr ? value : "";
  };
  if (const fs::path own = named("DSL_CACHE_DIR"); !own.empty()) return own;
  if (const fs::path shared = named("XDG_CACHE_HOME"); !shared.empty()) return shared / "dsl";
  if (const fs::path home = named("HOME"); !home.empty()) return home / ".cache" / "dsl";
  return {};
}

fs::path file_of(std::string_view identity) {
  const fs::path in = folder();
  if (in.empty()) return {};
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.opencl",
                static_cast<unsigned long long>(hash(identity)));
  return in / name;
}

}  // namespace

std::optional<std::string> find_program(std::string_view identity) {
  std::ifstream in(file_of(identity), std::ios::binary);
  if (!in) return {};
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  const std::size_t before = sizeof(file_header) + identity.size();
  if (file.size() < before) return {};
  std::string binary = file.substr(before);
  const file_header wanted(identity, binary);
  if (std::memcmp(file.data(), &wanted, sizeof wanted) != 0 ||
      file.compare(sizeof wanted, identity.size(), identity) != 0)
    return {};
  return binary;
}

void store_program(std::string_view identity, std::string_view binary) noexcept try {
  static std::atomic<unsigned> count{0};
  const fs::path target = file_of(identity);
  if (target.empty()) return;
  std::error_code failed;
  fs::create_directories(target.parent_path(), failed);
  const fs::path unfinished =
      target.string() + "." + std::to_string(getpid()) + "-" + std::to_string(count++) + ".new";
  const file_header header(identity, binary);
  std::ofstream out(unfinished, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out << identity << binary;
  out.close();
  if (out) fs::rename(unfinished, target, failed);
  if (!out || failed) fs::remove(unfinished, failed);
} catch (...) {  // without a file the program is built again
}

}  // namespace dsl::detail::opencl
