// How the output of a map-reduce becomes visible.

#include "nodes/mapreduce/job_output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"
#include "tests/directory.h"
#include "tests/full_disk.h"

namespace lp::dataflow {
namespace {

TEST(JobOutputTest, ADiskWithoutRoomForItsNameKeepsItInvisibleAndLosesNothing) {
  const test::Directory directory;
  MapReduceOptions options;
  options.output = directory.path() / "counts";
  JobOutput output(options, "run", /*restarted=*/false);
  output.begin();
  write_file(options.parts() / MapReduceOptions::part_name(0), "one\n");
  std::string failure;
  spawn("full", [&] {
    if (!test::leave_no_room_for_names()) return;
    try {
      output.publish();
    } catch (const Error& error) {
      failure = error.text();
    }
  }).join();
  EXPECT_NE(failure.find(options.output.string()), std::string::npos) << failure;
  EXPECT_NE(failure.find(": No space left on device"), std::string::npos) << failure;
  EXPECT_FALSE(std::filesystem::exists(options.output));
  EXPECT_TRUE(output.has_part(0));
  output.publish();
  EXPECT_EQ(read_text(options.output / MapReduceOptions::part_name(0), 100), "one\n");
  EXPECT_FALSE(std::filesystem::exists(options.partial()));
}

}  // namespace
}  // namespace lp::dataflow
