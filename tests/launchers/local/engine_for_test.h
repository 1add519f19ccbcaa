#pragma once
// The engine `local`: an agent of this host, which a shell starts as ssh would start one elsewhere. It shows all that a
// new engine needs, beside its line in engines_for_test.cc.

#include <memory>

#include "launchers/engine_interface/engine.h"

namespace lp::test {

inline constexpr LaunchType kLocal("local");

std::unique_ptr<launch::Engine> local_engine();

}  // namespace lp::test
