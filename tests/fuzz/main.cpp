// Drives a fuzz target without libFuzzer. `target SECONDS FILE...` runs the target on the files,
// then until the time is up on inputs that a seeded generator derives from them, or on random bytes
// if there are no files. A failing input is saved as failing_input.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace {

using bytes = std::vector<std::uint8_t>;

bytes input;  // input under test

void keep_input(int) {
  std::ofstream("failing_input", std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
  std::fprintf(stderr, "left the %zu bytes that failed in failing_input\n", input.size());
}

class mutator {
 public:
  explicit mutator(const std::vector<bytes>& corpus) : corpus_(corpus) {}

  bytes next() {
    if (corpus_.empty()) return random(96);
    bytes b = any();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(b);
    return b;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  const bytes& any() { return corpus_[below(corpus_.size())]; }
  bytes random(std::size_t most) {
    bytes b(1 + below(most));
    for (auto& byte : b) byte = static_cast<std::uint8_t>(random_());
    return b;
  }
  bytes part_of(const bytes& b, std::size_t most) {
    const std::size_t from = below(b.size()), size = std::min(b.size() - from, below(most + 1));
    return {b.begin() + static_cast<std::ptrdiff_t>(from),
            b.begin() + static_cast<std::ptrdiff_t>(from + size)};
  }
  // Words that occur in headers.
  bytes word() {
    static const char* const words[] = {"0",          "-1",        "9223372036854775807",
                                        "4294967296", "(",         ")",
                                        ",",          "'shape': ", "'descr': ",
                                        "True",       "'|b1'",     "'>c16'",
                                        "}",          " ",         "\n",
                                        "L"};
    const std::string chosen = words[below(std::size(words))];
    return {chosen.begin(), chosen.end()};
  }

  void change(bytes& b) {
    const std::size_t kind = below(6), at = below(b.size() + 1);
    if (kind == 0 && at < b.size()) b[at] ^= static_cast<std::uint8_t>(1u << below(8));
    if (kind == 1) replace(b, at, below(8), {});
    if (kind == 2) replace(b, at, below(8), random(8));
    if (kind == 3) replace(b, at, below(16), part_of(b, 16));
    if (kind == 4) replace(b, at, b.size(), part_of(any(), b.size()));
    if (kind == 5) replace(b, at, below(20), word());
  }
  static void replace(bytes& b, std::size_t at, std::size_t count, const bytes& by) {
    const auto begin = b.begin() + static_cast<std::ptrdiff_t>(at);
    const auto from =
        b.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(count, b.size() - at)));
    b.insert(from, by.begin(), by.end());
  }

  const std::vector<bytes>& corpus_;
  std::mt19937_64 random_{1};
};

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGABRT, keep_input);
  const std::chrono::duration<double> limit(count > 1 ? std::atof(arguments[1]) : 1);
  std::vector<bytes> corpus;
  for (int k = 2; k < count; ++k) {
    std::ifstream file(arguments[k], std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  mutator mutate(corpus);
  std::size_t tried = 0;
  try {
    const auto begin = std::chrono::steady_clock::now();
    for (; tried < corpus.size() || std::chrono::steady_clock::now() - begin < limit; ++tried) {
      input = tried < corpus.size() ? corpus[tried] : mutate.next();
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "threw %s\n", e.what());
    std::abort();
  }
  std::printf("%zu inputs\n", tried);
  return 0;
}
