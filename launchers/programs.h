#pragma once
// The programs of a binary, by name: how a process of a run builds its program again. A value that main() makes; nobody
// changes it afterwards.
//
//   int main(int argc, char** argv) {
//     const lp::Programs programs = lp::Programs().add<Config>("train", make_train).add("ring", make_ring);
//     if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
//     ...                                               // may launch processes of these programs
//   }

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lp/config/freeze.h"
#include "lp/program/program.h"

namespace lp {

class Programs {
 public:
  // `make(const Config&)` returns the Program; it must be a pure function of the configuration.
  template <Aggregate Config, class Make>
  Programs& add(const std::string& name, Make make) {
    return add_builder(name, [make](const std::string& text) { return make(from_yaml<Config>(text)); });
  }
  // A program without a configuration: `make()` returns it.
  template <class Make>
  Programs& add(const std::string& name, Make make) {
    return add_builder(name, [make](const std::string&) { return make(); });
  }

  // The program `name` for the configuration that to_yaml wrote. Throws Error when there is none of this name.
  Program build(const std::string& name, const std::string& configuration) const;

 private:
  using Builder = std::function<Program(const std::string& configuration)>;
  Programs& add_builder(const std::string& name, Builder builder);

  std::map<std::string, Builder> builders_;
};

// In a process that a launcher started from this binary, as an agent or as a node: does that work, and returns the exit
// code, with which main() must end, or the process would launch the program once more. Nothing in a process that a
// person started. To be called first in main(), before there are threads.
[[nodiscard]] std::optional<int> become_node_if_asked(int argc, char** argv, const Programs& programs);

namespace internal {
// What makes a process of a run such a one.
inline constexpr std::string_view kAgentFlag = "--lp-agent";
inline constexpr std::string_view kAgentThereFlag = "--lp-agent=";  // on another host, and its lease in seconds
inline constexpr std::string_view kNodeFlag = "--lp-node=";         // and the node's name
}  // namespace internal

}  // namespace lp
