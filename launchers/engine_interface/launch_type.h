#pragma once
// The name of an engine: how --launch, `launcher` of a group and LaunchOptions say where nodes run. A value.
//
// It is a name and not an enumeration, so that a new engine needs nothing but its line in launchers/all_engines.cc. A
// name that no engine has is refused when a launch is made, with the nearest one.

#include <string_view>

namespace lp {

class LaunchType {
 public:
  static const LaunchType threads;     // threads of the launching process
  static const LaunchType processes;   // processes of this host
  static const LaunchType ssh;         // processes of other hosts, which ssh reaches
  static const LaunchType slurm;       // processes of a job of Slurm
  static const LaunchType kubernetes;  // pods

  // For an engine of your own: LaunchType("local"). The name is a literal.
  consteval explicit LaunchType(const char* name) : name_(name) {}

  constexpr std::string_view name() const { return name_; }
  friend constexpr bool operator==(const LaunchType& a, const LaunchType& b) { return a.name_ == b.name_; }

 private:
  std::string_view name_;
};

inline constexpr LaunchType LaunchType::threads{"threads"};
inline constexpr LaunchType LaunchType::processes{"processes"};
inline constexpr LaunchType LaunchType::ssh{"ssh"};
inline constexpr LaunchType LaunchType::slurm{"slurm"};
inline constexpr LaunchType LaunchType::kubernetes{"kubernetes"};

}  // namespace lp
