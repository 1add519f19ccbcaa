#include "programs/train.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/config/bind.h"
#include "lp/gpu/toolkit.h"
#include "programs/models/serial.h"
#include "programs/schemes.h"
#include "programs/training/evaluation.h"

namespace lp {
namespace {

// The text of the Error that the configuration causes, or nothing.
std::string refusal(const TrainConfig& config) {
  try {
    make_training(config);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// Sets a value that is not the default.
void change(const BoundField& field) {
  for (const char* text : {"7", "0.25", "true", "one_bit", "adam", "softmax", "clip", "x"}) {
    const std::vector<std::string> before = field.type->print(field.value);
    const std::vector<std::string> texts{text};
    if (field.assign(texts) == 1 && field.in_range() && field.type->print(field.value) != before) return;
  }
  FAIL() << "no value changes " << field.path;
}

TEST(Schemes, EveryFlagIsForAllOfThemOrForThoseThatNameIt) {
  TrainConfig config;
  const Binding binding = bind(config);
  for (const BoundField& field : binding.fields()) {
    int places = 0;
    for (const FlagSection& one : flag_sections()) {
      for (const std::string_view name : one.fields) places += name == field.path ? 1 : 0;
    }
    for (const NamedScheme& one : named_schemes()) places += one.owns(field.path) ? 1 : 0;
    EXPECT_EQ(places == 0, field.path.starts_with("found.")) << field.path;  // the launcher sets these
  }
}

TEST(Schemes, RefuseEveryFlagThatSaysNothingToThem) {
  for (const NamedScheme& scheme : named_schemes()) {
    TrainConfig config;
    const Binding binding = bind(config);
    for (const BoundField& field : binding.fields()) {
      if (scheme.uses(field.path) || field.path.starts_with("found.")) continue;
      config = TrainConfig{};
      config.scheme = scheme.name;
      change(field);
      EXPECT_TRUE(
          refusal(config).starts_with(field.flag() + " has no effect with the scheme " + std::string(scheme.name)))
          << refusal(config);
    }
  }
}

TEST(Schemes, RefuseAFlagThatSaysNothingAlsoWithItsDefault) {
  const auto refused = [](const TrainConfig& config, const std::vector<std::string>& given) -> std::string {
    try {
      config.check_given(given);
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  };
  EXPECT_TRUE(
      refused({.scheme = "ring"}, {"scheme", "compression"}).starts_with("--compression has no effect with the"));
  EXPECT_TRUE(refused({.scheme = "pipeline"}, {"scheme", "device"}).starts_with("--device has no effect with the"));
  EXPECT_EQ(refused({}, {"momentum"}), "--momentum has an effect only with --rule=momentum");
  EXPECT_EQ(refused({.scheme = "ring"}, {"scheme", "fusion_bytes", "workers"}), "");
  EXPECT_EQ(refused({.scheme = "ring"}, {}), "");
  EXPECT_EQ(refused({}, {"found.inputs"}), "--found.inputs is set by the launcher: leave it out");
}

TEST(Schemes, RefuseAFlagWhoseOtherFlagIsMissing) {
  EXPECT_EQ(refusal({.rule = RuleKind::adam, .momentum = 0.5F}), "--momentum has an effect only with --rule=momentum");
  EXPECT_EQ(refusal({.model = ModelKind::softmax, .hidden = {8}}), "--hidden has an effect only with --model=mlp");
  EXPECT_EQ(refusal({.share = 0.5}), "--share has an effect only with --compression=top_k or random_k");
  EXPECT_EQ(refusal({.scheme = "topology", .servers = 3, .worker_groups = 4, .shared_memory = true}),
            "--servers has no effect with --shared-memory: no server holds the parameters");
  EXPECT_EQ(refusal({.scheme = "topology", .worker_groups = 4, .shared_memory = true}), "");
}

TEST(Schemes, RefuseReplicasThatDoNotSaveTheTraining) {
  EXPECT_EQ(refusal({.scheme = "sliced", .replicated = true}),
            "a server of the scheme sliced shares its process with a worker, whose loss ends the training: give "
            "--restarts with --replicated");
  EXPECT_EQ(refusal({.scheme = "sliced", .restarts = 2, .replicated = true}), "");
}

TEST(Schemes, TakeWhatTheHelpSaysThatTheyTake) {
  TrainConfig config;
  const Binding fields = bind(config);
  EXPECT_EQ(fields.find("epoch_share")->expected(), "a number above 0 and at most 1");
  EXPECT_EQ(fields.find("share")->expected(), "a number above 0 and at most 1");
  for (const double share : {std::numeric_limits<double>::min(), 1.0}) {
    EXPECT_EQ(refusal({.scheme = "outer_product", .epoch_share = share}), "");
    EXPECT_EQ(refusal({.compression = GradientCompression::top_k, .share = share}), "");
    EXPECT_EQ(refusal({.scheme = "federated", .fraction = share}), "");
    EXPECT_EQ(refusal({.scheme = "gossip", .probability = share}), "");
  }
}

TEST(Schemes, RefuseADeviceThatTheyCannotUse) {
  EXPECT_EQ(refusal({.device = "tpu"}), "--device=tpu: give cpu, cuda or auto");
  EXPECT_EQ(refusal({.device = "auto"}), "");
  for (const std::string device : {"cuda", "auto"}) {
    EXPECT_EQ(refusal({.scheme = "pipeline", .device = device}).substr(0, 63),
              "--device has no effect with the scheme pipeline: it is only for");
  }
  if (gpu::toolkit() == 0) {
    EXPECT_EQ(refusal({.device = "cuda"}), "--device=cuda: " + gpu::obstacle_here());
    return;
  }
  EXPECT_EQ(refusal({.device = "cuda"}), "");
}

TEST(Rules, LearnTheDigitsWithTheirOwnRates) {
  for (const RuleKind rule : {RuleKind::sgd, RuleKind::momentum, RuleKind::adagrad, RuleKind::adam, RuleKind::ftrl}) {
    const TrainConfig config{.rule = rule};
    const auto model = model_of(config);
    double accuracy = 0;
    for (const std::uint64_t seed : {0U, 1U}) {
      const TrainingData data = data_of(config, seed);
      accuracy +=
          evaluate(*model,
                   train_serial(*model, data.train,
                                {.steps = config.steps, .batch = config.batch, .seed = seed, .rule = rule_of(config)}),
                   data.test)
              .accuracy /
          2;
    }
    EXPECT_GE(accuracy, 0.97) << enum_name(rule);
  }
  EXPECT_EQ(rate_of({.rule = RuleKind::adam, .rate = 0.5F}), 0.5F);
}

}  // namespace
}  // namespace lp
