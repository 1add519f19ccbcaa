#pragma once
// The engines that a launch may name, in the order in which people read of them. launchers/all_engines.cc has the table
// of lp.
//
// Its maker owns it. Any thread may read it.

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/engine_interface/engine.h"

namespace lp::launch {

class Engines {
 public:
  void add(std::unique_ptr<Engine> engine) { engines_.push_back(std::move(engine)); }

  const std::vector<std::unique_ptr<Engine>>& all() const { return engines_; }
  std::vector<std::string_view> names() const;
  // Null: there is none of this name.
  const Engine* find(std::string_view name) const;
  // Throws Error, with the nearest name, when there is none.
  const Engine& of(std::string_view name) const;
  const Engine& of(LaunchType type) const { return of(type.name()); }

 private:
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace lp::launch
