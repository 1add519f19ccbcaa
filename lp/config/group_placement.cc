#include "lp/config/group_placement.h"

#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "lp/config/bind.h"
#include "lp/config/yaml_fields.h"

namespace lp {
namespace {

// The keys of a group that are ordinary fields. Each of the other keys has a function that reads it.
struct PlainKeys {
  std::optional<std::string> launcher;
  std::vector<std::string> hosts;
  std::vector<std::string> slurm;
  std::optional<double> cpus;
  std::optional<double> gpus;
  std::optional<std::string> directory;
  std::optional<double> heartbeat;

  static constexpr auto fields = lp::fields(field("cpus", "cores", non_negative), field("gpus", "", non_negative),
                                            field("heartbeat", "seconds", endless(non_negative)));
};

struct RestartKeys {
  int budget = 0;
  std::optional<double> backoff;

  static constexpr auto fields =
      lp::fields(field("budget", "how often", at_least(1)), field("backoff", "seconds", non_negative));
};

std::uint64_t read_memory(const YamlNode& node, const std::string& file) {
  const auto fail = [&] {
    refuse(node.location, file,
           "memory: expected bytes, with K, M, G or T for powers of 1024 (512M), got " + describe(node));
  };
  constexpr std::string_view kSuffixes = "KMGT";
  if (node.kind != YamlNode::Kind::scalar) fail();
  std::uint64_t bytes = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto [rest, error] = std::from_chars(node.text.data(), end, bytes);
  if (error != std::errc{}) fail();
  if (rest == end) return bytes;
  const std::size_t power = kSuffixes.find(*rest);
  if (power == std::string_view::npos || rest + 1 != end) fail();
  const auto shift = 10 * (power + 1);
  if (bytes > std::numeric_limits<std::uint64_t>::max() >> shift) fail();
  return bytes << shift;
}

std::map<std::string, std::string> read_environment(const YamlNode& node, const std::string& file) {
  if (node.kind != YamlNode::Kind::map)
    refuse(node.location, file, "environment: expected NAME: value lines, got " + describe(node));
  std::map<std::string, std::string> environment;
  for (const YamlNode& variable : node.items) {
    const bool bad_name =
        variable.key.empty() || variable.key.find_first_of(std::string_view("=\0", 2)) != std::string::npos;
    if (bad_name) refuse(variable.key_location, file, "environment: a name is empty or has '=' or a zero byte in it");
    if (variable.kind != YamlNode::Kind::scalar || variable.text.find('\0') != std::string::npos) {
      refuse(variable.location, file,
             "environment: " + variable.key + ": expected a string, got " + describe(variable));
    }
    environment[variable.key] = variable.text;
  }
  return environment;
}

void refuse_empty(const YamlNode& map, const std::string& file) {
  for (const YamlNode& key : map.items) {
    if (key.kind != YamlNode::Kind::null) continue;
    refuse(key.location, file, key.key + ": it has no value: give one, or leave the line out for that of the program");
  }
}

GroupPlacement::OnFailure read_on_failure(const YamlNode& node, const std::string& file) {
  using Action = GroupPlacement::OnFailure::Action;
  if (node.kind == YamlNode::Kind::scalar && node.text == "stop") return {.action = Action::stop};
  if (node.kind == YamlNode::Kind::scalar && node.text == "ignore") return {.action = Action::ignore};
  const bool is_restart = node.kind == YamlNode::Kind::map && node.items.size() == 1 && node.items[0].key == "restart";
  if (!is_restart) {
    refuse(node.location, file,
           "on_failure: expected stop, ignore, {restart: 3} or {restart: {budget: 3, backoff: 0.5}}, got " +
               describe(node));
  }
  const YamlNode& restart = node.items[0];
  RestartKeys keys;
  if (restart.kind == YamlNode::Kind::map) {
    assign_yaml(bind(keys), restart, file);
    refuse_empty(restart, file);
    if (keys.budget == 0) refuse(restart.location, file, "on_failure: restart: `budget` is missing");
  } else {
    YamlNode budget = restart;
    budget.key = "budget";
    YamlNode map{.kind = YamlNode::Kind::map, .location = restart.location};
    map.items.push_back(std::move(budget));
    assign_yaml(bind(keys), map, file);
  }
  return {.action = Action::restart, .budget = keys.budget, .backoff = keys.backoff};
}

GroupPlacement read_group(const YamlNode& node, const std::string& file) {
  if (node.kind != YamlNode::Kind::map)
    refuse(node.location, file, "the group " + node.key + ": expected a map, got " + describe(node));
  static const std::array<std::string, 3> kOthers{"memory", "environment", "on_failure"};
  PlainKeys keys;
  assign_yaml(bind(keys), node, file, kOthers);
  refuse_empty(node, file);
  GroupPlacement placement{.group = node.key,
                           .file = file,
                           .line = node.key_location.line,
                           .launcher = std::move(keys.launcher),
                           .hosts = std::move(keys.hosts),
                           .slurm = std::move(keys.slurm),
                           .cpus = keys.cpus,
                           .gpus = keys.gpus,
                           .directory = std::move(keys.directory),
                           .heartbeat = keys.heartbeat};
  if (const YamlNode* memory = node.find("memory")) placement.memory = read_memory(*memory, file);
  if (const YamlNode* environment = node.find("environment"))
    placement.environment = read_environment(*environment, file);
  if (const YamlNode* on_failure = node.find("on_failure")) placement.on_failure = read_on_failure(*on_failure, file);
  return placement;
}

}  // namespace

std::vector<GroupPlacement> read_placements(const YamlNode& groups, const std::string& file) {
  if (groups.kind == YamlNode::Kind::null) return {};
  if (groups.kind != YamlNode::Kind::map) {
    refuse(groups.location, file,
           "groups: expected the name of a group and a map of its settings, got " + describe(groups));
  }
  std::vector<GroupPlacement> placements;
  placements.reserve(groups.items.size());
  for (const YamlNode& group : groups.items) placements.push_back(read_group(group, file));
  return placements;
}

}  // namespace lp
