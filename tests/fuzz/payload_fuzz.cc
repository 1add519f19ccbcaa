// The payload decoder over types that use every codec. The input is: the type and the number of array frames (at most
// 4), the size of each in two bytes, the body; the frames repeat the body's bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "lp/base/error.h"
#include "tests/lp/wire/everything.h"
#include "tests/lp/wire/round_trip.h"

namespace {

using Input = std::span<const std::byte>;

// A value that was read can be written, and from then on has the same bytes.
template <class T>
void read(Input body, std::span<const lp::Buffer> arrays) {
  try {
    const lp::Message frames = lp::encoded(lp::decoded<T>(body, arrays));
    const lp::Message again = lp::encoded(lp::decoded<T>(frames));
    if (again.body.size() != frames.body.size()) std::abort();
  } catch (const lp::Error&) {
  }
}

constexpr void (*kTypes[])(Input, std::span<const lp::Buffer>) = {
    read<lp::everything::Everything>,
    read<lp::everything::Tree>,
    read<lp::Table<lp::everything::Row>>,
    read<Eigen::SparseMatrix<double, Eigen::RowMajor>>,
    read<std::vector<std::variant<std::monostate, lp::Array<float>, Eigen::MatrixXf, std::string>>>,
};

lp::Buffer filled(std::size_t size, Input pattern) {
  lp::Buffer buffer = lp::Buffer::zeroed(size);
  const std::span<std::byte> room = buffer.edit();
  for (std::size_t at = 0; !pattern.empty() && at < size; at += pattern.size()) {
    std::memcpy(&room[at], pattern.data(), std::min(pattern.size(), size - at));
  }
  return buffer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(reinterpret_cast<const std::byte*>(data), size);
  if (input.empty()) return 0;
  const std::size_t choice = data[0];
  const std::size_t count = choice % 5;
  if (input.size() < 1 + 2 * count) return 0;
  const Input body = input.subspan(1 + 2 * count);
  std::vector<lp::Buffer> arrays;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bytes = 0;
    std::memcpy(&bytes, &input[1 + 2 * i], 2);
    arrays.push_back(filled(bytes, body));
  }
  kTypes[choice / 5 % std::size(kTypes)](body, arrays);
  return 0;
}
