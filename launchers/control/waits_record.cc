#include "launchers/control/waits_record.h"

#include <utility>

#include "launchers/control/message_stream.h"
#include "lp/base/json.h"

namespace lp::launch {
namespace {
constexpr std::size_t kLongest = kSmallMessages / 8 * 7;
}  // namespace

std::string pack_waits(ProcessWaits waits) {
  std::string text = to_json(waits);
  while (text.size() > kLongest && !waits.calls.empty()) {
    waits.calls.resize(waits.calls.size() / 2);
    text = to_json(waits);
  }
  while (text.size() > kLongest && !waits.nodes.empty()) {
    waits.nodes.resize(waits.nodes.size() / 2);
    text = to_json(waits);
  }
  return text;
}

std::string pack_threads(std::vector<ThreadState> threads) {
  std::string text = to_json(threads);
  while (text.size() > kLongest) {
    threads.resize(threads.size() / 2);
    text = to_json(threads);
  }
  return text;
}

}  // namespace lp::launch
