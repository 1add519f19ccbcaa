#include "tools/lp/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lp::tool {
namespace {

constexpr std::size_t kGap = 2;        // between columns
constexpr std::size_t kNarrowest = 6;  // the least width of a column that may shrink
constexpr std::string_view kEllipsis = "…";

bool is_start(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// The position of the character number `count`.
std::size_t place_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_start(text[at]) && count-- == 0) break;
  }
  return at;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_start));
}

std::string shortened(const std::string& text, std::size_t columns, Cut cut) {
  const std::size_t all = columns_of(text);
  if (all <= columns || cut == Cut::never) return text;
  if (columns == 0) return {};
  const std::size_t behind = cut == Cut::middle ? (columns - 1) / 2 : 0;
  const std::size_t before = columns - 1 - behind;
  return text.substr(0, place_of(text, before)).append(kEllipsis).append(text.substr(place_of(text, all - behind)));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (columns_of(text) > columns && columns > 0) {
    const std::size_t most = place_of(text, columns);
    const std::size_t space = text.rfind(' ', most);
    const bool at_space = space != std::string_view::npos && space > 0;
    lines.emplace_back(text.substr(0, at_space ? space : most));
    text.remove_prefix(at_space ? space + 1 : most);
  }
  lines.emplace_back(text);
  return lines;
}

void Table::add(std::vector<std::string> cells, std::string colour) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), std::move(colour)});
}

std::vector<std::size_t> Table::widths(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = columns_of(columns_[i].title);
    for (const Row& row : rows_) widest = std::max(widest, columns_of(row.cells[i]));
    widths.push_back(widest);
  }
  if (width == 0) return widths;
  std::size_t all = std::accumulate(widths.begin(), widths.end(), (widths.size() - 1) * kGap);
  while (all > width) {  // shrinks the widest of the columns that may shrink
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].cut == Cut::never || widths[i] <= kNarrowest) continue;
      if (widest == columns_.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
    --all;
  }
  return widths;
}

std::string Table::text(std::size_t width, bool colours) const {
  const std::vector<std::size_t> widths = this->widths(width);
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells, const std::string& colour) {
    std::string all;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = shortened(cells[i], widths[i], columns_[i].cut);
      const std::string space(widths[i] - std::min(widths[i], columns_of(cell)), ' ');
      all += (i > 0 ? std::string(kGap, ' ') : "") + (columns_[i].right ? space + cell : cell + space);
    }
    all.erase(all.find_last_not_of(' ') + 1);
    text += colours && !colour.empty() ? "\033[" + colour + "m" + all + "\033[0m\n" : all + "\n";
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  line(titles, "1");
  for (const Row& row : rows_) line(row.cells, row.colour);
  return text;
}

}  // namespace lp::tool
