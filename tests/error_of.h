#pragma once
// The text of the Error that a function throws, for a test to compare. For any test; any thread.

#include <string>

#include "lp/base/error.h"

namespace lp::test {

template <class F>
std::string error_of(F&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace lp::test
