#include "programs/environments/environments.h"

#include <algorithm>
#include <array>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "programs/environments/acrobot.h"
#include "programs/environments/cart_pole.h"
#include "programs/environments/catch.h"
#include "programs/environments/mountain_car.h"
#include "programs/environments/pendulum.h"

namespace lp {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Environment> (*make)();
};

template <class E>
std::unique_ptr<Environment> make() {
  return std::make_unique<E>();
}

constexpr std::array kAll = {Named{"acrobot", &make<Acrobot>}, Named{"cartpole", &make<CartPole>},
                             Named{"catch", &make<Catch>}, Named{"mountaincar", &make<MountainCar>},
                             Named{"pendulum", &make<Pendulum>}};

}  // namespace

std::vector<std::string> environment_names() {
  std::vector<std::string> out;
  for (const Named& one : kAll) out.emplace_back(one.name);
  return out;
}

std::unique_ptr<Environment> make_environment(std::string_view name) {
  const auto found = std::find_if(kAll.begin(), kAll.end(), [&](const Named& one) { return one.name == name; });
  if (found != kAll.end()) return found->make();
  throw Error(ErrorKind::failed, "there is no environment \"" + std::string(name) + "\": choose one of " +
                                     join(environment_names(), ", "));
}

}  // namespace lp
