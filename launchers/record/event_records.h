#pragma once
// The records of TensorBoard's event files. A file is records one after the other, each with one event. Pure functions.
//
// Formats: TFRecord (tensorflow/core/lib/io/record_writer.h) around the messages Event, Summary and SessionLog
// (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto). `time` is in seconds since 1970.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "lp/program/value_histogram.h"

namespace lp::launch {

// CRC-32C, the Castagnoli polynomial (RFC 3720, appendix B.4).
std::uint32_t crc32c(std::string_view bytes);
// The form in which records have it.
std::uint32_t masked_crc32c(std::string_view bytes);

// The forms of a protocol buffer's fields (protobuf.dev/programming-guides/encoding).
enum class ProtoWire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// The numbers of the fields of Event, Summary, Summary.Value and SessionLog.
struct EventField {
  static constexpr int kTime = 1, kStep = 2, kVersion = 3, kSummary = 5, kSession = 7;
  static constexpr int kSummaryValue = 1;
  static constexpr int kValueName = 1, kValueNumber = 2, kValueHistogram = 5, kValueTensor = 8, kValueMetadata = 9;
  static constexpr int kSessionStatus = 1;
};

// The first record of each file.
std::string version_record(double time);
// Makes readers drop all values from `step` on that come before this record: a node has gone back to it.
std::string restart_record(double time, std::uint64_t step);
// The values of one step, by name. Numbers get 32 bits; NaN and infinity stay. Texts are UTF-8.
using EventValue = std::variant<double, ValueHistogram, std::string>;
std::string values_record(double time, std::uint64_t step, const std::map<std::string, EventValue>& values);

// The hyperparameters of a run and its end, for TensorBoard's plugin `hparams` (tensorboard/plugins/hparams/
// plugin_data.proto).
using Hyperparameter = std::variant<double, bool, std::string>;
std::string session_start_record(double time, const std::map<std::string, Hyperparameter>& hyperparameters);
std::string session_end_record(double time, bool success);

}  // namespace lp::launch
