#include "programs/data/shared_examples.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "lp/base/error.h"
#include "programs/models/kept_model.h"
#include "programs/train.h"

namespace lp {
namespace {

TEST(SharedExamples, AreThoseThatWereShared) {
  Examples examples;
  examples.data = parse_csv({"1,2,b\n3,4,a\n", "f"});
  examples.test = sparsified(digits());
  const SharedExamples shared = share(examples);
  const Examples taken = shared_examples(shared.location).value();
  EXPECT_EQ(taken.data.features, examples.data.features);
  EXPECT_EQ(taken.data.labels, examples.data.labels);
  EXPECT_EQ(taken.data.names, examples.data.names);
  EXPECT_EQ(taken.test.inputs(), 64);
  EXPECT_TRUE(taken.test.sparse.isApprox(examples.test.sparse));
  EXPECT_EQ(taken.test.classes, 10);
}

TEST(SharedExamples, AreNotThereOnAnotherHost) {
  SharedExamples shared = share({});
  EXPECT_FALSE(shared_examples({}));
  EXPECT_FALSE(shared_examples({.path = "/proc/1/fd/9999", .key = shared.location.key}));
  EXPECT_FALSE(shared_examples({.path = "/dev/null", .key = shared.location.key}));
  EXPECT_FALSE(shared_examples({.path = share({}).location.path, .key = shared.location.key}));
  const ExamplesLocation other{.path = shared.location.path, .key = std::string(32, '0')};
  EXPECT_FALSE(shared_examples(other));
  const ExamplesLocation location = shared.location;
  shared = {};
  EXPECT_FALSE(shared_examples(location));
}

TEST(Preparation, ReadsTheFilesOnce) {
  const std::string file = testing::TempDir() + "prepared.csv";
  std::ofstream(file) << "1,2,0\n3,4,1\n5,6,1\n7,8,0\n9,8,2\n";
  TrainConfig config;
  config.data = file;
  const SharedExamples shared = prepare_training(config);
  EXPECT_EQ(std::remove(file.c_str()), 0);
  EXPECT_EQ(units_of(config), (std::vector<Eigen::Index>{2, 64, 3}));
  EXPECT_EQ(data_of(config, 1).train.examples(), 4);
  EXPECT_EQ(make_training(config).groups().size(), 2U);
  config.found.path = "/proc/1/fd/9999";  // as on another host, where a server needs no file
  EXPECT_EQ(model_of(config)->size(), 2 * 64 + 64 + 64 * 3 + 3);
  EXPECT_THROW(data_of(config, 1), Error);
  std::ofstream(file) << "1,2,3,0\n";
  try {
    data_of(config, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), file + ": differs from the file on the host where the program was launched");
  }
  EXPECT_THROW(prepare_training(config, "run"), Error);  // only the launcher's own place is accepted
}

// What `action` throws, or nothing.
template <class Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.text();
  }
  return {};
}

// A model for examples of two features with labels from 0 to 2, whose parameters have the value.
void write_first_model(const std::string& file, float value) {
  KeptModel model{.units = {2, 64, 3}, .steps = 7};
  model.parameters = Eigen::VectorXf::Constant(2 * 64 + 64 + 64 * 3 + 3, value);
  write_model(model, file);
}

// A node that is restarted makes its model again.
TEST(Preparation, ReadsTheFirstModelOnce) {
  const std::string data = testing::TempDir() + "with_first.csv";
  const std::string first = testing::TempDir() + "first.lpm";
  std::ofstream(data) << "1,2,0\n3,4,1\n5,6,1\n7,8,0\n9,8,2\n";
  write_first_model(first, 0.5F);
  TrainConfig config;
  config.data = data;
  config.init = first;
  const SharedExamples shared = prepare_training(config);
  write_first_model(first, 0.25F);  // replaced while it trains
  EXPECT_EQ(model_of(config)->initialize(0)(0), 0.5F);
  EXPECT_EQ(std::remove(first.c_str()), 0);
  EXPECT_EQ(std::remove(data.c_str()), 0);
  EXPECT_EQ(model_of(config)->initialize(0)(0), 0.5F);
  EXPECT_EQ(data_of(config, 1).train.examples(), 4);
  EXPECT_EQ(kept_model(config, 1, {.step = 3, .values = Eigen::VectorXf::Zero(387)}).steps, 10U);
}

TEST(Preparation, OfAResumedRunRefusesOtherDataOfTheSameShape) {
  const std::string file = testing::TempDir() + "resumed.csv";
  std::ofstream(file) << "1,2,0\n3,4,1\n5,6,1\n7,8,0\n9,8,2\n";
  TrainConfig config;
  config.data = file;
  prepare_training(config);
  EXPECT_EQ(refusal_of([&] { prepare_training(config, "run"); }), "");
  std::ofstream(file) << "3,4,1\n1,2,0\n5,6,1\n7,8,0\n9,8,2\n";
  TrainConfig anew = config;  // a new run may have the configuration of an old one
  EXPECT_EQ(refusal_of([&] { prepare_training(anew); }), "");
  EXPECT_EQ(
      refusal_of([&] { prepare_training(config, "run"); }),
      "the data have changed since the run to resume began (" + file + "): give the same data, or start a new run");
}

TEST(Preparation, RefusesWhatANodeCouldNotDo) {
  const std::string data = testing::TempDir() + "refused.csv";
  const std::string test = testing::TempDir() + "refused_test.csv";
  std::ofstream(data) << "1,2,0\n3,4,1\n5,6,1\n7,8,0\n9,8,2\n";
  std::ofstream(test) << "1,2,3\n";
  const auto refusal = [](TrainConfig config, const std::string& resumed = {}) {
    return refusal_of([&] { prepare_training(config, resumed); });
  };
  const auto given = [&] {
    TrainConfig config;
    config.data = data;
    return config;
  };
  EXPECT_EQ(refusal(given()), "");

  TrainConfig config = given();
  config.model = ModelKind::linear;
  config.sparse = config.scale = true;
  EXPECT_EQ(refusal(config),
            "scaling subtracts the mean, which makes sparse features dense: leave out --scale or --sparse");
  config = given();
  config.hidden = {2000000000};
  EXPECT_NE(refusal(config).find("give more servers"), std::string::npos) << refusal(config);
  config = given();
  config.test = test;
  EXPECT_EQ(refusal(config), test + ": has a label 3, but there are only the classes 0 to 2");
  config = given();
  config.batch = 100;
  EXPECT_EQ(refusal(config), "--batch=100 is more than the 5 examples of " + data + ": give at most as many");
  config = given();
  config.snapshots = test;
  EXPECT_EQ(refusal(config), "--snapshots: cannot make " + test + ": " + test + " is no directory");
  config = given();
  config.replicated = true;
  EXPECT_EQ(refusal(config), "");
  EXPECT_EQ(refusal(config, "run"), "a training with --replicated writes no checkpoints: run cannot be resumed");
}

}  // namespace
}  // namespace lp
