#include "programs/models/kept_model.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/checkpoint/checkpoint.h"
#include "programs/train.h"
#include "tests/error_of.h"

namespace lp {
namespace {

using test::error_of;

namespace fs = std::filesystem;

fs::path path_of(const std::string& name) { return fs::path(testing::TempDir()) / name; }

KeptModel small_model() {
  KeptModel model{.kind = ModelKind::mlp,
                  .units = {2, 3, 2},
                  .activation = Activation::relu,
                  .names = {"ham", "spam"},
                  .scaling = {Eigen::Vector2f(1, 2), Eigen::Vector2f(0.5F, 4)},
                  .steps = 12};
  model.parameters = Eigen::VectorXf::LinSpaced(17, -1, 1);
  return model;
}

TEST(KeptModel, IsReadAsItWasWritten) {
  const fs::path file = path_of("kept.lpm");
  const KeptModel model = small_model();
  write_model(model, file);
  const KeptModel read = read_model(file);
  EXPECT_EQ(read.kind, model.kind);
  EXPECT_EQ(read.units, model.units);
  EXPECT_EQ(read.activation, model.activation);
  EXPECT_EQ(read.names, model.names);
  EXPECT_EQ(read.scaling.mean, model.scaling.mean);
  EXPECT_EQ(read.scaling.factor, model.scaling.factor);
  EXPECT_EQ(read.steps, model.steps);
  EXPECT_EQ(read.parameters, model.parameters);
}

TEST(KeptModel, IsToldFromOtherFiles) {
  write_model(small_model(), path_of("model.lpm"));
  EXPECT_TRUE(is_model_file(path_of("model.lpm")));
  Checkpoint other;
  other.put("step", std::uint64_t{7});
  other.write(path_of("other"), "commits", 7);
  write_file(path_of("text"), "text");
  for (const char* const name : {"other", "text", "nowhere"}) EXPECT_FALSE(is_model_file(path_of(name))) << name;
}

// Every prefix, every flipped bit and every appended byte gives an error that names the file.
TEST(KeptModel, IsRefusedWhenItIsDamaged) {
  const fs::path file = path_of("damaged.lpm");
  write_model(small_model(), file);
  const Buffer whole = read_file(file, 1 << 20);
  const auto refused = [&](const Buffer& bytes) {
    return error_of([&] { parse_model(bytes, "the.lpm"); }).find("the.lpm") != std::string::npos;
  };
  EXPECT_FALSE(refused(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(refused(Buffer::copy_of(whole.bytes().first(size)))) << size;
  }
  Buffer longer = Buffer::zeroed(whole.size() + 1);
  std::copy(whole.bytes().begin(), whole.bytes().end(), longer.edit().begin());
  EXPECT_TRUE(refused(longer));
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Buffer damaged = Buffer::copy_of(whole.bytes());
    damaged.edit()[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_TRUE(refused(damaged)) << "bit " << bit;
  }
}

// Otherwise a training that has diverged would replace a good model.
TEST(KeptModel, IsNotWrittenWithNumbersThatAreNotFinite) {
  const fs::path file = path_of("finite.lpm");
  write_model(small_model(), file);
  KeptModel model = small_model();
  model.parameters(3) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(error_of([&] { write_model(model, file); }),
            "the model is not written to " + file.string() + ": it has numbers that are not finite");
  EXPECT_TRUE(read_model(file).parameters.allFinite());
}

// The file is whole, but its entries are impossible.
TEST(KeptModel, IsRefusedWhenItSaysWhatCannotBe) {
  const fs::path file = path_of("wrong.lpm");
  const auto error = [&](const std::function<void(KeptModel&)>& spoil) {
    KeptModel model = small_model();
    spoil(model);
    Checkpoint saved = describe(model);
    saved.put("parameters",
              Array<float>::copy_of({model.parameters.data(), static_cast<std::size_t>(model.parameters.size())}));
    saved.write(file, "model", model.steps);
    return error_of([&] { read_model(file); });
  };
  const std::string begin = "cannot use the model " + file.string() + ": ";
  EXPECT_EQ(error([](KeptModel& one) { one.parameters.conservativeResize(16); }),
            begin + "it has 16 parameters, but an mlp of 2-3-2 units needs 17");
  EXPECT_EQ(error([](KeptModel& one) { one.units = {2}; }), begin + "it has 1 layers of units");
  EXPECT_EQ(error([](KeptModel& one) { one.units = {2, -3, 2}; }), begin + "it has a layer of -3 units");
  EXPECT_EQ(error([](KeptModel& one) { one.units[1] = std::numeric_limits<Eigen::Index>::max(); }),
            begin + "it has a layer of 9223372036854775807 units");
  EXPECT_EQ(error([](KeptModel& one) { one.names.pop_back(); }), begin + "it has names for 1 of 2 classes");
  EXPECT_EQ(error([](KeptModel& one) { one.scaling.mean = Eigen::Vector3f(1, 2, 3); }),
            begin + "its scaling does not fit its inputs");
  EXPECT_EQ(error([](KeptModel& one) { one.parameters(3) = std::numeric_limits<float>::quiet_NaN(); }),
            begin + "it has numbers that are not finite");
  EXPECT_EQ(error([](KeptModel& one) { one.kind = static_cast<ModelKind>(9); }),
            begin + "its kind is \"\", which this program does not know");
}

TEST(KeptModel, IsRefusedWhenItIsForeignOrNewer) {
  const fs::path file = path_of("foreign.lpm");
  Checkpoint foreign;
  foreign.put("parameters", 1.0F);
  foreign.write(file, "server/0", 3);
  EXPECT_EQ(error_of([&] { read_model(file); }), file.string() + " is a checkpoint of \"server/0\", not a saved model");
  Checkpoint newer;
  newer.put("model.format", std::uint32_t{2});
  newer.write(file, "model", 3);
  EXPECT_EQ(error_of([&] { read_model(file); }),
            "cannot use the model " + file.string() + ": its format is version 2, but this program reads version 1");
  std::ofstream(file) << "1,2,0\n";
  EXPECT_EQ(error_of([&] { read_model(file); }),
            "cannot read the checkpoint " + file.string() + ": it is too short for a checkpoint");
}

TEST(Scaling, BringsFeaturesToMean0AndVariance1) {
  Dataset data{Eigen::MatrixXf(2, 4), Eigen::VectorXi::Zero(4), 1};
  data.features << 1000, 1002, 1004, 1006, 7, 7, 7, 7;
  const Scaling scaling = scaling_of(data);
  scale(scaling, data);
  EXPECT_NEAR(data.features.row(0).mean(), 0, 1e-6);
  EXPECT_NEAR(data.features.row(0).squaredNorm() / 4, 1, 1e-6);
  EXPECT_EQ(data.features.row(1), Eigen::RowVector4f::Zero());
  EXPECT_THROW(scaling_of(sparsified(data)), Error);
}

Dataset of_one_feature(const Eigen::RowVectorXf& values) { return {values, Eigen::VectorXi::Zero(values.size()), 1}; }

TEST(Scaling, WorksForLargeAndForTinyFeatures) {
  for (const float unit : {1e-37F, 1e-30F, 1e-24F, 1.0F, 1e20F, 3e37F}) {
    Dataset data = of_one_feature(unit * Eigen::RowVector4f(-1, 1, -1, 1));
    const Scaling scaling = scaling_of(data);
    EXPECT_FLOAT_EQ(scaling.factor(0), 1 / unit) << unit;
    scale(scaling, data);
    EXPECT_NEAR(data.features.row(0).mean(), 0, 1e-6) << unit;
    EXPECT_NEAR(data.features.row(0).squaredNorm() / 4, 1, 1e-5) << unit;
  }
  // a small deviation beside a large mean
  Dataset data = of_one_feature(Eigen::RowVector4f(16777216, 16777220, 16777224, 16777228));
  scale(scaling_of(data), data);
  EXPECT_NEAR(data.features.row(0).squaredNorm() / 4, 1, 1e-5);
  EXPECT_EQ(scaling_of(of_one_feature(Eigen::RowVector3f::Constant(0.1F))).factor(0), 1);
  EXPECT_EQ(scaling_of(of_one_feature(Eigen::RowVector3f::Constant(1e-40F))).factor(0), 1);
}

TEST(Scaling, RefusesFeaturesWhoseFactorWouldBeNoFloat) {
  Dataset data{Eigen::MatrixXf(2, 2), Eigen::VectorXi::Zero(2), 1};
  data.features << 1, 2, -3e38F, 3e38F;
  EXPECT_EQ(error_of([&] { scaling_of(data); }),
            "feature 2 cannot be scaled: its values are from -3e+38 to 3e+38, and their deviation 3e+38 is not from "
            "2.93874e-39 to 8.50706e+37: give this feature in another unit, or leave out --scale");
  data.features << 1e-40F, 2e-40F, 1, 2;
  EXPECT_TRUE(error_of([&] { scaling_of(data); }).starts_with("feature 1 cannot be scaled: its values are from "));
}

TEST(Scaling, NoStepOfItOverflows) {
  Dataset data = of_one_feature(Eigen::RowVector2f(3e38F, -3e38F));
  scale({.mean = Eigen::VectorXf::Constant(1, -3e38F), .factor = Eigen::VectorXf::Constant(1, 1e-38F)}, data);
  EXPECT_FLOAT_EQ(data.features(0, 0), 6);
  EXPECT_EQ(data.features(0, 1), 0);
  EXPECT_EQ(error_of([&] {
              scale({.mean = Eigen::VectorXf::Constant(1, 1), .factor = Eigen::VectorXf::Constant(1, 1e38F)}, data);
            }),
            "feature 1 is 6 in an example, too far from 1, its mean in the training, for the factor 1e+38 of its "
            "scaling: correct or remove this example");
}

TEST(Training, RefusesFeaturesThatCannotBeScaledBeforeItStarts) {
  const fs::path file = path_of("wide.csv");
  std::ofstream(file) << "1,-3e38,0\n2,3e38,1\n3,-3e38,0\n4,3e38,1\n5,-3e38,1\n";
  TrainConfig config;
  config.data = file;
  config.scale = true;
  config.batch = 1;
  EXPECT_TRUE(
      error_of([&] { prepare_training(config); }).starts_with(file.string() + ": feature 2 cannot be scaled: "));
}

TEST(MatchClasses, TakesLabelsToThoseOfTheModel) {
  Dataset data = parse_csv({"1,spam\n2,eggs\n", "f"});
  match_classes(data, {"bacon", "eggs", "spam"}, 3, "f");
  EXPECT_EQ(data.labels, Eigen::Vector2i(2, 1));
  EXPECT_EQ(data.classes, 3);
  data = parse_csv({"1,spam\n2,eggs\n", "f"});
  EXPECT_EQ(error_of([&] {
              match_classes(data, {"eggs", "ham"}, 2, "f");
            }),
            "f: has a label \"spam\", which is not one of the model's classes");
  EXPECT_EQ(error_of([&] { match_classes(data, {}, 2, "f"); }), "f: its labels are names, not numbers");
  data = parse_csv({"1,4\n", "f"});
  EXPECT_EQ(error_of([&] { match_classes(data, {}, 4, "f"); }),
            "f: has a label 4, but there are only the classes 0 to 3");
  EXPECT_EQ(error_of([&] { match_classes(data, {"a"}, 1, "f"); }),
            "f: its labels are numbers, not names such as \"a\"");
}

TEST(MatchClasses, AnExampleOfClassPlusOneIsAlsoThatOfMinusOneAndPlusOne) {
  Dataset data = parse_csv({"1,1\n", "f"});
  match_classes(data, signs(), 2, "f");
  EXPECT_EQ(data.labels(0), 1);
  data = parse_csv({"1,0\n2,1\n", "f"});
  EXPECT_EQ(error_of([&] { match_classes(data, signs(), 2, "f"); }),
            "f: its labels are numbers, not names such as \"-1\"");
  data = parse_csv({"1,-1\n2,1\n", "f"});
  match_classes(data, {}, 2, "f");  // a model of two classes without names
  EXPECT_EQ(data.labels, Eigen::Vector2i(0, 1));
  data = parse_csv({"1,-1\n2,1\n", "f"});  // and one that has learned the labels 1 and 2
  EXPECT_EQ(error_of([&] { match_classes(data, {}, 3, "f"); }),
            "f: has labels −1 and +1, but the model has the classes 0 to 2");
}

TEST(Training, GoesOnFromAKeptModelAloneThatFits) {
  const fs::path file = path_of("first.lpm");
  TrainConfig config;
  config.hidden = {3};
  KeptModel first = kept_model(config, 1, {.step = 5, .values = model_of(config)->initialize(7)});
  write_model(first, file);
  config.init = file;
  EXPECT_EQ(model_of(config)->initialize(1), first.parameters);
  EXPECT_EQ(kept_model(config, 1, {.step = 6, .values = first.parameters}).steps, 11U);
  config.hidden = {4};
  EXPECT_EQ(error_of([&] { model_of(config); }),
            file.string() +
                ": is an mlp of 64-3-10 units, but this training learns an mlp of 64-4-10 units: give the "
                "same --model and --hidden");
  config.hidden = {3};
  config.activation = Activation::relu;
  EXPECT_EQ(error_of([&] { model_of(config); }),
            file.string() + ": has a different activation: give --activation=tanh");
  config.activation = Activation::tanh;
  config.scale = true;
  EXPECT_EQ(error_of([&] { data_of(config, 1); }),
            file.string() + ": was trained on features that were not scaled: leave out --scale");
  first.scaling = {.mean = Eigen::VectorXf::Zero(64), .factor = Eigen::VectorXf::Ones(64)};
  write_model(first, file);
  EXPECT_EQ(error_of([&] { data_of(config, 1); }),
            file.string() + ": scales features as in its own training: leave out --scale");
  const fs::path other = path_of("other.csv");
  std::ofstream(other) << "1,2,0\n3,4,1\n";
  config.data = other;
  EXPECT_EQ(error_of([&] { model_of(config); }),
            other.string() + ": has examples of 2 features, but " + file.string() + " has 64");
}

TEST(Training, TestsOnAFileOfItsOwn) {
  const fs::path file = path_of("own.csv");
  const fs::path test = path_of("own_test.csv");
  std::ofstream(file) << "1,a\n2,b\n3,c\n";
  std::ofstream(test) << "5,c\n";
  TrainConfig config;
  config.data = file;
  config.test = test;
  config.scale = true;
  const TrainingData data = data_of(config, 1);
  EXPECT_EQ(data.train.examples(), 3);
  EXPECT_EQ(data.test.labels, Eigen::VectorXi::Constant(1, 2));
  EXPECT_NEAR(data.test.features(0, 0), 3 / std::sqrt(2.0 / 3), 1e-5);
  EXPECT_EQ(kept_model(config, 1, {}).names, (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace lp
