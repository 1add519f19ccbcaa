#pragma once
// This program as a file that other hosts need in order to run it. The file stays available even if it is replaced on
// this host meanwhile. Another host first looks for the same bytes at the same path and in ~/.cache/lp, and receives a
// copy otherwise.
//
// The code that starts agents owns it; one thread.

#include <cstddef>
#include <string>
#include <string_view>

#include "lp/base/descriptor.h"

namespace lp::launch {

class Executable {
 public:
  // The line that a host prints when it takes the program.
  static constexpr std::string_view kWanted = "lp-agent: send the program";
  // The begin of the line on standard error that gives the reason why the program cannot run there. A login may print
  // other lines before it and after it.
  static constexpr std::string_view kRefused = "lp-agent: refused: ";

  // Throws Error when the program's file cannot be read.
  Executable();

  // A shell line for another host. It sets $p to the program's path on that host. It runs `otherwise` if the host has
  // no copy. If the host is another kind of machine, the line refuses and ends the shell. Throws
  // Error when the program's bytes cannot be hashed.
  std::string find(const std::string& otherwise) const;
  // A shell line for `otherwise`. It reads the program from standard input. If it cannot, it refuses and ends the
  // shell.
  std::string take() const;
  // Sends as much as `socket`, which does not block, accepts now, beginning at `sent`, and advances `sent`. Returns
  // true when nothing is left to send.
  bool send(int socket, std::size_t& sent) const;

 private:
  const std::string& hash() const;

  Descriptor file_;
  std::size_t size_ = 0;
  std::string machine_;  // the output of `uname -m`
  std::string path_;
  mutable std::string hash_;  // SHA-256 in hexadecimal digits, from the first use on: a run on one host never needs it
  // inode, size and time of the last change; they identify the file on a file system that hosts share
  std::string identity_;
};

}  // namespace lp::launch
