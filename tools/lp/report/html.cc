#include "tools/lp/report/html.h"

#include <algorithm>

#include "launchers/record/node_output.h"
#include "lp/draw/svg_text.h"

namespace lp::tool {

// Also without marks that turn the direction of text, which a stranger may have put into a reason or a name.
std::string html_text(std::string_view text) { return internal::svg_escaped(launch::printable_word(text)); }

std::string html_lines(std::string_view text) {
  std::string html;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    html += html_text(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return html;
}

std::string html_paragraph(std::string_view text, std::string_view kind) {
  return "<p" + (kind.empty() ? std::string() : " class=\"" + std::string(kind) + "\"") + ">" + html_text(text) +
         "</p>\n";
}

std::string html_headline(std::string_view text) { return "<h2>" + html_text(text) + "</h2>\n"; }

void HtmlTable::add(const std::vector<std::string>& texts) {
  std::vector<std::string>& row = rows_.emplace_back();
  for (const std::string& text : texts) row.push_back(html_text(text));
}

std::string HtmlTable::html() const {
  std::string out = "<div class=\"wide\"><table><tr>";
  for (const Column& column : columns_) {
    out += std::string("<th") + (column.number ? " class=\"n\"" : "") + ">" + html_text(column.title) + "</th>";
  }
  out += "</tr>\n";
  for (const std::vector<std::string>& row : rows_) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += std::string("<td class=\"") +
             (columns_[i].number ? "n"
              : i == 0           ? "name"
                                 : "text") +
             "\">" + row[i] + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace lp::tool
