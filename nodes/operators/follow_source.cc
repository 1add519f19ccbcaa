#include "nodes/operators/follow_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "nodes/dataflow/file_window.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/unusable.h"

namespace lp::dataflow {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 17;
constexpr std::size_t kTailBytes = 64;
constexpr int kMoreLooks = 3;  // for a file that is missing

// The status of a path, or with an empty path that of a descriptor. Nothing when there is no such file.
std::optional<struct statx> status_of(const std::string& path, int descriptor = AT_FDCWD) {
  struct statx out {};
  const int flags = path.empty() ? AT_EMPTY_PATH : 0;
  if (::statx(descriptor, path.c_str(), flags, STATX_INO | STATX_SIZE | STATX_BTIME | STATX_MTIME, &out) == 0)
    return out;
  if (errno != ENOENT && errno != ENOTDIR) throw_failed("cannot follow " + path);
  return {};
}

std::int64_t nanoseconds(const struct statx_timestamp& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

FollowSource::FollowSource(StageSite& site, FollowOptions options)
    : site_(site), options_(std::move(options)), changes_(site.wake) {}

std::uint32_t FollowSource::group_of(const Identity& identity) const {
  return key_group({reinterpret_cast<const char*>(&identity.inode), sizeof(identity.inode)});
}

FollowSource::Identity FollowSource::identity_of(const struct statx& status) {
  return {.inode = status.stx_ino, .born = nanoseconds(status.stx_btime)};
}

void FollowSource::poll_files() {
  const Time begun = now();
  next_poll_ = after(options_.look_every);
  std::error_code ignored;
  ending_ = !options_.until.empty() && fs::exists(options_.until, ignored);
  watch_directories();
  Files found = find_files();
  // A file that got another name meanwhile may have been found under neither.
  for (int i = 0; i < kMoreLooks && lacks_some(found); ++i) found = find_files();
  for (const std::string& one : notes_) log_line(site_.stage + ": " + one);
  std::set<std::string> troubles;
  for (const auto& [path, why] : unreadable_) {
    if (!troubles_.contains(why)) log_line(site_.stage + ": " + why);
    troubles.insert(why);
  }
  troubles_ = std::move(troubles);
  const Files before = std::exchange(files_, std::move(found));
  update_splits(before, begun);
}

std::string FollowSource::name_of(const Identity& identity) {
  return std::to_string(identity.inode) + ":" + std::to_string(identity.born);
}

Split& FollowSource::split_of(const File& file) {
  Split*& split = splits_[file.identity];
  if (split == nullptr) split = &site_.splits.open(name_of(file.identity), group_of(file.identity));
  return *split;
}

void FollowSource::close_split(const Identity& identity) {
  if (splits_.erase(identity) > 0) site_.splits.close(name_of(identity));
}

// After a look, which alone finds files idle: they may have grown while this process was held up.
void FollowSource::update_splits(const Files& before, Time polled) {
  std::set<Identity> there;
  for (const auto& [path, file] : files_) {
    there.insert(file.identity);
    if (has_more(file)) site_.splits.set_idle(split_of(file), false);
  }
  for (const auto& [path, file] : before) {
    if (!there.contains(file.identity)) close_split(file.identity);
  }
  for (const auto& [path, file] : files_) {
    if (has_more(file)) continue;
    if (ending_) {
      close_split(file.identity);
    } else if (Split& split = split_of(file); later(split.used, site_.options.idle_after) <= polled) {
      site_.splits.set_idle(split, true);
    }
  }
  find_next_idle();
}

void FollowSource::find_next_idle() {
  next_idle_ = kNever;
  for (const auto& [path, file] : files_) {
    if (ending_ || has_more(file)) continue;
    const Split& split = split_of(file);
    if (!split.idle) next_idle_ = std::min(next_idle_, later(split.used, site_.options.idle_after));
  }
}

bool FollowSource::lacks_some(const Files& found) const {
  std::set<Identity> there;
  for (const auto& [path, file] : found) there.insert(file.identity);
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& one) { return !there.contains(one.second.identity); });
}

FollowSource::Files FollowSource::find_files() {
  notes_.clear();
  Look look{.unreadable = std::exchange(unreadable_, {})};
  for (const auto& [path, file] : files_) look.before.emplace(file.identity, file);
  std::set<std::string> missing;
  Files now;
  for (const std::string& path : options_.paths) {
    std::vector<UnreadableInput> unreadable;
    const FoundInputs found = find_readable_inputs({path}, unreadable);
    for (const std::string& file : found.files) add_file(file, look, now);
    for (const std::string& one : found.unmatched) missing.insert(one);
    for (UnreadableInput& one : unreadable) unreadable_.insert_or_assign(std::move(one.path), std::move(one.why));
  }
  note_missing(std::move(missing));
  keep_unreadable(now);
  return now;
}

// A path that names nothing yet may be mistyped, so one replica logs it, once.
void FollowSource::note_missing(std::set<std::string> paths) {
  for (const std::string& one : paths) {
    if (site_.replica == 0 && missing_.insert(one).second)
      log_line(site_.stage + ": no input matches " + one + " yet; it is read when it is there");
  }
}

// Keeps the files that cannot be looked at now, so that they are read on where they were when they can be read again.
void FollowSource::keep_unreadable(Files& out) const {
  std::set<Identity> there;
  for (const auto& [path, file] : out) there.insert(file.identity);
  for (const auto& [path, file] : files_) {
    const auto has_file = [&path = path](const auto& one) {
      return path == one.first || path.starts_with(one.first + "/");
    };
    if (there.contains(file.identity) || std::none_of(unreadable_.begin(), unreadable_.end(), has_file)) continue;
    hold(out.insert_or_assign(path, file).first->second);
  }
}

// The file cannot be read now. The look that finds it again takes it as changed, whatever has happened to it.
void FollowSource::hold(File& file) {
  file.size = file.offset;
  file.changed = false;
  file.written = 0;
  file.seen = 0;
}

// The file may not be opened: it waits where it is, and each look tries it again.
void FollowSource::leave_closed(const std::string& path, File& file, const std::string& why) {
  unreadable_.insert_or_assign(path, why);
  hold(file);
}

// Adds a file that is there, with what was known about it, unless it is there under another name.
void FollowSource::add_file(const std::string& path, Look& look, Files& out) {
  const auto status = status_of(path);
  if (path == options_.until || !status) return;
  File file{.identity = identity_of(*status)};
  if (!site_.owns(group_of(file.identity))) return;
  if (!look.seen.emplace(Device(status->stx_dev_major, status->stx_dev_minor), file.identity).second) return;
  const auto known = look.before.find(file.identity);
  const auto namesake = files_.find(path);
  if (namesake != files_.end() && namesake->second.identity == file.identity) {
    file = namesake->second;
  } else if (known != look.before.end()) {
    file = known->second;
  } else if (namesake != files_.end()) {
    notes_.push_back(path + " is another file now, and is read from its begin");
  }
  if (status->stx_size < file.offset) {
    notes_.push_back(begin_anew(path, file, "is shorter than what was read of it"));
  }
  file.changed |= std::exchange(file.written, nanoseconds(status->stx_mtime)) != file.written;
  file.size = status->stx_size == file.seen && !file.changed && !ending_ ? file.offset : status->stx_size;
  if (look.unreadable.contains(path)) {
    try {
      open_to_read(path);
    } catch (const ClosedFileError& error) {
      leave_closed(path, file, error.text());
    } catch (const Error&) {  // read() finds it likewise
    }
  }
  out.insert_or_assign(path, file);
}

// Returns what to log about it.
std::string FollowSource::begin_anew(const std::string& path, File& file, const std::string& why) {
  file.offset = 0;
  file.tail.clear();
  file.seen = 0;
  file.too_long = false;
  return path + " " + why + ", and is read from its begin";
}

// Where files may come, and change.
void FollowSource::watch_directories() {
  std::set<fs::path> directories{options_.until.parent_path()};
  for (const auto& one : files_) directories.insert(fs::path(one.first).parent_path());
  for (const std::string& path : options_.paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      directories.insert(fs::path(path).parent_path());
      continue;
    }
    directories.insert(path);
    for (auto at = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, ignored);
         !ignored && at != fs::recursive_directory_iterator(); at.increment(ignored)) {
      std::error_code gone;
      if (at->is_directory(gone)) directories.insert(at->path());
    }
  }
  for (const fs::path& one : directories) changes_.watch(one.empty() ? "." : one);
}

StageSource::Step FollowSource::step() {
  for (bool polled = false;;) {
    if (!polled && (passed(next_poll_) || passed(next_idle_))) {
      poll_files();
      polled = true;  // once, because others may change files all the time
    }
    const auto next = next_file();
    if (next != files_.end()) {
      last_ = next->first;
      if (read(next->first, next->second)) return Step::read;
    } else if (ending_) {
      if (!unreadable_.empty()) throw Unusable(site_.stage + ": " + unreadable_.begin()->second);
      return Step::over;
    } else if (!polled && changes_.any()) {
      poll_files();
      polled = true;
    } else {
      find_next_idle();
      return Step::idle;
    }
  }
}

// The file with the least watermark, among those that have more; files with equal ones have their turns.
FollowSource::Files::iterator FollowSource::next_file() {
  const bool by_turn = ++steps_ % kStepsOfLeast == 0;
  auto least = files_.end();
  EventTime time = kEndOfTime;
  const auto consider = [&](Files::iterator from, Files::iterator to) {
    for (auto one = from; one != to; ++one) {
      if (!has_more(one->second) || (by_turn && least != files_.end())) continue;
      const EventTime its = split_of(one->second).time;
      if (least != files_.end() && its >= time) continue;
      least = one;
      time = its;
    }
  };
  const auto turn = files_.upper_bound(last_);
  consider(turn, files_.end());
  consider(files_.begin(), turn);
  return least;
}

// Hands on the whole lines of a block, and at the end of the flow also a last line without its end. Returns whether it
// has come further.
bool FollowSource::read(const std::string& path, File& file) {
  const std::size_t most = kTailBytes + static_cast<std::size_t>(options_.longest_line) + 1;
  if (block_.empty()) block_.resize(std::min(kBlockBytes, most));
  batch_.clear();
  file.changed = false;
  const std::size_t before = file.tail.size();
  block_offset_ = file.offset - before;
  std::size_t size = 0;
  try {
    const Descriptor in = open_to_read(path);
    if (const auto status = status_of("", in.number()); status && identity_of(*status) != file.identity) {
      file.size = file.offset;  // the path has another file since the last look, which finds both
      next_poll_ = now();
      return false;
    }
    size = read_at(in, path, block_offset_, block_);
  } catch (const ClosedFileError& error) {
    leave_closed(path, file, error.text());
    if (troubles_.insert(error.text()).second) log_line(site_.stage + ": " + error.text());
    return false;
  } catch (const Error&) {
    if (status_of(path)) throw;
    file.size = file.offset;  // it has just gone
    return false;
  }
  if (std::string_view(block_.data(), std::min(size, before)) != file.tail) {
    log_line(site_.stage + ": " + begin_anew(path, file, "has other bytes than those that were read of it"));
    return true;
  }
  std::size_t end = before;
  if (file.too_long) {
    const void* const line_end = std::memchr(block_.data() + end, '\n', size - end);
    file.too_long = line_end == nullptr;
    end = line_end == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(line_end) - block_.data()) + 1;
  }
  end = split(end, size);
  const bool whole = size < block_.size();  // the block has the rest of the file
  if (batch_.empty() && end < size) {
    if (leave_out_long(path, file, end, size)) return true;
    if (end == before && !whole) {
      block_.resize(std::min(2 * size, most));
      return read(path, file);
    }
  }
  if (batch_.empty() && end < size && whole && ending_) {
    batch_.emplace_back(block_.data() + end, size - end);
    end = size;
  }
  // The rest is no line yet; at the end of the flow, the next step reads it.
  if (whole && (batch_.empty() || !ending_)) {
    file.size = block_offset_ + end;
    file.seen = block_offset_ + size;
  }
  if (!batch_.empty()) site_.splits.read(split_of(file));
  if (site_.bad.allowed()) {
    again();
  } else {
    emit(batch_);
  }
  set_offset(file, end);
  if (ending_ && !has_more(file)) close_split(file.identity);
  return end > before;
}

// All that is before this place in the block was read.
void FollowSource::set_offset(File& file, std::size_t end) {
  file.offset = block_offset_ + end;
  const std::size_t kept = std::min(end, kTailBytes);
  file.tail.assign(block_.data() + end - kept, kept);
}

// When the line at this place of the block is too long, it ends the run, or is left out. Returns whether it is.
bool FollowSource::leave_out_long(const std::string& path, File& file, std::size_t at, std::size_t size) {
  const char* const begin = block_.data() + at;
  const void* const end = std::memchr(begin, '\n', size - at);
  const std::size_t length =
      end == nullptr ? size - at : static_cast<std::size_t>(static_cast<const char*>(end) - begin);
  if (length <= options_.longest_line) return false;
  batch_.emplace_back(begin, 0);  // for its place
  handed_ = 0;
  last_ = path;
  try {
    throw Error(ErrorKind::failed, "it is longer than " + std::to_string(options_.longest_line) + " bytes: raise " +
                                       options_.longest_line_name + ", or let such lines be skipped");
  } catch (const Error& error) {
    if (!site_.bad.allowed()) throw Unusable(site_.stage + ": " + bad_record_text(location(), error));
    site_.bad.skip();
  }
  batch_.clear();
  file.too_long = end == nullptr;
  set_offset(file, at + length + (file.too_long ? 0 : 1));
  if (ending_ && !has_more(file)) close_split(file.identity);
  return true;
}

// Adds the whole lines of the block that are not too long, from this place on, to the batch. Returns the place behind
// them.
std::size_t FollowSource::split(std::size_t at, std::size_t size) {
  while (at < size) {
    const char* const begin = block_.data() + at;
    const void* const end = std::memchr(begin, '\n', size - at);
    if (end == nullptr) break;
    const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - begin);
    if (length > options_.longest_line) break;
    batch_.emplace_back(begin, length);
    at += length + 1;
  }
  return at;
}

void FollowSource::again() {
  for (handed_ = 0; handed_ < batch_.size(); ++handed_) emit({&batch_[handed_], 1});
}

std::string FollowSource::location() const {
  if (handed_ >= batch_.size()) return {};
  const auto into = static_cast<std::uint64_t>(batch_[handed_].data() - block_.data());
  return "the line at byte " + std::to_string(block_offset_ + into) + " of " + last_;
}

FilePosition FollowSource::file_position() const noexcept {
  if (batch_.empty()) return {};
  const auto offset_of = [this](std::string_view line) {
    return block_offset_ + static_cast<std::uint64_t>(line.data() - block_.data());
  };
  return {.path = last_, .first = offset_of(batch_.front()), .last = offset_of(batch_.back())};
}

void FollowSource::save(OperatorState& out) const {
  for (auto one : files_) {
    if (const auto split = splits_.find(one.second.identity); split != splits_.end()) {
      one.second.idle = split->second->idle;
    }
    RecordWriter bytes;
    write_record(bytes, one);
    out.push_back({.group = group_of(one.second.identity), .bytes = bytes.take(0)});
  }
}

void FollowSource::load(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  const auto one = files_.insert(read_record<std::pair<std::string, File>>(in)).first;
  site_.splits.set_idle(split_of(one->second), one->second.idle);
}

}  // namespace lp::dataflow
