#include "nodes/mapreduce/failed_records.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "lp/base/error.h"
#include "nodes/mapreduce/task_context.h"

namespace lp::dataflow {
namespace {

// The error with which a task fails on a key whose function has thrown this, and throws that when it is called again.
template <class First, class Second>
BadRecordError failure_on_key(const First& first, const Second& second) {
  try {
    throw first;
  } catch (...) {
    try {
      FailedRecords(0).add_key("key", [&] { throw second; });
    } catch (const BadRecordError& error) {
      return error;
    }
  }
  throw std::logic_error("it is about no key");
}

TEST(FailedRecordsTest, AFailureThatComesAgainIsToldFromOneThatMayPass) {
  const std::runtime_error bad("bad 1");
  EXPECT_TRUE(failure_on_key(bad, std::runtime_error("bad 2")).repeats());
  EXPECT_FALSE(failure_on_key(bad, std::invalid_argument("bad 1")).repeats());
  const std::system_error io(std::make_error_code(std::errc::io_error));
  EXPECT_FALSE(failure_on_key(io, io).repeats());
  EXPECT_FALSE(failure_on_key(bad, io).repeats());
  const Error failed(ErrorKind::failed, "bad");
  EXPECT_TRUE(failure_on_key(failed, failed).repeats());
  EXPECT_FALSE(failure_on_key(failed, Error(ErrorKind::failed, "worse")).repeats());
  EXPECT_EQ(failure_on_key(bad, bad).text(), "reduce failed on the key \"key\": std::runtime_error: bad 1");
}

TEST(FailedRecordsTest, ARunThatIsLostWhileItsValuesAreReadIsNoFaultOfTheKey) {
  try {
    throw LostRunError(7, "the run is gone");
  } catch (...) {
    try {
      FailedRecords(10).add_key("key", [] {});
    } catch (const LostRunError& error) {
      EXPECT_EQ(error.map_task(), 7U);
      return;
    }
  }
  FAIL();
}

// Adds a record as the handler of this exception does.
template <class E>
void add(FailedRecords& failed, std::uint64_t offset, const E& exception) {
  try {
    throw exception;
  } catch (...) {
    failed.add_record("file", offset, "text",
                      [] { FAIL() << "only a job that skips nothing asks whether it repeats"; });
  }
}

TEST(FailedRecordsTest, AnAttemptThatMaySkipGoesOnAndHasAllRecordsInTheEnd) {
  FailedRecords failed(2);
  const std::runtime_error bad("bad");
  add(failed, 3, bad);
  add(failed, 7, bad);
  try {
    failed.end();
    FAIL();
  } catch (const BadRecordError& error) {
    EXPECT_EQ(error.bad(), (std::vector<BadRecord>{{"file", 3}, {"file", 7}}));
    EXPECT_EQ(error.text(), "map failed on the record at byte 7 of file (\"text\"): std::runtime_error: bad");
  }
  FailedRecords(2).end();  // there was none
}

TEST(FailedRecordsTest, OneMoreThanAllowedEndsTheAttempt) {
  FailedRecords failed(1);
  const std::runtime_error bad("bad");
  add(failed, 3, bad);
  EXPECT_THROW(add(failed, 7, bad), BadRecordError);
}

TEST(FailedRecordsTest, AFailureOfTheSystemEndsTheAttempt) {
  FailedRecords failed(10);
  EXPECT_THROW(add(failed, 3, std::system_error(std::make_error_code(std::errc::io_error))), BadRecordError);
}

TEST(FailedRecordsTest, ATaskSkipsTheRecordsOfItsInputs) {
  std::vector<BadRecord> all;
  add_sorted(all, {{"b", 8}, {"a", 30}, {"a", 5}});
  add_sorted(all, {{"a", 5}, {"b", 2}, {"c", 1}});
  EXPECT_EQ(all, (std::vector<BadRecord>{{"a", 5}, {"a", 30}, {"b", 2}, {"b", 8}, {"c", 1}}));
  const InputTask task{.splits = {{.path = "b", .begin = 0, .end = 8}, {.path = "a", .begin = 5, .end = 30}}};
  EXPECT_EQ(bad_in(all, task), (std::vector<BadRecord>{{"a", 5}, {"b", 2}}));
  EXPECT_TRUE(has_record(bad_in(all, "a"), 30));
  EXPECT_FALSE(has_record(bad_in(all, "a"), 8));
  EXPECT_TRUE(bad_in(all, "aa").empty());
}

}  // namespace
}  // namespace lp::dataflow
