#pragma once
// Gradients in fewer bytes: how they are encoded, and the error feedback that makes up for what is lost.
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
  one_bit,        // a bit a value, and two reconstruction values a column
  top_k,          // the values that are largest by magnitude
  random_k,       // values that are drawn at random
  significant,    // values of some magnitude at least: those that were modified significantly since they were sent
  dither,         // 8 bits a value: its share of the largest magnitude, rounded up or down at random
  outer_product,  // the gradient of a fully connected layer as its two factors, without loss; see outer_product()
};

struct Encoded {
  Compression compression = Compression::none;
  std::uint64_t size = 0;    // values that it stands for
  std::uint32_t column = 0;  // one_bit: values of a column; the last may have fewer. outer_product: outputs
  Array<float>
      values{};  // none: all. one_bit: low and high of each column. k, significant: those kept. dither: the norm
  Array<std::uint32_t> indices{};  // k, significant: of those kept, ascending
  Array<std::uint64_t> bits{};     // one_bit: set for high
  Array<std::int8_t> levels{};     // dither: −127 .. 127 of the norm

  std::uint64_t bytes() const;  // of its arrays
};

// Without loss and without a copy.
Encoded plain(Array<float> values);

// The gradient of a fully connected layer, Σ δ (x, 1)ᵀ over the examples, as Project Adam sends it (Chilimbi et al.,
// OSDI 2014, section 3.2.2): the errors δ of all examples, then the activations x that went in, each example's
// together. It is the decoder that multiplies: the weights' gradient, a column for each input, then the biases'.
// Error::failed when the sizes do not fit.
Encoded outer_product(Array<float> factors, std::uint32_t outputs, std::uint32_t inputs);

// Error::failed when the sizes do not fit each other, or an index lies outside or does not ascend.
Array<float> decode(const Encoded& encoded);

struct CompressionOptions {
  bool any() const { return kind != Compression::none || clip > 0; }

  Compression kind = Compression::none;
  double share = 0.01;        // top_k, random_k: of the values that are sent; one at least
  float threshold = 1e-3F;    // significant: the least magnitude that is sent
  float clip = 0;             // values are brought within ± clip first, for good; 0: they are not
  std::uint32_t column = 64;  // one_bit: 1 or more
};

// Error::failed for outer_product, which is not made of a gradient. A value that is not finite is never lost: what is
// decoded is not finite either. Q of "1-bit stochastic gradient descent" (Seide et
// al., Interspeech 2014) and its kin. `seed` decides for random_k and dither, and is otherwise not used.
Encoded encode(std::span<const float> values, const CompressionOptions& options, std::uint64_t seed);

// q = Q(g + e);  e ← (g + e) − Q⁻¹(q). What was decoded and the residual together are always the sum of what was given.
//
// Of the gradients of growing steps, each a function of its step. A step that is encoded again is what it was before,
// since a server may have it already. When a step before that is encoded, servers have gone back, and the residual,
// which is of gradients that come again, is forgotten.
class ErrorFeedback {
 public:
  // What is drawn is a function of seed and step.
  explicit ErrorFeedback(CompressionOptions options, std::uint64_t seed = 0) : options_(options), seed_(seed) {}

  // Error::failed when the number of values changes.
  Encoded encode(std::span<const float> values, std::uint64_t step);

  // What the steps so far have left; empty at first. restore() begins after these, with the residual that they had.
  std::span<const float> residual() const { return residual_; }
  void restore(std::span<const float> residual);

 private:
  CompressionOptions options_;
  std::uint64_t seed_;
  std::vector<float> residual_{};
  std::optional<std::uint64_t> step_{};  // that was encoded last
  Encoded encoded_{};                    // what it became
};

}  // namespace lp
