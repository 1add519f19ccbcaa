// prints: ignoring return value of 'std::optional<int> lp::become_node_if_asked(

#include "launchers/programs.h"

#pragma GCC diagnostic error "-Wunused-result"

int main(int argc, char** argv) { lp::become_node_if_asked(argc, argv, lp::Programs()); }
