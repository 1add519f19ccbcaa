// Any bytes as a checkpoint file give a Checkpoint or an lp::Error. The same bytes are read once more with right
// checksums and sizes, because a fuzzer would rarely get past these.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/checkpoint/stored_numbers.h"

namespace {

template <class F>
void attempt(F f) {
  try {
    f();
  } catch (const lp::Error&) {
  }
}

void read(const lp::Buffer& bytes) {
  attempt([&] {
    const lp::Checkpoint checkpoint = lp::Checkpoint::parse(bytes, "f.checkpoint");
    std::uint64_t total = 0;
    for (const lp::CheckpointEntry& entry : checkpoint.entries()) {
      total += entry.bytes;
      if (!checkpoint.has(entry.name)) std::abort();
      attempt([&] { lp::to_csv(lp::numbers_of(checkpoint, entry.name)); });
      attempt([&] { checkpoint.get<lp::Array<float>>(entry.name); });
      attempt([&] { checkpoint.get<std::map<std::string, std::vector<double>>>(entry.name); });
      attempt([&] { checkpoint.get_message(entry.name); });
    }
    if (total > bytes.size()) std::abort();  // no byte is read twice
  });
}

constexpr std::size_t kHead = 64;

template <class T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lp::Buffer bytes = lp::Buffer::copy_of(std::as_bytes(std::span(data, size)));
  read(bytes);
  if (size < kHead) return 0;
  const std::span<std::byte> edit = bytes.edit();
  std::uint64_t index = 0;
  std::memcpy(&index, edit.data() + 24, sizeof index);
  index = std::min<std::uint64_t>(index, size) / 64 * 64;
  constexpr unsigned char kMagic[] = {0x89, 'l', 'p', 'c', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0};
  std::memcpy(edit.data(), kMagic, sizeof kMagic);
  put(edit, 16, std::uint64_t{size});
  put(edit, 24, index);
  put(edit, 32, size - index);
  put(edit, 40, std::uint64_t{XXH64(edit.data() + index, size - index, 0)});
  put(edit, 56, std::uint64_t{XXH64(edit.data(), 56, 0)});
  read(bytes);
  return 0;
}
