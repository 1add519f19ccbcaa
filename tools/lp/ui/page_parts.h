#pragma once
// The texts of the page. CMake makes their definitions from the files in page/ (../CMakeLists.txt). Constants.

#include <string_view>

namespace lp::tool {

extern const std::string_view kPageFrame;   // page.html
extern const std::string_view kPageStyle;   // style.css
extern const std::string_view kPageScript;  // the scripts, one after the other

}  // namespace lp::tool
