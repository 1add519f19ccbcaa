// A service's memory of `once` calls: no more and no less than documented, also in a checkpoint. A restored caller goes
// on with its numbers.

#include "lp/rpc/core/once.h"

#include <gtest/gtest.h>

#include <string>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::uint64_t kRemembered = rpc::OnceTable::kRemembered;

class OnceService {
 public:
  explicit OnceService(Context& context) : context_(context) {}
  int add() { return ++runs_; }
  int runs() { return runs_; }
  void cut(std::uint64_t step) { context_.checkpoint(step); }
  void save(Checkpoint& out) const { out.put("runs", runs_); }
  void load(const Checkpoint& in) { runs_ = in.get<int>("runs"); }
  using Remote = Methods<once<&OnceService::add>, &OnceService::runs, &OnceService::cut>;

 private:
  Context& context_;
  int runs_ = 0;
};

class OnceCaller {
 public:
  OnceCaller(Context& context, Client<OnceService> service) : context_(context), service_(service) {}
  int call() { return service_.call<&OnceService::add>(); }
  void cut(std::uint64_t step) { context_.checkpoint(step); }
  void save(Checkpoint& out) const { out.put("nothing", 0); }
  void load(const Checkpoint&) {}
  using Remote = Methods<&OnceCaller::call, &OnceCaller::cut>;

 private:
  Context& context_;
  Client<OnceService> service_;
};

class Once : public ::testing::Test {
 protected:
  // The answer to a repetition of the call `number`: the first answer, or 0 when it is refused.
  int repeat(std::uint64_t number) {
    try {
      return run_.client(service_).numbered(number).call<&OnceService::add>();
    } catch (const Error& error) {
      EXPECT_NE(error.text().find("no longer kept"), std::string::npos) << error.what();
      return 0;
    }
  }
  void expect_last_remembered() {
    EXPECT_EQ(repeat(1), 0);
    EXPECT_EQ(repeat(2), 2);
    EXPECT_EQ(repeat(kRemembered + 1), static_cast<int>(kRemembered + 1));
    EXPECT_EQ(run_.client(service_).call<&OnceService::runs>(), static_cast<int>(kRemembered + 1));
  }

  const test::Directory directory_;
  Program program_{"once"};
  const Handle<OnceService> service_ = program_.add<OnceService>({.name = "service"}, context);
  const Handle<OnceCaller> caller_ = program_.add<OnceCaller>({.name = "caller"}, context, service_);
  LocalRun run_{program_, {.run = {.directory = directory_.path()}}};
};

TEST_F(Once, RemembersAsManyAnswersAsItSaysAndRefusesWhatIsOlder) {
  for (std::uint64_t number = 1; number <= kRemembered + 1; ++number) {
    run_.client(service_).numbered(number).call<&OnceService::add>();
  }
  expect_last_remembered();
  run_.client(service_).call<&OnceService::cut>(1);
  run_.wait_saved(1, 1);
  run_.restart({"service"}, cut_directory(directory_.path(), 1));
  expect_last_remembered();
}

TEST_F(Once, ACallerThatIsRestoredNumbersWhatItDoesAgainAsBefore) {
  const auto caller = run_.client(caller_);
  EXPECT_EQ(caller.call<&OnceCaller::call>(), 1);
  caller.call<&OnceCaller::cut>(1);
  run_.wait_saved(1, 1);
  EXPECT_EQ(caller.call<&OnceCaller::call>(), 2);
  run_.restart({"caller"}, cut_directory(directory_.path(), 1));
  EXPECT_EQ(caller.call<&OnceCaller::call>(), 2) << "it was done again";
  EXPECT_EQ(caller.call<&OnceCaller::call>(), 3);
}

}  // namespace
}  // namespace lp
