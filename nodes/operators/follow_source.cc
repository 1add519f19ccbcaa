#include "nodes/operators/follow_source.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <system_error>

#include "lp/base/error.h"
#include "nodes/dataflow/file_window.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 17;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

// The files that match now; a path that matches nothing may do so later.
std::vector<std::string> matches(const std::string& path) {
  try {
    return find_inputs({path});
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void FollowSource::look() {
  next_look_ = after(options_.look_every);
  std::error_code ignored;
  const bool ending = !options_.until.empty() && std::filesystem::exists(options_.until, ignored);
  for (const std::string& path : options_.paths) {
    for (const std::string& file : matches(path)) {
      if (file != options_.until && site_.owns(key_group(file))) offsets_.try_emplace(file, 0);
    }
  }
  nothing_ = 0;
  ending_ = ending;
}

StageSource::Step FollowSource::step() {
  if (nothing_ >= offsets_.size()) {
    if (ending_) return Step::over;
    if (!passed(next_look_)) return Step::idle;
    look();
    return Step::read;
  }
  auto next = offsets_.upper_bound(last_);
  if (next == offsets_.end()) next = offsets_.begin();
  last_ = next->first;
  nothing_ = read(next->first, next->second) ? 0 : nothing_ + 1;
  return Step::read;
}

// Hands on the whole lines of a block, and at the end of the flow also a last line without its end.
bool FollowSource::read(const std::string& path, std::uint64_t& offset) {
  if (block_.empty()) block_.resize(kBlockBytes);
  const std::size_t size = read_at(open_to_read(path), path, offset, block_);
  batch_.clear();
  std::size_t at = 0;
  while (at < size) {
    const char* const begin = block_.data() + at;
    const void* const end = std::memchr(begin, '\n', size - at);
    if (end == nullptr) break;
    batch_.emplace_back(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
    at += batch_.back().size() + 1;
  }
  if (batch_.empty() && size == block_.size()) {
    if (size >= kLongestLine) throw Error(ErrorKind::failed, path + " has a line of more than 64 MiB");
    block_.resize(2 * size);
    return true;
  }
  if (batch_.empty() && size > 0 && ending_) {
    batch_.emplace_back(block_.data(), size);
    at = size;
  }
  emit(batch_);
  offset += at;
  return at > 0;
}

void FollowSource::save(OperatorState& out) const {
  for (const auto& [path, offset] : offsets_) {
    RecordWriter bytes;
    bytes.text(path);
    bytes.number(offset);
    out.push_back({.group = key_group(path), .bytes = bytes.take(0)});
  }
}

void FollowSource::load(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  const std::string path(in.text());
  offsets_[path] = in.number<std::uint64_t>();
}

}  // namespace lp::dataflow
