// Any bytes as JSON from a run's admin socket or directory: a status, a document, or a sentence.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "launchers/record/status.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto status = lp::from_json<lp::RunStatus>(text);
    const std::string again = lp::to_json(status);
    if (lp::to_json(lp::from_json<lp::RunStatus>(again)) != again) std::abort();
  } catch (const lp::Error&) {
  }
  return 0;
}
