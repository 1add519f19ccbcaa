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

// What Summary.Value has of a plugin's value: SummaryMetadata and a tensor (tensorflow/core/framework/tensor.proto).
std::string plugin_fields(std::string_view plugin, std::string_view content, std::string_view tensor) {
  constexpr int kPlugin = 1, kPluginName = 1, kContent = 2, kDataClass = 4;
  constexpr std::uint64_t kTensorClass = 2;
  const std::string metadata =
      field(kPlugin, field(kPluginName, plugin) + field(kContent, content)) + field(kDataClass, kTensorClass);
  return field(EventField::kValueMetadata, std::string_view(metadata)) + field(EventField::kValueTensor, tensor);
}

std::string summary_value(std::string_view name, std::string_view fields) {
  return field(EventField::kSummaryValue, field(EventField::kValueName, name) + std::string(fields));
}

std::string value_fields(double number) { return field(EventField::kValueNumber, static_cast<float>(number)); }

// A HistogramProto (tensorflow/tsl/protobuf/histogram.proto).
std::string value_fields(const ValueHistogram& values) {
  constexpr int kLeast = 1, kMost = 2, kCount = 3, kSum = 4, kSquares = 5, kBounds = 6, kBuckets = 7;
  std::string bounds;
  std::string buckets;
  for (std::size_t i = 0; i < ValueHistogram::kBuckets; ++i) {
    bounds += little_endian(std::bit_cast<std::uint64_t>(values.bound(i)));
    buckets += little_endian(std::bit_cast<std::uint64_t>(values.buckets[i]));
  }
  return field(EventField::kValueHistogram, field(kLeast, values.least) + field(kMost, values.most) +
                                                field(kCount, static_cast<double>(values.count)) +
                                                field(kSum, values.sum) + field(kSquares, values.squares) +
                                                field(kBounds, std::string_view(bounds)) +
                                                field(kBuckets, std::string_view(buckets)));
}

// A tensor of one text.
std::string value_fields(const std::string& text) {
  constexpr int kType = 1, kShape = 2, kTexts = 8;
  constexpr std::uint64_t kString = 7;
  return plugin_fields(
      "text", {}, field(kType, kString) + field(kShape, std::string_view()) + field(kTexts, std::string_view(text)));
}

// An empty tensor of numbers: its type, and its shape with one dimension of size 0.
constexpr std::string_view kNoTensor("\x08\x01\x12\x02\x12\x00", 6);

// A google.protobuf.Value.
std::string variant_field(const Hyperparameter& value) {
  if (const auto* number = std::get_if<double>(&value)) return field(2, *number);
  if (const auto* text = std::get_if<std::string>(&value)) return field(3, std::string_view(*text));
  return field(4, std::uint64_t{std::get<bool>(value) ? 1U : 0U});
}

std::string session_record(double time, std::string_view name, const std::string& content) {
  const std::string summary = summary_value(name, plugin_fields("hparams", content, kNoTensor));
  return record(field(EventField::kTime, time) + field(EventField::kSummary, std::string_view(summary)));
}

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

std::string values_record(double time, std::uint64_t step, const std::map<std::string, EventValue>& values) {
  std::string summary;
  for (const auto& [name, value] : values) {
    summary += summary_value(name, std::visit([](const auto& one) { return value_fields(one); }, value));
  }
  return record(field(EventField::kTime, time) + field(EventField::kStep, step) + field(EventField::kSummary, summary));
}

// The numbers of the fields of HParamsPluginData, SessionStartInfo and SessionEndInfo.
std::string session_start_record(double time, const std::map<std::string, Hyperparameter>& hyperparameters) {
  constexpr int kStart = 3, kParameters = 1, kStartTime = 5;
  std::string start;
  for (const auto& [name, value] : hyperparameters) {
    start += field(kParameters, std::string_view(field(1, std::string_view(name)) +
                                                 field(2, std::string_view(variant_field(value)))));
  }
  start += field(kStartTime, time);
  return session_record(time, "_hparams_/session_start_info", field(kStart, std::string_view(start)));
}

std::string session_end_record(double time, bool success) {
  constexpr int kEnd = 4, kStatus = 1, kEndTime = 2;
  constexpr std::uint64_t kSuccess = 1, kFailure = 2;
  const std::string end = field(kStatus, success ? kSuccess : kFailure) + field(kEndTime, time);
  return session_record(time, "_hparams_/session_end_info", field(kEnd, std::string_view(end)));
}

}  // namespace lp::launch
