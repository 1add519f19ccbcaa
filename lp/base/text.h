#pragma once
// Messages to people, and their parts: names that were typed, text, durations, sizes. Functions; any thread.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace lp {

// Returns whether `given` is `name`, where dashes of `given` count as underscores.
bool same_name(std::string_view name, std::string_view given);

// Returns "; did you mean PREFIXNEAREST?" for the candidate of which `given` is probably a misspelling, or an empty
// text if none is near. It uses the optimal string alignment distance: insertions, deletions, replacements and
// exchanges of neighbours count one each. "hidden" may also mean "model.hidden".
std::string did_you_mean(std::string_view given, std::span<const std::string> candidates, std::string_view prefix = "");

// Returns `text` in double quotes, on one line of printable UTF-8, cut off where it is long.
std::string quote(std::string_view text);

// Returns "250 ms", "1.5 s", "60 s".
std::string duration_text(std::chrono::nanoseconds duration);

// Returns bytes as "512", "1.5K" or "3G": K, M, G and T are powers of 1024.
std::string memory_text(std::uint64_t bytes);

// Reports an event to the person at the terminal: writes the line "lp: TEXT" to standard error, in one piece, so that
// lines of several threads and processes do not mix.
void log_line(std::string_view text);

// Returns "a, b, c".
template <class Texts>
std::string join(const Texts& texts, std::string_view separator) {
  std::string joined;
  for (bool first = true; const std::string_view text : texts) {
    if (!std::exchange(first, false)) joined += separator;
    joined += text;
  }
  return joined;
}

}  // namespace lp
