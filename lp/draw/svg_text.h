#pragma once
// The words of SVG 1.1: numbers, attributes, texts. Pure functions. Lengths are pixels.

#include <string>
#include <string_view>

namespace lp::internal {

// Returns a coordinate with one digit behind the point.
std::string svg_number(double value);
// Returns ` NAME="VALUE"`.
std::string svg_attribute(const char* name, double value);
// Escapes a text for the texts and attributes of XML and HTML. Control characters, and bytes above 127 in a text that
// is not UTF-8, become question marks.
std::string svg_escaped(std::string_view text);
// Estimates the width of a text in a font of this size: a little more than most fonts need.
double svg_width(std::string_view text, double size);
// Returns the text, or its beginning and "…", so that it has at most so many bytes.
std::string svg_cut(std::string_view text, std::size_t longest);

}  // namespace lp::internal
