#include "nodes/operators/file_sink.h"

#include <algorithm>
#include <array>
#include <charconv>
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

constexpr std::size_t kCutDigits = 10;

// With zeros in front, so that names are in the order of their numbers.
std::string digits_of(std::uint64_t number, std::size_t width) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), "%0*llu", static_cast<int>(width),
                static_cast<unsigned long long>(number));
  return digits.data();
}

// The cut of the part with this name; 0: no run of a pipeline has made it.
std::uint64_t cut_of(const std::string& name) {
  std::uint64_t cut = 0;
  const std::size_t end = name.rfind('-');
  if (end == std::string::npos || end < kCutDigits) return 0;
  std::from_chars(&name[end - kCutDigits], &name[end], cut);
  return cut;
}

}  // namespace

PartFiles::PartFiles(const StageSite& site, fs::path into)
    : node_(site.node),
      into_(std::move(into)),
      own_(site.stage + "-" + std::to_string(site.op) + "-" + digits_of(site.replica, 3)),
      durable_(site.options.durable) {}

void PartFiles::start(std::uint64_t cut) const {
  check_directory(into_);
  if (!fs::exists(into_)) return;
  // In a run that takes no cuts, another replica may have made results before this one has begun.
  const bool begins = cut == 0 && node_.incarnation() == 1;
  if (begins && read_text_if_any(pending() / kRunMark, kLongestRunName) == node_.run_name()) return;
  for (const fs::directory_entry& one : fs::directory_iterator(into_)) {
    const std::string name = one.path().filename().string();
    if (!name.starts_with("part-") || (cut != 0 && cut_of(name) <= cut)) continue;
    throw Error(
        ErrorKind::failed,
        into_.string() +
            (cut == 0 ? " has results of another run: remove them, or choose another directory"
                      : " has results behind checkpoint " + std::to_string(cut) +
                            ", from which this run goes on: another run has gone on from it before, so go on from "
                            "that one, or begin a new run with another directory for its results"));
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
  const std::string name =
      "part-" + own_ + "-" + digits_of(number, kCutDigits) + "-" + std::to_string(node_.incarnation());
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
