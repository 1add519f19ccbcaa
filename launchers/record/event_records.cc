#include "launchers/record/event_records.h"

#include <array>
#include <bit>
#include <cstddef>

namespace lp::launch {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = crc_table();

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}
std::string tag(int field, ProtoWire wire) { return {static_cast<char>(field << 3 | static_cast<int>(wire))}; }
std::string field(int number, std::uint64_t value) { return tag(number, ProtoWire::varint) + varint(value); }
std::string field(int number, double value) {
  return tag(number, ProtoWire::fixed64) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string field(int number, float value) {
  return tag(number, ProtoWire::fixed32) + little_endian(std::bit_cast<std::uint32_t>(value));
}
std::string field(int number, std::string_view bytes) {
  return tag(number, ProtoWire::bytes) + varint(bytes.size()) + std::string(bytes);
}

std::string record(const std::string& event) {
  const std::string length = little_endian(std::uint64_t{event.size()});
  return length + little_endian(masked_crc32c(length)) + event + little_endian(masked_crc32c(event));
}

constexpr std::uint64_t kSessionStart = 1;  // a status of SessionLog

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U; }

std::string version_record(double time) {
  return record(field(EventField::kTime, time) + field(EventField::kVersion, std::string_view("brain.Event:2")));
}

std::string restart_record(double time, std::uint64_t step) {
  return record(field(EventField::kTime, time) + field(EventField::kStep, step) +
                field(EventField::kSession, field(EventField::kSessionStatus, kSessionStart)));
}

std::string values_record(double time, std::uint64_t step, const std::map<std::string, double>& values) {
  std::string summary;
  for (const auto& [name, value] : values) {
    summary += field(EventField::kSummaryValue, field(EventField::kValueName, std::string_view(name)) +
                                                    field(EventField::kValueNumber, static_cast<float>(value)));
  }
  return record(field(EventField::kTime, time) + field(EventField::kStep, step) + field(EventField::kSummary, summary));
}

}  // namespace lp::launch
