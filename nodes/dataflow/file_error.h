#pragma once
// Failures that no record is at fault for, such as of a file, and those of functions of the user that lie in their
// arguments, and so would come again after a restart. Values, and functions that look at the exception that is being
// handled: call them in a handler. Any thread.

#include <functional>
#include <string>
#include <system_error>

#include "lp/base/error.h"

namespace lp::dataflow {

// An Error::failed of a file of lp's own, or of an input: it cannot be written or read.
class FileError : public Error {
 public:
  explicit FileError(const std::string& text) : Error(ErrorKind::failed, text) {}
  // "PATH cannot be written: No space left on device".
  FileError(const std::string& path, const std::string& problem, int error)
      : FileError(path + " " + problem + ": " + std::error_code(error, std::generic_category()).message()) {}
};

// Throws the exception again if it is a FileError.
inline void rethrow_file_error() {
  try {
    throw;
  } catch (const FileError&) {
    throw;
  } catch (...) {
    return;
  }
}

// Whether the same call may succeed later: the system has failed (std::system_error, as of a file, or std::bad_alloc),
// or another node, or the program stops.
bool may_pass();

// Calls f(), which has just failed, once more. Returns whether it fails again in the same way: with an exception of the
// same type, or with the same text of an Error.
bool fails_again(const std::function<void()>& f);

}  // namespace lp::dataflow
