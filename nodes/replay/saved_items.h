#pragma once
// Edits the items that a replay server has saved, while no server reads them. Pure functions of files and values: any
// thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "lp/checkpoint/checkpoint.h"

namespace lp::replay {

struct SavedItem {
  std::uint64_t key = 0;
  double priority = 1;
  std::uint32_t times_sampled = 0;
};

// Called for each item, from the oldest to the newest. It may change the item's priority and its number of samples;
// false removes the item.
using EditItem = std::function<bool(SavedItem&)>;

// Edits the items of one table. Error::failed, with nothing changed, when there is no such table, for a priority
// that is negative, infinite or no number, and for another key.
void edit_items(Checkpoint& saved, const std::string& table, const EditItem& edit);

// Edits a file of Server::checkpoint_file(), or the file of a server in a cut. The file changes as a whole or not at
// all; a cut counts again when all of it is written, and no longer when this is interrupted. Error::failed, with
// nothing changed, as edit_items, and when the file, or its cut, is not complete.
void edit_saved_items(const std::filesystem::path& file, const std::string& table, const EditItem& edit);

}  // namespace lp::replay
