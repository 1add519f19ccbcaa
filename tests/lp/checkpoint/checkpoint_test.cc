#include "lp/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lp/base/file.h"
#include "tests/directory.h"
#include "tests/error_of.h"

namespace lp {
namespace {

using test::error_of;

struct Step {
  std::uint64_t number = 0;
  std::vector<double> losses{};
  bool operator==(const Step&) const = default;
};

class Checkpoints : public testing::Test {
 protected:
  const test::Directory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
  const std::filesystem::path file_ = directory_ / "server.checkpoint";
};

Array<float> counting(std::size_t size) {
  auto array = Array<float>::uninitialized(size);
  for (float next = 0; float& value : array.edit()) value = next++;
  return array;
}

Checkpoint example() {
  Checkpoint checkpoint;
  checkpoint.put("weights", counting(5000));
  checkpoint.put("bias", counting(10));
  checkpoint.put("step", Step{7, {0.5, 0.25}});
  checkpoint.put("names", std::map<std::string, std::vector<int>>{{"a", {1, 2}}, {"b", {}}});
  checkpoint.put_message("table", {Buffer::copy_of(std::as_bytes(std::span("table"))), {Buffer::zeroed(100), {}}});
  return checkpoint;
}

void expect_example(const Checkpoint& checkpoint) {
  EXPECT_EQ(checkpoint.get<Array<float>>("weights"), counting(5000));
  EXPECT_EQ(checkpoint.get<Array<float>>("bias"), counting(10));
  EXPECT_EQ(checkpoint.get<Step>("step"), (Step{7, {0.5, 0.25}}));
  EXPECT_EQ((checkpoint.get<std::map<std::string, std::vector<int>>>("names").at("a")), (std::vector<int>{1, 2}));
  const Message table = checkpoint.get_message("table");
  EXPECT_EQ(std::memcmp(table.body.data(), "table", 6), 0);
  ASSERT_EQ(table.arrays.size(), 2u);
  EXPECT_EQ(table.arrays[0].size(), 100u);
  EXPECT_EQ(table.arrays[1].size(), 0u);
}

TEST_F(Checkpoints, ValuesComeBack) {
  expect_example(example());
  example().write(file_, "server/1", 100);
  const Checkpoint read = Checkpoint::read(file_);
  expect_example(read);
  EXPECT_EQ(read.node(), "server/1");
  EXPECT_EQ(read.step(), 100u);
  EXPECT_TRUE(read.has("bias"));
  EXPECT_FALSE(read.has("biases"));
}

TEST_F(Checkpoints, AnEmptyOneComesBack) {
  Checkpoint().write(file_, "", 0);
  const Checkpoint read = Checkpoint::read(file_);
  EXPECT_TRUE(read.empty());
  EXPECT_TRUE(Checkpoint::inspect(file_).entries.empty());
}

TEST_F(Checkpoints, BigArraysAreSharedAndAligned) {
  const Array<float> weights = counting(5000);
  Checkpoint checkpoint;
  checkpoint.put("weights", weights);
  EXPECT_EQ(checkpoint.get<Array<float>>("weights").data(), weights.data());
  checkpoint.write(file_, "server", 1);
  const Array<float> read = Checkpoint::read(file_).get<Array<float>>("weights");
  EXPECT_TRUE(read.buffer().aligned_to(64));
  EXPECT_EQ(read, weights);
}

TEST_F(Checkpoints, MistakesAreNamed) {
  Checkpoint checkpoint = example();
  EXPECT_EQ(error_of([&] { checkpoint.put("bias", 1); }),
            "checkpoint: \"bias\" is already saved; give the second value another name");
  EXPECT_EQ(error_of([&] { checkpoint.put("", 1); }), "checkpoint: a value needs a name that is not empty");
  EXPECT_EQ(error_of([&] { checkpoint.get<int>("biases"); }),
            "checkpoint: there is no \"biases\"; there is \"bias\", \"names\", \"step\", \"table\", \"weights\"");
  EXPECT_EQ(error_of([&] { checkpoint.get<Array<double>>("bias"); }),
            "checkpoint: \"bias\" was saved as array<f32>, but is read as array<f64>");
  EXPECT_EQ(error_of([&] { checkpoint.get_message("bias"); }),
            "checkpoint: \"bias\" was saved as array<f32>, but is read as frames");
  EXPECT_EQ(error_of([&] { Checkpoint().get<int>("x"); }), "checkpoint: there is no \"x\"; it is empty");
}

TEST_F(Checkpoints, WhatIsInAFileCanBeListed) {
  example().write(file_, "server/1", 100);
  const CheckpointInfo info = Checkpoint::inspect(file_);
  EXPECT_EQ(info.node, "server/1");
  EXPECT_EQ(info.step, 100u);
  EXPECT_EQ(info.file_size, std::filesystem::file_size(file_));
  ASSERT_EQ(info.entries.size(), 5u);
  EXPECT_EQ(info.entries[4].name, "weights");
  EXPECT_EQ(info.entries[4].type, "array<f32>");
  EXPECT_EQ(info.entries[4].bytes, 8u + 20'000u);
  const std::vector<CheckpointEntry> entries = example().entries();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(entries[i].name, info.entries[i].name);
    EXPECT_EQ(entries[i].bytes, info.entries[i].bytes);
  }
  example().write(directory_ / "again", "server/1", 100);
  EXPECT_EQ(Checkpoint::inspect(directory_ / "again").checksum, info.checksum);
  Checkpoint other = example();
  other.put("more", 1);
  other.write(directory_ / "other", "server/1", 100);
  EXPECT_NE(Checkpoint::inspect(directory_ / "other").checksum, info.checksum);
}

// checkpoint.md guarantees this to other programs.
TEST_F(Checkpoints, AnArrayLiesRawInTheFile) {
  example().write(file_, "server", 1);
  const Buffer bytes = read_file(file_, 1 << 20);
  const Array<float> weights = counting(5000);
  const auto raw = weights.buffer().bytes();
  const auto found = std::search(bytes.bytes().begin(), bytes.bytes().end(), raw.begin(), raw.end());
  ASSERT_NE(found, bytes.bytes().end());
  EXPECT_EQ((found - bytes.bytes().begin()) % 64, 0);
}

TEST_F(Checkpoints, AFileOfTheWrongKindIsRefused) {
  const auto refused = [&](std::string_view text) {
    write_file_durably(file_, text);
    std::string error = error_of([&] { Checkpoint::inspect(file_); });
    EXPECT_EQ(error_of([&] { Checkpoint::read(file_); }), error);
    const std::string prefix = "cannot read the checkpoint " + file_.string() + ": ";
    EXPECT_EQ(error.substr(0, prefix.size()), prefix);
    return error.substr(prefix.size());
  };
  EXPECT_EQ(refused(""), "it is empty");
  EXPECT_EQ(refused("\x89lpc"), "it is too short for a checkpoint");
  EXPECT_EQ(refused(std::string(1000, ' ')), "it does not begin like a checkpoint");

  example().write(file_, "server", 1);
  const Buffer whole = read_file(file_, 1 << 20);
  std::string text(reinterpret_cast<const char*>(whole.data()), whole.size());
  text[8] = 9;
  EXPECT_EQ(refused(text), "its format is version 9, but this program reads version 1");
  text[8] = 1;
  text[40] = static_cast<char>(text[40] ^ 1);
  EXPECT_EQ(refused(text), "its header is corrupted");
  text[40] = static_cast<char>(text[40] ^ 1);
  const std::string size = std::to_string(text.size());
  EXPECT_EQ(refused(text.substr(0, 2000)), "it has 2000 bytes instead of " + size + ": it was only partly written");
  EXPECT_EQ(refused(text + "more"),
            "it has " + std::to_string(text.size() + 4) + " bytes instead of " + size + ": something was appended");
}

TEST_F(Checkpoints, EveryTruncationAndEveryFlippedBitIsFound) {
  Checkpoint checkpoint;
  checkpoint.put("weights", counting(1100));
  checkpoint.put("step", Step{7, {0.5}});
  checkpoint.write(file_, "server", 1);
  const Buffer whole = read_file(file_, 1 << 20);
  EXPECT_EQ(Checkpoint::parse(whole, file_).entries().size(), 2u);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(Checkpoint::parse(whole.slice(0, size), file_), Error) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Buffer changed = Buffer::copy_of(whole.bytes());
    changed.edit()[at] ^= std::byte{1} << (at % 8);
    EXPECT_THROW(Checkpoint::parse(changed, file_), Error) << at;
  }
}

TEST_F(Checkpoints, AnErrorOfTheDiskHarmsNothing) {
  example().write(file_, "server", 1);
  const auto missing = directory_ / "missing" / "x";
  EXPECT_EQ(error_of([&] { example().write(missing, "server", 2); }),
            "cannot write " + missing.string() + ": No such file or directory");
  EXPECT_EQ(Checkpoint::read(file_).step(), 1u);
}

}  // namespace
}  // namespace lp
