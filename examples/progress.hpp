// A progress bar on the terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

/// Draws on stderr if that is a terminal, but not in the first half second, so that short runs
/// print nothing.
class progress {
 public:
  ~progress() {
    if (drawn_) std::fprintf(stderr, "\r\033[K");
  }
  void show(double fraction) {
    using namespace std::chrono;
    if (!terminal_ || steady_clock::now() - start_ < milliseconds(500)) return;
    const int full = static_cast<int>(fraction * 40);
    const double left = duration<double>(steady_clock::now() - start_).count() * (1 / fraction - 1);
    std::fprintf(stderr, "\r[%s%s] %3.0f %%, %.0f s left \033[K", std::string(full, '#').c_str(),
                 std::string(40 - full, '.').c_str(), 100 * fraction, left);
    drawn_ = true;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool terminal_ = isatty(STDERR_FILENO) != 0, drawn_ = false;
};
