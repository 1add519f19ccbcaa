#include "programs/data/shared_examples.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "lp/base/error.h"
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
  EXPECT_THROW(prepare_training(config), Error);  // only the launcher's own place is accepted
}

}  // namespace
}  // namespace lp
