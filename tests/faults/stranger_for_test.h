#pragma once
// The common part of the tests of strangers: a server, an honest client, and peers that are neither. A listener is
// guarded by the run's secret or by keys, and most tests hold for both. Owned by the test; one thread.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "lp/program/runtime.h"
#include "lp/wire/envelope.h"
#include "tests/faults/programs_for_test.h"
#include "tests/lp/program/nobody.h"

namespace lp::test {

// Two runtimes of this process, like those of two processes: one serves node 0, one calls. A friend may call too: for
// the server it is node 1.
class StrangerFixture : public testing::Test {
 protected:
  explicit StrangerFixture(bool has_keys);

  Runtime::Options options(const CurveKeys& keys) const;
  CurveKeys keys() const { return has_keys_ ? make_curve_keys() : CurveKeys(); }

  void expect_service();
  // Waits until the server has refused `count` connections; it serves meanwhile.
  void expect_refusals(std::uint64_t count);
  // Opens a connection to the server's port, or to another.
  int connect_to_server() const;
  int port() const { return std::stoi(endpoint_.substr(endpoint_.rfind(':') + 1)); }
  // Updates the server's knowledge of node 1.
  void tell_server(std::uint32_t incarnation, const std::string& key);

  const bool has_keys_;
  const CurveKeys server_keys_ = keys();
  const CurveKeys client_keys_ = keys();
  const CurveKeys friend_keys_ = keys();
  const Config config_{.nodes = 2};
  const Program program_ = make_services(config_);
  Nobody observer_;
  Nobody nobody_;
  Runtime server_;
  Runtime client_;
  const std::string endpoint_ = server_.endpoint();
};

// The credentials that a peer shows to a listener.
struct Papers {
  CurveKeys keys{};          // its own; empty: it shows the secret instead
  std::string server_key{};  // public
  std::string secret = "secret";
  std::string identity{};
};

// A ZeroMQ socket that sends to a server.
class Stranger {
 public:
  Stranger(const std::string& endpoint, const Papers& papers);
  void send(const Message& frames);
  void send_frame(const Buffer& content);
  // Returns whether within 5 s the other side refuses this connection, or ends it.
  bool is_refused() { return hears(ZMQ_EVENT_HANDSHAKE_FAILED_AUTH); }
  bool is_cut() { return hears(ZMQ_EVENT_DISCONNECTED); }
  // The next message; nothing if none arrives within `patience`.
  std::optional<Message> receive(Duration patience = std::chrono::seconds(5));

 private:
  bool hears(int event);
  zmq::context_t context_;
  zmq::socket_t socket_;
  zmq::socket_t monitor_;
};

// Memory that this process uses, the time that its threads have computed, and its descriptors.
std::size_t resident_bytes();
double computed_seconds();
std::size_t open_descriptors();

// Processes that open `connections` to the port, send `bytes` on each, and hold them until the object ends.
class Crowd {
 public:
  Crowd(int port, int connections, const std::string& bytes);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::vector<int> children_;
};

// ZMTP's greeting for a mechanism: whole.
std::string greeting(const std::string& mechanism);

}  // namespace lp::test
