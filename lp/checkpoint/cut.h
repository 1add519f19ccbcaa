#pragma once
// The cuts of a run on disk: what all nodes saved at one step, which is restored together or not at all.
//
//   RUN/checkpoints/step-000000000100/server@0.checkpoint     a file for each member, written by the member
//                                     server@1.checkpoint
//                                     MANIFEST                written last: it makes the cut complete
//
// A crash at any moment leaves the complete cuts as they were. Every function is given the run's directory, may be used
// by any thread, and throws Error(failed) with the file's name. Members of one cut may be written from many processes;
// completing and pruning is the supervisor's.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lp/checkpoint/checkpoint.h"

namespace lp {

struct CutMember {
  std::string node{};
  std::uint64_t size = 0;      // of its file
  std::uint64_t checksum = 0;  // of its file: CheckpointInfo::checksum
};

// A complete cut.
struct Cut {
  std::filesystem::path directory{};
  std::uint64_t step = 0;
  std::string program{};
  std::uint64_t fingerprint = 0;  // of the program that took it
  std::vector<CutMember> members{};
};

struct CutList {
  std::vector<Cut> cuts{};              // the complete ones, by step
  std::vector<std::string> problems{};  // a sentence for each directory that is no complete cut
};

// The directory of a step's cut, which is made if it is missing.
std::filesystem::path cut_directory(const std::filesystem::path& run, std::uint64_t step);

// The file of one member: the node's name, with '@' for '/' and every other character that is not a letter, a digit or
// one of "_.-" as %XX. Different nodes have different files.
std::filesystem::path cut_file(const std::filesystem::path& cut, std::string_view node);

// What `node` saved in a cut, verified: that it is this node's, too, and of this step.
Checkpoint read_cut_file(const std::filesystem::path& cut, std::string_view node);

// Makes the cut complete, once all members have written their files: checks that they are there, and writes the
// manifest.
Cut complete_cut(const std::filesystem::path& run, std::uint64_t step, std::string_view program,
                 std::uint64_t fingerprint, std::span<const std::string> members);

// The cuts whose manifest and files are there, with the sizes and checksums that they should have. The contents are
// not read: latest_cut does that.
CutList list_cuts(const std::filesystem::path& run);

// The newest cut that is complete and whole, every byte of it verified; nothing when there is none. Says in `problems`,
// if given, what it passed over.
std::optional<Cut> latest_cut(const std::filesystem::path& run, std::vector<std::string>* problems = nullptr);

// Removes the cuts, complete or not, that are older than the newest of `kept`, but for those in `kept`: steps in
// ascending order, of complete cuts. Reads no cut, so it costs little however many members there are.
void prune_cuts(const std::filesystem::path& run, std::span<const std::uint64_t> kept);

// Removes this cut, if there is one, complete or not.
void remove_cut(const std::filesystem::path& run, std::uint64_t step);

}  // namespace lp
