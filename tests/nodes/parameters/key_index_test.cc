#include "nodes/parameters/key_index.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

using Keys = std::vector<std::uint64_t>;
using Runs = std::vector<SlotRun>;

TEST(KeyIndex, ADenseOneIsOneRun) {
  const KeyIndex index(std::vector<KeyRange>{{10, 19}, {30, 34}});
  EXPECT_EQ(index.size(), 15U);
  EXPECT_EQ(index.find(KeyRange{}), (Runs{{0, 0, 15}}));
  EXPECT_EQ(index.find(KeyRange{15, 31}), (Runs{{0, 5, 7}}));
  EXPECT_EQ(index.find(Keys{10, 11, 13, 19, 30}, nullptr), (Runs{{0, 0, 2}, {2, 3, 1}, {3, 9, 2}}));
  std::vector<std::uint32_t> missing;
  EXPECT_EQ(index.find(Keys{9, 10, 20, 29, 34, 35}, &missing), (Runs{{1, 0, 1}, {4, 14, 1}}));
  EXPECT_EQ(missing, (std::vector<std::uint32_t>{0, 2, 3, 5}));
  const auto keys = index.keys_in({18, 31});
  EXPECT_EQ(Keys(keys.begin(), keys.end()), (Keys{18, 19, 30, 31}));
}

TEST(KeyIndex, AListThatWasInsertedWholeIsOneRun) {
  KeyIndex index;
  const Keys keys{1, 5, 9, ~std::uint64_t{0}};
  index.insert(keys);
  EXPECT_EQ(index.find(keys, nullptr), (Runs{{0, 0, 4}}));
  index.insert(Keys{2, 7});
  EXPECT_EQ(index.find(keys, nullptr), (Runs{{0, 0, 4}}));  // rows do not move
  EXPECT_EQ(index.find(Keys{2, 7}, nullptr), (Runs{{0, 4, 2}}));
}

TEST(KeyIndex, ASparseOneIsAMap) {
  Random random(3, "keys");
  KeyIndex index;
  std::map<std::uint64_t, std::uint32_t> model;
  for (int round = 0; round < 200; ++round) {
    std::set<std::uint64_t> wanted;
    const std::uint64_t count = random.below(round % 10 == 0 ? 300 : 20);
    for (std::uint64_t i = 0; i < count; ++i) wanted.insert(random.below(3000));
    const Keys keys(wanted.begin(), wanted.end());
    std::vector<std::uint32_t> missing;
    const Runs runs = index.find(keys, &missing);
    std::map<std::uint64_t, std::uint32_t> found;
    for (const SlotRun& run : runs) {
      for (std::uint32_t i = 0; i < run.count; ++i) found[keys[run.at + i]] = run.slot + i;
    }
    Keys added;
    for (const std::uint32_t place : missing) added.push_back(keys[place]);
    for (const std::uint64_t key : keys) {
      const auto known = model.find(key);
      ASSERT_EQ(found.contains(key), known != model.end());
      if (known != model.end()) {
        ASSERT_EQ(found[key], known->second);
      }
    }
    ASSERT_EQ(found.size() + added.size(), keys.size());
    index.insert(added);
    for (const std::uint64_t key : added) model.emplace(key, static_cast<std::uint32_t>(model.size()));
    ASSERT_EQ(index.size(), model.size());
  }
  const auto all = index.keys_in({});
  EXPECT_EQ(Keys(all.begin(), all.end()), [&] {
    Keys keys;
    for (const auto& [key, slot] : model) keys.push_back(key);
    return keys;
  }());
  const KeyIndex restored = KeyIndex::of_slots(index.keys_by_slot().span());
  for (const auto& [key, slot] : model) EXPECT_EQ(restored.find(Keys{key}, nullptr), (Runs{{0, slot, 1}}));
}

TEST(KeyIndex, RefusesKeysThatDoNotAscend) {
  KeyIndex index;
  for (const Keys& keys : {Keys{1, 3, 2}, Keys{1, 2, 2}}) {
    try {
      static_cast<void>(index.find(keys, nullptr));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(error.text().find("key 2 at position 2"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(KeyIndex::of_slots(Keys{4, 4}), Error);
}

}  // namespace
}  // namespace lp
