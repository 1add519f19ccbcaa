#pragma once
// A reader of event files, for tests: it knows their format only from its specification. Values and functions.

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/record/event_records.h"
#include "lp/base/file.h"

namespace lp::test {

class EventBytes {
 public:
  explicit EventBytes(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) throw std::runtime_error("a record is cut");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view bytes = take(size);
    for (std::size_t i = size; i > 0; --i) value = value << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t byte = number(1);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

 private:
  std::string_view rest_;
};

// The fields of a message: numbers, and the bytes of strings and messages, by field.
struct EventFields {
  std::map<std::uint64_t, std::uint64_t> numbers{};
  std::map<std::uint64_t, std::vector<std::string_view>> bytes{};

  explicit EventFields(std::string_view message) {
    for (EventBytes in(message); !in.empty();) {
      const std::uint64_t key = in.varint();
      switch (key & 7) {
        case 0: numbers[key >> 3] = in.varint(); break;
        case 1: numbers[key >> 3] = in.number(8); break;
        case 2: bytes[key >> 3].push_back(in.take(in.varint())); break;
        case 5: numbers[key >> 3] = in.number(4); break;
        default: throw std::runtime_error("a field has an unknown type");
      }
    }
  }
};

// What TensorBoard shows of a folder's files by name, without what a restart replaces: numbers, texts, and histograms
// with the numbers and the packed lists of their fields.
template <class Value>
using EventSeries = std::map<std::string, std::vector<std::pair<std::uint64_t, Value>>>;
using EventCurves = EventSeries<float>;
struct EventHistogram {
  double least = 0, most = 0, count = 0, sum = 0, squares = 0;
  std::vector<double> bounds{};
  std::vector<double> buckets{};
};
struct EventFolder {
  EventCurves numbers{};
  EventSeries<std::string> texts{};
  EventSeries<EventHistogram> histograms{};
};

inline EventHistogram read_histogram(std::string_view message) {
  const EventFields fields(message);
  const auto number = [&](std::uint64_t field) { return std::bit_cast<double>(fields.numbers.at(field)); };
  const auto list = [&](std::uint64_t field) {
    std::vector<double> numbers;
    for (EventBytes in(fields.bytes.at(field).at(0)); !in.empty();) {
      numbers.push_back(std::bit_cast<double>(in.number(8)));
    }
    return numbers;
  };
  return {number(1), number(2), number(3), number(4), number(5), list(6), list(7)};
}

inline void add_value(EventFolder& folder, std::uint64_t step, std::string_view message) {
  const EventFields value(message);
  const std::string name(value.bytes.at(1).at(0));
  if (value.numbers.contains(2)) {
    folder.numbers[name].emplace_back(step, std::bit_cast<float>(static_cast<std::uint32_t>(value.numbers.at(2))));
  } else if (value.bytes.contains(5)) {
    folder.histograms[name].emplace_back(step, read_histogram(value.bytes.at(5).at(0)));
  } else {
    const EventFields metadata(value.bytes.at(9).at(0));
    const EventFields plugin(metadata.bytes.at(1).at(0));
    if (plugin.bytes.at(1).at(0) != "text") return;
    const EventFields tensor(value.bytes.at(8).at(0));
    if (tensor.numbers.at(1) != 7) throw std::runtime_error("a text is no tensor of strings");
    folder.texts[name].emplace_back(step, tensor.bytes.at(8).at(0));
  }
}

inline EventFolder read_event_folder(const std::filesystem::path& path) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file()) files[entry.path().filename()] = read_text(entry.path(), 64 << 20);
  }
  const auto check = [](std::string_view bytes, std::uint64_t sum) {
    if (std::rotr(launch::crc32c(bytes), 15) + 0xA282EAD8U != sum) throw std::runtime_error("a check sum is wrong");
  };
  const auto drop = [](auto& series, std::uint64_t step) {
    for (auto& [tag, points] : series) std::erase_if(points, [&](const auto& one) { return one.first >= step; });
  };
  EventFolder folder;
  for (const auto& [name, text] : files) {
    bool first = true;
    for (EventBytes in(text); !in.empty(); first = false) {
      const std::string_view length = in.take(8);
      check(length, in.number(4));
      const std::string_view message = in.take(EventBytes(length).number(8));
      check(message, in.number(4));
      const EventFields event(message);
      if (first && event.bytes.at(3).at(0) != "brain.Event:2") throw std::runtime_error("no version comes first");
      const std::uint64_t step = event.numbers.contains(2) ? event.numbers.at(2) : 0;
      if (event.bytes.contains(7)) {  // the session starts again
        drop(folder.numbers, step);
        drop(folder.texts, step);
        drop(folder.histograms, step);
      }
      if (!event.bytes.contains(5)) continue;
      for (const std::string_view summary : event.bytes.at(5)) {
        const EventFields values(summary);
        for (const std::string_view value : values.bytes.at(1)) add_value(folder, step, value);
      }
    }
  }
  return folder;
}

inline EventCurves read_curves(const std::filesystem::path& folder) { return read_event_folder(folder).numbers; }

}  // namespace lp::test
