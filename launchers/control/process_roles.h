#pragma once
// How a process of a run knows its role: the flags with which its parent starts it, the environment that an engine
// gives it, and the exit code by which it asks to be started again. Constants.

#include <string_view>

namespace lp::internal {

inline constexpr std::string_view kAgentFlag = "--lp-agent";
inline constexpr std::string_view kAgentThereFlag = "--lp-agent=";  // on another host, and its lease in seconds
inline constexpr std::string_view kNodeFlag = "--lp-node=";         // and the node's name
inline constexpr std::string_view kDialFlag = "--lp-dial=";         // and RUN@HOST: an agent dials its coordinator
inline constexpr std::string_view kRelayFlag = "--lp-relay=";       // and the run's directory on the coordinator's host

inline constexpr const char* kAddressVariable = "LP_ADDRESS";  // other hosts reach this process there
inline constexpr const char* kMachineVariable = "LP_MACHINE";  // the machine that has this pod

// Exit code of an agent whose launcher has ended while nodes were running, or was silent for a lease.
inline constexpr int kForsaken = 75;

}  // namespace lp::internal
