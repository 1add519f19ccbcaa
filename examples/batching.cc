// An inference server: it classifies digits in batches, and every caller sends one image.
//
//   client/0 ─┐
//   client/1 ─┼─▶ classifier
//   ...       ┘
//
//   build/examples/batching --launch=processes --clients=4

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "launchers/main.h"
#include "lp/lp.h"
#include "lp/wire/eigen.h"
#include "programs/models/mlp.h"
#include "programs/models/serial.h"

using namespace lp::literals;

struct Config {
  int clients = 4;
  int in_flight = 16;

  static constexpr auto fields =
      lp::fields(lp::field("clients", "nodes that send images", lp::range(1, 1000)),
                 lp::field("in_flight", "images for which a client waits at a time", lp::at_least(1)));
};

struct Result {
  std::int64_t images = 0;
  std::int64_t batches = 0;
  double accuracy = 0;
};

class Classifier {
 public:
  explicit Classifier(lp::Context& context)
      : parameters_(lp::train_serial(model_, lp::split(lp::digits(), context.program_seed()).train,
                                     {.seed = context.program_seed(), .rule = lp::Momentum{.rate = 0.05F}})) {}

  // A caller sends one image and gets one digit; this function gets the images of many callers at once.
  std::vector<int> classify(std::vector<Eigen::VectorXf> images) {
    Eigen::MatrixXf batch(64, static_cast<Eigen::Index>(images.size()));
    for (std::size_t i = 0; i < images.size(); ++i) batch.col(static_cast<Eigen::Index>(i)) = images[i];
    const Eigen::MatrixXf scores = model_.scores(parameters_, batch);
    std::vector<int> digits(images.size());
    for (std::size_t i = 0; i < images.size(); ++i) scores.col(static_cast<Eigen::Index>(i)).maxCoeff(&digits[i]);
    ++result_.batches;
    return digits;
  }

  // A client reports how many of its images were classified correctly.
  void count(std::int64_t images, std::int64_t right) {
    result_.images += images;
    right_ += right;
  }
  Result result() const {
    Result result = result_;
    result.accuracy = static_cast<double>(right_) / static_cast<double>(result.images);
    return result;
  }

  // A batch has at most 64 images, and no image waits longer than 1 ms for others.
  using Remote = lp::Methods<lp::batched<&Classifier::classify, 64, 1_ms>, &Classifier::count, &Classifier::result>;

 private:
  const lp::Mlp model_{{64, 256, 10}, lp::Activation::tanh};
  const Eigen::VectorXf parameters_;
  Result result_;
  std::int64_t right_ = 0;
};

lp::Program make_program(const Config& config) {
  lp::Program program("batching");
  const auto classifier = program.add<Classifier>({.name = "classifier"}, lp::context);
  const auto ask = [config](lp::Context& context, lp::Client<Classifier> server) {
    const lp::Dataset test = lp::split(lp::digits(), context.program_seed()).test;
    std::int64_t right = 0;
    for (Eigen::Index first = 0; first < test.examples(); first += config.in_flight) {
      const Eigen::Index last = std::min(first + config.in_flight, test.examples());
      std::vector<lp::Future<int>> answers;
      for (Eigen::Index i = first; i < last; ++i) {
        answers.push_back(server.async<&Classifier::classify>(test.features.col(i)));
      }
      const std::vector<int> digits = lp::when_all(std::move(answers)).get();
      for (Eigen::Index i = first; i < last; ++i)
        right += digits[static_cast<std::size_t>(i - first)] == test.labels(i);
    }
    server.call<&Classifier::count>(test.examples(), right);
  };
  program.function({.name = "client", .replicas = config.clients, .ends_program = true}, ask, classifier);
  return program;
}

Result report(lp::Run& run, const Config&) { return run.client<Classifier>("classifier").call<&Classifier::result>(); }

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }
