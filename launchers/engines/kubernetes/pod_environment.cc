#include "launchers/engines/kubernetes/pod_environment.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "launchers/control/process_roles.h"
#include "launchers/record/records.h"
#include "launchers/remote/agent_dialer.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"

namespace lp::launch {
namespace {

constexpr const char* kTerminationLog = "/dev/termination-log";
constexpr std::size_t kLongestWord = 4096;  // bytes that Kubernetes keeps
// With the run's name it makes the name of a Job, of 63 characters at most.
constexpr std::size_t kLongestNodeName = 20;

// Turns "worker/0" into "worker-0". The result neither begins nor ends with "-".
std::string pod_host_name(const std::string& node) {
  std::string name = cluster_name(node.substr(0, kLongestNodeName));
  if (name.front() == '-') name.front() = 'n';
  if (name.back() == '-') name.back() = 'n';
  return name;
}

}  // namespace

std::string cluster_name(const std::string& text) {
  std::string name = text;
  for (char& one : name) {
    const auto letter = static_cast<unsigned char>(one);
    one = std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '-';
  }
  return name;
}

std::vector<std::string> pod_names(const Plan& plan) {
  std::vector<std::string> names(plan.processes);
  std::set<std::string> taken{"coordinator"};
  for (const PlanNode& node : plan.nodes) {
    if (!names[node.process].empty()) continue;
    std::string name = pod_host_name(node.name);
    if (!taken.insert(name).second) name += "-p" + std::to_string(node.process);
    taken.insert(name);
    names[node.process] = name;
  }
  return names;
}

bool in_pod() { return std::getenv(kKeysVariable) != nullptr; }

AgentAcceptor::Options acceptor_of_pod() {
  AcceptorKeys keys = read_keys(handed_over(kKeysVariable));
  const std::string endpoint = handed_over(kCoordinatorVariable);
  const std::string port = endpoint.substr(endpoint.rfind(':') + 1);
  AgentAcceptor::Options options{
      .address = handed_over(kAddressVariable), .keys = keys.own, .agents = std::move(keys.others)};
  const auto [rest, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error != std::errc{} || rest != port.data() + port.size() || options.port < 1 || options.port > 65535) {
    throw Error(ErrorKind::failed, std::string(kCoordinatorVariable) + "=" + endpoint + ": it has no port");
  }
  return options;
}

void leave_result(const std::filesystem::path& directory) {
  std::string text = read_text_if_any(directory / "result.json", kLargestRecord).value_or("");
  if (text.size() > kLongestWord) {
    auto result = from_json<ResultRecord>(JsonValue::parse(text));  // without the program's report
    for (std::vector<std::string>* lines : {&result.cause.backtrace, &result.cause.last_lines}) {
      if (to_json(result).size() > kLongestWord) lines->clear();
    }
    for (std::string* word : {&result.reason, &result.cause.what}) {  // a byte may become six, in both
      word->resize(std::min(word->size(), kLongestWord / 16));
    }
    text = to_json(result);
  }
  std::error_code none;  // the file does not exist where pods are processes of a test
  if (std::filesystem::exists(kTerminationLog, none)) std::ofstream(kTerminationLog) << text;
}

}  // namespace lp::launch
