#pragma once
// The hyperparameters of a run for TensorBoard: the fields of its configuration by name, "model.hidden". A pure
// function.

#include <map>
#include <string>
#include <string_view>

#include "launchers/record/event_records.h"

namespace lp::launch {

// `configuration` is the text of RUN/config.yaml. Text that is no YAML has none. A list is a text, "32,16".
// Long texts are left out.
std::map<std::string, Hyperparameter> hyperparameters_of(std::string_view configuration);

}  // namespace lp::launch
