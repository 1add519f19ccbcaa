// lp's views of checkpoints, and the extraction of their arrays.

#include <fcntl.h>
#include <sys/file.h>

#include <cstring>
#include <fstream>

#include "lp/base/descriptor.h"
#include "lp/checkpoint/cut.h"
#include "tests/tools/lp/lp_fixture.h"

namespace lp::test {
namespace {

class CheckpointTest : public LpTest {
 protected:
  CheckpointTest() {
    std::filesystem::create_directory(run_);
    for (const std::uint64_t step : {100U, 200U}) save_cut(step);
  }

  void save_cut(std::uint64_t step) const {
    for (const std::string node : {"server/0", "server/1"}) {
      Checkpoint checkpoint;
      Array<float> weights(5000);  // in a section of its own
      weights.edit()[4999] = static_cast<float>(step);
      checkpoint.put("parameters", weights);
      checkpoint.put("step", step);
      checkpoint.put("names", std::vector<std::string>{"a"});
      checkpoint.write(cut_file(cut_directory(run_, step), node), node, step);
    }
    complete_cut(run_, step, "digits", 7, std::vector<std::string>{"server/0", "server/1"});
  }
  std::string cut(std::uint64_t step) const { return cut_directory(run_, step).string(); }

  const Directory directory_;
  const std::filesystem::path run_ = directory_.path() / "run";
  const std::filesystem::path out_ = directory_.path() / "out";
};

TEST_F(CheckpointTest, TheCutsOfARunAreListed) {
  std::filesystem::create_directories(run_ / "checkpoints/step-000000000300");
  const Ended list = lp("checkpoint list " + run_.string());
  EXPECT_EQ(list.code, 0);
  EXPECT_TRUE(has(list.output, " 100      2  ")) << list.output;
  EXPECT_TRUE(has(list.output, " 200      2  ")) << list.output;
  EXPECT_TRUE(has(list.output, "digits")) << list.output;
  EXPECT_TRUE(has(list.output, "step-000000000300: incomplete: it has no MANIFEST")) << list.output;
  EXPECT_TRUE(has(lp("checkpoint list --json " + cut(100)).output, R"({"step":100,"files":2,)"));
}

TEST_F(CheckpointTest, TheMembersAndEntriesOfACutAreShownWithTypesAndShapes) {
  const Ended show = lp("checkpoint show " + run_.string());
  EXPECT_EQ(show.code, 0) << show.output;
  EXPECT_TRUE(has(show.output, "step 200 of digits, in ")) << show.output;
  EXPECT_TRUE(has(show.output, "server/1  parameters  (5000,)  20008  array<f32>")) << show.output;
  EXPECT_TRUE(has(show.output, "server/1  step        ()           8  u64")) << show.output;
  EXPECT_TRUE(has(show.output, "server/1  names                ")) << show.output;
  const Ended json = lp("checkpoint show --step=100 --json " + run_.string());
  EXPECT_TRUE(has(json.output, "\"step\":100,")) << json.output;
  EXPECT_TRUE(has(json.output, R"-({"name":"parameters","type":"array<f32>","shape":"(5000,)","bytes":20008,)-"))
      << json.output;
}

TEST_F(CheckpointTest, ArraysAreExportedForNumpy) {
  const Ended exported = lp("checkpoint export " + run_.string() + " --step=100 -o " + out_.string());
  EXPECT_EQ(exported.code, 0) << exported.output;
  EXPECT_TRUE(has(exported.output, "left out, because they are not numbers, arrays or matrices: server/0 names, "))
      << exported.output;
  const std::string file = contents(out_ / "server@1" / "parameters.npy");
  ASSERT_EQ(file.size(), 128U + 20000U);
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  float last = 0;
  std::memcpy(&last, file.data() + file.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 100.0F);
  const std::string alone = cut(100) + "/server@0.checkpoint";
  EXPECT_EQ(lp("checkpoint export " + alone + " -o " + (out_ / "alone").string()).code, 0);
  EXPECT_EQ(contents(out_ / "alone" / "server@0" / "parameters.npy"), file);
}

TEST_F(CheckpointTest, EditedArraysAreImported) {
  ASSERT_EQ(lp("checkpoint export " + run_.string() + " -o " + out_.string()).code, 0);
  EXPECT_TRUE(has(lp("checkpoint import " + run_.string() + " -i " + out_.string()).output, "Nothing has changed."));
  const std::filesystem::path file = out_ / "server@1" / "parameters.npy";
  std::string text = contents(file);
  text.replace(text.find("(5000,)"), 7, "(2,)   ");
  std::ofstream(file, std::ios::binary) << text.substr(0, 128 + 2 * sizeof(float));
  const Ended import = lp("checkpoint import " + run_.string() + " -i " + out_.string());
  EXPECT_EQ(import.code, 0) << import.output;
  EXPECT_EQ(import.output, "server/1 parameters: (5000,) is now (2,)\n");
  EXPECT_EQ(read_cut_file(cut(200), "server/1").get<Array<float>>("parameters").size(), 2U);
  EXPECT_EQ(read_cut_file(cut(200), "server/0").get<Array<float>>("parameters")[4999], 200.0F);
  EXPECT_TRUE(has(lp("checkpoint list " + run_.string()).output, " 200      2  "));
  const std::string alone = cut(100) + "/server@1.checkpoint";
  const std::string edited = (out_ / "alone").string();
  ASSERT_EQ(lp("checkpoint export " + alone + " -o " + edited).code, 0);
  std::filesystem::copy_file(file, edited + "/server@1/parameters.npy",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(
      has(lp("checkpoint import --json " + alone + " -i " + edited).output, R"-("before":"(5000,)","after":"(2,)")-"));
  EXPECT_EQ(latest_cut(run_)->step, 200U);
  EXPECT_TRUE(list_cuts(run_).problems.empty());
}

TEST_F(CheckpointTest, AnImportThatDoesNotFitChangesNothing) {
  ASSERT_EQ(lp("checkpoint export " + run_.string() + " -o " + out_.string()).code, 0);
  const std::uint64_t checksum = Checkpoint::inspect(cut(200) + "/server@0.checkpoint").checksum;
  std::filesystem::copy_file(out_ / "server@0/parameters.npy", out_ / "server@0/step.npy",
                             std::filesystem::copy_options::overwrite_existing);
  const Ended shape = lp("checkpoint import " + run_.string() + " -i " + out_.string());
  EXPECT_EQ(shape.code, 1);
  EXPECT_TRUE(has(shape.output, "\"step\" has u64 of shape (), and cannot take f32 of shape (5000,)")) << shape.output;
  std::filesystem::rename(out_ / "server@0/step.npy", out_ / "server@0/steps.npy");
  const Ended name = lp("checkpoint import " + run_.string() + " -i " + out_.string());
  EXPECT_EQ(name.code, 1);
  EXPECT_TRUE(has(name.output, "steps.npy: the checkpoint has no such entry")) << name.output;
  std::ofstream(out_ / "server@0/parameters.npy") << "no numbers";
  const Ended other = lp("checkpoint import " + run_.string() + " -i " + out_.string());
  EXPECT_TRUE(has(other.output, "parameters.npy: it does not begin like a file of NumPy")) << other.output;
  EXPECT_EQ(lp("checkpoint import " + run_.string() + " -i " + (out_ / "server@0").string()).code, 1);
  EXPECT_EQ(Checkpoint::inspect(cut(200) + "/server@0.checkpoint").checksum, checksum);
}

TEST_F(CheckpointTest, FilesFromACheckpointOfAnotherStepAreRefused) {
  ASSERT_EQ(lp("checkpoint export --step=100 " + run_.string() + " -o " + out_.string()).code, 0);
  const Ended import = lp("checkpoint import " + run_.string() + " -i " + out_.string());
  EXPECT_EQ(import.code, 1);
  EXPECT_TRUE(has(import.output, "was exported from a checkpoint of step 100, and does not go into that of step 200"))
      << import.output;
  EXPECT_EQ(read_cut_file(cut(200), "server/0").get<std::uint64_t>("step"), 200U);
  EXPECT_EQ(lp("checkpoint import --step=100 " + run_.string() + " -i " + out_.string()).code, 0);
}

TEST_F(CheckpointTest, ARunThatGoesOnTakesNoImport) {
  ASSERT_EQ(lp("checkpoint export " + run_.string() + " -o " + out_.string()).code, 0);
  const Descriptor lock(open((run_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(lock.number(), LOCK_EX | LOCK_NB), 0);
  for (const std::string& given : {run_.string(), cut(200), cut(200) + "/server@0.checkpoint"}) {
    const Ended import = lp("checkpoint import " + given + " -i " + out_.string());
    EXPECT_EQ(import.code, 1) << given;
    EXPECT_TRUE(has(import.output, "has not ended, and its nodes may start again from this checkpoint"))
        << import.output;
  }
  std::ofstream(run_ / "result.json") << "{}";
  EXPECT_EQ(lp("checkpoint import " + run_.string() + " -i " + out_.string()).code, 0);
}

TEST_F(CheckpointTest, ADamagedFileIsRefusedWithASentence) {
  {
    std::fstream file(cut(200) + "/server@1.checkpoint", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000);
    file.put('x');
  }
  const Ended show = lp("checkpoint show " + run_.string());
  EXPECT_EQ(show.code, 1);
  EXPECT_TRUE(has(show.output, "server@1.checkpoint: \"parameters\" is corrupted")) << show.output;
  EXPECT_EQ(lp("checkpoint export " + run_.string() + " -o " + out_.string()).code, 1);
  std::ofstream(out_.string() + ".lpc")
      << "no checkpoint at all, but long enough for a head and more than that...........";
  const Ended other = lp("checkpoint show " + out_.string() + ".lpc");
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(has(other.output, "it does not begin like a checkpoint")) << other.output;
}

TEST_F(CheckpointTest, WhatCannotBeMeantIsRefused) {
  EXPECT_EQ(lp("checkpoint drop " + run_.string()).code, 2);
  EXPECT_EQ(lp("checkpoint export " + run_.string()).code, 2);
  EXPECT_EQ(lp("checkpoint import " + run_.string()).code, 2);
  EXPECT_EQ(lp("checkpoint show " + run_.string() + " -i " + out_.string()).code, 2);
  EXPECT_EQ(lp("checkpoint show ./nowhere").code, 3);
  EXPECT_EQ(lp("checkpoint show nowhere").code, 3);
  const Ended device = lp("checkpoint show /dev/null");
  EXPECT_EQ(device.code, 1);
  EXPECT_TRUE(has(device.output, "\"/dev/null\" is no checkpoint file: it is a device")) << device.output;
  const Ended impossible = lp("checkpoint export " + run_.string() + " -o /proc/nowhere");
  EXPECT_EQ(impossible.code, 1);
  EXPECT_TRUE(has(impossible.output, "cannot make the directory /proc/nowhere")) << impossible.output;
  EXPECT_FALSE(has(impossible.output, "filesystem error")) << impossible.output;
  const Ended step = lp("checkpoint show --step=7 " + run_.string());
  EXPECT_EQ(step.code, 1);
  EXPECT_TRUE(has(step.output, "there is no complete checkpoint of step 7; there are checkpoints of steps 100, 200"))
      << step.output;
  EXPECT_EQ(lp("checkpoint list --step=100 " + run_.string()).code, 2);
  EXPECT_EQ(lp("checkpoint show --step=last " + run_.string()).code, 2);
}

TEST_F(CheckpointTest, TheShellCompletesWhatToDoAndOfWhichRun) {
  EXPECT_EQ(lp("complete checkpoint ''").output, "list\nshow\nexport\nimport\n");
  EXPECT_EQ(lp("complete checkpoint show la").output, "last\n");
}

}  // namespace
}  // namespace lp::test
