#include "nodes/mapreduce/output_claim.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "lp/base/error.h"
#include "tests/directory.h"

namespace lp::dataflow {
namespace {

using Content = OutputClaim::Content;

std::string refusal(const std::filesystem::path& path, const std::string& run) {
  try {
    OutputClaim::take(path, run, Content::removed);
  } catch (const Error& error) {
    return error.text();
  }
  return {};
}

TEST(OutputClaimTest, AnotherRunIsRefusedWhileOneOfItsNodesLives) {
  const test::Directory directory;
  const std::filesystem::path path = directory.path() / "counts.partial";
  std::optional<OutputClaim> master = OutputClaim::take(path, "first", Content::removed);
  std::ofstream(path / "part") << "half";
  const std::string expected = path.string() + " belongs to the run first, which has not ended: ";
  EXPECT_EQ(refusal(path, "second").substr(0, expected.size()), expected);
  std::optional<OutputClaim> worker = OutputClaim::share(path);
  master.reset();  // it is being restarted
  EXPECT_NE(refusal(path, "second"), "");
  EXPECT_TRUE(OutputClaim::take(path, "first", Content::kept));
  EXPECT_TRUE(std::filesystem::exists(path / "part"));
  worker.reset();
  EXPECT_EQ(refusal(path, "second"), "");
  EXPECT_FALSE(std::filesystem::exists(path / "part"));
}

TEST(OutputClaimTest, ADeadRunWhoseFilesAreRemovedIsNamed) {
  const test::Directory directory;
  const std::filesystem::path path = directory.path() / "counts.partial";
  EXPECT_EQ(OutputClaim::take(path, "first", Content::removed).replaced(), "");
  EXPECT_EQ(OutputClaim::take(path, "second", Content::removed).replaced(), "") << "there were no files";
  std::ofstream(path / "part") << "half";
  EXPECT_EQ(OutputClaim::take(path, "second", Content::removed).replaced(), "") << "it begins again";
  std::ofstream(path / "part") << "half";
  EXPECT_EQ(OutputClaim::take(path, "third", Content::removed).replaced(), "second");
}

TEST(OutputClaimTest, TheOwnRunMayBeginAgainWhileItsWorkersLive) {
  const test::Directory directory;
  const std::filesystem::path path = directory.path() / "counts.partial";
  OutputClaim::take(path, "first", Content::removed);
  const OutputClaim worker = OutputClaim::share(path);
  std::ofstream(path / "part") << "half";
  const OutputClaim master = OutputClaim::take(path, "first", Content::removed);
  EXPECT_FALSE(std::filesystem::exists(path / "part"));
  EXPECT_NE(refusal(path, "second"), "");
}

TEST(OutputClaimTest, FilesThatAreOfNoRunStay) {
  const test::Directory directory;
  const std::filesystem::path path = directory.path() / "counts.partial";
  std::filesystem::create_directories(path);
  std::ofstream(path / "mine") << "text";
  const std::string expected = path.string() + " is needed for the output while it is made, but has files";
  EXPECT_EQ(refusal(path, "first").substr(0, expected.size()), expected);
  EXPECT_EQ(refusal(path, "first").substr(0, expected.size()), expected) << "it also was refused";
  EXPECT_TRUE(std::filesystem::exists(path / "mine"));
  std::filesystem::remove(path / "mine");
  EXPECT_EQ(refusal(path, "first"), "");
}

TEST(OutputClaimTest, WhatCannotBeMadeIsNamed) {
  const test::Directory directory;
  std::ofstream(directory.path() / "file") << "text";
  const std::string text = refusal(directory.path() / "file" / "counts.partial", "first");
  EXPECT_NE(text.find("the output cannot be made: "), std::string::npos) << text;
  EXPECT_NE(text.find("Not a directory"), std::string::npos) << text;
  EXPECT_FALSE(OutputClaim::share(directory.path() / "none"));
}

}  // namespace
}  // namespace lp::dataflow
