#pragma once
// Gradients in fewer bytes: the encodings, and the error feedback that makes up for their losses.
//
// Encoded is a value that travels. An ErrorFeedback belongs to one thread.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/base/array.h"

namespace lp {

enum class Compression : std::uint8_t {
  none,
  one_bit,        // one bit for each value, and two reconstruction values for each column
  top_k,          // the values with the largest magnitudes
  random_k,       // values drawn at random
  significant,    // values of at least some magnitude: those that have changed significantly since they were sent
  dither,         // 8 bits for each value: its share of the largest magnitude, rounded up or down at random
  outer_product,  // the gradient of a fully connected layer as its two factors, without loss; see outer_product()
};

struct Encoded {
  Compression compression = Compression::none;
  std::uint64_t size = 0;    // the number of values that it stands for
  std::uint32_t column = 0;  // one_bit: the values of a column; the last may have fewer. outer_product: outputs
  Array<float>
      values{};  // none: all. one_bit: low and high of each column. k, significant: the kept values. dither: the norm
  Array<std::uint32_t> indices{};  // k, significant: the indices of the kept values, ascending
  Array<std::uint64_t> bits{};     // one_bit: set for high
  Array<std::int8_t> levels{};     // dither: −127 .. 127 of the norm

  std::uint64_t bytes() const;  // the size of its arrays
};

// Without loss and without a copy.
Encoded plain(Array<float> values);

// The gradient of a fully connected layer, Σ δ (x, 1)ᵀ over the examples, as in Project Adam (Chilimbi et al., OSDI
// 2014, section 3.2.2): the errors δ of all examples, then the input activations x of all examples, each example's
// values together. The decoder multiplies them. It returns the weights' gradient, a column for each input, then the
// biases' gradient. Error::failed when the sizes do not fit.
Encoded outer_product(Array<float> factors, std::uint32_t outputs, std::uint32_t inputs);

// Error::failed when the sizes do not fit each other, or an index is out of range or does not ascend.
Array<float> decode(const Encoded& encoded);

struct CompressionOptions {
  bool any() const { return kind != Compression::none || clip > 0; }

  Compression kind = Compression::none;
  double share = 0.01;        // top_k, random_k: the share of the values that is sent; at least one value
  float threshold = 1e-3F;    // significant: the least magnitude that is sent
  float clip = 0;             // values are first brought within ± clip, without error feedback; 0: they are not
  std::uint32_t column = 64;  // one_bit: 1 or more
};

// Error::failed for options that do not fit their kind.
void check(const CompressionOptions& options);
// The number of values out of `size` that top_k and random_k send.
std::size_t values_kept(std::uint64_t size, double share);

// Compresses a gradient: Q of "1-bit stochastic gradient descent" (Seide et al., Interspeech 2014) and its variants.
// Error::failed for outer_product, which is not made from a gradient. A value that is not finite is never lost: the
// decoded values are not finite either. Only random_k and dither use `seed`.
Encoded encode(std::span<const float> values, const CompressionOptions& options, std::uint64_t seed);

// q = Q(g + e);  e ← (g + e) − Q⁻¹(q). The sum of the decoded values and the residual is always the sum of the
// gradients.
//
// The gradients belong to growing steps, and each is a function of its step. Encoding a step again gives the same
// result, since a server may have it already. Encoding an earlier step means that servers have gone back: the residual
// is forgotten, because its gradients come again.
class ErrorFeedback {
 public:
  // Random choices are a function of seed and step.
  explicit ErrorFeedback(CompressionOptions options, std::uint64_t seed = 0) : options_(options), seed_(seed) {}

  // Error::failed when the number of values changes.
  Encoded encode(std::span<const float> values, std::uint64_t step);

  // The residual of the steps so far; empty at first. After restore(), it goes on from those steps.
  std::span<const float> residual() const { return residual_; }
  void restore(std::span<const float> residual);

 private:
  CompressionOptions options_;
  std::uint64_t seed_;
  std::vector<float> residual_{};
  std::optional<std::uint64_t> step_{};  // the step that was encoded last
  Encoded encoded_{};                    // its encoding
};

}  // namespace lp
