#include "nodes/operators/file_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/unusable.h"

namespace lp::dataflow {

namespace {

// Inputs that cannot be read now cannot be read after a restart either.
std::vector<InputTask> tasks_of(const InputOptions& input) try {
  return split_inputs(input);
} catch (const Error& error) {
  throw Unusable(error.text());
}

}  // namespace

FileSource::FileSource(StageSite& site, InputOptions input) : site_(site), input_(std::move(input)) {}

void FileSource::split() {
  known_ = true;
  std::uint32_t turn = 0;
  for (const InputTask& task : tasks_of(input_)) {
    for (const InputSplit& one : task.splits) {
      if (turn++ % site_.replicas == site_.replica) add(one);
    }
  }
}

void FileSource::add(InputSplit part) {
  File& file = files_[part.path];
  if (file.split == nullptr) {
    file.split = &site_.splits.open(part.path, kEveryReplica);
    turns_.emplace(file.split->time, part.path);
  }
  const auto behind = [&part](const InputSplit& one) { return one.begin > part.begin; };
  file.parts.insert(std::find_if(file.parts.begin(), file.parts.end(), behind), std::move(part));
}

// Returns false when nothing is left of the file.
bool FileSource::open(File& file) {
  if (file.parts.empty()) return false;
  if (open_.size() >= kOpenFiles) close_one();
  file.reader.emplace(std::move(file.parts.front()), input_);
  file.parts.pop_front();
  open_.push_back(&file);
  return true;
}

void FileSource::close_reader(File& file) {
  file.reader.reset();
  std::erase(open_, &file);
}

// Closes the file that is read last. One in which a record is being skipped stays open.
void FileSource::close_one() {
  File* last = nullptr;
  for (File* const one : open_) {
    if (!one->reader->skipping() && (last == nullptr || one->split->time >= last->split->time)) last = one;
  }
  if (last == nullptr) return;
  InputSplit rest = last->reader->split();
  rest.begin = last->reader->next_offset();
  close_reader(*last);
  if (rest.begin < rest.end) last->parts.push_front(std::move(rest));
}

void FileSource::close(const std::string& path) {
  file_ = nullptr;
  files_.erase(path);
  site_.splits.close(path);
}

StageSource::Step FileSource::step() {
  if (!known_) split();
  if (turns_.empty()) return Step::over;
  const auto turn = turns_.begin();
  File& file = files_.at(turn->second);
  batch_.clear();
  handed_ = 0;
  if (!file.reader && !open(file)) {
    const std::string path = turn->second;
    turns_.erase(turn);
    close(path);
    return Step::read;
  }
  file_ = &file;
  site_.splits.read(*file.split);
  try {
    if (!read(file)) {
      close_reader(file);
      batch_.clear();
      return Step::read;
    }
  } catch (const UnclosedQuoteError& error) {
    throw Unusable(site_.stage + ": " + error.text());
  } catch (const RecordError&) {
    batch_.clear();
    try {
      site_.bad.skip();
    } catch (const FunctionError& error) {
      throw Unusable(site_.stage + ": " + bad_record_text(location(), error));
    }
    return Step::read;
  }
  emit(batch_);
  if (file.split->time != turn->first) {
    auto moved = turns_.extract(turn);
    moved.value().first = file.split->time;
    turns_.insert(std::move(moved));
  }
  return Step::read;
}

// Reads a batch. Returns false at the end of the part.
bool FileSource::read(File& file) {
  if (input_.format == InputFormat::lines) return file.reader->next_lines(batch_, lines_of(file));
  batch_.resize(1);
  return file.reader->next(batch_.front());
}

// A file shows its first time with few lines, so that no others wait in windows for what is between.
std::size_t FileSource::lines_of(File& file) const {
  if (site_.bad.allowed()) return 1;
  if (!site_.splits.followed() || turns_.size() == 1 || file.split->time != kNoTime) return kBatch;
  return std::exchange(file.batch, std::min(2 * file.batch, kBatch));
}

void FileSource::again() {
  for (handed_ = 0; handed_ < batch_.size(); ++handed_) emit({&batch_[handed_], 1});
}

// All records of a batch are in the reader's block.
std::string FileSource::location() const {
  if (file_ == nullptr || !file_->reader) return {};
  std::uint64_t offset = file_->reader->offset();
  if (handed_ < batch_.size()) offset -= static_cast<std::uint64_t>(batch_.back().data() - batch_[handed_].data());
  return "the record at byte " + std::to_string(offset) + " of " + file_->reader->split().path;
}

FilePosition FileSource::file_position() const noexcept {
  if (file_ == nullptr || !file_->reader || batch_.empty()) return {};
  const std::uint64_t last = file_->reader->offset();
  return {.path = file_->reader->split().path,
          .first = last - static_cast<std::uint64_t>(batch_.back().data() - batch_.front().data()),
          .last = last};
}

void FileSource::save(OperatorState& out) const {
  const auto put = [&](const InputSplit& split) {
    RecordWriter bytes;
    write_record(bytes, split);
    out.push_back({.group = kAnyReplica, .bytes = bytes.take(0)});
  };
  if (!known_) return;
  out.push_back({.group = kEveryReplica});  // the parts are known
  for (const auto& [path, file] : files_) {
    if (file.reader) {
      InputSplit rest = file.reader->split();
      rest.begin = file.reader->next_offset();
      if (rest.begin < rest.end) put(rest);
    }
    for (const InputSplit& one : file.parts) put(one);
  }
}

void FileSource::load(const StatePiece& piece) {
  known_ = true;
  if (piece.bytes.empty()) return;
  RecordBytes in(piece.bytes);
  add(read_record<InputSplit>(in));
}

}  // namespace lp::dataflow
