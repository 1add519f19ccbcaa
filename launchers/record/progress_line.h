#pragma once
// Shows the progress of a run as one line of a terminal. A pure function.

#include <string>

namespace lp {
struct Progress;
namespace launch {

// Returns "[########            ]  40 %  worker/0: step 200/500  loss 0.31  images/s 1.2e+04" for the progress of that
// node; empty when there is none yet. Values for which there is no room are counted.
std::string progress_line(const std::string& node, const Progress& progress);

}  // namespace launch
}  // namespace lp
