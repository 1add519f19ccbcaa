#pragma once
// A process of a run learns its role from the flags with which its parent starts it and from the environment that an
// engine sets. By an exit code it asks to be started again. Constants.

#include <string_view>

namespace lp::launch {

inline constexpr std::string_view kAgentFlag = "--lp-agent";
// the agent of another host; the value is its lease in seconds
inline constexpr std::string_view kAgentThereFlag = "--lp-agent=";
inline constexpr std::string_view kNodeFlag = "--lp-node=";  // a node process; the value is the node's name
// an agent that dials its coordinator; the value is RUN@HOST
inline constexpr std::string_view kDialFlag = "--lp-dial=";
// a relay; the value is the run's directory on the coordinator's host
inline constexpr std::string_view kRelayFlag = "--lp-relay=";

inline constexpr const char* kAddressVariable = "LP_ADDRESS";  // the address at which other hosts reach this process
inline constexpr const char* kMachineVariable = "LP_MACHINE";  // the machine on which this pod runs

// Exit code of an agent whose launcher has ended while nodes were running, or was silent for a whole lease.
inline constexpr int kForsaken = 75;

}  // namespace lp::launch
