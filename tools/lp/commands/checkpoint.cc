// lp checkpoint: lists the cuts of a run, shows their contents, exports their numbers as files that NumPy reads, and
// imports such files again.

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/checkpoint/npy.h"
#include "lp/checkpoint/stored_numbers.h"
#include "tools/lp/command.h"
#include "tools/lp/runs.h"
#include "tools/lp/saved_checkpoints.h"
#include "tools/lp/table.h"

namespace lp::tool {
namespace {

struct EntryRecord {
  std::string name{};
  std::string type{};
  std::optional<std::string> shape{};  // the shape of numbers
  std::uint64_t bytes = 0;
  std::optional<std::string> file{};  // the file into which it was exported
};

struct ImportRecord {
  std::string node{};
  std::string entry{};
  std::string before{};  // the shapes of the numbers
  std::string after{};
  std::string file{};
};

// What export writes beside the nodes' directories.
struct ExportRecord {
  std::uint64_t step = 0;  // that of the checkpoint from which the numbers are
};

struct MemberRecord {
  std::string node{};
  std::string file{};
  std::vector<EntryRecord> entries{};
};

constexpr const char* kExportRecord = "checkpoint.json";

std::uint64_t size_of(const Saved& saved) {
  std::uint64_t bytes = 0;
  for (const SavedFile& file : saved.files) bytes += file.bytes;
  return bytes;
}

std::string problems_text(const SavedList& list) {
  std::string text;
  for (const std::string& problem : list.problems) text += "\n  " + problem;
  return text;
}

// The selected cut: the newest one, or that of --step.
const Saved& chosen(const SavedList& list, const Arguments& arguments) {
  if (!arguments.has("step")) {
    if (list.all.empty()) throw CommandError(Exit::failed, "there is no complete checkpoint" + problems_text(list));
    return list.all.back();
  }
  const std::string text = arguments.value("step");
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw CommandError(Exit::usage, "--step=" + quote(text) + ": expected a step number");
  }
  std::vector<std::string> steps;
  for (const Saved& one : list.all) {
    if (one.step == step) return one;
    steps.push_back(std::to_string(one.step));
  }
  throw CommandError(Exit::failed, "there is no complete checkpoint of step " + text +
                                       (steps.empty() ? "" : "; there are checkpoints of steps " + join(steps, ", ")) +
                                       problems_text(list));
}

std::optional<StoredNumbers> numbers_in(const Checkpoint& checkpoint, const std::string& entry) {
  try {
    return numbers_of(checkpoint, entry);
  } catch (const Error&) {  // the entry has another type
    return std::nullopt;
  }
}

// The directory of a node's exported entries.
std::filesystem::path directory_of(const std::filesystem::path& exported, const SavedFile& file) {
  return file.node.empty() ? exported : cut_file(exported, file.node).replace_extension();
}

std::filesystem::path npy_file(const std::filesystem::path& directory, const std::string& entry) {
  return cut_file(directory, entry).replace_extension(".npy");
}

std::string write_npy(const std::filesystem::path& directory, const std::string& entry, const StoredNumbers& numbers) {
  const std::filesystem::path file = npy_file(directory, entry);
  const std::string head = npy_head(numbers);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(head)), numbers.bytes.bytes()};
  write_file_durably(file, parts);
  return file.string();
}

// Reads and verifies all entries. With `output`, numbers are written below that directory.
std::vector<MemberRecord> read_all(const Saved& saved, const std::optional<std::filesystem::path>& output) {
  std::vector<MemberRecord> members;
  for (const SavedFile& file : saved.files) {
    const Checkpoint checkpoint = read_saved(saved, file);
    const std::filesystem::path directory = directory_of(output.value_or(""), file);
    std::error_code error;
    if (output.has_value()) std::filesystem::create_directories(directory, error);
    if (error) throw_failed("cannot make the directory " + directory.string() + ": " + error.message());
    MemberRecord& member = members.emplace_back(MemberRecord{.node = file.node, .file = file.path.string()});
    for (const CheckpointEntry& entry : checkpoint.entries()) {
      EntryRecord& record =
          member.entries.emplace_back(EntryRecord{.name = entry.name, .type = entry.type, .bytes = entry.bytes});
      const auto numbers = numbers_in(checkpoint, entry.name);
      if (!numbers.has_value()) continue;
      record.shape = shape_text(*numbers);
      if (output.has_value()) record.file = write_npy(directory, entry.name, *numbers);
    }
  }
  return members;
}

std::string heading(const Saved& saved) {
  return Screen::clean("step " + std::to_string(saved.step) + (saved.program.empty() ? "" : " of " + saved.program) +
                       ", in " + saved.path.string()) +
         "\n\n";
}

int list(const SavedList& all, Screen& screen, bool json) {
  JsonWriter writer;
  writer.begin_object();
  writer.key("checkpoints");
  writer.begin_array();
  Table table({{"STEP", Cut::never, true},
               {"FILES", Cut::never, true},
               {"BYTES", Cut::never, true},
               {"PROGRAM"},
               {"PATH", Cut::middle}});
  for (const Saved& one : all.all) {
    writer.begin_object();
    writer.member("step", one.step);
    writer.member("files", one.files.size());
    writer.member("bytes", size_of(one));
    writer.member("program", one.program);
    writer.member("path", one.path.string());
    writer.end_object();
    table.add({std::to_string(one.step), std::to_string(one.files.size()), std::to_string(size_of(one)),
               Screen::clean(one.program), Screen::clean(one.path.string())});
  }
  writer.end_array();
  writer.member("problems", all.problems);
  writer.end_object();
  if (json) {
    screen.write(std::move(writer).text() + "\n");
    return code_of(Exit::done);
  }
  screen.write(table.size() == 0 ? "There is no complete checkpoint.\n" : table.text(screen.width(), screen.colours()));
  for (const std::string& problem : all.problems) screen.write("ignored: " + Screen::clean(problem) + "\n");
  return code_of(Exit::done);
}

int show(const Saved& saved, Screen& screen, bool json) {
  const std::vector<MemberRecord> members = read_all(saved, std::nullopt);
  if (json) {
    JsonWriter writer;
    writer.begin_object();
    writer.member("step", saved.step);
    writer.member("program", saved.program);
    writer.member("path", saved.path.string());
    writer.member("members", members);
    writer.end_object();
    screen.write(std::move(writer).text() + "\n");
    return code_of(Exit::done);
  }
  Table table(
      {{"NODE", Cut::middle}, {"ENTRY", Cut::middle}, {"SHAPE"}, {"BYTES", Cut::never, true}, {"TYPE", Cut::end}});
  for (const MemberRecord& member : members) {
    for (const EntryRecord& entry : member.entries) {
      table.add({Screen::clean(member.node), Screen::clean(entry.name), entry.shape.value_or(""),
                 std::to_string(entry.bytes), Screen::clean(entry.type)});
    }
  }
  screen.write(heading(saved) + table.text(screen.width(), screen.colours()));
  return code_of(Exit::done);
}

int export_all(const Saved& saved, const std::string& output, Screen& screen, bool json) {
  const std::vector<MemberRecord> members = read_all(saved, output);
  write_file_durably(std::filesystem::path(output) / kExportRecord, to_json(ExportRecord{.step = saved.step}));
  if (json) {
    screen.write(to_json(members) + "\n");
    return code_of(Exit::done);
  }
  std::vector<std::string> left_out;
  for (const MemberRecord& member : members) {
    for (const EntryRecord& entry : member.entries) {
      if (entry.file.has_value()) {
        screen.write(Screen::clean(*entry.file + ": " + entry.type + " " + *entry.shape) + "\n");
      } else {
        left_out.push_back((member.node.empty() ? "" : member.node + " ") + entry.name);
      }
    }
  }
  if (!left_out.empty()) {
    screen.write("left out, because they are not numbers, arrays or matrices: " + Screen::clean(join(left_out, ", ")) +
                 "\n");
  }
  return code_of(Exit::done);
}

StoredNumbers read_npy(const std::filesystem::path& file) {
  try {
    return parse_npy(read_file(file, std::numeric_limits<std::uint64_t>::max()));
  } catch (const Error& error) {
    throw Error(error.kind(), file.string() + ": " + error.text());
  }
}

// Replaces the entries of one node that have a file, and adds a record for each that changes. A file that is none of an
// entry is refused: its name may be misspelled.
void import_node(Checkpoint& checkpoint, const std::string& node, const std::filesystem::path& directory,
                 std::vector<ImportRecord>& records) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".npy") files.insert(entry.path());
  }
  for (const CheckpointEntry& entry : checkpoint.entries()) {
    const std::filesystem::path file = npy_file(directory, entry.name);
    if (files.erase(file) == 0) continue;
    const StoredNumbers before = numbers_of(checkpoint, entry.name);
    replace_numbers(checkpoint, entry.name, read_npy(file));
    const StoredNumbers after = numbers_of(checkpoint, entry.name);
    if (std::ranges::equal(before.bytes.bytes(), after.bytes.bytes())) continue;
    records.push_back({node, entry.name, shape_text(before), shape_text(after), file.string()});
  }
  if (files.empty()) return;
  throw CommandError(Exit::failed, files.begin()->string() + ": the checkpoint has no such entry");
}

// A node of a live run may be about to read the checkpoint, or to save a later one.
void check_not_live(const Saved& saved) {
  std::error_code error;
  for (std::filesystem::path at = std::filesystem::absolute(saved.path); at.has_relative_path();
       at = at.parent_path()) {
    if (!std::filesystem::is_directory(at / "checkpoints", error) || !launch::is_going_on(at)) continue;
    throw CommandError(Exit::failed, "the run in " + at.string() +
                                         " has not ended, and its nodes may start again from " +
                                         "this checkpoint: stop it first (`lp stop`), or wait for its end");
  }
}

// Nodes save their step among their other numbers, so those of another step make a checkpoint that no run can use.
void check_step(const Saved& saved, const std::string& input) {
  const auto text = read_text(std::filesystem::path(input) / kExportRecord);
  if (!text.has_value()) return;  // a person has put the files together
  const std::uint64_t step = from_json<ExportRecord>(*text).step;
  if (step == saved.step) return;
  throw CommandError(Exit::failed, quote(input) + " was exported from a checkpoint of step " + std::to_string(step) +
                                       ", and does not go into that of step " + std::to_string(saved.step) +
                                       ": give --step=" + std::to_string(step));
}

int import_all(const Saved& saved, const std::string& input, Screen& screen, bool json) {
  check_not_live(saved);
  check_step(saved, input);
  std::vector<ImportRecord> records;
  std::vector<EditedFile> edited;
  bool found = false;
  for (const SavedFile& file : saved.files) {
    const std::filesystem::path directory = directory_of(input, file);
    if (!std::filesystem::is_directory(directory)) continue;
    found = true;
    const std::size_t known = records.size();
    EditedFile one{.path = file.path, .checkpoint = read_saved(saved, file)};
    import_node(one.checkpoint, file.node, directory, records);
    if (records.size() > known) edited.push_back(std::move(one));
  }
  if (!found) {
    throw CommandError(Exit::failed, quote(input) +
                                         " has no directory of a node of this checkpoint: lp checkpoint export " +
                                         "makes " + directory_of(input, saved.files.at(0)).string());
  }
  write_edited(edited);
  if (json) {
    screen.write(to_json(records) + "\n");
    return code_of(Exit::done);
  }
  for (const ImportRecord& one : records) {
    const std::string shapes = one.before == one.after ? one.after : one.before + " is now " + one.after;
    screen.write(Screen::clean((one.node.empty() ? "" : one.node + " ") + one.entry + ": " + shapes) + "\n");
  }
  if (records.empty()) screen.write("Nothing has changed.\n");
  return code_of(Exit::done);
}

}  // namespace

int checkpoint_command(const Arguments& arguments, Screen& screen) {
  const std::string& verb = arguments.words()[0];
  const bool json = arguments.has("json");
  if (verb != "list" && verb != "show" && verb != "export" && verb != "import") {
    throw CommandError(Exit::usage, "lp checkpoint can list, show, export and import, but not " + quote(verb));
  }
  if ((verb == "export") != arguments.has("output")) {
    throw CommandError(Exit::usage, "--output=DIRECTORY is needed by lp checkpoint export, and only by it");
  }
  if ((verb == "import") != arguments.has("input")) {
    throw CommandError(Exit::usage, "--input=DIRECTORY is needed by lp checkpoint import, and only by it");
  }
  if (verb == "list" && arguments.has("step")) {
    throw CommandError(Exit::usage, "lp checkpoint list lists all checkpoints: --step is for show, export and import");
  }
  const SavedList all = list_saved(arguments.words()[1]);
  if (verb == "list") return list(all, screen, json);
  const Saved& saved = chosen(all, arguments);
  if (verb == "show") return show(saved, screen, json);
  return verb == "export" ? export_all(saved, arguments.value("output"), screen, json)
                          : import_all(saved, arguments.value("input"), screen, json);
}

}  // namespace lp::tool
