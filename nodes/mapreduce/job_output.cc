#include "nodes/mapreduce/job_output.h"

#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "nodes/mapreduce/output_claim.h"

namespace lp::dataflow {

namespace fs = std::filesystem;
using Content = OutputClaim::Content;

JobOutput::JobOutput(const MapReduceOptions& options, std::string run, bool restarted)
    : options_(options), run_(std::move(run)), restarted_(restarted) {}

void JobOutput::make_directories() const {
  fs::create_directories(options_.parts());
  fs::create_directories(options_.attempt_files());
}

// An earlier incarnation may have published the output before the cut that records it was complete. Then the parts
// become parts again: tasks that the cut does not know make the same ones.
void JobOutput::take_back() {
  const fs::path mark = options_.output / kRunMark;
  if (!restarted_ || read_text_if_any(mark, kLongestRunName) != run_) return;
  claim_ = OutputClaim::take(options_.partial(), run_, Content::kept);
  fs::remove_all(options_.parts());
  fs::rename(options_.output, options_.parts());
}

void JobOutput::check_output() const {
  const fs::file_type type = fs::symlink_status(options_.output).type();
  if (type == fs::file_type::not_found) return;
  throw Error(ErrorKind::failed, "the output " + options_.output.string() +
                                     (type == fs::file_type::symlink ? " is a link" : " exists") +
                                     ": remove it, or name a directory that does not exist");
}

void JobOutput::begin() {
  take_back();
  claim_ = {};
  claim_ = OutputClaim::take(options_.partial(), run_, Content::removed);
  if (!claim_.replaced().empty()) {
    log_line(options_.partial().string() + " had the parts of the run " + claim_.replaced() +
             ", which had not succeeded; they were removed, and if that run is resumed, it makes them again");
  }
  check_output();
  make_directories();
}

void JobOutput::go_on(bool complete) {
  const bool visible = complete && published();
  if (visible && !fs::exists(options_.partial())) return;
  if (!visible) {
    take_back();
    check_output();
  }
  claim_ = {};
  claim_ = OutputClaim::take(options_.partial(), run_, Content::kept);
  if (!visible) make_directories();
}

bool JobOutput::published() const { return !fs::exists(options_.parts()) && fs::exists(options_.output); }

bool JobOutput::has_part(std::uint32_t partition) const {
  return fs::exists(options_.parts() / MapReduceOptions::part_name(partition));
}

void JobOutput::publish() {
  std::error_code error;
  if (!published()) {
    write_file(options_.parts() / kRunMark, run_);
    if (options_.durable) sync_directory(options_.parts());
    fs::rename(options_.parts(), options_.output, error);
    if (error) {
      throw Error(ErrorKind::failed, "the output " + options_.output.string() + " cannot be made: " + error.message());
    }
    if (options_.durable) sync_directory(fs::absolute(options_.output).parent_path());
  }
  remove();
}

void JobOutput::remove() {
  if (claim_) remove_directory(options_.partial());
  claim_ = {};
}

}  // namespace lp::dataflow
