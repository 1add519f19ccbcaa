#include "nodes/operators/file_source.h"

#include <string>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

FileSource::FileSource(const StageSite& site, InputOptions input)
    : input_(std::move(input)), replica_(site.replica), replicas_(site.replicas) {}

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
  try {
    if (input_.format == InputFormat::lines) {
      if (reader_->next_lines(batch_, kBatch)) {
        emit(batch_);
        return Step::read;
      }
    } else if (std::string_view record; reader_->next(record)) {
      emit({&record, 1});
      return Step::read;
    }
  } catch (const RecordError& error) {
    throw Error(ErrorKind::failed, "the record at byte " + std::to_string(reader_->offset()) + " of " +
                                       reader_->split().path + " cannot be read: " + error.text());
  }
  reader_.reset();
  return Step::read;
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
