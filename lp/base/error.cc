#include "lp/base/error.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <typeinfo>
#include <utility>

namespace lp {
namespace {

std::string compose(ErrorKind kind, const std::string& text, const ErrorOrigin& origin) {
  std::string out;
  if (!origin.node.empty()) {
    out += origin.node;
    if (!origin.method.empty()) out += "." + origin.method;
    out += ": ";
  }
  if (kind != ErrorKind::failed) {
    out += to_string(kind);
    out += ": ";
  }
  if (!origin.type.empty()) out += origin.type + ": ";
  out += text;
  if (!origin.path.empty()) {
    out += " (called through ";
    for (const std::string& node : origin.path) out += node + " → ";
    out += (origin.node.empty() ? std::string("?") : origin.node) + ")";
  }
  if (origin.may_have_run) out += " (the method may have run)";
  return out;
}

// Shortens a text, because it goes into messages, logs and terminals.
void shorten(std::string& text) {
  if (text.size() <= Error::kLongestText) return;
  std::size_t size = Error::kLongestText;
  // A cut must not fall into the middle of a character.
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  const std::size_t left = text.size() - size;
  text.resize(size);
  text += "... (" + std::to_string(left) + " more bytes)";
}

}  // namespace

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::failed: return "failed";
    case ErrorKind::overloaded: return "overloaded";
    case ErrorKind::disconnected: return "disconnected";
    case ErrorKind::unimplemented: return "unimplemented";
    case ErrorKind::deadline: return "deadline";
    case ErrorKind::stopped: return "stopped";
  }
  return "failed";
}

Error::Error(ErrorKind kind, std::string text, ErrorOrigin origin) {
  shorten(text);
  std::string what = compose(kind, text, origin);
  parts_ = std::make_shared<const Parts>(Parts{kind, std::move(text), std::move(origin), std::move(what)});
}

std::string readable_type(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(name.get()) : std::string(mangled);
}

void throw_failed(std::string text) { throw Error(ErrorKind::failed, std::move(text)); }

Error as_error(std::exception_ptr exception) {
  if (exception == nullptr) return Error(ErrorKind::failed, "unknown error");
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc& error) {
    return Error(ErrorKind::failed, "out of memory", {.type = readable_type(typeid(error).name())});
  } catch (const std::exception& error) {
    return Error(ErrorKind::failed, error.what(), {.type = readable_type(typeid(error).name())});
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return Error(ErrorKind::failed, "an exception that is not a std::exception",
                 {.type = type == nullptr ? "unknown" : readable_type(type->name())});
  }
}

}  // namespace lp
