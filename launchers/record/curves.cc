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
#include "launchers/record/run_directory.h"
#include "launchers/record/saved_curves.h"
#include "lp/base/descriptor.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"
#include "lp/base/utf8.h"
#include "lp/program/progress.h"

namespace lp::launch {
namespace {

double seconds_now() { return static_cast<double>(wall_clock()) / 1e9; }

std::string name_of(std::string name) {
  if (name.size() > Curves::kNameBytes)
    name.resize(valid_utf8_prefix(std::string_view(name).substr(0, Curves::kNameBytes)));
  return name.empty() ? "unnamed" : printable_word(name);
}

// TensorBoard refuses a text that is no UTF-8.
std::string text_of(std::string_view text) {
  std::string shown;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    shown += (begin == 0 ? "" : "\n") + printable(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return shown;
}

// The names of everything in a report, with the values as event files have them.
std::vector<std::pair<std::string, EventValue>> numbers_of(const Progress& progress) {
  std::vector<std::pair<std::string, EventValue>> all;
  for (const auto& [name, value] : progress.values) all.emplace_back(name_of(name), value);
  return all;
}
std::vector<std::pair<std::string, EventValue>> others_of(const Progress& progress) {
  std::vector<std::pair<std::string, EventValue>> all;
  for (const auto& [name, values] : progress.histograms) {
    if (values.count > 0) all.emplace_back(name_of(name), values);
  }
  for (const auto& [name, text] : progress.texts) all.emplace_back(name_of(name), text_of(text));
  return all;
}

}  // namespace

Curves::Curves(const std::filesystem::path& directory)
    : directory_(directory.empty() ? directory : std::filesystem::absolute(directory) / kCurves) {}

void Curves::begin(const std::string& node, Curve& curve) const {
  curve.path = new_event_file(directory_ / node);
  curve.size = 0;
  curve.buffer = version_record(seconds_now());
}

void Curves::go_back(Curve& curve, std::uint64_t step) {
  curve.buffer += restart_record(seconds_now(), step);
  for (auto& [name, one] : curve.names) one.next = std::min(one.next, step);
}

void Curves::add(const std::string& node, const Progress& progress) {
  if (directory_.empty()) return;
  const auto numbers = numbers_of(progress);
  const auto others = others_of(progress);
  if (numbers.empty() && others.empty()) return;
  Curve& curve = curves_[node];
  if (curve.path.empty()) begin(node, curve);
  // At the begin, an earlier start of the run may have reported this step and later ones.
  bool goes_back = std::exchange(curve.restarts, false);
  for (const auto* all : {&numbers, &others}) {
    for (const auto& [name, value] : *all) {
      const auto at = curve.names.find(name);
      goes_back |= at != curve.names.end() && progress.step + 1 < at->second.next;
    }
  }
  if (goes_back || progress.step != curve.step) {
    encode(curve);
    if (goes_back) go_back(curve, progress.step);
    curve.step = progress.step;
  }
  for (const auto& [name, value] : numbers) keep(node, curve, curve.numbers, name, value);
  for (const auto& [name, value] : others) keep(node, curve, curve.others, name, value);
  if (curve.buffer.size() > kBuffered) append(curve);
}

void Curves::keep(const std::string& node, Curve& curve, Part& part, const std::string& name, EventValue value) {
  if (curve.names.size() >= kNames && !curve.names.contains(name)) {
    return note(told_names_, node + " reports values under more than " + std::to_string(kNames) +
                                 " names: those under further names, as " + name + ", have no curve");
  }
  Name& one = curve.names[name];
  const bool is_new = one.next <= curve.step;
  one.next = curve.step + 1;
  if (is_new) ++one.steps;
  if (part.values.contains(name) || (is_new && one.steps % part.stride == 0)) part.values[name] = std::move(value);
}

void Curves::add_session(const std::string& record) {
  if (directory_.empty()) return;
  Curve& curve = curves_[""];
  if (curve.path.empty()) begin("", curve);
  curve.buffer += record;
}

void Curves::encode(Curve& curve) {
  encode(curve, curve.numbers);
  encode(curve, curve.others);
}

void Curves::encode(Curve& curve, Part& part) {
  if (part.values.empty()) return;
  const std::string record = values_record(seconds_now(), curve.step, part.values);
  part.values.clear();
  curve.buffer += record;
  if (record.size() < part.quota) {
    part.quota -= record.size();
  } else {
    part.stride *= 2;
    part.quota = kWholeBytes / 4;
  }
}

void Curves::append(Curve& curve) {
  make_directories_below(directory_.parent_path(), curve.path.parent_path());
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
    lost_ = true;
    curve.buffer.clear();
    curve.numbers.values.clear();
    curve.others.values.clear();
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

bool Curves::lost() const {
  return lost_ ||
         std::any_of(curves_.begin(), curves_.end(), [](const auto& one) { return !one.second.buffer.empty(); });
}

}  // namespace lp::launch
