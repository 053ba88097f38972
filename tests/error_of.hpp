// What an error says, for tests of the sentence.
#pragma once

#include <string>

#include <dsl/mem/error.hpp>

/// What an error of the library says that a call throws; "no error" where it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const dsl::error& e) {
    return e.what();
  }
  return "no error";
}
