// The readers of the file formats of data.h, except comma-separated values, which are in data_csv.cc. Sizes that a file
// claims are compared with the file's size before they are used.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "programs/data/data.h"
#include "programs/data/data_text.h"

namespace lp {

using internal::check_dense_size;
using internal::check_plain;
using internal::kMaxClasses;
using internal::parse;
using internal::take_signs;
using internal::take_word;
using internal::without_byte_order_mark;

namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 30;

std::string_view text_of(const Buffer& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// ---- IDX: 0, 0, type, dimensions; each dimension in 4 bytes, big end first; the values

std::uint64_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// The sizes of an IDX file of unsigned bytes, which holds exactly as many values as they say.
template <std::size_t dimensions>
std::array<std::uint64_t, dimensions> idx_sizes(const Bytes& file) {
  constexpr std::size_t kHead = 4 + 4 * dimensions;
  const std::string_view bytes = file.bytes;
  check_plain(file);
  const std::string_view magic("\0\0\x08", 3);
  if (bytes.size() < 4 || !bytes.starts_with(magic) || bytes[3] != static_cast<char>(dimensions)) {
    throw_failed(file.name + ", offset 0: expected the magic number 00 00 08 0" + std::to_string(dimensions) +
                 ", IDX of unsigned bytes in " + std::to_string(dimensions) + " dimension(s)");
  }
  if (bytes.size() < kHead) {
    throw_failed(file.name + ", offset 4: expected " + std::to_string(dimensions) +
                 " sizes of 4 bytes, but the file ends after " + std::to_string(bytes.size()) + " bytes");
  }
  std::array<std::uint64_t, dimensions> sizes{};
  const std::uint64_t held = bytes.size() - kHead;
  std::uint64_t claimed = 1;
  std::string product;
  for (std::size_t i = 0; i < dimensions; ++i) {
    sizes[i] = big_endian(bytes, 4 + 4 * i);
    // Once above `held`, it stays above; the product itself might overflow.
    claimed = sizes[i] != 0 && claimed > std::numeric_limits<std::uint64_t>::max() / sizes[i]
                  ? std::numeric_limits<std::uint64_t>::max()
                  : claimed * sizes[i];
    if (i != 0) product += " × ";
    product += std::to_string(sizes[i]);
  }
  if (claimed != held) {
    throw_failed(file.name + ", offset " + std::to_string(kHead) + ": expected " + product + " bytes of data, but " +
                 std::to_string(held) +
                 " follow: " + (held < claimed ? "the file is truncated" : "the file is longer"));
  }
  return sizes;
}

// ---- libsvm

struct Entry {
  std::uint32_t example;
  std::uint32_t input;
  float value;
};

}  // namespace

Dataset parse_idx(const Bytes& images, const Bytes& labels) {
  const auto [count, rows, columns] = idx_sizes<3>(images);
  const auto [label_count] = idx_sizes<1>(labels);
  if (count != label_count) {
    throw_failed(images.name + " has " + std::to_string(count) + " images, but " + labels.name + " has " +
                 std::to_string(label_count) + " labels; do the files belong together?");
  }
  if (count == 0 || rows * columns == 0) throw_failed(images.name + ": has no images");
  check_dense_size(rows * columns, count, images.name);
  const auto examples = static_cast<Eigen::Index>(count);
  const auto* const pixels = reinterpret_cast<const unsigned char*>(images.bytes.data()) + 16;
  const auto* const classes = reinterpret_cast<const unsigned char*>(labels.bytes.data()) + 8;
  using Pixels = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic>;
  using Labels = Eigen::Matrix<unsigned char, Eigen::Dynamic, 1>;
  Dataset out;
  out.features =
      Eigen::Map<const Pixels>(pixels, static_cast<Eigen::Index>(rows * columns), examples).cast<float>() / 255.0F;
  out.labels = Eigen::Map<const Labels>(classes, examples).cast<int>();
  out.classes = out.labels.maxCoeff() + 1;
  return out;
}

Dataset parse_libsvm(const Bytes& text, Storage storage, Eigen::Index least_inputs) {
  std::vector<int> labels;
  std::vector<Entry> entries;
  auto inputs = static_cast<std::uint32_t>(least_inputs);
  bool has_negative = false;
  std::size_t beyond_binary = 0;  // the first line whose label is neither -1 nor +1
  std::size_t line_number = 0;
  for (std::string_view rest = without_byte_order_mark(text.bytes); !rest.empty();) {
    ++line_number;
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    line = line.substr(0, line.find('#'));
    const auto wrong = [&](const std::string& what) {
      throw_failed(text.name + ":" + std::to_string(line_number) + ": " + what);
    };

    const std::string_view label_word = take_word(line);
    if (label_word.empty()) continue;
    double label = 0;
    if (!parse(label_word, label) || !(label >= -1 && label < kMaxClasses) || label != std::floor(label)) {
      wrong("expected a label, a whole number from 0 to " + std::to_string(kMaxClasses - 1) + " or −1, got " +
            quote(label_word));
    }
    has_negative |= label == -1;
    if (std::abs(label) != 1 && beyond_binary == 0) beyond_binary = line_number;
    const auto example = static_cast<std::uint32_t>(labels.size());
    labels.push_back(static_cast<int>(label));

    std::uint32_t previous = 0;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      const std::size_t colon = word.find(':');
      std::uint32_t index = 0;
      double value = 0;
      if (colon == std::string_view::npos || !parse(word.substr(0, colon), index) ||
          !parse(word.substr(colon + 1), value)) {
        wrong("expected index:value, got " + quote(word));
      }
      if (!std::isfinite(static_cast<float>(value))) wrong("expected a value that fits a float, got " + quote(word));
      if (index <= previous) {
        wrong("expected an index above " + std::to_string(previous) + ", because indices ascend from 1, got " +
              quote(word));
      }
      previous = index;
      inputs = std::max(inputs, index);
      if (storage == Storage::dense) {
        check_dense_size(inputs, labels.size(), text.name + ":" + std::to_string(line_number));
      }
      entries.push_back({example, index - 1, static_cast<float>(value)});
    }
  }
  if (inputs == 0 || labels.empty()) throw_failed(text.name + ": has no example with a feature");
  if (storage == Storage::dense) check_dense_size(inputs, labels.size(), text.name);
  if (has_negative && beyond_binary != 0) {
    throw_failed(text.name + ":" + std::to_string(beyond_binary) +
                 ": expected a label of −1 or +1, because other labels are −1");
  }

  const auto examples = static_cast<Eigen::Index>(labels.size());
  Dataset out{Eigen::MatrixXf(), Eigen::Map<const Eigen::VectorXi>(labels.data(), examples), 0};
  if (storage == Storage::dense) {
    out.features.setZero(static_cast<Eigen::Index>(inputs), examples);
    for (const auto& [example, input, value] : entries) out.features(input, example) = value;
  } else {
    out.sparse.resize(static_cast<Eigen::Index>(inputs), examples);
    out.sparse.reserve(static_cast<Eigen::Index>(entries.size()));
    std::uint32_t next = 0;  // entries come example by example, their inputs ascending
    for (const auto& [example, input, value] : entries) {
      while (next <= example) out.sparse.startVec(next++);
      out.sparse.insertBack(input, example) = value;
    }
    while (next < labels.size()) out.sparse.startVec(next++);
    out.sparse.finalize();
  }
  out.classes = out.labels.maxCoeff() + 1;
  if (has_negative) take_signs(out);
  return out;
}

namespace {

bool ends_with_csv(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.ends_with(".csv");
}

// Returns whether the first line with content has commas or semicolons, which libsvm's format does not have.
bool looks_like_csv(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1)) {
    std::string_view line = text.substr(0, text.find('\n'));
    line = line.substr(0, line.find('#'));
    if (line.find_first_of(",;") != std::string_view::npos) return true;
    if (!take_word(line).empty()) return false;
  }
  return false;
}

}  // namespace

Dataset load_data(const std::string& name, const LoadOptions& options) {
  const bool sparse = options.storage == Storage::sparse;
  if (name == kBundledData) return sparse ? sparsified(digits()) : digits();
  std::error_code ignored;
  if (const std::size_t comma = name.find(',');
      comma != std::string::npos && !std::filesystem::is_regular_file(name, ignored)) {
    const std::string images = name.substr(0, comma);
    if (!std::filesystem::exists(images, ignored)) {
      throw_failed("cannot read " + images + ": No such file or directory (" + name +
                   " with its comma is no file, so it names two IDX files: images,labels)");
    }
    Dataset data = load_idx(images, name.substr(comma + 1));
    return sparse ? sparsified(data) : data;
  }
  const Buffer bytes = read_file(name, kMaxFileBytes);
  const Bytes text{text_of(bytes), name};
  check_plain(text);
  if (!ends_with_csv(name) && !looks_like_csv(text.bytes)) return parse_libsvm(text, options.storage, options.inputs);
  Dataset data = parse_csv(text, options.features_only ? options.inputs : 0);
  return sparse ? sparsified(data) : data;
}

Dataset load_idx(const std::string& images, const std::string& labels) {
  const Buffer image_bytes = read_file(images, kMaxFileBytes);
  const Buffer label_bytes = read_file(labels, kMaxFileBytes);
  return parse_idx({text_of(image_bytes), images}, {text_of(label_bytes), labels});
}

Dataset load_libsvm(const std::string& file, Storage storage) {
  const Buffer text = read_file(file, kMaxFileBytes);
  return parse_libsvm({text_of(text), file}, storage);
}

}  // namespace lp
