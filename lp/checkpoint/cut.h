#pragma once
// The cuts of a run on disk. A cut has the state of all nodes at one step, which is restored together or not at all.
//
//   RUN/checkpoints/step-000000000100/server@0.checkpoint     a file for each member, written by the member
//                                     server@1.checkpoint
//                                     MANIFEST                written last: it makes the cut complete
//
// A crash at any moment leaves the complete cuts as they were. Every function takes the run's directory, may be used by
// any thread, and throws Error(failed) with the file's name. Many processes may write the members of one cut; only the
// supervisor completes and prunes cuts.

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
  std::uint64_t size = 0;      // size of its file
  std::uint64_t checksum = 0;  // checksum of its file: CheckpointInfo::checksum
};

// A complete cut.
struct Cut {
  std::filesystem::path directory{};
  std::uint64_t step = 0;
  std::string program{};
  std::uint64_t fingerprint = 0;  // fingerprint of the program that took it
  std::vector<CutMember> members{};
};

struct CutList {
  std::vector<Cut> cuts{};              // complete cuts, by step
  std::vector<std::string> problems{};  // a sentence for each directory that is no complete cut
};

// Returns the directory of a step's cut, and makes it if it is missing. The run's directory must exist: a run whose
// directory was removed gets no new one.
std::filesystem::path cut_directory(const std::filesystem::path& run, std::uint64_t step);

// Returns the file of one member: the node's name, with '@' for '/' and every other character that is not a letter, a
// digit or one of "_.-" as %XX. Different nodes have different files.
std::filesystem::path cut_file(const std::filesystem::path& cut, std::string_view node);

// Reads the state that `node` saved in a cut, and verifies that it belongs to this node and step.
Checkpoint read_cut_file(const std::filesystem::path& cut, std::string_view node);

// Makes the cut complete, once all members have written their files: checks that the files are there, and writes the
// manifest.
Cut complete_cut(const std::filesystem::path& run, std::uint64_t step, std::string_view program,
                 std::uint64_t fingerprint, std::span<const std::string> members);

// Makes a complete cut of another run a cut of this one, too. Both have the same files on disk where the file system
// can do that, else this one has copies.
Cut adopt_cut(const std::filesystem::path& run, const Cut& cut);

// A checkpoint that was read from a file, and then changed.
struct EditedFile {
  std::filesystem::path path{};
  Checkpoint checkpoint{};
};

// Writes changed checkpoints, each as a whole or not at all. Files of a cut are all of the same one, which counts again
// when all are written, and no longer when this is interrupted. Throws, with nothing changed, when that cut is not
// complete.
void write_edited(std::span<const EditedFile> files);

// Lists the cuts whose manifest and files are there, with the right sizes and checksums. It does not read the contents:
// latest_cut does that.
CutList list_cuts(const std::filesystem::path& run);

// Returns the newest cut that is complete and whole, with every byte verified, or nothing. Adds a sentence to
// `problems`, if given, for each cut that it skipped.
std::optional<Cut> latest_cut(const std::filesystem::path& run, std::vector<std::string>* problems = nullptr);

// Removes the cuts, complete or not, that are older than the newest of `kept` and are not in `kept`. `kept` has the
// steps of complete cuts in ascending order. It reads no cut, so it costs little however many members there are.
void prune_cuts(const std::filesystem::path& run, std::span<const std::uint64_t> kept);

// Removes this cut, if there is one, complete or not. Call it again after members that write at the same time.
void remove_cut(const std::filesystem::path& run, std::uint64_t step);

}  // namespace lp
