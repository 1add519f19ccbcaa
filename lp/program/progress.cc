#include "lp/program/progress.h"

#include "lp/base/utf8.h"

namespace lp {
namespace {

std::size_t bytes_of(double) { return sizeof(double); }
std::size_t bytes_of(const ValueHistogram&) { return sizeof(ValueHistogram); }
std::size_t bytes_of(const std::string& text) { return text.size(); }

void cut(std::string& text, std::size_t most) { text.resize(cut_utf8(text, most).size()); }

// Keeps as many as there is room for.
template <class Value>
void keep_within(std::vector<std::pair<std::string, Value>>& all, std::size_t& room) {
  constexpr std::size_t kOverhead = 32;  // bytes of a message around a value
  std::size_t kept = 0;
  for (auto& [name, value] : all) {
    cut(name, Progress::kNameBytes);
    const std::size_t bytes = name.size() + bytes_of(value) + kOverhead;
    if (bytes > room) break;
    room -= bytes;
    ++kept;
  }
  all.resize(kept);
}

}  // namespace

Progress Progress::bounded() const {
  Progress within = *this;
  std::size_t room = kMostBytes;
  for (auto& [name, text] : within.texts) cut(text, kTextBytes);
  keep_within(within.values, room);
  keep_within(within.histograms, room);
  keep_within(within.texts, room);
  return within;
}

}  // namespace lp
