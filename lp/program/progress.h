#pragma once
// The progress of a node, as it reports it. A value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lp/program/value_histogram.h"

namespace lp {

// Progress that a node reports for people: it is shown as a bar and kept in the status. Values, histograms and texts
// are kept by step, for curves and TensorBoard.
//
//   context.report({.step = step,
//                   .values = {{"loss", loss}},
//                   .histograms = {{"weights", lp::histogram_of(weights)}},
//                   .texts = {{"sample", sample}}});
struct Progress {
  // A report with more bytes is cut: texts to kTextBytes, and what is then too much, from the end, is left out.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;
  static constexpr std::size_t kTextBytes = std::size_t{16} << 10;
  static constexpr std::size_t kNameBytes = 256;

  std::uint64_t step = 0;
  std::uint64_t total = 0;                               // 0: unknown
  std::vector<std::pair<std::string, double>> values{};  // "loss", "images/s"
  std::vector<std::pair<std::string, ValueHistogram>> histograms{};
  std::vector<std::pair<std::string, std::string>> texts{};  // TensorBoard takes them for Markdown

  // The same progress within these bounds.
  Progress bounded() const;
};

}  // namespace lp
