#include "lp/checkpoint/checkpoint.h"

#include <algorithm>

namespace lp {
namespace {

constexpr std::string_view kMessageType = "frames";

std::uint64_t bytes_of(const Message& message) {
  std::uint64_t bytes = message.body.size();
  for (const Buffer& array : message.arrays) bytes += array.size();
  return bytes;
}

// Returns `type`, cut to the part around the first difference from `other`.
std::string difference(const std::string& type, const std::string& other) {
  constexpr std::size_t kBefore = 40;
  constexpr std::size_t kMost = 120;
  const auto at = static_cast<std::size_t>(std::mismatch(type.begin(), type.end(), other.begin(), other.end()).first -
                                           type.begin());
  if (std::max(type.size(), other.size()) <= kMost) return type;
  const std::size_t begin = at > kBefore ? at - kBefore : 0;
  return (begin > 0 ? "..." : "") + type.substr(begin, kMost) + (type.size() > begin + kMost ? "..." : "");
}

}  // namespace

void Checkpoint::put_message(std::string name, Message message) {
  insert(std::move(name), {std::string(kMessageType), std::move(message)});
}

Message Checkpoint::get_message(std::string_view name) const { return find(name, std::string(kMessageType)).message; }

const Message& Checkpoint::stored(std::string_view name) const { return find(name).message; }

const std::string& Checkpoint::type(std::string_view name) const { return find(name).type; }

void Checkpoint::replace_stored(std::string_view name, Message message) {
  find(name);
  entries_.find(name)->second.message = std::move(message);
}

std::vector<CheckpointEntry> Checkpoint::entries() const {
  std::vector<CheckpointEntry> entries;
  entries.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) entries.push_back({name, entry.type, bytes_of(entry.message)});
  return entries;
}

void Checkpoint::insert(std::string name, Entry entry) {
  if (name.empty()) throw_failed("checkpoint: a value needs a name that is not empty");
  if (has(name)) throw_failed("checkpoint: \"" + name + "\" is already saved; give the second value another name");
  entries_.emplace(std::move(name), std::move(entry));
}

const Checkpoint::Entry& Checkpoint::find(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second;
  constexpr std::size_t kMostNames = 10;
  std::string text = "checkpoint: there is no \"" + std::string(name) + "\"";
  text += entries_.empty() ? "; it is empty" : "; there is ";
  std::size_t names = 0;
  for (const auto& [known, entry] : entries_) {
    if (names == kMostNames) break;
    (text += names++ == 0 ? "\"" : ", \"") += known + "\"";
  }
  if (names < entries_.size()) text += " and " + std::to_string(entries_.size() - names) + " more";
  throw_failed(std::move(text));
}

const Checkpoint::Entry& Checkpoint::find(std::string_view name, const std::string& type) const {
  const Entry& entry = find(name);
  if (entry.type != type) {
    throw_failed("checkpoint: \"" + std::string(name) + "\" was saved as " + difference(entry.type, type) +
                 ", but is read as " + difference(type, entry.type));
  }
  return entry;
}

void Checkpoint::unreadable(std::string_view name, const Error& error) {
  throw Error(error.kind(), "checkpoint: \"" + std::string(name) + "\": " + error.text(), error.origin());
}

}  // namespace lp
