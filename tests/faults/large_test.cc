// Messages as large as a machine can hold.

#include <gtest/gtest.h>

#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

constexpr std::size_t kGibibyte = std::size_t{1} << 30;
const Handle<Service> kService("service/0");

TEST(LargeLong, TwoGibibytesThereAndBack) {
  const Config config{.nodes = 1};
  TestRun run(make_services(config), processes(config, "services"));
  Array<std::uint8_t> bytes(2 * kGibibyte);
  bytes.edit().back() = 7;
  const Array<std::uint8_t> back = run.client(kService).call<&Service::echo>(bytes);
  ASSERT_EQ(back.size(), 2 * kGibibyte);
  EXPECT_EQ(back[back.size() - 1], 7);
}

// Nothing is written into these arrays, so they take no memory.
TEST(LargeLong, WhatNoMessageHoldsIsRefusedAtOnce) {
  const Config config{.nodes = 1};
  TestRun run(make_services(config), processes(config, "services"));
  const auto service = run.client(kService);
  const Time begin = now();
  try {
    service.call<&Service::size>(Array<std::uint8_t>::uninitialized(9 * kGibibyte));
    FAIL() << "it was sent";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the limit is 8 GiB"), std::string::npos) << error.what();
  }
  EXPECT_LT(now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(service.call<&Service::add>(1, 2), 3);
}

}  // namespace
}  // namespace lp::test
