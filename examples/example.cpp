// A file of its own, so that CLI11 is compiled once, and only by the host's compiler.
#include "example.hpp"

#include <dsl/mem/device.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>

namespace {

// The help does not show the range.
CLI::Validator between_1_and(std::int64_t most) {
  return CLI::Range(std::int64_t{1}, most).description("");
}

std::string check_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() || std::filesystem::is_directory(folder)
             ? ""
             : "there is no folder " + folder.string();
}

// An example has the name of its program.
std::string name_of(const char* program) {
  return std::filesystem::path(program).filename().string();
}

void read_command_line(int argc, char** argv, example& e) {
  CLI::App app{e.shows, name_of(argv[0])};
  app.footer(
      "DSL_DEVICE=cuda:0 (or another GPU), host or sim in the environment says where it runs.");
  app.get_formatter()->column_width(24);
  const auto described = [](const std::string& what, std::int64_t value) {
    return what + " (default " + std::to_string(value) + ")";
  };
  app.add_option("--size", e.size, described(e.size_is, e.size))
      ->type_name("N")
      ->check(between_1_and(std::int64_t{1} << 31));
  if (e.steps > 0) {
    app.add_option("--steps", e.steps, described(e.steps_are, e.steps))
        ->type_name("N")
        ->check(between_1_and(std::int64_t{1} << 31));
  }
  if (*e.picture != '\0')
    app.add_option("--out", e.out, e.picture)->type_name("FILE.png")->check(check_folder);
  if (*e.option != '\0') app.add_flag(e.option, e.chosen, e.option_is);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
}

std::string in_digits(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string duration(double seconds) {
  return seconds < 1e-3 ? in_digits("%.3g us", 1e6 * seconds)
         : seconds < 1  ? in_digits("%.3g ms", 1e3 * seconds)
                        : in_digits("%.3g s", seconds);
}

// Spells a number with three digits and a word: 123,456 is "123 thousand".
std::string in_words(double value) {
  const char* const words[] = {"", " thousand", " million", " billion", " trillion"};
  std::size_t k = 0;
  for (; value >= 999.5 && k < 4; ++k) value /= 1000;
  return in_digits("%.3g", value) + words[k];
}

}  // namespace

int run_example(int argc, char** argv, example e, bool (*run)(const example&)) {
  read_command_line(argc, argv, e);
  try {
    std::printf("device  %s\n", dsl::properties(dsl::device::current()).name);
    return run(e) ? 0 : 1;
  } catch (const std::exception& error) {  // dsl::error, or a file that cannot be written.
    std::fprintf(stderr, "%s: %s\n", name_of(argv[0]).c_str(), error.what());
    return 1;
  }
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void wait_for_device() { dsl::device::current().synchronize(); }

void print_speed(const char* what, double seconds, double elements, const char* of_what,
                 double bytes) {
  std::printf("speed   %s: %s, %s %s/s", what, duration(seconds).c_str(),
              in_words(elements / seconds).c_str(), of_what);
  const double rate = 1e-9 * bytes / seconds;
  if (bytes > 0)
    std::printf(", %s GB/s", in_digits(rate < 10    ? "%.2f"
                                       : rate < 100 ? "%.1f"
                                                    : "%.0f",
                                       rate)
                                 .c_str());
  std::printf("\n");
}

bool check(const char* what, double error, double most) {
  const bool right = error <= most;
  std::printf("check   %s: %.2g, at most %.2g: %s\n", what, error, most, right ? "right" : "WRONG");
  return right;
}
