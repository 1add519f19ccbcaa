// lp plot: draws the values that nodes have reported as curves, of one run or of several together.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/record/saved_curves.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/draw/chart.h"
#include "tools/lp/command.h"
#include "tools/lp/run_charts.h"
#include "tools/lp/runs.h"

namespace lp::tool {
namespace {

constexpr std::ptrdiff_t kMostNamed = 12;  // values in a refusal

// "RUN,RUN". A directory may have commas in its name.
std::vector<RunLocation> runs_in(const std::string& word) {
  if (std::filesystem::is_directory(word)) return {find_run(word)};
  std::vector<RunLocation> runs;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find(',', begin), word.size());
    const RunLocation run = find_run(word.substr(begin, end - begin));
    const bool known = std::any_of(runs.begin(), runs.end(), [&](const RunLocation& one) {
      return std::filesystem::equivalent(one.directory, run.directory);
    });
    if (!known) runs.push_back(run);
    begin = end + 1;
  }
  return runs;
}

// The last parts of a path.
std::string tail_of(std::filesystem::path path, std::size_t parts) {
  std::filesystem::path tail;
  for (; parts > 0 && path.has_filename(); --parts) {
    tail = tail.empty() ? path.filename() : path.filename() / tail;
    path = path.parent_path();
  }
  return tail.string();
}

// Their names, with as many folders in front as make all of them differ.
std::vector<std::string> names_of(const std::vector<RunLocation>& runs) {
  constexpr std::size_t kDeepest = 100;
  for (std::size_t parts = 1;; ++parts) {
    std::vector<std::string> names;
    for (const RunLocation& run : runs) names.push_back(tail_of(std::filesystem::absolute(run.directory), parts));
    if (parts == kDeepest || std::set<std::string>(names.begin(), names.end()).size() == runs.size()) return names;
  }
}

// Runs that would leave no line in the charts.
void warn_of_empty(const std::vector<RunCurves>& runs, const std::vector<std::string>& metrics) {
  for (const RunCurves& run : runs) {
    const bool drawn = std::any_of(metrics.begin(), metrics.end(), [&](const std::string& metric) {
      return std::any_of(run.nodes.begin(), run.nodes.end(),
                         [&](const auto& node) { return node.second.contains(metric); });
    });
    if (!drawn) log_line(run.run + " is left out: none of its nodes has reported these values");
  }
}

std::string some_of(const std::vector<std::string>& all) {
  std::vector<std::string> some(all.begin(), all.begin() + std::min(std::ssize(all), kMostNamed));
  if (some.size() < all.size()) some.push_back(std::to_string(all.size() - some.size()) + " more");
  return join(some, ", ");
}

std::vector<std::string> wanted_metrics(const std::vector<RunCurves>& runs, const std::vector<std::string>& words) {
  const std::vector<std::string> all = metrics_of(runs);
  if (all.empty()) {
    std::vector<std::string> names;
    for (const RunCurves& run : runs) names.push_back(run.run);
    throw CommandError(
        Exit::failed,
        join(names, ", ") +
            " has no curves that can be read: no node has reported values of its progress, or their files are damaged");
  }
  for (const std::string& word : words) {
    if (std::find(all.begin(), all.end(), word) == all.end()) {
      const std::string guess = did_you_mean(word, all);
      throw CommandError(Exit::unknown, "no node has reported the value " + quote(word) +
                                            (guess.empty() ? "; there is " + some_of(all) : guess));
    }
  }
  return words.empty() ? all : words;
}

std::string curves_json(const std::vector<RunCurves>& runs, const std::vector<std::string>& metrics) {
  JsonWriter json;
  json.begin_array();
  for (const std::string& metric : metrics) {
    for (const RunCurves& run : runs) {
      for (const auto& [node, curves] : run.nodes) {
        const auto at = curves.find(metric);
        if (at == curves.end()) continue;
        json.begin_object();
        json.member("metric", metric);
        json.member("run", run.run);
        json.member("node", node);
        json.member("points", at->second);
        json.end_object();
      }
    }
  }
  json.end_array();
  return std::move(json).text() + "\n";
}

}  // namespace

int plot_command(const Arguments& arguments, Screen& screen) {
  std::vector<RunCurves> runs;
  const std::vector<RunLocation> places = runs_in(arguments.words()[0]);
  for (const std::string& name : names_of(places)) {
    const std::filesystem::path& directory = places[runs.size()].directory;
    runs.push_back({name, launch::read_curves(directory)});
    for (const std::string& damage : launch::damaged_curves(directory)) log_line(damage);
  }
  const std::vector<std::string> words(arguments.words().begin() + 1, arguments.words().end());
  const std::vector<std::string> metrics = wanted_metrics(runs, words);
  const std::filesystem::path file = arguments.value("output");
  if (!file.empty() && file.extension() != ".svg") {
    throw CommandError(Exit::usage, "--output=" + file.string() + ": expected a name that ends in .svg");
  }
  if (!file.empty()) check_output(file);
  warn_of_empty(runs, metrics);
  const std::vector<Chart> charts = charts_of(runs, metrics);
  if (!file.empty()) write_charts(file, charts);
  if (arguments.has("json")) {
    screen.write(curves_json(runs, metrics));
  } else if (file.empty()) {
    screen.write(to_svg(charts));
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool
