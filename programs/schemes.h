#pragma once
// The schemes that --scheme of a training program chooses from, and the flags that apply to each. Values; pure
// functions.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lp/program/program.h"
#include "programs/train.h"
#include "programs/training/training.h"

namespace lp {

// Optional parts of a scheme. Each part brings some flags: kFlagSections lists them.
enum SchemePart : unsigned {
  kWorkers = 1U << 0U,
  kServers = 1U << 1U,
  kReplicas = 1U << 2U,     // replicas of servers that fail
  kCuts = 1U << 3U,         // checkpoints
  kCompression = 1U << 4U,  // compression of gradients
  kLooks = 1U << 5U,        // looks at the servers' parameters
  kDevice = 1U << 6U,       // the model computes, not the scheme, and so on a device
};

struct FlagSection {
  std::string_view title;
  unsigned part = 0;  // the part that a scheme must have; 0: for all
  std::vector<std::string_view> fields{};
};
std::span<const FlagSection> flag_sections();

struct NamedScheme {
  std::string_view name;
  std::string_view system;   // the well-known system that it implements
  std::string_view summary;  // one line
  unsigned parts = 0;
  std::array<std::string_view, 5> own{};  // fields of the configuration that apply to it and few others
  void (*add)(Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config);

  bool owns(std::string_view field) const;
  bool uses(std::string_view field) const;  // its own, or in a section of one of its parts
};
std::span<const NamedScheme> named_schemes();
// Error::failed for an unknown name; the text names similar ones.
const NamedScheme& named_scheme(std::string_view name);

// A line for each scheme.
std::string list_of_schemes();

// Throws Error::failed for a field that does not apply to this scheme or to these other values, if it is not at its
// default, or is among `given`: the paths of the fields that a command line names.
void check_flags(const TrainConfig& config, const NamedScheme& scheme, std::span<const std::string> given = {});

}  // namespace lp
