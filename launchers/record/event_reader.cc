#include "launchers/record/event_reader.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "launchers/record/event_records.h"

namespace lp::launch {
namespace {

// Takes numbers and bytes from the beginning of a text. After a read beyond its end it has failed, and all further ones
// return zero or nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty() || failed_; }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view bytes = take(size);
    for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = number(1);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// Passes on the fields of a message. Returns false when it is malformed.
struct MessageField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;   // a number, or its bits
  std::string_view bytes{};  // a text or a message
};
bool read_fields(std::string_view message, Function<void(const MessageField&)> take) {
  for (ByteReader in(message); !in.at_end();) {
    const std::uint64_t key = in.varint();
    MessageField field{.number = key >> 3};
    switch (static_cast<ProtoWire>(key & 7)) {
      case ProtoWire::varint: field.value = in.varint(); break;
      case ProtoWire::fixed64: field.value = in.number(8); break;
      case ProtoWire::bytes: field.bytes = in.take(in.varint()); break;
      case ProtoWire::fixed32: field.value = in.number(4); break;
      default: return false;
    }
    if (in.failed()) return false;
    take(field);
  }
  return true;
}

// Returns the number that people write like this float: 0.9, and not 0.899999976, for what was 0.9 before it was saved.
double widened(float value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double wide = 0;
  std::from_chars(text.data(), end, wide);
  return wide;
}

bool read_summary(std::string_view summary, ReadEvent& event) {
  return read_fields(summary, [&](const MessageField& value) {
    if (value.number != EventField::kSummaryValue) return;
    std::string_view name;
    std::optional<double> number;
    const bool good = read_fields(value.bytes, [&](const MessageField& field) {
      if (field.number == EventField::kValueName) name = field.bytes;
      if (field.number == EventField::kValueNumber) {
        number = widened(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
      }
    });
    if (good && number.has_value()) event.values.emplace_back(name, *number);
  });
}

bool read_message(std::string_view message, ReadEvent& event) {
  return read_fields(message, [&](const MessageField& field) {
    switch (field.number) {
      case EventField::kTime: event.time = std::bit_cast<double>(field.value); break;
      case EventField::kStep: event.step = field.value; break;
      case EventField::kSession: event.restarts = true; break;
      case EventField::kSummary:
        event.shows = true;
        read_summary(field.bytes, event);
        break;
      default: break;
    }
  });
}

}  // namespace

std::size_t read_events(std::string_view text, Function<void(const ReadEvent&)> take) {
  std::size_t done = 0;
  while (done < text.size()) {
    ByteReader in(text.substr(done));
    const std::string_view length = in.take(8);
    const bool known = masked_crc32c(length) == in.number(4);
    const std::uint64_t size = ByteReader(length).number(8);
    if (in.failed() || !known) break;
    const std::string_view message = in.take(size);
    const std::uint64_t sum = in.number(4);
    if (in.failed() || masked_crc32c(message) != sum) break;
    ReadEvent event;
    if (!read_message(message, event)) break;
    event.record = text.substr(done, 16 + message.size());
    take(event);
    done += event.record.size();
  }
  return done;
}

bool is_damaged(std::string_view rest) {
  constexpr std::size_t kHead = 12;  // the length and its sum
  if (rest.size() < kHead) return false;
  ByteReader in(rest);
  const std::string_view length = in.take(8);
  if (masked_crc32c(length) != in.number(4)) return true;
  return ByteReader(length).number(8) + 4 <= rest.size() - kHead;
}

}  // namespace lp::launch
