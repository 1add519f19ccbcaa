#pragma once
// The page of `lp ui`: one text with its style and its scripts, from the files in page/. Functions; any thread.

#include <string>
#include <string_view>

namespace lp::tool {

// The page. `nonce` is a word that nobody can guess, new for each answer: a browser runs only scripts that have it.
std::string page_text(std::string_view nonce);
// The value of content-security-policy for that page: nothing from outside, and no script but its own.
std::string page_policy(std::string_view nonce);

}  // namespace lp::tool
