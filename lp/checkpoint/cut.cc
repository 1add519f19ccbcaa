#include "lp/checkpoint/cut.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "lp/base/error.h"
#include "lp/base/file.h"

namespace lp {
namespace {

using Path = std::filesystem::path;

constexpr std::string_view kPrefix = "step-";
constexpr const char* kManifest = "MANIFEST";

void check(const std::error_code& error, const char* what, const Path& path) {
  if (error) throw_failed(std::string("cannot ") + what + " " + path.string() + ": " + error.message());
}

Path cuts_of(const Path& run) { return run / "checkpoints"; }

std::string name_of(std::uint64_t step) {
  constexpr std::size_t kDigits = 12;
  const std::string digits = std::to_string(step);
  return std::string(kPrefix) + std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

// Returns the step of a cut's directory, or nothing for another name.
std::optional<std::uint64_t> step_of(const Path& cut) {
  const std::string name = cut.filename().string();
  std::uint64_t step = 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  return name == name_of(step) ? std::optional(step) : std::nullopt;
}

struct CutPath {
  std::uint64_t step = 0;
  Path path{};
};

// Returns the directories of all cuts, complete or not, by step.
std::vector<CutPath> paths_of_cuts(const Path& run) {
  std::vector<CutPath> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(cuts_of(run), error);
  if (error == std::errc::no_such_file_or_directory) return paths;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (const auto step = step_of(entry->path())) paths.push_back({*step, entry->path()});
  }
  check(error, "list", cuts_of(run));
  std::sort(paths.begin(), paths.end(), [](const CutPath& a, const CutPath& b) { return a.step < b.step; });
  return paths;
}

void check_owner(const Path& file, const std::string& node, std::uint64_t step, std::string_view wanted_node,
                 std::uint64_t wanted_step) {
  if (node == wanted_node && step == wanted_step) return;
  throw_failed(file.string() + " is of node '" + node + "' at step " + std::to_string(step) + ", not of '" +
               std::string(wanted_node) + "' at step " + std::to_string(wanted_step));
}

CutMember inspect_member(const Path& cut, const std::string& node, std::uint64_t step) {
  const Path file = cut_file(cut, node);
  const CheckpointInfo info = Checkpoint::inspect(file);
  check_owner(file, info.node, info.step, node, step);
  return {node, info.file_size, info.checksum};
}

// Throws unless the cut is complete.
Cut read_cut(const CutPath& at) {
  std::error_code error;
  if (!std::filesystem::exists(at.path / kManifest, error)) {
    throw_failed("incomplete: it has no " + std::string(kManifest));
  }
  const Checkpoint manifest = Checkpoint::read(at.path / kManifest);
  check_owner(at.path / kManifest, manifest.node(), manifest.step(), "", at.step);
  Cut cut{.directory = at.path,
          .step = at.step,
          .program = manifest.get<std::string>("program"),
          .fingerprint = manifest.get<std::uint64_t>("fingerprint"),
          .members = manifest.get<std::vector<CutMember>>("members")};
  for (const CutMember& member : cut.members) {
    const CutMember found = inspect_member(at.path, member.node, at.step);
    if (found.size != member.size || found.checksum != member.checksum) {
      throw_failed(cut_file(at.path, member.node).string() + " is not the file that the manifest lists");
    }
  }
  return cut;
}

std::string problem(const Path& cut, const Error& error) { return cut.string() + ": " + error.text(); }

// Removes the manifest first, so that a crash leaves no complete cut behind. Members may write and remove files at
// the same time: the next call removes the rest.
void remove_directory(const Path& cut) {
  std::error_code error;
  if (std::filesystem::remove(cut / kManifest, error)) sync_directory(cut);
  check(error, "remove", cut / kManifest);
  std::filesystem::remove_all(cut, error);
  if (error == std::errc::directory_not_empty || error == std::errc::no_such_file_or_directory) return;
  check(error, "remove", cut);
}

}  // namespace

Path cut_directory(const Path& run, std::uint64_t step) {
  Path cut = cuts_of(run) / name_of(step);
  std::error_code error;
  std::filesystem::create_directory(cuts_of(run), error);
  if (!error) std::filesystem::create_directory(cut, error);
  check(error, "make the directory", cut);
  return cut;
}

Path cut_file(const Path& cut, std::string_view node) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string name;
  for (const char c : node) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || c == '_' || c == '-' || (c == '.' && !name.empty())) {  // avoids hidden files
      name += c;
    } else if (c == '/') {
      name += '@';
    } else {
      ((name += '%') += kHex[byte >> 4]) += kHex[byte & 15];
    }
  }
  return cut / (name + ".checkpoint");
}

Checkpoint read_cut_file(const Path& cut, std::string_view node) {
  const auto step = step_of(cut);
  if (!step) throw_failed(cut.string() + " is not a checkpoint: its name should be like " + name_of(100));
  const Path file = cut_file(cut, node);
  Checkpoint checkpoint = Checkpoint::read(file);
  check_owner(file, checkpoint.node(), checkpoint.step(), node, *step);
  return checkpoint;
}

Cut complete_cut(const Path& run, std::uint64_t step, std::string_view program, std::uint64_t fingerprint,
                 std::span<const std::string> members) {
  Cut cut{.directory = cut_directory(run, step),
          .step = step,
          .program = std::string(program),
          .fingerprint = fingerprint,
          .members = {}};
  if (members.empty())
    throw_failed("a checkpoint needs at least one member, but " + cut.directory.string() + " would have none");
  for (const std::string& node : members) cut.members.push_back(inspect_member(cut.directory, node, step));
  // The directories must survive a crash before anything claims the cut is complete.
  sync_directory(run);
  sync_directory(cuts_of(run));
  Checkpoint manifest;
  manifest.put("program", cut.program);
  manifest.put("fingerprint", fingerprint);
  manifest.put("members", cut.members);
  manifest.write(cut.directory / kManifest, "", step);
  return cut;
}

Cut adopt_cut(const Path& run, const Cut& cut) {
  const Path directory = cut_directory(run, cut.step);
  std::vector<std::string> members;
  std::error_code error;
  try {
    for (const CutMember& member : cut.members) {
      const Path from = cut_file(cut.directory, member.node);
      const Path to = cut_file(directory, member.node);
      std::filesystem::create_hard_link(from, to, error);
      if (error) std::filesystem::copy_file(from, to, error);
      check(error, "copy to", to);
      members.push_back(member.node);
    }
    return complete_cut(run, cut.step, cut.program, cut.fingerprint, members);
  } catch (const Error&) {
    std::filesystem::remove_all(directory, error);
    throw;
  }
}

CutList list_cuts(const Path& run) {
  CutList list;
  for (const CutPath& at : paths_of_cuts(run)) {
    try {
      list.cuts.push_back(read_cut(at));
    } catch (const Error& error) {
      list.problems.push_back(problem(at.path, error));
    }
  }
  return list;
}

void write_edited(std::span<const EditedFile> files) {
  if (files.empty()) return;
  const Path directory = std::filesystem::absolute(files[0].path).parent_path();
  const auto step = step_of(directory);
  const bool in_cut = step && std::filesystem::exists(directory / kManifest);
  std::optional<Cut> cut;
  try {
    if (in_cut) cut = read_cut({*step, directory});
  } catch (const Error& error) {
    throw_failed("a cut is edited only if it is complete: " + problem(directory, error));
  }
  for (const EditedFile& one : files) one.checkpoint.write(one.path, one.checkpoint.node(), one.checkpoint.step());
  if (!cut) return;
  std::vector<std::string> members;
  for (const CutMember& one : cut->members) members.push_back(one.node);
  complete_cut(directory.parent_path().parent_path(), cut->step, cut->program, cut->fingerprint, members);
}

std::optional<Cut> latest_cut(const Path& run, std::vector<std::string>* problems) {
  const std::vector<CutPath> paths = paths_of_cuts(run);
  for (auto at = paths.rbegin(); at != paths.rend(); ++at) {
    try {
      Cut cut = read_cut(*at);
      for (const CutMember& member : cut.members) read_cut_file(cut.directory, member.node);
      return cut;
    } catch (const Error& error) {
      if (problems != nullptr) problems->push_back(problem(at->path, error));
    }
  }
  return std::nullopt;
}

void prune_cuts(const Path& run, std::span<const std::uint64_t> kept) {
  if (kept.empty()) return;
  for (const CutPath& at : paths_of_cuts(run)) {
    if (at.step < kept.back() && !std::binary_search(kept.begin(), kept.end(), at.step)) remove_directory(at.path);
  }
}

void remove_cut(const Path& run, std::uint64_t step) { remove_directory(cuts_of(run) / name_of(step)); }

}  // namespace lp
