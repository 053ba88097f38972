// The text of an error, for tests of the sentence.
#pragma once

#include <string>

#include <dsl/mem/error.hpp>

/// Returns the text of the library's error that a call throws; "no error" if it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const dsl::error& e) {
    return e.what();
  }
  return "no error";
}
