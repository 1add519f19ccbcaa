// NCCL through a stand-in that has the same functions. Sums of several ranks are in
// tests/nodes/collective/gpu_allreduce_test.cc.

#include "lp/gpu/nccl.h"

#include <gtest/gtest.h>

#include "lp/base/error.h"
#include "lp/gpu/shared_library.h"
#include "tests/error_of.h"
#include "tests/lp/gpu/nccl_stand_in.h"

namespace lp::gpu {
namespace {

void stands_in(const test::NcclStandIn& hooks) {
  const SharedLibrary library(NCCL_WHOLE_LIBRARY);
  void (*set)(const test::NcclStandIn*) = nullptr;
  library.get("nccl_stand_in", set);
  set(&hooks);
}

// Makes one function of NCCL fail.
void lets_fail(const std::string& wrong, int code) {
  stands_in({.on_call = [wrong, code](const std::string& function, int) { return function == wrong ? code : 0; }});
}

TEST(NcclTest, TheVersionIsAText) {
  EXPECT_EQ(Nccl(NCCL_WHOLE_LIBRARY).version(), 22703);
  EXPECT_EQ(Nccl::version_text(22703), "2.27.3");
  EXPECT_EQ(Nccl::version_text(20900), "2.9.0");
  EXPECT_EQ(Nccl::version_text(2804), "2.8.4");
}

TEST(NcclTest, WithoutAUsableLibraryTheReasonIsGiven) {
  EXPECT_NE(test::error_of([] { Nccl nccl("libnccl-nothing.so.2"); }).find("libnccl-nothing.so.2"), std::string::npos);
  EXPECT_EQ(test::error_of([] { Nccl nccl(NCCL_OLD_LIBRARY); }),
            std::string(NCCL_OLD_LIBRARY) + " is NCCL 2.13.4: install 2.14.0 or a newer one");
  EXPECT_EQ(test::error_of([] { Nccl nccl(NCCL_PARTIAL_LIBRARY); }),
            std::string(NCCL_PARTIAL_LIBRARY) + " has no function ncclCommInitRankConfig: install a newer version");
}

TEST(NcclTest, AnIdThatCannotBeMadeIsAnError) {
  const Nccl nccl(NCCL_WHOLE_LIBRARY);
  lets_fail("ncclGetUniqueId", 2);
  EXPECT_EQ(test::error_of([&] { nccl.make_id(); }), "disconnected: NCCL: ncclGetUniqueId: a mistake of the stand-in");
  stands_in({});
  EXPECT_NE(nccl.make_id(), nccl.make_id());
}

TEST(NcclTest, ARankIsBusyUntilAllAreThere) {
  stands_in({});
  const Nccl nccl(NCCL_WHOLE_LIBRARY);
  const Nccl::Id id = nccl.make_id();
  const NcclRank first(nccl, id, 0, 2);
  EXPECT_TRUE(first.busy());
  const NcclRank second(nccl, id, 1, 2);
  EXPECT_FALSE(first.busy());
  EXPECT_FALSE(second.busy());
}

TEST(NcclTest, ErrorsAreThoseOfTheWayToAnotherRankOrOwn) {
  const Nccl nccl(NCCL_WHOLE_LIBRARY);
  for (const auto& [code, kind] : {std::pair(1, ErrorKind::failed), std::pair(2, ErrorKind::disconnected),
                                   std::pair(5, ErrorKind::failed), std::pair(6, ErrorKind::disconnected)}) {
    for (const std::string function : {"ncclCommInitRankConfig", "ncclCommGetAsyncError"}) {
      lets_fail(function, code);
      try {
        const NcclRank rank(nccl, nccl.make_id(), 0, 1);
        rank.busy();
        ADD_FAILURE() << function;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
      }
    }
  }
  stands_in({});
}

TEST(NcclTest, AnAbortedRankCanDoNothingMore) {
  stands_in({});
  const Nccl nccl(NCCL_WHOLE_LIBRARY);
  NcclRank rank(nccl, nccl.make_id(), 0, 2);
  rank.abort();
  EXPECT_EQ(test::error_of([&] { rank.busy(); }), "disconnected: NCCL: the communicator was aborted");
  EXPECT_EQ(test::error_of([&] { rank.sum(nullptr, nullptr, 0, nullptr); }),
            "disconnected: NCCL: the communicator was aborted");
  rank.finish();
  rank.abort();
}

TEST(NcclTest, ARankThatHasFinishedIsDestroyedAndAnotherOneAborted) {
  std::vector<std::string> calls;
  stands_in({.on_call = [&](const std::string& function, int) {
    if (function == "ncclCommDestroy" || function == "ncclCommAbort") calls.push_back(function);
    return 0;
  }});
  const Nccl nccl(NCCL_WHOLE_LIBRARY);
  for (const bool finishes : {true, false}) {
    NcclRank rank(nccl, nccl.make_id(), 0, 1);
    if (finishes) rank.finish();
  }
  stands_in({});
  EXPECT_EQ(calls, (std::vector<std::string>{"ncclCommDestroy", "ncclCommAbort"}));
}

}  // namespace
}  // namespace lp::gpu
