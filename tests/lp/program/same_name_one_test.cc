// Two sources may each have a class of the same name that only they know, with methods that differ in their results
// alone. This is the first of them.

#include <gtest/gtest.h>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

class Namesake {
 public:
  int twice(int number) { return 2 * number; }
  using Remote = Methods<&Namesake::twice>;
};

TEST(SameName, OfServicesInTwoSourcesFirst) {
  Program program("same name");
  const auto service = program.add<Namesake>({.name = "service"});
  LocalRun run(program);
  EXPECT_EQ(run.client(service).call<&Namesake::twice>(21), 42);
  EXPECT_EQ(run.client(service).async<&Namesake::twice>(21).get(), 42);
}

}  // namespace
}  // namespace lp
