// lp complete: prints the completions of a word for the shell: commands, flags, runs and nodes. tools/lp/lp.bash calls
// it.

#include <algorithm>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tools/lp/command.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/runs.h"

namespace lp::tool {
namespace {

std::vector<std::string> run_names() {
  std::vector<std::string> names = {"last"};
  for (const RunLocation& run : all_runs()) names.push_back(run.name);
  return names;
}

std::vector<std::string> node_names(const std::string& run) {
  std::vector<std::string> names;
  const Plan plan = plan_of(find_run(run));
  for (const PlanGroup& group : plan.groups) {
    if (group.size > 1) names.push_back(group.options.name);
  }
  for (const PlanNode& node : plan.nodes) names.push_back(node.name);
  return names;
}

std::vector<std::string> candidates(std::span<const std::string> words) {
  std::vector<std::string> all;
  if (words.size() < 2) {
    for (const Command& command : commands()) all.emplace_back(command.name);
    return all;
  }
  const auto command =
      std::find_if(commands().begin(), commands().end(), [&](const Command& one) { return one.name == words[0]; });
  if (command == commands().end()) return all;
  if (words.back().starts_with("-")) {
    for (const Flag& flag : command->flags) {
      all.push_back("--" + std::string(flag.name) + (flag.value.empty() ? "" : "="));
    }
    return all;
  }
  std::vector<std::string> given;
  for (const std::string& word : words.subspan(1, words.size() - 2)) {
    if (!word.starts_with("-")) given.push_back(word);
  }
  std::istringstream places{std::string(command->words)};
  std::vector<std::string> spec;
  for (std::string place; places >> place;) spec.push_back(place);
  if (spec.empty() || (given.size() >= spec.size() && spec.back().find("...") == std::string::npos)) return all;
  const std::string& place = spec[std::min(given.size(), spec.size() - 1)];
  if (place.find("RUN") != std::string::npos) return run_names();
  if (place.find("NODE") != std::string::npos) return node_names(given[0]);
  if (std::islower(static_cast<unsigned char>(place[0])) == 0) return all;
  std::istringstream choices(place);
  for (std::string choice; std::getline(choices, choice, '|');) all.push_back(choice);
  return all;
}

}  // namespace

std::string completions(std::span<const std::string> words) {
  std::string text;
  try {
    for (const std::string& candidate : candidates(words)) {
      if (words.empty() || candidate.starts_with(words.back())) text += candidate + "\n";
    }
  } catch (const CommandError&) {  // an unknown run has no nodes
  }
  return text;
}

}  // namespace lp::tool
