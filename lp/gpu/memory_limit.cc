#include "lp/gpu/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::gpu {

MemoryLimit MemoryLimit::here(const std::string& uuid, const std::string& nvml) {
  MemoryLimit limit;
  const char* const value = std::getenv(kVariable);
  if (value == nullptr) return limit;
  const std::string_view text = value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit.part_);
  if (error != std::errc{} || end != text.data() + text.size() || limit.part_ == 0) {
    throw_failed(std::string(kVariable) + " is " + quote(text) +
                 ": it is a number of bytes, of which there is one or more");
  }
  limit.uuid_ = uuid;
  try {
    limit.nvml_ = std::make_unique<Nvml>(nvml);
  } catch (const Error&) {  // then what the process counts by itself is all that is known
  }
  return limit;
}

bool MemoryLimit::allows(std::uint64_t taken, std::uint64_t more) const {
  if (!limits()) return true;
  if (nvml_ != nullptr) taken = std::max(taken, nvml_->memory_of(getpid(), uuid_));
  const std::uint64_t most = part_ - std::min(part_ / 8, kForLibraries);
  return taken <= most && more <= most - taken;
}

std::string MemoryLimit::text() const { return "its part of " + uuid_ + " is " + memory_text(part_); }

}  // namespace lp::gpu
