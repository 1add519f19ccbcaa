// Clusters points (Lloyd: Least squares quantization in PCM, 1982). A line has a point's number and its coordinates.
// The first clusters are around the points 0, 1, ..., which must be there.
//
//   build/examples/kmeans --pipeline.input=points.txt --pipeline.into=centres --clusters=3 --launch=processes
//
// The points are in blocks, which stay on disk, where every round reads them. A round adds the points of each block in
// the order of their numbers, and then the blocks, so that the centres have the same bits for any number of replicas.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/pipeline/pipeline_flags.h"

struct Config {
  lp::PipelineFlags pipeline{};
  std::uint32_t clusters = 3;
  std::uint32_t blocks = 16;
  std::uint32_t rounds = 10;
  static constexpr auto fields =
      lp::fields(lp::field("clusters", "how many", lp::at_least(1)), lp::field("blocks", "of points", lp::at_least(1)),
                 lp::field("rounds", "how often the centres move", lp::range(1, 100)));
};

using Vector = std::vector<double>;
struct Point {
  std::uint64_t number = 0;
  Vector at{};
};
// A sum of the points of a cluster, or, when it has a block to go to, their mean.
struct Centre {
  std::uint64_t cluster = 0;
  std::uint64_t block = 0;
  Vector at{};
  std::uint64_t count = 0;
  Vector before{};  // where a cluster stays that has no points
};

[[noreturn]] void refuse(const std::string& what) { throw lp::Error(lp::ErrorKind::failed, what); }

void point_of(std::string_view line, lp::dataflow::Collector<Point>& out) {
  Point point;
  bool first = true;
  for (const std::string_view word : lp::words(line)) {
    if (std::exchange(first, false)) {
      point.number = lp::number_of<std::uint64_t>(word, "a line does not begin with the number of a point");
      continue;
    }
    point.at.push_back(lp::number_of<double>(word, "a point has other things than coordinates"));
    if (!std::isfinite(point.at.back())) refuse("the coordinate " + std::string(word) + " is not finite");
  }
  if (first) return;  // an empty line
  if (point.at.empty()) refuse("the point " + std::to_string(point.number) + " has no coordinates");
  out(std::move(point));
}

// The first centres are points.
void check(const std::vector<Point>& points, const std::vector<Centre>& centres, std::uint64_t clusters) {
  if (centres.empty()) refuse("no point has a number that is less than --clusters, so there is nothing to begin with");
  const auto need_same = [&](std::uint64_t point, const Vector& at) {
    if (at.size() == centres.front().at.size()) return;
    refuse("point " + std::to_string(point) + " has " + std::to_string(at.size()) + " coordinates, and point " +
           std::to_string(centres.front().cluster) + " has " + std::to_string(centres.front().at.size()));
  };
  for (const Centre& one : centres) need_same(one.cluster, one.at);
  for (const Point& one : points) need_same(one.number, one.at);
  const auto same = std::adjacent_find(points.begin(), points.end(),
                                       [](const Point& a, const Point& b) { return a.number == b.number; });
  if (same != points.end()) refuse("two points have the number " + std::to_string(same->number));
  for (std::uint64_t i = 0; i < clusters; ++i) {
    if (i < centres.size() && centres[i].cluster == i) continue;
    refuse("the clusters begin with the points 0 to " + std::to_string(clusters - 1) + ", and there is no point " +
           std::to_string(i) + ": number the points from 0, and give --clusters no more than there are");
  }
}

void add(Vector& sum, const Vector& other) {
  sum.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) sum[i] += other[i];
}

double distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// The sums of a block's points by cluster.
void sums_of(std::uint64_t block, std::uint64_t clusters, std::vector<Point> points, std::vector<Centre> centres,
             lp::dataflow::Collector<Centre>& out) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.number < b.number; });
  std::sort(centres.begin(), centres.end(), [](const Centre& a, const Centre& b) { return a.cluster < b.cluster; });
  check(points, centres, clusters);
  std::vector<Centre> sums;
  for (const Centre& one : centres)
    sums.push_back({.cluster = one.cluster, .block = block, .at = Vector(one.at.size()), .before = one.at});
  for (const Point& point : points) {
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < centres.size(); ++i) {
      if (distance(point.at, centres[i].at) < distance(point.at, centres[nearest].at)) nearest = i;
    }
    add(sums[nearest].at, point.at);
    ++sums[nearest].count;
  }
  for (Centre& one : sums) out(std::move(one));
}

// The means of the sums, one for each block.
lp::Flow<Centre> means_of(const lp::Flow<Centre>& sums, std::uint64_t blocks, const std::string& stage) {
  return sums.key_by([](const Centre& one) { return one.cluster; }, {.name = stage})
      .group<Centre>([blocks](std::uint64_t cluster, lp::Records<Centre>& records, auto& out) {
        std::vector<Centre> all;
        for (const Centre& one : records) all.push_back(one);
        std::sort(all.begin(), all.end(), [](const Centre& a, const Centre& b) { return a.block < b.block; });
        Centre mean{.cluster = cluster};
        for (const Centre& one : all) {
          add(mean.at, one.at);
          mean.count += one.count;
        }
        for (double& x : mean.at) x /= static_cast<double>(mean.count);
        if (mean.count == 0) mean.at = all.front().before;
        for (mean.block = 0; mean.block < blocks; ++mean.block) out(mean);
      });
}

lp::Program make_program(const Config& config) {
  lp::Pipeline pipeline;
  const std::uint64_t count = config.blocks;
  const auto points = lines_of(pipeline, config.pipeline).flat_map<Point>(point_of);
  const auto blocks =
      points.key_by([count](const Point& one) { return one.number % count; }, {.name = "blocks"}).cache();
  lp::Flow<Centre> centres =
      means_of(points.filter([clusters = config.clusters](const Point& one) { return one.number < clusters; })
                   .map([](const Point& one) { return Centre{.cluster = one.number, .at = one.at, .count = 1}; }),
               count, "means0");
  for (std::uint32_t round = 1; round <= config.rounds; ++round) {
    const std::string number = std::to_string(round);
    const auto sums = blocks.co_group<Centre>(
        centres.key_by([](const Centre& one) { return one.block; }, {.name = "sums" + number}),
        [clusters = config.clusters](std::uint64_t block, const auto& members, const auto& all, auto& out) {
          sums_of(block, clusters, members, all, out);
        });
    centres = means_of(sums, count, "means" + number);
  }
  centres.filter([](const Centre& one) { return one.block == 0; })
      .write(config.pipeline.into, [](const Centre& one, lp::Output& out) {
        out.write(one.cluster);
        for (const double x : one.at) {
          out.write('\t');
          out.write(x);
        }
        out.line('\t', one.count);
      });
  lp::Program program("kmeans");
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

lp::PipelineResult report(lp::Run& run, const Config&) {
  return run.client<lp::PipelineMaster>("pipeline").call<&lp::PipelineMaster::result>();
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }
