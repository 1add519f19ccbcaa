#pragma once
// This program, as a file that other hosts need to run it too, even if it was replaced here meanwhile. They look
// whether they have one with the same bytes, at the same path or in ~/.cache/lp, and are sent it otherwise.
//
// Owned by who starts agents; one thread.

#include <cstddef>
#include <string>
#include <string_view>

#include "lp/base/descriptor.h"

namespace lp::internal {

class OwnBinary {
 public:
  // What a host prints, as a line, that takes it.
  static constexpr std::string_view kWanted = "lp-agent: send the program";

  // Throws Error when it cannot be read.
  OwnBinary();

  // For the shell of another host, on one line each: leaves the path of the program there in $p, and does `otherwise`
  // where there is none, but says on standard error that the host is of another kind of machine, and ends the shell,
  // where it is;
  std::string find(const std::string& otherwise) const;
  // and takes it from standard input then, or says on standard error why it cannot, and ends the shell.
  std::string take() const;
  // Sends what `socket`, which does not block, takes of it now, from `sent` on, which then is more. True when nothing
  // is left to send.
  bool send(int socket, std::size_t& sent) const;

 private:
  Descriptor file_;
  std::size_t size_ = 0;
  std::string machine_;  // as `uname -m` says it
  std::string path_;
  std::string hash_;      // SHA-256, in hexadecimal digits
  std::string identity_;  // inode, bytes and time of its last change: the same file, on a file system that hosts share
};

}  // namespace lp::internal
