// Apart from the examples, so that CLI11 is compiled once, and by the host's compiler alone.
#include "example.hpp"

#include <dsl/mem/device.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>

namespace {

// Without the range in the help, where it only takes room.
CLI::Validator between_1_and(std::int64_t most) { return CLI::Range(std::int64_t{1}, most).description(""); }

std::string check_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() || std::filesystem::is_directory(folder) ? "" : "there is no folder " + folder.string();
}

// The example's name is the program's.
std::string name_of(const char* program) { return std::filesystem::path(program).filename().string(); }

void read_command_line(int argc, char** argv, example& e) {
  CLI::App app{e.shows, name_of(argv[0])};
  app.footer("DSL_DEVICE=cuda:0 (or another GPU), host or sim in the environment says where it runs.");
  app.get_formatter()->column_width(24);
  const auto described = [](const std::string& what, std::int64_t value) {
    return what + " (default " + std::to_string(value) + ")";
  };
  app.add_option("--size", e.size, described(e.size_is, e.size))->type_name("N")->check(between_1_and(std::int64_t{1} << 31));
  if (e.steps > 0) {
    app.add_option("--steps", e.steps, described("steps of the time loop", e.steps))
        ->type_name("N")
        ->check(between_1_and(std::int64_t{1} << 31));
  }
  if (*e.picture != '\0') app.add_option("--out", e.out, e.picture)->type_name("FILE.png")->check(check_folder);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
}

// 1234.5 as "1.23e+03" is hard to read beside "998": four digits and a prefix.
std::string with_prefix(double value, const std::string& unit) {
  const char* const prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t k = 0;
  for (; value >= 1000 && k < 4; ++k) value /= 1000;
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s%s", value, prefixes[k], unit.c_str());
  return text;
}

}  // namespace

int run_example(int argc, char** argv, example e, bool (*run)(const example&)) {
  read_command_line(argc, argv, e);
  try {
    std::printf("device  %s\n", dsl::properties(dsl::device::current()).name);
    return run(e) ? 0 : 1;
  } catch (const std::exception& error) {  // dsl::error and a full disk alike
    std::fprintf(stderr, "%s: %s\n", name_of(argv[0]).c_str(), error.what());
    return 1;
  }
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void wait_for_device() { dsl::device::current().synchronize(); }

void print_speed(const char* what, double seconds, double elements, const char* of_what, double bytes) {
  const bool milli = seconds < 1, micro = seconds < 1e-3;
  std::printf("speed   %s: %.3g %s, %s", what,
              seconds * (micro   ? 1e6
                         : milli ? 1e3
                                 : 1),
              micro   ? "us"
              : milli ? "ms"
                      : "s",
              with_prefix(elements / seconds, std::string(of_what) + "/s").c_str());
  if (bytes > 0) std::printf(", %.3g GB/s", 1e-9 * bytes / seconds);
  std::printf("\n");
}

bool check(const char* what, double error, double most) {
  const bool right = error <= most;
  std::printf("check   %s: %.2g, at most %.2g: %s\n", what, error, most, right ? "right" : "WRONG");
  return right;
}
