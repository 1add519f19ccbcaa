#include "launchers/record/curves.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "launchers/record/event_records.h"
#include "launchers/record/node_output.h"
#include "lp/base/descriptor.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"
#include "lp/base/utf8.h"
#include "lp/program/progress.h"

namespace lp::launch {
namespace {

double seconds_now() { return static_cast<double>(wall_clock()) / 1e9; }

}  // namespace

Curves::Curves(const std::filesystem::path& directory)
    : directory_(directory.empty() ? directory : std::filesystem::absolute(directory) / "curves") {}

std::string Curves::name_of(std::string name) {
  if (name.size() > kNameBytes) name.resize(valid_utf8_prefix(std::string_view(name).substr(0, kNameBytes)));
  return name.empty() ? "unnamed" : printable_word(name);
}

// The name has the time, because TensorBoard reads the files of a folder in the order of their names.
void Curves::begin(const std::string& node, Curve& curve) const {
  const std::int64_t time = wall_clock();
  const std::string fraction = std::to_string(1'000'000'000 + time % 1'000'000'000).substr(1);
  curve.path =
      directory_ / node / ("events.out.tfevents." + std::to_string(time / 1'000'000'000) + "." + fraction + ".lp");
  curve.size = 0;
  curve.buffer = version_record(seconds_now());
}

void Curves::add(const std::string& node, const Progress& progress) {
  if (directory_.empty() || progress.values.empty()) return;
  Curve& curve = curves_[node];
  if (curve.path.empty()) begin(node, curve);
  if (curve.restarts || progress.step != curve.step) {
    encode(curve);
    // At the begin, an earlier start of the run may have reported this step and later ones.
    const bool goes_back = std::exchange(curve.restarts, false) || progress.step < curve.step;
    if (goes_back) curve.buffer += restart_record(seconds_now(), progress.step);
    curve.step = progress.step;
    curve.written.clear();
    ++curve.steps;
  }
  if (curve.steps % curve.stride != 0) return;
  for (const auto& [name, value] : progress.values) {
    const std::string shown = name_of(name);
    if (curve.names.size() >= kNames && !curve.names.contains(shown)) {
      note(told_names_, node + " reports values under more than " + std::to_string(kNames) +
                            " names: those under further names, as " + shown + ", have no curve");
      continue;
    }
    curve.names.insert(shown);
    if (!curve.written.contains(shown)) curve.values[shown] = value;
  }
  if (curve.buffer.size() > kBuffered) append(curve);
}

void Curves::encode(Curve& curve) {
  if (curve.values.empty()) return;
  const std::string record = values_record(seconds_now(), curve.step, curve.values);
  for (const auto& [name, value] : std::exchange(curve.values, {})) curve.written.insert(name);
  curve.buffer += record;
  if (record.size() < curve.quota) {
    curve.quota -= record.size();
  } else {
    curve.stride *= 2;
    curve.quota = kWholeBytes / 4;
  }
}

void Curves::append(Curve& curve) {
  std::error_code failed;
  std::filesystem::create_directories(curve.path.parent_path(), failed);
  const Descriptor file(open(curve.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file && write_all(file.number(), curve.buffer)) {
    curve.size += curve.buffer.size();
    curve.buffer.clear();
    return;
  }
  const int why = errno;
  const std::string file_name = curve.path;
  // A record is whole or not there. What could not be written is written later, if it does not become too much.
  const bool torn = file && ftruncate(file.number(), static_cast<off_t>(curve.size)) != 0;
  if (torn || curve.buffer.size() > kBuffered) {
    curve.buffer.clear();
    curve.values.clear();
    curve.restarts = true;                            // the lost records may have said that the node went back
    if (torn || curve.size == 0) curve.path.clear();  // the next value begins a new file
  }
  note(told_write_, "the curves of the run cannot be written: " + file_name + ": " + std::strerror(why));
}

void Curves::note(bool& told, const std::string& fault) {
  if (std::exchange(told, true)) return;
  fault_ += (fault_.empty() ? "" : "; ") + fault;
}

std::string Curves::flush() {
  for (auto& [node, curve] : curves_) {
    encode(curve);
    if (!curve.path.empty() && !curve.buffer.empty()) append(curve);
  }
  return std::exchange(fault_, {});
}

}  // namespace lp::launch
