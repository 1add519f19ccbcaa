#include "nodes/dataflow/user_paths.h"

#include <fnmatch.h>
#include <glob.h>

#include <cstddef>
#include <utility>

namespace lp::dataflow {

namespace {

// Goes over a pattern from `at` on, past what braces enclose. Returns the place of the first character for which
// is_end() is true, or npos.
template <class F>
std::size_t find_outside(const std::string& pattern, std::size_t at, const F& is_end) {
  for (std::size_t depth = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\') {
      ++at;
      continue;
    }
    if (depth == 0 && is_end(c)) return at;
    if (c == '{') ++depth;
    if (c == '}' && depth > 0) --depth;
  }
  return std::string::npos;
}

void add_alternatives(const std::string& pattern, std::vector<std::string>& out) {
  const std::size_t open = find_outside(pattern, 0, [](char c) { return c == '{'; });
  const auto is_end = [](char c) { return c == ',' || c == '}'; };
  const std::size_t close =
      open == std::string::npos ? open : find_outside(pattern, open + 1, [](char c) { return c == '}'; });
  if (close == std::string::npos) {
    out.push_back(pattern);
    return;
  }
  for (std::size_t begin = open + 1; begin <= close;) {
    const std::size_t end = find_outside(pattern, begin, is_end);
    add_alternatives(pattern.substr(0, open) + pattern.substr(begin, end - begin) + pattern.substr(close + 1), out);
    begin = end + 1;
  }
}

}  // namespace

std::vector<std::string> alternatives_of(const std::string& pattern) {
  std::vector<std::string> out;
  add_alternatives(pattern, out);
  return out;
}

std::vector<std::string> paths_like(const std::string& pattern, bool directories, const Unlisted& unlisted) {
  thread_local std::vector<std::pair<std::string, int>> failed;  // glob() gives its handler nothing to write to
  failed.clear();
  const auto on_error = [](const char* path, int error) {
    failed.emplace_back(path, error);
    return 0;
  };
  ::glob_t found{};
  std::vector<std::string> out;
  if (::glob(pattern.c_str(), directories ? GLOB_ONLYDIR : 0, on_error, &found) == 0) {
    out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  for (const auto& [path, error] : std::exchange(failed, {})) {
    unlisted(path, std::error_code(error, std::generic_category()));
  }
  return out;
}

bool is_like(const std::string& path, const std::string& pattern) {
  return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

}  // namespace lp::dataflow
