// Runs pieces of work while calls fail, and reports what is wrong with the outcome.
#pragma once

#include <dsl/mem/error.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "work.hpp"

namespace faults {

inline int mistakes = 0;
inline void report(const work& w, const std::string& where, const std::string& what) {
  if (++mistakes <= 40) std::printf("WRONG: %s, %s: %s\n", w.name, where.c_str(), what.c_str());
}

// Outcome of a piece of work: success, an error of the library's, or a failure of the test.
struct outcome {
  bool is_error = false;
  std::string error, wrong;
};
inline outcome attempt(const work& w) {
  try {
    w.run();
    return {};
  } catch (const faults::wrong_result& e) {
    return {false, "", std::string("a wrong result: ") + e.what()};
  } catch (const dsl::error& e) {
    return {true, e.what(), ""};
  } catch (const std::exception& e) {
    return {false, "", std::string("not a dsl::error: ") + e.what()};
  } catch (...) {
    return {false, "", "not an exception"};
  }
}

inline void must_succeed(const work& w, const std::string& where) {
  const outcome o = attempt(w);
  if (o.is_error) report(w, where, o.error);
  if (!o.wrong.empty()) report(w, where, o.wrong);
}

// Runs `body` in a child process, forked before this one has used a device. Returns its exit code.
template <class Body>
int in_child(const Body& body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int code = body();
    std::fflush(stdout);
    std::_Exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace faults
