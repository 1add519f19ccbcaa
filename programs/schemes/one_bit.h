#pragma once
// 1-bit SGD, as in CNTK (Seide et al., Interspeech 2014): synchronous training whose workers push one bit for each
// value and two reconstruction values for each column, and add the loss of that to their next gradient. The residuals
// are in the cuts.

#include <cstdint>

#include "programs/training/synchronous.h"

namespace lp {

inline Scheme one_bit_scheme(const ServerTraining& training, std::uint32_t column = 64) {
  Scheme scheme = synchronous_scheme(training);
  scheme.compression = {.kind = Compression::one_bit, .column = column};
  return scheme;
}

inline TrainingGraph add_one_bit_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                          std::uint32_t column = 64) {
  return add_server_training(program, task, training, one_bit_scheme(training, column));
}

}  // namespace lp
