// Items reach a sampler on each path with the same values; without a copy where its process can read the table's
// memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "lp/program/program.h"
#include "nodes/replay/sampler.h"
#include "nodes/replay/server.h"
#include "nodes/replay/trajectory_writer.h"
#include "tests/lp/program/on_each_path.h"

namespace lp::replay {
namespace {

constexpr std::size_t kStepValues = 16'384;  // a step has too many to lie in the message itself
constexpr std::uint64_t kSteps = 4;          // each an item

class ReplayPathsTest : public ::testing::TestWithParam<Reach> {
 protected:
  // Where the step of each item is, after a check of its values.
  static std::map<float, const std::byte*> places_of(const Batch& batch) {
    std::map<float, const std::byte*> places;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto values = batch.get<float>(i, 0, "values");
      EXPECT_EQ(std::count(values.begin(), values.end(), values[0]), static_cast<std::ptrdiff_t>(kStepValues));
      places[values[0]] = batch.rows(i).data();
    }
    return places;
  }
};
INSTANTIATE_TEST_SUITE_P(OnEachPath, ReplayPathsTest, kEachPath, reach_name);

// Each item has one step, whose values are all the item's number.
TEST_P(ReplayPathsTest, LargeItemsAreReadWhereTheTableHasThemIfThePathAllows) {
  Program program("replay");
  const TableOptions table{.name = "items", .columns = {column<float>("values", kStepValues)}};
  const auto handle = program.add<Server>({.name = "service"}, context, ServerOptions{.tables = {table}});
  ReachedRun run(program, GetParam());
  const Client<Server> server = run.client(handle);
  TrajectoryWriter writer(server, "items");
  for (std::uint64_t item = 0; item < kSteps; ++item) {
    writer.append(std::vector<float>(kStepValues, static_cast<float>(item)));
    writer.add_item(1);
  }
  writer.flush();
  Sampler sampler(server, "items");
  const Batch first = sampler.sample(64);
  const Batch second = sampler.sample(64);
  const auto places = places_of(first);
  ASSERT_EQ(places.size(), kSteps);
  // Both batches are there at the same time, so copies are in different places.
  if (GetParam() != Reach::tcp) {
    EXPECT_EQ(places_of(second), places);
  } else {
    for (const auto& [item, place] : places_of(second)) EXPECT_NE(place, places.at(item));
  }
}

}  // namespace
}  // namespace lp::replay
