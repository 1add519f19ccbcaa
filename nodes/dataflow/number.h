#pragma once
// A number in a line of input. A pure function.

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

// Returns the number that the whole text is, in decimal digits. Error::failed, which begins with `complaint` and shows
// the text, when it is none or does not fit into an N, so that the line is a bad record.
template <class N>
  requires(std::integral<N> || std::floating_point<N>)
N number_of(std::string_view text, std::string_view complaint) {
  N number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  const char* const what = error == std::errc::result_out_of_range ? " is out of range"
                           : std::integral<N>                      ? " is no whole number"
                                                                   : " is no number";
  throw Error(ErrorKind::failed, std::string(complaint) + ": " + quote(text) + what);
}

}  // namespace lp
