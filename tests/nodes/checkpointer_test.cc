// A checkpointer: the contents of its files, which of them it keeps, and files that it refuses.
#include "nodes/checkpointer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/nodes/parameters/two_servers.h"

namespace lp {
namespace {

using test::TwoServers;

class CheckpointerTest : public testing::Test {
 protected:
  CheckpointerOptions options(Duration period = std::chrono::hours(1)) const {
    return {.directory = directory_.path() / "snapshots", .period = period, .keep = 2, .size = [] {
              return static_cast<Eigen::Index>(TwoServers::kSize);
            }};
  }
  TwoServers::Look with(const CheckpointerOptions& given) {
    return [this, given](Program& program, const GroupHandle<ParameterServer>& servers) {
      handle_ = program.add<Checkpointer>({.name = "checkpointer"}, servers, given);
    };
  }
  std::string save(TwoServers& two) const { return two.run().client(handle_).call<&Checkpointer::save>(); }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& one : std::filesystem::directory_iterator(options().directory)) {
      names.insert(one.path().filename());
    }
    return names;
  }
  static std::string refusal_of(const std::filesystem::path& file, Eigen::Index size) {
    try {
      load_parameters(file, size);
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  }

  const test::Directory directory_;
  Handle<Checkpointer> handle_{"checkpointer"};
};

TEST_F(CheckpointerTest, KeepsItsNewestFilesAndThoseOfOthers) {
  std::filesystem::create_directories(options().directory);
  std::ofstream(options().directory / "parameters-9.lpc") << "of another run";
  TwoServers two(with(options()));
  std::string last;
  for (int step = 0; step < 4; ++step) {
    two.step();
    last = save(two);
    EXPECT_EQ(save(two), last);  // there is no new step
  }
  EXPECT_EQ(files(), (std::set<std::string>{"parameters-3.lpc", "parameters-4.lpc", "parameters-9.lpc"}));
  const Parameters parameters = load_parameters(last, TwoServers::kSize);
  EXPECT_EQ(parameters.step, 4U);
  EXPECT_EQ(parameters.values, Eigen::VectorXf::Constant(TwoServers::kSize, 4));
  two.run().restart({"checkpointer"});
  two.step();
  save(two);
  EXPECT_EQ(files(), (std::set<std::string>{"parameters-4.lpc", "parameters-5.lpc", "parameters-9.lpc"}));
}

TEST_F(CheckpointerTest, CountsTheStepsThatWereDoneBefore) {
  CheckpointerOptions later = options();
  later.first_step = 100;
  TwoServers two(with(later));
  two.step();
  const std::string file = save(two);
  EXPECT_EQ(file, later.directory / "parameters-101.lpc");
  EXPECT_EQ(load_parameters(file, TwoServers::kSize).step, 101U);
  EXPECT_EQ(save(two), file);
}

TEST_F(CheckpointerTest, SavesByItselfFromTimeToTime) {
  TwoServers two(with(options(std::chrono::milliseconds(1))));
  two.step();
  Event never;
  const Time end = after(std::chrono::seconds(20));
  while (!files().contains("parameters-1.lpc") && !passed(end)) never.wait(after(std::chrono::milliseconds(1)));
  EXPECT_TRUE(files().contains("parameters-1.lpc"));
}

TEST_F(CheckpointerTest, WhatIsNoSuchFileIsRefused) {
  TwoServers two(with(options()));
  two.step();
  const std::string file = save(two);
  EXPECT_EQ(refusal_of(file, 12), file + " has 11 parameters, but the model has 12");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_NE(refusal_of(file, TwoServers::kSize), "");
  EXPECT_NE(refusal_of(file + ".none", TwoServers::kSize), "");
}

TEST_F(CheckpointerTest, ADirectoryThatCannotBeMadeFailsTheNode) {
  std::ofstream(directory_.path() / "file") << "";
  CheckpointerOptions wrong = options();
  wrong.directory = directory_.path() / "file" / "snapshots";
  Program program("nobody");
  program.add<Checkpointer>({.name = "checkpointer"}, GroupHandle<ParameterServer>("server", 0), wrong);
  LocalRun run(program, {}, LocalRun::kNothingHere);
  run.start_one("checkpointer", 1);
  ASSERT_EQ(run.failed().count("checkpointer"), 1U);
  EXPECT_EQ(run.failed().at("checkpointer").text(), wrong.directory.string() + " cannot be made: Not a directory");
}

}  // namespace
}  // namespace lp
