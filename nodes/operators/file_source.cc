#include "nodes/operators/file_source.h"

#include <string>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

FileSource::FileSource(const StageSite& site, InputOptions input)
    : bad_(site.bad), input_(std::move(input)), replica_(site.replica), replicas_(site.replicas) {}

void FileSource::split() {
  known_ = true;
  std::uint32_t turn = 0;
  for (const InputTask& task : split_inputs(input_)) {
    for (const InputSplit& one : task.splits) {
      if (turn++ % replicas_ == replica_) splits_.push_back(one);
    }
  }
}

bool FileSource::open_next() {
  if (splits_.empty()) return false;
  reader_.emplace(std::move(splits_.front()), input_);
  splits_.pop_front();
  return true;
}

StageSource::Step FileSource::step() {
  if (!known_) split();
  if (!reader_ && !open_next()) return Step::over;
  handed_ = 0;
  try {
    if (!read()) {
      reader_.reset();
      return Step::read;
    }
  } catch (const RecordError&) {
    batch_.clear();
    try {
      bad_.skip();
    } catch (const FunctionError& error) {
      throw Error(ErrorKind::failed, bad_record_text(place(), error));
    }
    return Step::read;
  }
  emit(batch_);
  return Step::read;
}

// Reads a batch. Returns false at the end of the split.
bool FileSource::read() {
  if (input_.format == InputFormat::lines) return reader_->next_lines(batch_, bad_.allowed() ? 1 : kBatch);
  batch_.resize(1);
  return reader_->next(batch_.front());
}

void FileSource::again() {
  for (handed_ = 0; handed_ < batch_.size(); ++handed_) emit({&batch_[handed_], 1});
}

// All records of a batch are in the reader's block.
std::string FileSource::place() const {
  if (!reader_) return {};
  std::uint64_t offset = reader_->offset();
  if (handed_ < batch_.size()) offset -= static_cast<std::uint64_t>(batch_.back().data() - batch_[handed_].data());
  return "the record at byte " + std::to_string(offset) + " of " + reader_->split().path;
}

FilePlace FileSource::file_place() const noexcept {
  if (!reader_ || batch_.empty()) return {};
  const std::uint64_t last = reader_->offset();
  return {.path = reader_->split().path,
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
  out.push_back({.group = kEveryReplica});  // the splits were made
  if (reader_) {
    InputSplit rest = reader_->split();
    rest.begin = reader_->next_offset();
    if (rest.begin < rest.end) put(rest);
  }
  for (const InputSplit& one : splits_) put(one);
}

void FileSource::load(const StatePiece& piece) {
  known_ = true;
  if (piece.bytes.empty()) return;
  RecordBytes in(piece.bytes);
  splits_.push_back(read_record<InputSplit>(in));
}

}  // namespace lp::dataflow
