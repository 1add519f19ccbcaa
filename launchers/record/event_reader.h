#pragma once
// Reads the records of event files (event_records.h) back. A pure function.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/function.h"

namespace lp::launch {

// A record. The views are into the text of the file.
struct ReadEvent {
  double time = 0;  // seconds since 1970
  std::uint64_t step = 0;
  bool restarts = false;  // the values in the file from this step on count no more
  bool shows = false;     // it has something to show: values, or what later versions of lp write
  std::vector<std::pair<std::string_view, double>> values{};  // a file has them as floats
  std::string_view record{};                                  // all bytes of the record
};

// Passes on the records from the beginning of a file's text, and returns the number of their bytes. It ends at a record
// that is cut or damaged: a file that grows may end with one.
std::size_t read_events(std::string_view text, Function<void(const ReadEvent&)> take);

// Whether the rest of a file, at whose begin read_events ended, is damaged. A file that grows, or whose writer was
// killed, ends with a record that is only cut.
bool is_damaged(std::string_view rest);

}  // namespace lp::launch
