#pragma once
// The schemes that --scheme of a training program chooses from, and which of its flags say something to each. Values;
// pure functions.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lp/program/program.h"
#include "programs/train.h"
#include "programs/training/training.h"

namespace lp {

// What a scheme has beside what all have, and with it some flags: kFlagSections has them.
enum SchemePart : unsigned {
  kWorkers = 1U << 0U,
  kServers = 1U << 1U,
  kReplicas = 1U << 2U,     // of servers that fail
  kCuts = 1U << 3U,         // checkpoints
  kCompression = 1U << 4U,  // of gradients
  kLooks = 1U << 5U,        // at parameters that servers have
};

struct FlagSection {
  std::string_view title;
  unsigned part = 0;  // that a scheme must have; 0: for all
  std::vector<std::string_view> fields{};
};
std::span<const FlagSection> flag_sections();

struct NamedScheme {
  std::string_view name;
  std::string_view system;   // that it stands for
  std::string_view summary;  // one line
  unsigned parts = 0;
  std::array<std::string_view, 5> own{};  // fields of the configuration that are for it and a few others
  void (*add)(Program& program, const LearningTask& task, const ServerTraining& training, const TrainConfig& config);

  bool owns(std::string_view field) const;
  bool uses(std::string_view field) const;  // its own, or of a section for it
};
std::span<const NamedScheme> named_schemes();
// Error::failed when there is none of this name; it says what is near.
const NamedScheme& named_scheme(std::string_view name);

// A line for each scheme.
std::string list_of_schemes();

// Error::failed for a field that says nothing to this scheme, or with these other values, and has not its default.
void check_flags(const TrainConfig& config, const NamedScheme& scheme);

}  // namespace lp
