// Any bytes as an event file of a run's curves.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "launchers/record/event_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t bytes = 0;
  const std::size_t read =
      lp::launch::read_events(text, [&](const lp::launch::ReadEvent& event) { bytes += event.record.size(); });
  if (read != bytes || read > size) std::abort();
  return 0;
}
