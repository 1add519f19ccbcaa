#pragma once
// The environments that come with lp, by name. Pure functions: any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "programs/environments/environment.h"

namespace lp {

// "acrobot", "cartpole", "catch", "mountaincar", "pendulum".
std::vector<std::string> environment_names();

// Error::failed for an unknown name; the message has all names.
std::unique_ptr<Environment> make_environment(std::string_view name);

}  // namespace lp
