// The table of engines: a launch names an engine, and a wrong name is refused with the nearest one.

#include <gtest/gtest.h>

#include "launchers/all_engines.h"
#include "lp/base/error.h"
#include "tests/launchers/engines_for_test.h"

namespace lp::test {
namespace {

TEST(Engines, AreFoundByTheirNames) {
  const launch::Engines& all = launch::engines();
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(all.names(), (Names{"threads", "processes", "ssh", "slurm", "kubernetes"}));
  for (const std::string_view name : all.names()) EXPECT_EQ(all.of(name).type().name(), name);
  EXPECT_EQ(all.find("local"), nullptr);
}

TEST(Engines, AWrongNameIsRefusedWithTheNearest) {
  try {
    static_cast<void>(launch::engines().of("threds"));
    FAIL() << "it is known";
  } catch (const Error& error) {
    EXPECT_EQ(error.text(),
              "there is no engine \"threds\"; did you mean threads?; there are threads, processes, ssh, slurm, "
              "kubernetes");
  }
}

TEST(Engines, ATableOfOnesOwnHasFurtherOnes) {
  EXPECT_EQ(test_engines().of(kLocal).type(), kLocal);
  EXPECT_EQ(test_engines().all().size(), launch::engines().all().size() + 1);
}

}  // namespace
}  // namespace lp::test
