#include "nodes/parameters/gradient_encoding.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/random.h"
#include "lp/kernels/error_feedback.h"
#include "lp/kernels/grid.h"
#include "lp/kernels/one_bit.h"
#include "lp/kernels/top_k.h"

namespace lp {
namespace {

constexpr float kLevels = 127;

Encoded one_bit(std::span<const float> values, std::uint32_t column) {
  Encoded out{.compression = Compression::one_bit, .size = values.size(), .column = column};
  out.values = Array<float>::uninitialized(2 * kernels::columns_of(values.size(), column));
  out.bits = Array<std::uint64_t>::uninitialized(kernels::words_of_bits(values.size()));
  const kernels::Grid one_thread{};
  run_grid(kernels::OneBitBits{values.data(), values.size(), out.bits.edit().data()}, one_thread);
  run_grid(kernels::OneBitMeans{values.data(), values.size(), column, out.values.edit().data()}, one_thread);
  return out;
}

Encoded kept(std::span<const float> values, Compression kind, std::span<const std::uint32_t> indices) {
  Encoded out{.compression = kind, .size = values.size()};
  out.indices = Array<std::uint32_t>::copy_of(indices);
  out.values = Array<float>::uninitialized(indices.size());
  const std::span<float> to = out.values.edit();
  for (std::size_t i = 0; i < indices.size(); ++i) to[i] = values[indices[i]];
  return out;
}

Encoded some(std::span<const float> values, Compression kind, double share, std::uint64_t seed) {
  const std::size_t k = values_kept(values.size(), share);
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(k);
  if (kind == Compression::top_k) {
    const auto magnitude = [values](std::uint32_t i) {  // NaN comes first
      return kernels::magnitude_key(values[i]);
    };
    std::nth_element(order.begin(), end - (k == 0 ? 0 : 1), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t magnitude_a = magnitude(a);
      const std::uint32_t magnitude_b = magnitude(b);
      return magnitude_a != magnitude_b ? magnitude_a > magnitude_b : a < b;
    });
  } else {
    Random random(seed, "random_k");
    for (std::size_t i = 0; i < k; ++i) std::swap(order[i], order[i + random.below(order.size() - i)]);
  }
  std::sort(order.begin(), end);
  return kept(values, kind, std::span(order).first(k));
}

Encoded significant(std::span<const float> values, float threshold) {
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i]) < threshold)) indices.push_back(static_cast<std::uint32_t>(i));
  }
  return kept(values, Compression::significant, indices);
}

Encoded dithered(std::span<const float> values, std::uint64_t seed) {
  float norm = 0;
  for (const float value : values) {
    if (norm < std::abs(value) || std::isnan(value)) norm = std::abs(value);  // NaN stays
  }
  Encoded out{.compression = Compression::dither, .size = values.size()};
  out.values = Array<float>::copy_of(std::span(&norm, 1));
  out.levels = Array<std::int8_t>(values.size());
  Random random(seed, "dither");
  const std::span<std::int8_t> levels = out.levels.edit();
  const bool has_levels = norm > 0 && std::isfinite(norm);
  for (std::size_t i = 0; i < values.size() && has_levels; ++i) {
    const float exact = std::abs(values[i]) / norm * kLevels;
    const float low = std::floor(exact);
    const float level = low + (random.uniform() < exact - low ? 1.0F : 0.0F);
    levels[i] = static_cast<std::int8_t>(std::copysign(level, values[i]));
  }
  return out;
}

void multiply(const Encoded& factors, std::span<float> to) {
  const std::size_t outputs = factors.column;
  const std::size_t inputs = factors.size / outputs - 1;
  const std::size_t examples = factors.values.size() / (outputs + inputs);
  const float* const activations = factors.values.data() + examples * outputs;
  for (std::size_t example = 0; example < examples; ++example) {
    const float* const errors = factors.values.data() + example * outputs;
    for (std::size_t input = 0; input <= inputs; ++input) {
      const float activation = input < inputs ? activations[example * inputs + input] : 1;
      for (std::size_t output = 0; output < outputs; ++output) {
        to[input * outputs + output] += errors[output] * activation;
      }
    }
  }
}

[[noreturn]] void malformed(const Encoded& encoded) {
  throw Error(ErrorKind::failed, "a compressed gradient of " + std::to_string(encoded.size) +
                                     " values has parts that do not fit: " + std::to_string(encoded.values.size()) +
                                     " values, " + std::to_string(encoded.indices.size()) + " indices, " +
                                     std::to_string(encoded.bits.size()) + " words of bits, " +
                                     std::to_string(encoded.levels.size()) + " levels");
}

void check(const Encoded& encoded) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  bool fits = encoded.size <= kMost;
  switch (encoded.compression) {
    case Compression::none: fits = encoded.size == encoded.values.size(); break;
    case Compression::one_bit:
      fits = fits && encoded.column != 0 && encoded.bits.size() == kernels::words_of_bits(encoded.size) &&
             encoded.values.size() == 2 * kernels::columns_of(encoded.size, encoded.column);
      break;
    case Compression::top_k:
    case Compression::random_k:
    case Compression::significant:
      fits = fits && encoded.values.size() == encoded.indices.size();
      for (std::size_t i = 0; i < encoded.indices.size(); ++i) {
        fits = fits && encoded.indices[i] < encoded.size && (i == 0 || encoded.indices[i - 1] < encoded.indices[i]);
      }
      break;
    case Compression::dither: fits = encoded.values.size() == 1 && encoded.levels.size() == encoded.size; break;
    case Compression::outer_product:
      fits = fits && encoded.column != 0 && encoded.size % encoded.column == 0 && encoded.size / encoded.column > 1 &&
             encoded.values.size() % (encoded.column + encoded.size / encoded.column - 1) == 0;
      break;
    default: fits = false;
  }
  if (!fits) malformed(encoded);
}

}  // namespace

std::uint64_t Encoded::bytes() const {
  return values.size() * sizeof(float) + indices.size() * sizeof(std::uint32_t) + bits.size() * sizeof(std::uint64_t) +
         levels.size();
}

Encoded plain(Array<float> values) {
  Encoded out{.size = values.size()};
  out.values = std::move(values);
  return out;
}

Encoded outer_product(Array<float> factors, std::uint32_t outputs, std::uint32_t inputs) {
  Encoded out{.compression = Compression::outer_product,
              .size = std::uint64_t{outputs} * (std::uint64_t{inputs} + 1),
              .column = outputs};
  out.values = std::move(factors);
  check(out);
  return out;
}

Array<float> decode(const Encoded& encoded) {
  check(encoded);
  if (encoded.compression == Compression::none) return encoded.values;
  auto out = Array<float>(static_cast<std::size_t>(encoded.size));
  const std::span<float> to = out.edit();
  switch (encoded.compression) {
    case Compression::none: break;
    case Compression::one_bit:
      run_grid(kernels::OneBitDecode{encoded.values.data(), encoded.bits.data(), encoded.column, to.data(), to.size()},
               kernels::Grid{});
      break;
    case Compression::top_k:
    case Compression::random_k:
    case Compression::significant:
      for (std::size_t i = 0; i < encoded.indices.size(); ++i) to[encoded.indices[i]] = encoded.values[i];
      break;
    case Compression::dither:
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = encoded.values[0] * static_cast<float>(encoded.levels[i]) / kLevels;
      break;
    case Compression::outer_product: multiply(encoded, to); break;
  }
  return out;
}

void check(const CompressionOptions& options) {
  if (options.kind == Compression::one_bit && options.column == 0) {
    throw Error(ErrorKind::failed, "1-bit compression would have columns of 0 values: give 1 or more");
  }
  if ((options.kind == Compression::top_k || options.kind == Compression::random_k) && !(options.share > 0)) {
    throw Error(ErrorKind::failed, "a share of " + std::to_string(options.share) + " of the values is sent");
  }
}

std::size_t values_kept(std::uint64_t size, double share) {
  const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(size)));
  return std::min<std::size_t>(size, std::max<std::size_t>(wanted, 1));
}

Encoded encode(std::span<const float> values, const CompressionOptions& options, std::uint64_t seed) {
  check(options);
  switch (options.kind) {
    case Compression::none: break;
    case Compression::one_bit: return one_bit(values, options.column);
    case Compression::top_k:
    case Compression::random_k: return some(values, options.kind, options.share, seed);
    case Compression::significant: return significant(values, options.threshold);
    case Compression::dither: return dithered(values, seed);
    case Compression::outer_product:
      throw Error(ErrorKind::failed,
                  "a gradient cannot be split into an outer product: choose the scheme outer_product");
  }
  return plain(Array<float>::copy_of(values));
}

Encoded ErrorFeedback::encode(std::span<const float> values, std::uint64_t step) {
  if (options_.kind == Compression::none) {
    auto out = Array<float>::uninitialized(values.size());
    std::transform(values.begin(), values.end(), out.edit().begin(),
                   [&](float g) { return kernels::clipped(g, options_.clip); });
    return plain(std::move(out));
  }
  if (step_ && step < *step_) residual_.clear();
  if (residual_.empty()) residual_.resize(values.size());
  if (residual_.size() != values.size()) {
    throw Error(ErrorKind::failed, "a gradient of " + std::to_string(values.size()) + " values after one of " +
                                       std::to_string(residual_.size()) +
                                       ": each sequence of gradients needs its own error feedback");
  }
  if (step_ == step) return encoded_;
  for (std::size_t i = 0; i < values.size(); ++i) residual_[i] += kernels::clipped(values[i], options_.clip);
  encoded_ = lp::encode(residual_, options_, hash_combine(seed_, step));
  step_ = step;
  const Array<float> decoded = decode(encoded_);
  for (std::size_t i = 0; i < values.size(); ++i) residual_[i] -= decoded[i];
  return encoded_;
}

void ErrorFeedback::restore(std::span<const float> residual) {
  residual_.assign(residual.begin(), residual.end());
  step_.reset();
}

}  // namespace lp
