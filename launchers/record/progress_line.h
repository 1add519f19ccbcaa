#pragma once
// How far a run is, as one line of a terminal. A pure function.

#include <string>

namespace lp {
struct Progress;
namespace internal {

// "[########            ]  40 %  worker/0: step 200/500  loss 0.31  images/s 1.2e+04", the progress of that node; empty
// when there is none yet.
std::string progress_line(const std::string& node, const Progress& progress);

}  // namespace internal
}  // namespace lp
