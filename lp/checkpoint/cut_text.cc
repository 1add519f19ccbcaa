#include "lp/checkpoint/cut_text.h"

#include <algorithm>

#include "lp/base/json.h"

namespace lp {
namespace {

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 50;
  return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
}

// Appends a table. Columns are as wide as their widest text; the last `numbers` columns are aligned to the right.
void append_table(std::string& text, const std::vector<std::vector<std::string>>& rows, std::size_t numbers) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    text += "   ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      text += ' ';
      text += i + numbers >= row.size() ? space + row[i] : row[i] + space;
      if (i + 1 < row.size()) text += ' ';
    }
    text += '\n';
  }
}

}  // namespace

std::string cuts_to_text(const std::filesystem::path& run) {
  const CutList list = list_cuts(run);
  std::string text;
  if (list.cuts.empty()) text += "no complete cut in " + run.string() + "\n";
  for (const Cut& cut : list.cuts) {
    text += "step " + std::to_string(cut.step) + " of " + cut.program + "  (" + cut.directory.string() + ")\n";
    std::vector<std::vector<std::string>> rows;
    for (const CutMember& member : cut.members) {
      std::string node = member.node;
      for (const CheckpointEntry& entry : Checkpoint::inspect(cut_file(cut.directory, member.node)).entries) {
        rows.push_back({node, entry.name, shortened(entry.type), std::to_string(entry.bytes)});
        node.clear();
      }
      if (!node.empty()) rows.push_back({node, "", "nothing", "0"});
    }
    append_table(text, rows, 1);
  }
  for (const std::string& problem : list.problems) text += "not a cut: " + problem + "\n";
  return text;
}

std::string cuts_to_json(const std::filesystem::path& run) {
  const CutList list = list_cuts(run);
  JsonWriter json;
  json.begin_object();
  json.key("cuts");
  json.begin_array();
  for (const Cut& cut : list.cuts) {
    json.begin_object();
    json.member("step", cut.step);
    json.member("program", cut.program);
    json.member("directory", cut.directory.string());
    json.key("members");
    json.begin_array();
    for (const CutMember& member : cut.members) {
      json.begin_object();
      json.member("node", member.node);
      json.member("file", cut_file(cut.directory, member.node).string());
      json.member("size", member.size);
      json.member("entries", Checkpoint::inspect(cut_file(cut.directory, member.node)).entries);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.member("problems", list.problems);
  json.end_object();
  return std::move(json).text();
}

}  // namespace lp
