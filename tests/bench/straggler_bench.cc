// straggler_bench [--quick | SVG]: the time of training to a loss when a worker is slow, by scheme: a table on standard
// error, JSON on standard output, and the losses over time as a picture. The time of a gradient is proportional to its
// examples and uses no core, so that the schemes are compared and not the machine. In one panel one worker is five
// times slower all the time, in the other each worker for a quarter of its gradients. A figure is the median of three.
//
// It ends with 1 unless the order is that of the papers. When one worker is always slow, a scheme that waits for no
// worker, or for all except one, must be at least twice as fast as a scheme that waits for all. When all are slow in
// turns, every scheme that tolerates it must be faster.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/run.h"
#include "lp/base/json.h"
#include "lp/base/random.h"
#include "lp/base/scheduler.h"
#include "lp/draw/chart.h"
#include "programs/models/mlp.h"
#include "programs/schemes/asynchronous.h"
#include "programs/schemes/bounded_delay.h"
#include "programs/schemes/stale_synchronous.h"
#include "programs/training/evaluation.h"
#include "programs/training/synchronous.h"

namespace {

constexpr int kWorkers = 4;
constexpr double kSlower = 5;
constexpr auto kExample = std::chrono::microseconds(250);

struct Goal {
  double loss = 0.5;  // mean over the training examples
  int runs = 3;
};

enum class Straggler : std::uint8_t { always_one, in_turns };
constexpr const char* kNames[] = {"always the same", "each in turns"};

class SlowModel;
struct Stragglers {
  Straggler kind{};
  std::atomic<const SlowModel*> slowest = nullptr;
  std::atomic<std::uint64_t> models = 0;
};

// Waits as long as a gradient takes at this worker.
class SlowModel final : public lp::Model {
 public:
  explicit SlowModel(Stragglers& stragglers) : stragglers_(stragglers), random_(stragglers.models++, "slow") {}
  Eigen::Index size() const override { return mlp_.size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return mlp_.initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return mlp_.scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const lp::Dataset& batch, Eigen::VectorXf& gradient) const override {
    const SlowModel* nobody = nullptr;
    stragglers_.slowest.compare_exchange_strong(nobody, this);  // the first worker that computes
    const double number = random_.uniform();
    const bool slow = stragglers_.kind == Straggler::always_one ? stragglers_.slowest == this : number < 1.0 / kWorkers;
    const double times = static_cast<double>(batch.examples()) * (slow ? kSlower : 1);
    lp::Event().wait(lp::after(std::chrono::duration_cast<lp::Duration>(kExample * times)));
    return mlp_.loss(parameters, batch, gradient);
  }

 private:
  const lp::Mlp mlp_{{64, 24, 10}, lp::Activation::tanh};
  Stragglers& stragglers_;
  mutable lp::Random random_;
};

struct Point {
  double seconds = 0;
  double loss = 0;
};
struct Curve {
  std::string straggler{};
  std::string scheme{};
  double seconds = 0;  // to the loss; 0: it was not reached
  std::vector<Point> points{};
};

using Add = std::function<lp::TrainingGraph(lp::Program&, const lp::LearningTask&, const lp::ServerTraining&)>;
struct Scheme {
  std::string name;
  Add add;
};

Curve run_once(Straggler straggler, const Scheme& scheme, const Goal& goal) {
  Stragglers stragglers{.kind = straggler};
  const lp::LearningTask task{.model = [&stragglers] { return std::make_unique<SlowModel>(stragglers); },
                              .data = [](std::uint64_t seed) { return lp::split(lp::digits(), seed).train; }};
  lp::Program program("straggler");
  const lp::TrainingGraph graph = scheme.add(
      program, task, {.workers = kWorkers, .steps = 20'000, .rule = lp::Sgd{.rate = 0.1F}, .checkpoint_every = 0});
  lp::Run run(std::move(program), {.seed = 1});
  Curve out{.straggler = kNames[static_cast<int>(straggler)], .scheme = scheme.name};
  if (!run.wait_ready(std::chrono::minutes(1))) return out;
  const lp::Dataset data = task.data(1);
  const auto model = task.model();
  const auto servers = run.client(graph.servers);
  const lp::Time start = lp::now();
  while (!run.wait_for(std::chrono::milliseconds(20)) && out.seconds == 0) {
    const Eigen::VectorXf parameters = lp::present_parameters(servers).values.head(model->size());
    out.points.push_back({lp::to_seconds(lp::now() - start), lp::evaluate(*model, parameters, data).loss});
    if (out.points.back().loss <= goal.loss) out.seconds = out.points.back().seconds;
  }
  run.stop("the loss is reached");
  run.wait();
  return out;
}

Curve median_run(Straggler straggler, const Scheme& scheme, const Goal& goal) {
  std::vector<Curve> curves;
  for (int i = 0; i < goal.runs; ++i) curves.push_back(run_once(straggler, scheme, goal));
  std::sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) { return a.seconds < b.seconds; });
  return curves[curves.size() / 2];
}

// A chart for each straggler, a line for each scheme.
std::vector<lp::Chart> charts_of(const std::vector<Curve>& curves) {
  std::map<std::string, lp::Chart> charts;
  for (const Curve& curve : curves) {
    lp::Chart& chart = charts[curve.straggler];
    chart.title = "loss; a worker is 5 times slower, " + curve.straggler;
    chart.x = "seconds";
    lp::Curve& line = chart.curves.emplace_back(lp::Curve{.name = curve.scheme});
    for (const Point& point : curve.points) line.points.push_back({point.seconds, point.loss});
  }
  std::vector<lp::Chart> all;
  for (auto& [straggler, chart] : charts) all.push_back(std::move(chart));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  const Goal goal = quick ? Goal{.loss = 2, .runs = 1} : Goal{};
  const std::vector<Scheme> schemes{
      {"synchronous", [](auto& p, const auto& t, const auto& s) { return lp::add_synchronous_training(p, t, s); }},
      {"backup", [](auto& p, const auto& t, const auto& s) { return lp::add_synchronous_training(p, t, s, 1); }},
      {"bounded_delay",
       [](auto& p, const auto& t, const auto& s) { return lp::add_bounded_delay_training(p, t, s, 4); }},
      {"stale_synchronous",
       [](auto& p, const auto& t, const auto& s) { return lp::add_stale_synchronous_training(p, t, s, 4); }},
      {"asynchronous", [](auto& p, const auto& t, const auto& s) { return lp::add_asynchronous_training(p, t, s); }}};
  std::fprintf(stderr, "| scheme | %s | %s |\n| --- | ---: | ---: |\n", kNames[0], kNames[1]);
  std::vector<Curve> curves;
  std::map<std::string, std::array<double, 2>> seconds;
  bool reached = true;
  for (const Scheme& scheme : schemes) {
    for (const Straggler straggler : {Straggler::always_one, Straggler::in_turns}) {
      curves.push_back(median_run(straggler, scheme, goal));
      seconds[scheme.name][static_cast<std::size_t>(straggler)] = curves.back().seconds;
      reached = reached && curves.back().seconds > 0;
    }
    const std::array<double, 2>& row = seconds[scheme.name];
    std::fprintf(stderr, "| %s | %.2f | %.2f |\n", scheme.name.c_str(), row[0], row[1]);
  }
  if (argc > 1 && !quick) lp::write_charts(argv[1], charts_of(curves));
  std::printf("%s\n", lp::to_json(curves).c_str());
  bool ordered = true;
  const std::array<double, 2>& all = seconds["synchronous"];
  for (const auto& [name, own] : seconds) {
    if (name == "backup" || name == "asynchronous") ordered = ordered && 2 * own[0] <= all[0];
    if (name != "synchronous") ordered = ordered && own[1] < all[1];
  }
  return reached && (quick || ordered) ? 0 : 1;
}
