#pragma once
// The style sheet of a report, for light and dark. A pure function.

#include <string_view>

namespace lp::tool {

std::string_view report_style();

}  // namespace lp::tool
