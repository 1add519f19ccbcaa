#pragma once
// An Error::failed of a file of lp's own, or of an input: it cannot be written or read, and no record is at fault. A
// value; any thread.

#include <string>
#include <system_error>

#include "lp/base/error.h"

namespace lp::dataflow {

class FileError : public Error {
 public:
  explicit FileError(const std::string& text) : Error(ErrorKind::failed, text) {}
  // "PATH cannot be written: No space left on device".
  FileError(const std::string& path, const std::string& problem, int error)
      : FileError(path + " " + problem + ": " + std::error_code(error, std::generic_category()).message()) {}
};

// In a catch block: throws the exception again if it is a FileError.
inline void rethrow_file_error() {
  try {
    throw;
  } catch (const FileError&) {
    throw;
  } catch (...) {
    return;
  }
}

}  // namespace lp::dataflow
