#include "launchers/engines/kubernetes/manifests.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>
#include <yaml-cpp/stlemitter.h>

#include "launchers/control/process_roles.h"
#include "launchers/engines/kubernetes/pod_environment.h"
#include "launchers/engines/kubernetes/pod_recreation.h"
#include "launchers/plan/process_resources.h"
#include "launchers/remote/agent_dialer.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr int kPort = 7077;
constexpr const char* kCoordinator = "coordinator";
constexpr std::size_t kLongestRunName = 36;  // with a pod's name it makes the name of a Job, of 63 characters at most
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kOfAgent = 64 * kMebibyte;  // the memory of the agent and its dialer, beside that of the nodes
constexpr int kUser = 65532;                        // "nobody" of images that have no users

// Text that somebody has chosen. In quotes, it is text to every reader of YAML, also if it is "yes" or "1e3".
struct Text {
  const std::string& text;
};
YAML::Emitter& operator<<(YAML::Emitter& out, const Text& one) { return out << YAML::DoubleQuoted << one.text; }

// The contents of a file: as a block of lines, if YAML keeps the text in one.
struct Contents {
  const std::string& text;
};
YAML::Emitter& operator<<(YAML::Emitter& out, const Contents& one) {
  const std::string& text = one.text;
  const bool is_printable =
      std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte >= ' ' || byte == '\n'; });
  const bool ends_once = text.ends_with('\n') && !text.ends_with("\n\n");
  if (is_printable && ends_once && !text.starts_with(' ') && !text.starts_with('\n'))
    out << YAML::Literal;
  else
    out << YAML::DoubleQuoted;
  return out << text;
}

struct Taint {
  std::string key{};
  std::optional<std::string> value{};
  std::string effect{};  // empty: every effect
};

// Parses "gpu=yes:NoSchedule", "gpu:NoSchedule" or "gpu".
Taint taint_of(const std::string& toleration) {
  const std::size_t colon = toleration.find(':');
  const std::string taint = toleration.substr(0, colon);
  const std::size_t equals = taint.find('=');
  if (taint.empty() || equals == 0) {
    throw Error(ErrorKind::failed,
                "--tolerations=" + quote(toleration) + ": expected KEY, KEY:EFFECT or KEY=VALUE:EFFECT");
  }
  Taint result{.key = taint.substr(0, equals)};
  if (equals != std::string::npos) result.value = taint.substr(equals + 1);
  if (colon != std::string::npos) result.effect = toleration.substr(colon + 1);
  return result;
}

class Manifests {
 public:
  Manifests(const KubernetesRun& run, const Plan& plan, const RunKeys* keys)
      : run_(run), plan_(plan), keys_(keys), name_(object_name(run.name)), pods_(pod_names(plan)) {}

  std::string write() {
    out_ << YAML::Comment("The run " + run_.name + " of lp: " + std::to_string(plan_.nodes.size()) + " nodes in " +
                          std::to_string(plan_.processes) + " processes.");
    begin("v1", "ServiceAccount", name_);  // without rights; no pod gets its token
    member("automountServiceAccountToken") << false;
    end();
    write_service();
    write_secret();
    if (!run_.configuration.empty()) {
      begin("v1", "ConfigMap", name_);
      member("data") << YAML::BeginMap;
      member("config.yaml") << Contents{run_.configuration};
      out_ << YAML::EndMap;
      end();
    }
    std::vector<std::string> flags = run_.flags;
    flags.push_back("--directory=" + directory_in_pod(run_.name));
    if (!run_.configuration.empty()) flags.emplace_back("--config=/etc/lp/config.yaml");
    write_process(kCoordinator, recreation_of_coordinator(), flags, {});
    const std::vector<ProcessResources> needs = needs_of_processes(plan_);
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      write_process(pods_[i], recreation_of_agent(run_.grace), {std::string(kDialFlag) + run_.name + "@" + pods_[i]},
                    needs[i]);
    }
    return std::string(out_.c_str(), out_.size()) + "\n";
  }

 private:
  // The value of a map's member; it follows.
  YAML::Emitter& member(const char* key) { return out_ << YAML::Key << key << YAML::Value; }
  YAML::Emitter& on_one_line() { return out_ << YAML::Flow << YAML::BeginMap; }
  // {key: value}
  void pair(const char* key, const std::string& value) {
    on_one_line();
    member(key) << Text{value};
    out_ << YAML::EndMap;
  }

  void begin(const char* version, const char* kind, const std::string& name) {
    out_ << YAML::BeginDoc << YAML::BeginMap;
    member("apiVersion") << version;
    member("kind") << kind;
    member("metadata") << YAML::BeginMap;
    member("name") << Text{name};
    write_labels();
    out_ << YAML::EndMap;
  }
  void end() { out_ << YAML::EndMap; }
  void write_labels() {
    member("labels");
    pair(kRunLabel, name_);
  }

  // A Service without an address of its own: each pod has a DNS name below it, whether it is ready or not.
  void write_service() {
    begin("v1", "Service", name_);
    member("spec") << YAML::BeginMap;
    member("clusterIP") << "None";
    member("publishNotReadyAddresses") << true;
    member("selector");
    pair(kRunLabel, name_);
    member("ports") << YAML::BeginSeq;
    on_one_line();
    member("name") << "coordinator";
    member("port") << kPort;
    out_ << YAML::EndMap << YAML::EndSeq << YAML::EndMap;
    end();
  }

  void write_secret() {
    begin("v1", "Secret", name_);
    if (keys_ == nullptr) {
      out_ << YAML::Newline
           << YAML::Comment("Each pod gets the keys of its own name; they are made when the run is submitted.");
    }
    member("stringData") << YAML::BeginMap;
    const auto entry = [&](const std::string& pod, const AcceptorKeys* keys) {
      const std::string text = keys == nullptr ? std::string() : to_text(*keys);
      out_ << YAML::Key << Text{pod} << YAML::Value << Contents{text};
    };
    entry(kCoordinator, keys_ == nullptr ? nullptr : &keys_->coordinator);
    for (std::size_t i = 0; i < pods_.size(); ++i) entry(pods_[i], keys_ == nullptr ? nullptr : &keys_->agents[i]);
    out_ << YAML::EndMap;
    end();
  }

  // A pod by itself, or a Job that creates it.
  void write_process(const std::string& pod, const PodRecreation& recreation, const std::vector<std::string>& arguments,
                     const ProcessResources& needs) {
    if (!recreation.by_job) {
      begin("v1", "Pod", name_ + "-" + pod);
      write_pod(pod, recreation, arguments, needs);
      return end();
    }
    begin("batch/v1", "Job", name_ + "-" + pod);
    member("spec") << YAML::BeginMap;
    member("backoffLimit") << recreation.most_pods;
    member("template") << YAML::BeginMap;
    member("metadata") << YAML::BeginMap;
    write_labels();
    out_ << YAML::EndMap;
    write_pod(pod, recreation, arguments, needs);
    out_ << YAML::EndMap << YAML::EndMap;
    end();
  }

  // The specification of a pod.
  void write_pod(const std::string& pod, const PodRecreation& recreation, const std::vector<std::string>& arguments,
                 const ProcessResources& needs) {
    const bool coordinator = pod == kCoordinator;
    member("spec") << YAML::BeginMap;
    member("hostname") << Text{pod};
    member("subdomain") << Text{name_};
    member("restartPolicy") << recreation.container_policy;
    member("terminationGracePeriodSeconds") << run_.grace + 5;
    // A server-side dry run checks the account of a Pod, and does not find one that is made beside it.
    if (!coordinator) member("serviceAccountName") << Text{name_};
    member("automountServiceAccountToken") << false;
    member("enableServiceLinks") << false;
    write_node_selector();
    write_tolerations(recreation.seconds_lost);
    member("securityContext") << YAML::BeginMap;
    member("runAsNonRoot") << true;
    for (const char* const id : {"runAsUser", "runAsGroup", "fsGroup"}) member(id) << kUser;
    member("seccompProfile");
    pair("type", "RuntimeDefault");
    out_ << YAML::EndMap;
    member("containers") << YAML::BeginSeq;
    write_container(arguments, needs, coordinator);
    out_ << YAML::EndSeq;
    write_volumes(pod, coordinator);
    out_ << YAML::EndMap;
  }

  void write_container(const std::vector<std::string>& arguments, const ProcessResources& needs, bool coordinator) {
    out_ << YAML::BeginMap;
    member("name") << "lp";
    member("image") << Text{run_.image};
    member("imagePullPolicy") << "IfNotPresent";
    member("args") << YAML::BeginSeq;
    for (const std::string& argument : arguments) out_ << Text{argument};
    out_ << YAML::EndSeq;
    write_environment(coordinator);
    write_needs(needs);
    member("securityContext") << YAML::BeginMap;
    member("allowPrivilegeEscalation") << false;
    member("readOnlyRootFilesystem") << true;
    member("capabilities") << YAML::Flow << YAML::BeginMap;
    member("drop") << YAML::BeginSeq << "ALL" << YAML::EndSeq;
    out_ << YAML::EndMap << YAML::EndMap;
    member("volumeMounts") << YAML::BeginSeq;
    on_one_line();
    member("name") << "lp";
    member("mountPath") << "/etc/lp";
    member("readOnly") << true;
    out_ << YAML::EndMap;
    on_one_line();
    member("name") << "scratch";
    member("mountPath") << "/tmp";
    out_ << YAML::EndMap << YAML::EndSeq << YAML::EndMap;
  }

  void write_environment(bool coordinator) {
    const auto variable = [&](const char* name, const std::string& value) {
      on_one_line();
      member("name") << name;
      member("value") << Text{value};
      out_ << YAML::EndMap;
    };
    const auto field = [&](const char* name, const char* path) {
      on_one_line();
      member("name") << name;
      member("valueFrom") << YAML::BeginMap;
      member("fieldRef");
      pair("fieldPath", path);
      out_ << YAML::EndMap << YAML::EndMap;
    };
    member("env") << YAML::BeginSeq;
    variable(kKeysVariable, "/etc/lp/keys");
    variable(kCoordinatorVariable, "tcp://coordinator." + name_ + ":" + std::to_string(kPort));
    field(kAddressVariable, "status.podIP");
    if (!coordinator) field(kMachineVariable, "spec.nodeName");
    variable("HOME", "/tmp");
    out_ << YAML::EndSeq;
  }

  void write_volumes(const std::string& pod, bool coordinator) {
    member("volumes") << YAML::BeginSeq << YAML::BeginMap;
    member("name") << "lp";
    member("projected") << YAML::BeginMap;
    member("defaultMode") << "0440";
    member("sources") << YAML::BeginSeq << YAML::BeginMap;
    member("secret");
    on_one_line();
    member("name") << Text{name_};
    member("items") << YAML::BeginSeq << YAML::BeginMap;
    member("key") << Text{pod};
    member("path") << "keys";
    out_ << YAML::EndMap << YAML::EndSeq << YAML::EndMap << YAML::EndMap;
    if (coordinator && !run_.configuration.empty()) {
      out_ << YAML::BeginMap;
      member("configMap");
      pair("name", name_);
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq << YAML::EndMap << YAML::EndMap << YAML::BeginMap;
    member("name") << "scratch";
    member("emptyDir") << YAML::Flow << YAML::BeginMap << YAML::EndMap;
    out_ << YAML::EndMap << YAML::EndSeq;
  }

  // Selects the cluster's nodes for the pod.
  void write_node_selector() {
    if (run_.node_selector.empty()) return;
    member("nodeSelector") << YAML::BeginMap;
    for (const std::string& one : run_.node_selector) {
      const std::size_t equals = one.find('=');
      if (equals == std::string::npos || equals == 0) {
        throw Error(ErrorKind::failed, "--node-selector=" + quote(one) + ": expected LABEL=VALUE");
      }
      const std::string label = one.substr(0, equals), value = one.substr(equals + 1);
      out_ << YAML::Key << Text{label} << YAML::Value << Text{value};
    }
    out_ << YAML::EndMap;
  }

  // Limits the time that the pod may stay on a lost cluster node, and allows the taints that the user has given.
  void write_tolerations(std::optional<int> seconds_lost) {
    if (!seconds_lost.has_value() && run_.tolerations.empty()) return;
    member("tolerations") << YAML::BeginSeq;
    for (const char* const taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
      if (!seconds_lost.has_value()) break;
      on_one_line();
      member("key") << taint;
      member("operator") << "Exists";
      member("effect") << "NoExecute";
      member("tolerationSeconds") << *seconds_lost;
      out_ << YAML::EndMap;
    }
    for (const std::string& one : run_.tolerations) {
      const Taint taint = taint_of(one);
      on_one_line();
      member("key") << Text{taint.key};
      member("operator") << (taint.value.has_value() ? "Equal" : "Exists");
      if (taint.value.has_value()) member("value") << Text{*taint.value};
      if (!taint.effect.empty()) member("effect") << Text{taint.effect};
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq;
  }

  void write_needs(const ProcessResources& needs) {
    if (needs.memory == 0 && needs.gpus <= 0 && needs.cpus <= 0) return;
    member("resources") << YAML::BeginMap;
    if (needs.cpus > 0) {
      member("requests");
      pair("cpu", std::to_string(static_cast<std::int64_t>(std::ceil(needs.cpus * 1000))) + "m");
    }
    if (needs.memory > 0 || needs.gpus > 0) {
      member("limits");
      on_one_line();
      const std::uint64_t mebibytes = (needs.memory + kOfAgent + kMebibyte - 1) / kMebibyte;
      if (needs.memory > 0) member("memory") << std::to_string(mebibytes) + "Mi";
      if (needs.gpus > 0) member("nvidia.com/gpu") << static_cast<std::int64_t>(std::lround(needs.gpus));
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndMap;
  }

  const KubernetesRun& run_;
  const Plan& plan_;
  const RunKeys* keys_;
  const std::string name_;
  const std::vector<std::string> pods_;
  YAML::Emitter out_;
};

}  // namespace

RunKeys make_run_keys(std::size_t agents) {
  RunKeys keys{.coordinator = {.own = make_curve_keys()}};
  for (std::size_t i = 0; i < agents; ++i) {
    keys.agents.push_back({.own = make_curve_keys(), .others = {keys.coordinator.own.public_key}});
    keys.coordinator.others.push_back(keys.agents.back().own.public_key);
  }
  return keys;
}

std::string manifests(const KubernetesRun& run, const Plan& plan, const RunKeys* keys) {
  if (run.image.empty()) {
    throw Error(
        ErrorKind::failed,
        "--launch=kubernetes needs --image=NAME: an image whose entry point is the program; `lp image` makes one");
  }
  return Manifests(run, plan, keys).write();
}

// The end of a long name is kept, because it distinguishes the runs of a program.
std::string object_name(const std::string& run) {
  std::string name = cluster_name(run);
  if (name.size() > kLongestRunName) name.erase(0, name.size() - kLongestRunName);
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0) name.insert(0, "r");
  while (name.back() == '-') name.pop_back();
  return name;
}

std::string coordinator_pod(const std::string& run) { return object_name(run) + "-" + kCoordinator; }
std::string directory_in_pod(const std::string& run) { return "/tmp/" + run; }

}  // namespace lp::launch
