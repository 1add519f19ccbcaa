#include "nodes/mapreduce/task_context.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>

#include "lp/base/error.h"

namespace lp::dataflow {
namespace {

// The error with which a task fails on a key whose function has thrown this, and throws that when it is called again.
template <class First, class Second>
BadRecordError failure_on_key(const First& first, const Second& second) {
  try {
    throw first;
  } catch (...) {
    try {
      fail_on_key("key", [&] { throw second; });
    } catch (const BadRecordError& error) {
      return error;
    }
  }
  throw std::logic_error("it is about no key");
}

TEST(TaskContextTest, AFailureThatComesAgainIsToldFromOneThatMayPass) {
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

TEST(TaskContextTest, ARunThatIsLostWhileItsValuesAreReadIsNoFaultOfTheKey) {
  try {
    throw LostRunError(7, "the run is gone");
  } catch (...) {
    try {
      fail_on_key("key", [] {});
    } catch (const LostRunError& error) {
      EXPECT_EQ(error.map_task(), 7U);
      return;
    }
  }
  FAIL();
}

}  // namespace
}  // namespace lp::dataflow
