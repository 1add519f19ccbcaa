#include "nodes/operators/file_sink.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
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
    : into_(std::move(into)),
      own_(site.stage + "-" + std::to_string(site.op) + "-" + digits_of(site.replica, 3)),
      durable_(site.options.durable),
      life_(site.node.incarnation()) {}

void PartFiles::start() const {
  if (!fs::exists(into_)) return;
  for (const fs::directory_entry& one : fs::directory_iterator(into_)) {
    if (!one.path().filename().string().starts_with("part-")) continue;
    throw Error(ErrorKind::failed,
                into_.string() + " has results of another run: remove them, or choose another directory");
  }
}

void PartFiles::open() {
  fs::create_directories(pending());
  remove_stale();
  file_.emplace((pending() / ("open-" + own_ + "-" + std::to_string(life_))).string());
}

// An incarnation that was killed left the part that it was writing.
void PartFiles::remove_stale() {
  if (std::exchange(clean_, true)) return;
  std::error_code ignored;
  for (const fs::directory_entry& one : fs::directory_iterator(pending(), ignored)) {
    if (one.path().filename().string().starts_with("open-" + own_ + "-")) fs::remove(one.path(), ignored);
  }
}

void PartFiles::cut(std::uint64_t number) {
  if (!file_) return;
  const std::string name = "part-" + own_ + "-" + digits_of(number, 10) + "-" + std::to_string(life_);
  const fs::path from = file_->path();
  file_->close(durable_);
  file_.reset();
  fs::rename(from, pending() / name);
  parts_[name] = number;
}

void PartFiles::commit(std::uint64_t number) {
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
