// An endless sequence of random words on the standard output, for statistical test suites. `words`:
// those of one key in order. `words keys`: the first words of 1024 keys, then their second words,
// and so on, to detect dependence between keys.
#include <dsl/random.hpp>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

bool write(const std::vector<std::uint32_t>& words) {
  return std::fwrite(words.data(), sizeof(words[0]), words.size(), stdout) == words.size();
}

void words_of_one_key() {
  const std::int64_t at_once = 1 << 22;
  const auto all = dsl::random::bits(dsl::random::key{42}, std::int64_t{1} << 50);
  for (std::int64_t first = 0;
       write(dsl::eval(all(dsl::slice(first, first + at_once))).copy_to_host());)
    first += at_once;
}

void words_across_keys() {
  const std::int64_t keys = 1024, at_once = 4096;
  dsl::array<std::uint32_t, 2> words(keys, at_once);
  for (std::int64_t first = 0;; first += keys) {
    for (std::int64_t i = 0; i < keys; ++i)
      words(i, dsl::slice()) = dsl::random::bits(dsl::random::key{42}.fold(first + i), at_once);
    if (!write(dsl::eval(dsl::transpose(words)).copy_to_host())) return;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::strcmp(argv[1], "keys") == 0) words_across_keys();
  else words_of_one_key();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
