#pragma once
// Every kernel of lp as one type, so that a queue runs any of them by one function, and a device's queue is compiled in
// one source. A value: it copies, and points into memory of the queue that runs it.

#include <variant>

#include "lp/kernels/cross_entropy.h"
#include "lp/kernels/error_feedback.h"
#include "lp/kernels/evolution.h"
#include "lp/kernels/finite.h"
#include "lp/kernels/layers.h"
#include "lp/kernels/normal.h"
#include "lp/kernels/one_bit.h"
#include "lp/kernels/optimizer_steps.h"
#include "lp/kernels/top_k.h"
#include "lp/kernels/update.h"

namespace lp::kernels {

using Kernel =
    std::variant<Update<SgdStep>, Update<MomentumStep>, Update<AdaGradStep>, Update<AdamStep>, Update<FtrlStep>,
                 Update<SumStep>, SumGradients, FindBad, LeastOf,  // parameters
                 NormalNumbers, Perturb<CounterNumbers>, Perturb<TableNumbers>, SearchGradient<CounterNumbers>,
                 SearchGradient<TableNumbers>,  // evolution
                 AddClipped, OneBitBits, OneBitMeans, OneBitDecode, OneBitSubtract, BeginSelection, CountDigits,
                 SumRows<std::uint32_t>, SumRows<std::uint64_t>, ChooseDigit, CountKept, PrefixSums, SpreadSums,
                 KeepTopK, AddAtPositions, Activate<Identity>, Activate<Relu>, Activate<Tanh>, MultiplyBySlope<Relu>,
                 MultiplyBySlope<Tanh>, CrossEntropy, LogisticCrossEntropy>;

}  // namespace lp::kernels
