#pragma once
// 1-bit SGD, as CNTK (Seide et al., Interspeech 2014): synchronous training whose workers push one bit a value and two
// reconstruction values a column, and add what that loses to their next gradient. What is lost is in the cuts.

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
