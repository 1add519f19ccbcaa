#include "tools/lp/ui/page.h"

#include "tools/lp/ui/page_parts.h"

namespace lp::tool {
namespace {

// Puts `text` in the place of `mark`.
void put(std::string& page, std::string_view mark, std::string_view text) {
  const std::size_t at = page.find(mark);
  if (at != std::string::npos) page.replace(at, mark.size(), text);
}

}  // namespace

std::string page_text(std::string_view nonce) {
  std::string page(kPageFrame);
  const std::string open = " nonce=\"" + std::string(nonce) + "\">\n";
  put(page, "<!--style-->", "<style" + open + std::string(kPageStyle) + "</style>");
  put(page, "<!--script-->", "<script" + open + std::string(kPageScript) + "</script>");
  return page;
}

std::string page_policy(std::string_view nonce) {
  const std::string own = "'nonce-" + std::string(nonce) + "'";
  return "default-src 'none'; connect-src 'self'; style-src " + own + "; script-src " + own +
         "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

}  // namespace lp::tool
