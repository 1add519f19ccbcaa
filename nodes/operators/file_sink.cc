#include "nodes/operators/file_sink.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/program/scratch.h"
#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

namespace fs = std::filesystem;

namespace {

// With zeros in front, so that names are in the order of their numbers.
std::string digits_of(std::uint64_t number, int width) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), "%0*llu", width, static_cast<unsigned long long>(number));
  return digits.data();
}

}  // namespace

PartFiles::PartFiles(const StageSite& site, fs::path into)
    : node_(site.node),
      into_(std::move(into)),
      own_(site.stage + "-" + std::to_string(site.op) + "-" + digits_of(site.replica, 3)),
      durable_(site.options.durable) {}

void PartFiles::start() const {
  if (!fs::exists(into_)) return;
  for (const fs::directory_entry& one : fs::directory_iterator(into_)) {
    if (!one.path().filename().string().starts_with("part-")) continue;
    throw Error(ErrorKind::failed,
                into_.string() + " has results of another run: remove them, or choose another directory");
  }
}

void PartFiles::open() {
  prepare();
  file_.emplace((pending() / ("open-" + own_ + "-" + std::to_string(node_.incarnation()))).string());
}

// An incarnation that was killed left the part that it was writing. The cuts of an earlier run may name the other
// files: then they are that run's until a cut of this one is complete.
void PartFiles::prepare() {
  if (std::exchange(prepared_, true)) return;
  fs::create_directories(pending());
  node_.scratch(pending(), ScratchLife::cuts);
  std::error_code ignored;
  if (!fs::exists(pending() / kRunMark, ignored)) take_over();
  for (const fs::directory_entry& one : fs::directory_iterator(pending(), ignored)) {
    if (one.path().filename().string().starts_with("open-" + own_ + "-")) fs::remove(one.path(), ignored);
  }
}

void PartFiles::take_over() {
  write_file(pending() / kRunMark, node_.run_name());
  owns_ = true;
}

void PartFiles::cut(std::uint64_t number) {
  if (!first_cut_) first_cut_ = number;
  if (!file_) return;
  const std::string name = "part-" + own_ + "-" + digits_of(number, 10) + "-" + std::to_string(node_.incarnation());
  const fs::path from = file_->path();
  file_->close(durable_);
  file_.reset();
  fs::rename(from, pending() / name);
  parts_[name] = number;
}

void PartFiles::commit(std::uint64_t number) {
  if (prepared_ && !owns_ && first_cut_ && number >= *first_cut_) take_over();
  for (auto one = parts_.begin(); one != parts_.end();) {
    if (one->second > number) {
      ++one;
      continue;
    }
    std::error_code error;
    fs::rename(pending() / one->first, into_ / one->first, error);
    if (error && !fs::exists(into_ / one->first)) {
      throw Error(ErrorKind::failed, (into_ / one->first).string() + " cannot be written: " + error.message());
    }
    one = parts_.erase(one);
  }
}

void PartFiles::finish() {
  std::error_code ignored;
  fs::remove_all(pending(), ignored);
}

void PartFiles::save(OperatorState& out) const {
  for (const auto& part : parts_) {
    RecordWriter bytes;
    write_record(bytes, part);
    out.push_back({.group = kAnyReplica, .bytes = bytes.take(0)});
  }
}

void PartFiles::load(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  parts_.insert(read_record<std::pair<std::string, std::uint64_t>>(in));
}

}  // namespace lp::dataflow
