#pragma once
// A run in Kubernetes, seen from outside through kubectl: it is created, followed and removed. Owned by one thread.

#include <string>
#include <utility>
#include <vector>

namespace lp::internal {

class Kubectl {
 public:
  // `words` is the command with its options: "kubectl --context=test".
  explicit Kubectl(std::string words) : command_(std::move(words)) {}

  // Makes what the manifests in the file say. Throws Error with what the cluster says.
  void create(const std::string& file) const;
  // Removes everything of the run, and waits until it is gone.
  void remove(const std::string& run) const;
  // Prints what the program prints, until it has ended, and returns its exit code; what is wrong with a pod is said.
  // With `json` the last line goes to standard output, and all others to standard error. Ctrl-C stops the program, and
  // again: removes it at once. Throws Error when the program cannot begin.
  int follow(const std::string& run, bool json) const;

 private:
  struct Pod;
  static std::string trouble_of(const Pod& pod);
  std::string ask(const std::string& arguments) const;
  std::vector<Pod> pods_of(const std::string& run) const;

  std::string command_;
};

}  // namespace lp::internal
