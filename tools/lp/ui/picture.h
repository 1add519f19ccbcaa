#pragma once
// The picture of a program for the page: boxes of groups, in which each node has a cell, and the arrows between them.
// Pure functions.

#include "lp/base/json.h"
#include "lp/program/plan.h"

namespace lp::tool {

// Writes members of the current object: "groups", "frames", "arrows", "width" and "height". Lengths are pixels.
void write_picture(JsonWriter& json, const Plan& plan);

}  // namespace lp::tool
