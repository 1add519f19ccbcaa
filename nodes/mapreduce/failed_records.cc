#include "nodes/mapreduce/failed_records.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lp/base/text.h"
#include "nodes/dataflow/file_error.h"
#include "nodes/mapreduce/task_context.h"

namespace lp::dataflow {
namespace {

// The text of the exception that is being handled. Throws those again that are not about a record.
std::string text_about_record() {
  rethrow_file_error();
  try {
    throw;
  } catch (const LostRunError&) {
    throw;
  } catch (...) {
    const Error error = as_error(std::current_exception());
    if (error.kind() == ErrorKind::stopped || error.kind() == ErrorKind::disconnected) throw;
    const std::string& type = error.origin().type;
    return type.empty() ? error.text() : type + ": " + error.text();
  }
}

}  // namespace

void FailedRecords::add_record(const std::string& path, std::uint64_t offset, std::string_view record,
                               const std::function<void()>& again) {
  const std::string bytes = record.data() == nullptr ? "" : " (" + quote(record) + ")";  // it could not be read
  add({.place = path, .offset = offset},
      "map failed on the record at byte " + std::to_string(offset) + " of " + path + bytes, again);
}

void FailedRecords::add_key(std::string_view key, const std::function<void()>& again) {
  add({.place = std::string(key)}, "reduce failed on the key " + quote(key), again);
}

void FailedRecords::add(BadRecord bad, const std::string& what, const std::function<void()>& again) {
  failure_ = what + ": " + text_about_record();
  bad_.push_back(std::move(bad));
  const bool repeats = most_ == 0 && fails_again(again);
  // After a failure of the system, such as a database that is away, the next records may only seem to be bad.
  if (bad_.size() > most_ || may_pass()) throw BadRecordError(std::move(bad_), repeats, failure_);
}

void FailedRecords::end() {
  if (!bad_.empty()) throw BadRecordError(std::move(bad_), false, failure_);
}

std::span<const BadRecord> bad_in(const std::vector<BadRecord>& sorted, std::string_view place) {
  const auto place_of = [](const BadRecord& one) -> std::string_view { return one.place; };
  return {std::ranges::lower_bound(sorted, place, {}, place_of), std::ranges::upper_bound(sorted, place, {}, place_of)};
}

bool has_record(std::span<const BadRecord> of_file, std::uint64_t offset) {
  return std::ranges::binary_search(of_file, offset, {}, &BadRecord::offset);
}

void add_sorted(std::vector<BadRecord>& sorted, const std::vector<BadRecord>& more) {
  sorted.insert(sorted.end(), more.begin(), more.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

std::vector<BadRecord> bad_in(const std::vector<BadRecord>& sorted, const InputTask& task) {
  std::vector<BadRecord> out;
  for (const InputSplit& split : task.splits) {
    const std::span<const BadRecord> all = bad_in(sorted, split.path);
    const auto begin = std::ranges::lower_bound(all, split.begin, {}, &BadRecord::offset);
    const auto end = std::ranges::lower_bound(all, split.end, {}, &BadRecord::offset);
    out.insert(out.end(), begin, end);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace lp::dataflow
