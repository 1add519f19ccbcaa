#include "launchers/record/curves.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "launchers/record/event_records.h"
#include "launchers/record/node_output.h"
#include "launchers/record/saved_curves.h"
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
    : directory_(directory.empty() ? directory : std::filesystem::absolute(directory) / kCurves) {}

std::string Curves::name_of(std::string name) {
  if (name.size() > kNameBytes) name.resize(valid_utf8_prefix(std::string_view(name).substr(0, kNameBytes)));
  return name.empty() ? "unnamed" : printable_word(name);
}

void Curves::begin(const std::string& node, Curve& curve) const {
  curve.path = new_event_file(directory_ / node);
  curve.size = 0;
  curve.buffer = version_record(seconds_now());
}

void Curves::go_back(Curve& curve, std::uint64_t step) {
  curve.buffer += restart_record(seconds_now(), step);
  for (auto& [name, next] : curve.next) next = std::min(next, step);
}

void Curves::add(const std::string& node, const Progress& progress) {
  if (directory_.empty() || progress.values.empty()) return;
  Curve& curve = curves_[node];
  if (curve.path.empty()) begin(node, curve);
  const auto next_of = [&](const std::string& name) {
    const auto at = curve.next.find(name);
    return at == curve.next.end() ? 0 : at->second;
  };
  // At the begin, an earlier start of the run may have reported this step and later ones.
  bool goes_back = std::exchange(curve.restarts, false);
  for (const auto& [name, value] : progress.values) goes_back |= progress.step + 1 < next_of(name_of(name));
  if (goes_back || progress.step != curve.step) {
    encode(curve);
    if (goes_back) go_back(curve, progress.step);
    curve.step = progress.step;
    ++curve.steps;
  }
  for (const auto& [name, value] : progress.values) {
    const std::string shown = name_of(name);
    if (curve.next.size() >= kNames && !curve.next.contains(shown)) {
      note(told_names_, node + " reports values under more than " + std::to_string(kNames) +
                            " names: those under further names, as " + shown + ", have no curve");
      continue;
    }
    const bool is_new = next_of(shown) <= progress.step;
    curve.next[shown] = progress.step + 1;
    if (curve.steps % curve.stride == 0 && (is_new || curve.values.contains(shown))) curve.values[shown] = value;
  }
  if (curve.buffer.size() > kBuffered) append(curve);
}

void Curves::add_session(const std::string& record) {
  if (directory_.empty()) return;
  Curve& curve = curves_[""];
  if (curve.path.empty()) begin("", curve);
  curve.buffer += record;
}

void Curves::encode(Curve& curve) {
  if (curve.values.empty()) return;
  const std::string record = values_record(seconds_now(), curve.step, curve.values);
  curve.values.clear();
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
