#pragma once
// Continues the curves of an earlier run in a new one that is resumed from it. A function.

#include <filesystem>

namespace lp::launch {

// Gives the run in `directory`, which has no curves yet, those of the run in `earlier`, as TensorBoard shows them. What
// a node reports from then on replaces the steps that the earlier run made behind its last checkpoint. Of curves that
// have grown long over many such runs, every other step is left out. Throws Error when a file cannot be read or
// written.
void continue_curves(const std::filesystem::path& earlier, const std::filesystem::path& directory);

}  // namespace lp::launch
