#include "nodes/dataflow/file_error.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "lp/base/error.h"

namespace lp::dataflow {

bool may_pass() {
  try {
    throw;
  } catch (const FileError&) {
    return true;
  } catch (const Error& error) {
    return error.kind() != ErrorKind::failed;
  } catch (const std::system_error&) {
    return true;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

bool fails_again(const std::function<void()>& f) {
  if (may_pass()) return false;
  const Error first = as_error(std::current_exception());
  try {
    f();
  } catch (...) {
    if (may_pass()) return false;
    const Error second = as_error(std::current_exception());
    const std::string& type = first.origin().type;
    return type.empty() ? second.text() == first.text() : second.origin().type == type;
  }
  return false;
}

}  // namespace lp::dataflow
