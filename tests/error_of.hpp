// What an error says, for tests of the sentence.
#pragma once

#include <string>

#include <dsl/mem/error.hpp>

/// What a call throws as a file_error says; "no error" where it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const dsl::file_error& e) {
    return e.what();
  }
  return "no error";
}
