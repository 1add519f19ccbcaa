// The GPUs that CUDA_VISIBLE_DEVICES leaves of a host.

#include "lp/gpu/gpus_here.h"

#include <gtest/gtest.h>

#include <string>

namespace lp::gpu {
namespace {

using Names = std::vector<std::string>;

const std::vector<Gpu> kEqual = {{"GPU-a1", "H100", 80}, {"GPU-a2", "H100", 80}, {"GPU-b3", "H100", 80}};
const std::vector<Gpu> kDifferent = {{"GPU-a1", "T4", 16}, {"GPU-b2", "H100", 80}};

Names seen(const std::vector<Gpu>& all, std::optional<std::string_view> visible, bool by_bus = false) {
  Names names;
  for (const Gpu& one : visible_gpus(all, visible, by_bus)) names.push_back(one.uuid);
  return names;
}

TEST(GpusHereTest, WithoutTheVariableAllAreSeenAndWithAnEmptyOneNone) {
  EXPECT_EQ(seen(kEqual, std::nullopt), (Names{"GPU-a1", "GPU-a2", "GPU-b3"}));
  EXPECT_EQ(seen(kEqual, ""), Names{});
  EXPECT_EQ(seen(kEqual, "-1"), Names{});
  EXPECT_EQ(seen({}, std::nullopt), Names{});
}

TEST(GpusHereTest, NumbersAndBeginsOfUuidsNameThemUpToTheFirstThatDoesNot) {
  EXPECT_EQ(seen(kEqual, "2,0"), (Names{"GPU-b3", "GPU-a1"}));
  EXPECT_EQ(seen(kEqual, "GPU-b,GPU-a2"), (Names{"GPU-b3", "GPU-a2"}));
  EXPECT_EQ(seen(kEqual, "GPU-a,GPU-b"), Names{});  // two begin like that
  EXPECT_EQ(seen(kEqual, "0,3,1"), Names{"GPU-a1"});
  EXPECT_EQ(seen(kEqual, "1,-1,0"), Names{"GPU-a2"});
  EXPECT_EQ(seen(kEqual, "1,1,0"), Names{"GPU-a2"});
  EXPECT_EQ(seen(kEqual, "1x"), Names{});
  EXPECT_EQ(seen(kEqual, "99999999999999999999999"), Names{});
}

TEST(GpusHereTest, NumbersOfDifferentCardsStayUnlessCudaCountsByTheBus) {
  EXPECT_EQ(seen(kDifferent, "1,0"), (Names{"1", "0"}));
  EXPECT_EQ(seen(kDifferent, "1,0", /*by_bus=*/true), (Names{"GPU-b2", "GPU-a1"}));
  EXPECT_EQ(seen(kDifferent, "GPU-b2"), Names{"GPU-b2"});
}

TEST(GpusHereTest, WithoutKnowledgeOfTheHostEveryEntryStays) {
  EXPECT_EQ(seen({}, "4,7,GPU-9a,9"), (Names{"4", "7", "GPU-9a", "9"}));
}

}  // namespace
}  // namespace lp::gpu
