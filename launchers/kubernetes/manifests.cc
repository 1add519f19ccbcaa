#include "launchers/kubernetes/manifests.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "launchers/control/process_roles.h"
#include "launchers/kubernetes/pods.h"
#include "launchers/plan/process_resources.h"
#include "launchers/remote/agent_dialer.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/message.h"

namespace lp::internal {
namespace {

constexpr int kPort = 7077;
constexpr const char* kCoordinator = "coordinator";
constexpr std::size_t kLongestName = 36;  // with a pod's name it makes the name of a Job, of 63 characters at most
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kOfAgent = 64 * kMebibyte;  // the memory of the agent and its dialer, beside that of the nodes
constexpr int kRestarts = 100;  // restarts of an agent's pod; the program limits them by its own policies
constexpr int kUser = 65532;    // "nobody" of images that have no users

// A scalar of YAML, in quotes where it could be read as something else.
std::string scalar(const std::string& text) {
  constexpr std::string_view kOthers = "-_=./@";
  const bool plain = !text.empty() &&
                     (std::isalpha(static_cast<unsigned char>(text.front())) != 0 || text.starts_with("--")) &&
                     std::all_of(text.begin(), text.end(), [&](unsigned char one) {
                       return std::isalnum(one) != 0 || kOthers.find(static_cast<char>(one)) != std::string_view::npos;
                     });
  constexpr std::array<std::string_view, 8> kWords{"true", "false", "yes", "no", "on", "off", "null", "y"};
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  const bool word = lower == "n" || std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
  return plain && !word ? text : to_json(text);
}

// The text as a block, in which each line begins with `margin`.
std::string block(const std::string& text, const std::string& margin) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](unsigned char one) { return one >= ' ' || one == '\n'; });
  if (!printable || text.empty() || text.front() == ' ' || text.front() == '\n') return to_json(text);
  std::string result = text.back() == '\n' ? "|" : "|-";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += "\n" + (line.empty() ? line : margin + line);
  return result;
}

class Manifests {
 public:
  Manifests(const KubernetesRun& run, const Plan& plan, const RunKeys* keys)
      : run_(run), plan_(plan), keys_(keys), name_(object_name(run.name)), pods_(pod_names(plan)) {}

  std::string write() {
    out_ << "# The run " << run_.name << " of lp: " << plan_.nodes.size() << " nodes in " << plan_.processes
         << " processes.\n";
    begin("v1", "ServiceAccount", name_);  // without rights; no pod gets its token
    out_ << "automountServiceAccountToken: false\n";
    write_service();
    write_secret();
    if (!run_.configuration.empty()) {
      begin("v1", "ConfigMap", name_);
      out_ << "data:\n  config.yaml: " << block(run_.configuration, "    ") << "\n";
    }
    std::vector<std::string> flags = run_.flags;
    flags.push_back("--directory=" + directory_in_pod(run_.name));
    if (!run_.configuration.empty()) flags.emplace_back("--config=/etc/lp/config.yaml");
    write_coordinator(flags);
    const std::vector<ProcessResources> needs = needs_of_processes(plan_);
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      write_job(pods_[i], {std::string(kDialFlag) + run_.name + "@" + pods_[i]}, needs[i]);
    }
    return out_.str();
  }

 private:
  void begin(const std::string& version, const std::string& kind, const std::string& name) {
    out_ << "---\napiVersion: " << version << "\nkind: " << kind << "\nmetadata:\n  name: " << name << "\n";
    out_ << "  labels: {" << kRunLabel << ": " << name_ << "}\n";
  }

  // A Service without an address of its own: each pod has a DNS name below it, whether it is ready or not.
  void write_service() {
    begin("v1", "Service", name_);
    out_ << "spec:\n  clusterIP: None\n  publishNotReadyAddresses: true\n  selector: {" << kRunLabel << ": " << name_
         << "}\n  ports:\n  - {name: coordinator, port: " << kPort << "}\n";
  }

  void write_secret() {
    begin("v1", "Secret", name_);
    if (keys_ == nullptr)
      out_ << "# Each pod gets the keys of its own name; they are made when the run is submitted.\n";
    out_ << "stringData:\n";
    const auto entry = [&](const std::string& pod, const AcceptorKeys* keys) {
      out_ << "  " << pod << ": " << (keys == nullptr ? "\"\"" : block(to_text(*keys), "    ")) << "\n";
    };
    entry(kCoordinator, keys_ == nullptr ? nullptr : &keys_->coordinator);
    for (std::size_t i = 0; i < pods_.size(); ++i) entry(pods_[i], keys_ == nullptr ? nullptr : &keys_->agents[i]);
  }

  // A coordinator that ends is not replaced, because its state has gone with it.
  void write_coordinator(const std::vector<std::string>& arguments) {
    begin("v1", "Pod", coordinator_pod(run_.name));
    write_pod(kCoordinator, arguments, {}, "");
  }

  void write_job(const std::string& pod, const std::vector<std::string>& arguments, const ProcessResources& needs) {
    begin("batch/v1", "Job", name_ + "-" + pod);
    out_ << "spec:\n  backoffLimit: " << kRestarts << "\n  template:\n    metadata:\n      labels: {" << kRunLabel
         << ": " << name_ << "}\n";
    write_pod(pod, arguments, needs, "    ");
  }

  // The specification of a pod, in which each line begins with `margin`.
  void write_pod(const std::string& pod, const std::vector<std::string>& arguments, const ProcessResources& needs,
                 const std::string& margin) {
    const bool coordinator = pod == kCoordinator;
    std::ostringstream out;
    out << "spec:\n  hostname: " << pod << "\n  subdomain: " << name_
        << "\n  restartPolicy: " << (coordinator ? "Never" : "OnFailure")
        << "\n  terminationGracePeriodSeconds: " << run_.grace + 5 << "\n";
    // A server-side dry run checks the account of a Pod, and does not find one that is made beside it.
    if (!coordinator) out << "  serviceAccountName: " << name_ << "\n";
    out << "  automountServiceAccountToken: false\n  enableServiceLinks: false\n";
    write_place(out, coordinator);
    out << "  securityContext:\n    runAsNonRoot: true\n    runAsUser: " << kUser << "\n    runAsGroup: " << kUser
        << "\n    fsGroup: " << kUser
        << "\n    seccompProfile: {type: RuntimeDefault}\n  containers:\n  - name: lp\n    image: "
        << scalar(run_.image) << "\n    imagePullPolicy: IfNotPresent\n    args:\n";
    for (const std::string& argument : arguments) out << "    - " << scalar(argument) << "\n";
    out << "    env:\n    - {name: " << kKeysVariable << ", value: /etc/lp/keys}\n    - {name: " << kCoordinatorVariable
        << ", value: \"tcp://coordinator." << name_ << ":" << kPort << "\"}\n    - {name: " << kAddressVariable
        << ", valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n";
    if (!coordinator)
      out << "    - {name: " << kMachineVariable << ", valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}\n";
    out << "    - {name: HOME, value: /tmp}\n";
    write_needs(out, needs);
    out << "    securityContext:\n      allowPrivilegeEscalation: false\n      readOnlyRootFilesystem: true\n"
        << "      capabilities: {drop: [ALL]}\n    volumeMounts:\n"
        << "    - {name: lp, mountPath: /etc/lp, readOnly: true}\n    - {name: scratch, mountPath: /tmp}\n"
        << "  volumes:\n  - name: lp\n    projected:\n      defaultMode: 0440\n      sources:\n"
        << "      - secret: {name: " << name_ << ", items: [{key: " << pod << ", path: keys}]}\n";
    if (coordinator && !run_.configuration.empty()) out << "      - configMap: {name: " << name_ << "}\n";
    out << "  - name: scratch\n    emptyDir: {}\n";
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) out_ << margin << line << "\n";
  }

  // Selects the cluster's nodes for the pod, and limits the time that it may stay on an unreachable node. The default
  // of Kubernetes is five minutes. The agent ends its nodes after the grace period, so another pod may take its place
  // then. The coordinator keeps the default, because it continues when only its kubelet has failed.
  void write_place(std::ostringstream& out, bool coordinator) {
    if (!run_.node_selector.empty()) out << "  nodeSelector:\n";
    for (const std::string& one : run_.node_selector) {
      const std::size_t at = one.find('=');
      if (at == std::string::npos || at == 0) {
        throw Error(ErrorKind::failed, "--node-selector=" + quote(one) + ": this is not LABEL=VALUE");
      }
      out << "    " << scalar(one.substr(0, at)) << ": " << scalar(one.substr(at + 1)) << "\n";
    }
    if (!coordinator || !run_.tolerations.empty()) out << "  tolerations:\n";
    for (const char* const taint : {"not-ready", "unreachable"}) {
      if (coordinator) break;
      out << "  - {key: node.kubernetes.io/" << taint
          << ", operator: Exists, effect: NoExecute, tolerationSeconds: " << run_.grace << "}\n";
    }
    for (const std::string& one : run_.tolerations) {
      const std::size_t colon = one.find(':');
      const std::string taint = one.substr(0, colon);
      const std::size_t at = taint.find('=');
      if (taint.empty() || at == 0) {
        throw Error(ErrorKind::failed,
                    "--tolerations=" + quote(one) + ": this is not KEY, KEY:EFFECT or KEY=VALUE:EFFECT");
      }
      out << "  - {key: " << scalar(taint.substr(0, at));
      if (at != std::string::npos) {
        out << ", operator: Equal, value: " << scalar(taint.substr(at + 1));
      } else {
        out << ", operator: Exists";
      }
      if (colon != std::string::npos) out << ", effect: " << scalar(one.substr(colon + 1));
      out << "}\n";
    }
  }

  void write_needs(std::ostringstream& out, const ProcessResources& needs) {
    std::string limits;
    if (needs.memory > 0) {
      limits += "memory: " + std::to_string((needs.memory + kOfAgent + kMebibyte - 1) / kMebibyte) + "Mi";
    }
    if (needs.gpus > 0) limits += (limits.empty() ? "" : ", ") + ("nvidia.com/gpu: " + std::to_string(needs.gpus));
    if (limits.empty() && needs.cpus <= 0) return;
    out << "    resources:\n";
    if (needs.cpus > 0) {
      out << "      requests: {cpu: " << static_cast<std::int64_t>(std::ceil(needs.cpus * 1000)) << "m}\n";
    }
    if (!limits.empty()) out << "      limits: {" << limits << "}\n";
  }

  const KubernetesRun& run_;
  const Plan& plan_;
  const RunKeys* keys_;
  const std::string name_;
  const std::vector<std::string> pods_;
  std::ostringstream out_;
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
    throw Error(ErrorKind::failed,
                "--launch=kubernetes needs --image: which has the program as its entry point, and "
                "which `lp image` makes");
  }
  return Manifests(run, plan, keys).write();
}

// The end of a long name is kept, because it distinguishes the runs of a program.
std::string object_name(const std::string& run) {
  std::string name = cluster_name(run);
  if (name.size() > kLongestName) name.erase(0, name.size() - kLongestName);
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0) name.insert(0, "r");
  while (name.back() == '-') name.pop_back();
  return name;
}

std::string coordinator_pod(const std::string& run) { return object_name(run) + "-" + kCoordinator; }
std::string directory_in_pod(const std::string& run) { return "/tmp/" + run; }

}  // namespace lp::internal
