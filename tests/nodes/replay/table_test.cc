// A table against a model that knows nothing of slots, trees and chunks, under random operations; its limits in items,
// bytes and samples; extensions; and what a checkpoint keeps.
#include "nodes/replay/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "nodes/replay/saved_chunks.h"

namespace lp::replay {
namespace {

Columns one_number() { return {column<std::uint64_t>("number")}; }

TableOptions options_of(std::uint64_t max_items) {
  return {.name = "table", .columns = one_number(), .max_items = max_items};
}

// A table of one server, without threads.
class Bench {
 public:
  explicit Bench(TableOptions options, std::uint64_t memory = 0)
      : store_(1, memory, {}), table_(std::move(options), 0, 5, 1, Random(1, "table")) {}

  ChunkRef chunk(std::uint32_t steps) {
    ChunkData data{.key = 0, .steps = steps, .compressed = false, .bytes = Array<std::uint8_t>(8 * std::size_t{steps})};
    return store_.add(std::move(data), 8);
  }
  void insert(double priority, std::uint64_t number) {
    Array<std::uint64_t> bytes(1);
    bytes.edit()[0] = number;
    ChunkData data{.key = 0, .steps = 1, .compressed = false, .bytes = Array<std::uint8_t>(bytes.buffer())};
    table_.insert({.piece = {.chunk = store_.add(std::move(data), 8), .first = 0, .steps = 1}, .priority = priority});
  }
  // The sampled item, and its number.
  std::pair<SampledItem, std::uint64_t> sample() {
    SampleBuilder builder(1);
    table_.sample(1, builder);
    const Samples samples = builder.take();
    std::uint64_t number = 0;
    std::memcpy(&number, samples.small.data(), sizeof number);
    return {samples.items[0], number};
  }
  Table& table() { return table_; }
  ChunkStore& store() { return store_; }

 private:
  ChunkStore store_;
  Table table_;
};

struct ModelItem {
  std::uint64_t number = 0;
  double priority = 0;
  std::uint32_t sampled = 0;
  std::optional<std::uint64_t> key{};  // known when it was sampled
};

// A table whose sampler is a max heap and whose remover is FIFO: there is one right answer to each operation.
class ModelTable {
 public:
  ModelTable(std::size_t max_items, std::uint32_t max_sampled) : max_items_(max_items), max_sampled_(max_sampled) {}

  void insert(double priority, std::uint64_t number) {
    if (items_.size() == max_items_) items_.erase(items_.begin());
    items_.push_back({.number = number, .priority = priority});
  }
  ModelItem sample(std::uint64_t key) {
    const auto best =
        std::max_element(items_.begin(), items_.end(), [](auto& a, auto& b) { return a.priority < b.priority; });
    ++best->sampled;
    EXPECT_EQ(best->key.value_or(key), key);
    best->key = key;
    const ModelItem copy = *best;
    if (copy.sampled == max_sampled_) items_.erase(best);
    return copy;
  }
  bool change(std::uint64_t key, std::optional<double> priority) {
    const auto found = std::find_if(items_.begin(), items_.end(), [key](auto& one) { return one.key == key; });
    if (found == items_.end()) return false;
    if (priority) {
      found->priority = *priority;
    } else {
      items_.erase(found);
    }
    return true;
  }
  std::size_t size() const { return items_.size(); }
  std::size_t max_items() const { return max_items_; }

 private:
  const std::size_t max_items_;
  const std::uint32_t max_sampled_;
  std::vector<ModelItem> items_{};
};

TEST(ReplayTableTest, BehavesLikeItsModelUnderAMillionOperations) {
  constexpr int kTableCalls = 1'000'000;
  TableOptions options = options_of(20);
  options.sampler = MaxHeap{};
  options.max_times_sampled = 3;
  Bench bench(options);
  ModelTable model(20, 3);
  Random random(6, "table");
  std::vector<std::uint64_t> keys;  // counts the samples of each item, also of those that are gone
  std::uint64_t number = 0;
  for (int i = 0; i < kTableCalls && !testing::Test::HasFailure(); ++i) {
    const auto priority = static_cast<double>(random.below(10));
    const std::uint64_t what = random.below(4);
    if (what == 0 || model.size() == 0) {
      bench.insert(priority, number);
      model.insert(priority, number++);
    } else if (what == 1 || keys.empty()) {
      const auto [item, sampled] = bench.sample();
      const ModelItem expected = model.sample(item.key);
      EXPECT_EQ(sampled, expected.number);
      EXPECT_EQ(item.priority, expected.priority);
      EXPECT_EQ(item.times_sampled, expected.sampled);
      EXPECT_EQ(item.key >> Table::kShardShift, 5U);
      keys.push_back(item.key);
      if (keys.size() > 30) keys.erase(keys.begin());
    } else {
      const std::uint64_t key = keys[random.below(keys.size())];
      const bool there = what == 2 ? bench.table().update(key, priority) : bench.table().remove(key);
      EXPECT_EQ(there, model.change(key, what == 2 ? std::optional(priority) : std::nullopt));
    }
    EXPECT_EQ(bench.table().size(), model.size());
    EXPECT_EQ(bench.table().info().bytes, 8 * model.size());
    EXPECT_EQ(bench.store().bytes_in_memory(), 8 * model.size());
  }
  const RateCounts counts = bench.table().info().counts;
  EXPECT_EQ(counts.inserts, number);
  EXPECT_EQ(counts.inserts - counts.removals, model.size());
}

TEST(ReplayTableTest, TheRemoverMakesRoom) {
  TableOptions options = options_of(2);
  options.sampler = Fifo{};
  options.remover = MinHeap{};
  Bench bench(options);
  bench.insert(3, 0);
  bench.insert(1, 1);
  bench.insert(2, 2);
  EXPECT_EQ(bench.sample().second, 0U);
  bench.insert(5, 3);
  EXPECT_EQ(bench.table().size(), 2U);
  EXPECT_EQ(bench.sample().second, 0U);
}

TEST(ReplayTableTest, SamplesStopWhereTheLimitsDo) {
  TableOptions options = options_of(1000);
  options.sampler = Fifo{};
  options.limits = sample_to_insert(/*ratio=*/2, /*items=*/10, /*buffer=*/5);
  for (const std::uint32_t max_times : {0U, 100U}) {
    options.max_times_sampled = max_times;
    Bench bench(options);
    for (std::uint64_t i = 0; i < 40; ++i) bench.insert(1, i);
    SampleBuilder builder(100);
    bench.table().sample(100, builder);
    EXPECT_EQ(builder.size(), 65U);  // 2 · 40 − 65 = 2 · 10 − 5
    const Samples samples = builder.take();
    EXPECT_EQ(samples.items.back().times_sampled, 65U);
    EXPECT_EQ(bench.table().info().counts.samples, 65U);
  }
}

TEST(ReplayTableTest, AChunkCountsOnceHoweverManyItemsReferToIt) {
  TableOptions options = options_of(100);
  options.max_bytes = 80;
  Bench bench(options);
  for (int i = 0; i < 3; ++i) {  // 40 bytes, and two items, each
    const ChunkRef chunk = bench.chunk(5);
    bench.table().insert({.piece = {.chunk = chunk, .first = 0, .steps = 3}});
    bench.table().insert({.piece = {.chunk = chunk, .first = 2, .steps = 3}});
    EXPECT_EQ(bench.table().info().bytes, i == 0 ? 40U : 80U);
    EXPECT_EQ(bench.table().size(), i == 0 ? 2U : 4U);
  }
  EXPECT_EQ(bench.store().bytes_in_memory(), 80U);
  const Entry large{.piece = {.chunk = bench.chunk(11), .first = 0, .steps = 1}};
  EXPECT_THROW(bench.table().check_room(large), Error);
}

// Counts the events of a table, and the sum of the priorities that they show.
struct Counting : Extension {
  explicit Counting(std::map<std::string, int>& all) : counts(all) {}
  void on_insert(const ItemView& item) override { counts["insert"] += static_cast<int>(item.priority); }
  void on_sample(const ItemView& item) override { counts["sample"] += static_cast<int>(item.times_sampled); }
  void on_update(const ItemView& item) override { counts["update"] += static_cast<int>(item.priority); }
  void on_delete(const ItemView& item) override { counts["delete"] += static_cast<int>(item.steps); }
  std::map<std::string, int>& counts;
};

TEST(ReplayTableTest, AnExtensionSeesAllEvents) {
  std::map<std::string, int> counts;
  TableOptions options = options_of(2);
  options.sampler = Lifo{};
  options.max_times_sampled = 2;
  options.extension = [&counts] { return std::make_unique<Counting>(counts); };
  Bench bench(options);
  bench.insert(1, 0);
  bench.insert(2, 1);
  bench.insert(4, 2);  // removes the first
  EXPECT_EQ(counts, (std::map<std::string, int>{{"insert", 7}, {"delete", 1}}));
  const std::uint64_t key = bench.sample().first.key;
  bench.table().update(key, 9);
  bench.sample();  // and removes it
  EXPECT_EQ(counts, (std::map<std::string, int>{{"insert", 7}, {"sample", 3}, {"update", 9}, {"delete", 2}}));
}

// The numbers, keys and times sampled of all items, by sampling each once.
std::vector<std::string> contents(Bench& bench) {
  std::vector<std::string> all;
  while (bench.table().size() > 0) {
    const auto [item, number] = bench.sample();
    all.push_back(std::to_string(number) + " " + std::to_string(item.key) + " " + std::to_string(item.priority) + " " +
                  std::to_string(item.times_sampled));
    bench.table().remove(item.key);
  }
  return all;
}

TEST(ReplayTableTest, ACheckpointKeepsItemsKeysOrderAndCounts) {
  const std::vector<SelectorOptions> selectors = {Fifo{}, Lifo{}, MinHeap{}, MaxHeap{}};
  for (const SelectorOptions& selector : selectors) {
    TableOptions options = options_of(50);
    options.sampler = selector;
    Bench bench(options);
    Random random(7, "checkpoint");
    for (std::uint64_t i = 0; i < 200; ++i) {
      bench.insert(static_cast<double>(random.below(5)), i);
      if (i % 3 == 0) bench.table().update(bench.sample().first.key, static_cast<double>(random.below(5)));
      if (i % 7 == 0) bench.table().remove(bench.sample().first.key);
    }
    Checkpoint checkpoint;
    ChunkList chunks;
    bench.table().save(checkpoint, chunks);
    save_chunks(checkpoint, chunks.chunks());
    Bench restored(options);
    restored.insert(1, 999);  // it goes
    restored.table().load(checkpoint, load_chunks(checkpoint, restored.store()));
    EXPECT_EQ(restored.table().info().counts.samples, bench.table().info().counts.samples);
    EXPECT_EQ(restored.table().info().counts.removals, bench.table().info().counts.removals);
    EXPECT_EQ(restored.table().info().bytes, bench.table().info().bytes);
    EXPECT_EQ(contents(restored), contents(bench));
  }
}

TEST(ReplayTableTest, ACheckpointFromWhichItemsWereRemovedIsTaken) {
  TableOptions options = options_of(50);
  options.sampler = Fifo{};
  Bench bench(options);
  for (std::uint64_t i = 0; i < 3; ++i) bench.insert(1, i);
  Checkpoint saved;
  ChunkList chunks;
  bench.table().save(saved, chunks);
  Checkpoint edited;
  const auto without_first = [&]<class T>(const std::string& name, T) {
    const auto values = saved.get<Array<T>>("table/" + name);
    edited.put("table/" + name, Array<T>::copy_of(values.span().subspan(1)));
  };
  for (const char* name : {"times_sampled", "pieces", "piece_chunks", "piece_first", "piece_steps"}) {
    without_first(name, std::uint32_t{});
  }
  without_first("keys", std::uint64_t{});
  without_first("priorities", double{});
  edited.put("table/columns", saved.get<std::string>("table/columns"));
  edited.put("table/counts", saved.get<Array<std::uint64_t>>("table/counts"));
  edited.put("table/generations", saved.get<Array<std::uint32_t>>("table/generations"));
  bench.table().load(edited, chunks.chunks());
  EXPECT_EQ(bench.table().size(), 2U);
  EXPECT_EQ(bench.table().info().counts.removals, 1U);
  EXPECT_EQ(bench.sample().second, 1U);
}

TEST(ReplayTableTest, ATableThatCouldNeverGiveASampleIsRefused) {
  TableOptions options = options_of(5);
  options.limits = min_size(6);
  EXPECT_THROW(Bench{options}, Error);
}

TEST(ReplayTableTest, ADamagedCheckpointIsRefusedAndChangesNothing) {
  Bench bench(options_of(50));
  bench.insert(1, 1);
  bench.insert(2, 2);
  Checkpoint saved;
  ChunkList chunks;
  bench.table().save(saved, chunks);
  // As `lp checkpoint import` writes it, which does not know the arrays' meaning.
  Checkpoint imported = saved;
  const double nan = std::nan("");
  imported.replace("table/priorities", Array<double>::copy_of(std::vector{1.0, nan}));
  try {
    bench.table().load(imported, chunks.chunks());
    ADD_FAILURE() << "it was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.text(),
              "the saved replay table \"table\" is damaged: the priority of item 1 is nan; import the numbers again as "
              "`lp checkpoint export` wrote them, or take another checkpoint");
  }
  EXPECT_THROW(bench.table().load(saved, std::span(chunks.chunks()).first(1)), Error);
  Bench small(options_of(1));
  small.insert(1, 7);
  EXPECT_THROW(small.table().load(saved, chunks.chunks()), Error);  // it has room for one
  EXPECT_EQ(small.sample().second, 7U);
  TableOptions options = options_of(50);
  options.max_bytes = bench.table().info().bytes - 1;
  Bench narrow(options);
  EXPECT_THROW(narrow.table().load(saved, chunks.chunks()), Error);
  EXPECT_EQ(narrow.table().size(), 0U);
}

}  // namespace
}  // namespace lp::replay
