#include "tools/lp/log_mirror.h"

#include <fcntl.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "launchers/admin/run_api.h"
#include "launchers/record/log_times.h"
#include "launchers/record/run_directory.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "tools/lp/command_error.h"
#include "tools/lp/run_requests.h"

namespace lp::tool {
namespace {

struct FileRequest {
  std::string ask = "file";
  std::string name{};
  std::uint64_t from = 0;
};

launch::FilePart ask_for(launch::AdminClient& client, const std::filesystem::path& file, std::uint64_t from) {
  const FileRequest request{.name = file, .from = from};
  return from_json<launch::FilePart>(ask(client, to_json(request)));
}

// The bytes that the characters from U+0000 to U+00FF stand for.
std::string bytes_of(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto one = static_cast<unsigned char>(text[i]);
    const bool two = one >= 0x80 && i + 1 < text.size();
    bytes += two ? static_cast<char>((one << 6) | (static_cast<unsigned char>(text[++i]) & 0x3F)) : text[i];
  }
  return bytes;
}

std::filesystem::path part_of(const std::filesystem::path& log, const char* word) {
  std::filesystem::path part = log;
  return part.replace_extension(word);
}

}  // namespace

LogMirror::LogMirror(launch::AdminClient client) : client_(std::move(client)) {
  std::string name = (std::filesystem::temp_directory_path() / "lp-logs-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw CommandError(Exit::failed, name + " cannot be made: is its disk full?");
  directory_ = name;
}

LogMirror::~LogMirror() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

bool LogMirror::update() {
  try {
    for (const std::filesystem::path& log : logs_) fetch_log(log);
  } catch (const CommandError& error) {
    if (error.code() != Exit::not_live) throw;
  }
  return client_.open();
}

void LogMirror::fetch_log(const std::filesystem::path& log) {
  const std::uint64_t id = id_of(log);
  if (id == 0) return;
  if (ids_[log] != id) {  // the log has turned over, or is new
    for (const char* word : {".first.log", ".previous.log"}) fetch_part(part_of(log, word), log);
  }
  fetch_part(log, log);
}

void LogMirror::fetch_part(const std::filesystem::path& part, const std::filesystem::path& newest) {
  const std::uint64_t id = id_of(part);
  if (id == 0) return;
  std::error_code ignored;
  if (id != ids_[part]) {
    const bool was_newest = id == ids_[newest];
    for (const auto& [from, to] :
         {std::pair(newest, part), std::pair(launch::times_path(newest), launch::times_path(part))}) {
      if (was_newest) {
        std::filesystem::rename(directory_ / from, directory_ / to, ignored);
      } else {
        std::filesystem::remove(directory_ / to, ignored);
      }
    }
    if (was_newest) ids_[newest] = 0;
    ids_[part] = id;
  }
  fetch_rest(launch::times_path(part));
  fetch_rest(part);
}

void LogMirror::fetch_rest(const std::filesystem::path& file) {
  const std::filesystem::path here = directory_ / file;
  std::error_code error;
  std::filesystem::create_directories(here.parent_path(), error);
  auto size = std::filesystem::file_size(here, error);
  if (error) size = 0;
  for (;;) {
    const std::string bytes = bytes_of(ask_for(client_, file, size).bytes);
    if (bytes.empty()) return;
    const Descriptor out(open(here.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!out || !write_all(out.number(), bytes)) {
      throw CommandError(Exit::failed, here.string() + " cannot be written: is its disk full?");
    }
    size += bytes.size();
  }
}

std::uint64_t LogMirror::id_of(const std::filesystem::path& file) {
  return ask_for(client_, file, std::numeric_limits<std::int64_t>::max()).id;
}

}  // namespace lp::tool
