#include "nodes/replay/saved_items.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/wire/message.h"
#include "nodes/replay/table.h"

namespace lp::replay {
namespace {

template <class T>
std::vector<T> values_of(const Checkpoint& saved, const std::string& name) {
  const auto array = saved.get<Array<T>>(name);
  return {array.begin(), array.end()};
}

std::vector<std::string> tables_of(const Checkpoint& saved) {
  constexpr std::string_view kPriorities = "/priorities";
  std::vector<std::string> tables;
  for (const CheckpointEntry& entry : saved.entries()) {
    if (entry.name.ends_with(kPriorities))
      tables.push_back(quote(entry.name.substr(0, entry.name.size() - kPriorities.size())));
  }
  return tables;
}

// Keeps the values of the positions that are kept. `counts` has how many values belong to each position.
template <class T>
void keep(Checkpoint& saved, const std::string& name, const std::vector<bool>& kept,
          const std::vector<std::uint32_t>& counts) {
  const auto before = values_of<T>(saved, name);
  std::vector<T> after;
  auto at = before.begin();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto end = at + std::min<std::ptrdiff_t>(counts[i], before.end() - at);
    if (kept[i]) after.insert(after.end(), at, end);
    at = end;
  }
  saved.replace(name, Array<T>::copy_of(after));
}

}  // namespace

void edit_items(Checkpoint& saved, const std::string& table, const EditItem& edit) {
  if (!saved.has(table + "/priorities")) {
    throw Error(ErrorKind::failed,
                "the checkpoint has no replay table " + quote(table) + "; it has " + join(tables_of(saved), ", "));
  }
  const auto keys = values_of<std::uint64_t>(saved, table + "/keys");
  auto priorities = values_of<double>(saved, table + "/priorities");
  auto times_sampled = values_of<std::uint32_t>(saved, table + "/times_sampled");
  const auto pieces = values_of<std::uint32_t>(saved, table + "/pieces");
  if (priorities.size() != keys.size() || times_sampled.size() != keys.size() || pieces.size() != keys.size()) {
    throw Error(ErrorKind::failed,
                "the saved replay table " + quote(table) + " is damaged: its arrays differ in length");
  }
  std::vector<bool> kept(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SavedItem item{.key = keys[i], .priority = priorities[i], .times_sampled = times_sampled[i]};
    kept[i] = edit(item);
    if (item.key != keys[i]) {
      throw Error(ErrorKind::failed,
                  "the key of a saved item cannot change: those who sampled the item know it by that");
    }
    check_priority(item.priority);
    priorities[i] = item.priority;
    times_sampled[i] = item.times_sampled;
  }
  saved.replace(table + "/priorities", Array<double>::copy_of(priorities));
  saved.replace(table + "/times_sampled", Array<std::uint32_t>::copy_of(times_sampled));
  for (const char* name : {"piece_chunks", "piece_first", "piece_steps"}) {
    keep<std::uint32_t>(saved, table + "/" + name, kept, pieces);
  }
  // No item was sampled more often than its table.
  auto counts = values_of<std::uint64_t>(saved, table + "/counts");
  std::uint64_t sampled = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) sampled += kept[i] ? times_sampled[i] : 0;
  if (counts.size() == 3) counts[1] = std::max(counts[1], sampled);
  saved.replace(table + "/counts", Array<std::uint64_t>::copy_of(counts));
  const std::vector<std::uint32_t> one(keys.size(), 1);
  keep<std::uint64_t>(saved, table + "/keys", kept, one);
  keep<double>(saved, table + "/priorities", kept, one);
  for (const char* name : {"times_sampled", "pieces"}) keep<std::uint32_t>(saved, table + "/" + name, kept, one);
}

void edit_saved_items(const std::filesystem::path& file, const std::string& table, const EditItem& edit) {
  EditedFile edited{.path = file, .checkpoint = Checkpoint::read(file)};
  edit_items(edited.checkpoint, table, edit);
  write_edited(std::span(&edited, 1));
}

}  // namespace lp::replay
