#pragma once
// Takes lines over TCP, and appends them to a file, the raw log: pipelines follow it, and may be replayed over it.
//
// When the process has no descriptor left, more clients wait, and it logs so. It is in no cut. The lines that it has
// written stay, whatever goes back. A line counts when it is in the log; nobody confirms it to its sender. The last
// line of a connection needs no line end, unless the connection breaks. A node: run() listens.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"
#include "lp/program/context.h"
#include "lp/rpc/core/method.h"

namespace lp {

struct ListenOptions {
  std::string address = "127.0.0.1";  // anybody who reaches another address may write into the log
  std::uint16_t port = 0;             // 0: any that is free, the same after a restart
  std::filesystem::path log{};        // directory; the file is "lines", and ".port" has the port
  std::uint64_t connections = 0;      // after the end of so many it makes `until` and ends; 0: never
  std::filesystem::path until{};
};

class LineListener {
 public:
  LineListener(Context& node, ListenOptions options);

  void run(Context& node);
  std::uint16_t port() const { return port_; }

  using Remote = Methods<&LineListener::port>;

 private:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

  void listen(bool again);
  void open_log();
  void accept();
  void be_full(bool full);
  void read(std::uint64_t tag);
  void write(const std::string& lines);

  const ListenOptions options_;
  Descriptor socket_{};
  Descriptor log_{};
  std::uint16_t port_ = 0;
  Poller poller_{};
  struct Connection {
    Descriptor socket{};
    std::string rest{};  // the begin of a line
  };
  std::map<std::uint64_t, Connection> connections_{};
  bool full_ = false;  // no descriptor is left for one more
  std::uint64_t accepted_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace lp
