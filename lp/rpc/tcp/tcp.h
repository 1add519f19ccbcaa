#pragma once
// The other processes of a run by ZeroMQ over TCP: one socket, which every thread uses directly. Shared by the Network,
// the links of its connections and the threads that receive; thread-safe.
//
// A sender puts its message into a queue, and then sends all queued messages, unless another thread is at the socket:
// that thread then sends them. While a thread handles arrivals, messages wait until it has finished, so that many leave
// as one packet.

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/link/receive_role.h"
#include "lp/rpc/link/receivers.h"
#include "lp/rpc/tcp/authenticator.h"
#include "lp/rpc/tcp/packet.h"
#include "lp/rpc/tcp/router.h"

namespace lp::rpc {

class Tcp : public std::enable_shared_from_this<Tcp>, private Receivers::Source {
 public:
  // Listens on a free port of the process's address. Throws Error::failed, also when that is not loopback and there are
  // no keys.
  static std::shared_ptr<Tcp> listen(LocalProcess& process);
  ~Tcp() override;
  Tcp(const Tcp&) = delete;
  Tcp& operator=(const Tcp&) = delete;

  // "tcp://127.0.0.1:41234"
  const std::string& endpoint() const { return endpoint_; }

  // Returns the connection to an endpoint, and makes one when there is none.
  std::shared_ptr<Connection> dial(const std::string& endpoint, const std::string& key);
  // Ends the connection to an endpoint whose process is gone.
  void hang_up(const std::string& endpoint);
  // A process with this public key may dial until the key is revoked: then its connections end at once.
  void allow(const std::string& key);
  void revoke(const std::string& key);
  // Ends all connections.
  void close();

 private:
  class TcpLink;
  class AtSocket;
  struct Outbox {
    explicit Outbox(std::string the_id) : id(std::move(the_id)) {}
    const std::string id;
    std::vector<Message> messages{};
    bool sending = false;                    // something is on its way
    bool listed = false;                     // the outbox is in to_send_
    std::size_t waiting = 0;                 // bytes of the messages
    std::atomic<bool> full = false;          // too many bytes wait
    std::weak_ptr<Connection> connection{};  // connection of a caller, notified when they have left
  };
  struct Remote {
    std::string id;
    std::shared_ptr<Connection> connection;
    bool known = false;        // it was greeted, or dialed by this process
    int descriptor = -1;       // descriptor of a connection that was accepted
    std::uint64_t permit = 0;  // permit of its key
    Assembly assembly{};
  };
  struct Received {
    bool any = false;    // something was handled
    bool again = false;  // there may be more
    bool rest = false;   // there is more
  };

  explicit Tcp(LocalProcess& process);
  void send(const std::shared_ptr<Outbox>& outbox, Message message);
  void sent(const std::shared_ptr<Outbox>& outbox);
  void notify_drained(const Outbox& outbox);

  // For a thread that waits for a reply, one at a time: reader_ gets the news of the socket.
  Word* begin_reading() noexcept;
  bool read();
  void end_reading() noexcept;

  void receive() override;
  void wait() override;
  void wake() noexcept override { poller_.wake(); }
  Successor successor() const noexcept override;
  Received receive_one(Handlers handlers);
  bool take(Message& message);
  bool fetch();
  void open(Router::Arrival& arrival);
  std::shared_ptr<Remote> remote(const Router::Arrival& arrival);
  void refuse(Remote& remote, const std::exception& problem);
  void on_refusal(const std::string& endpoint);
  void on_end(int descriptor);
  void on_break(const std::string& endpoint);
  friend class Receiving<Tcp>;
  void role_given_up() noexcept { poll_again(); }

  void list(const std::shared_ptr<Outbox>& outbox);
  void flush();
  void send_listed();
  void poll();
  void poll_again() noexcept;

  LocalProcess& process_;
  std::mutex socket_;  // guards router_
  std::unique_ptr<Router> router_;
  const int descriptor_;  // descriptor of router_
  // Whether router_ has input. nothing: wait for its descriptor. fired: the descriptor did. more: poll it again.
  enum class Has : std::uint8_t { nothing, fired, more };
  std::atomic<Has> has_ = Has::more;
  std::atomic<bool> alone_ = false;  // true while messages arrive one at a time (request-reply traffic)
  std::unique_ptr<Authenticator> authenticator_;
  std::string endpoint_;
  Poller poller_;  // used by the receiver
  Receivers::Post post_;
  std::unique_ptr<Receivers> receivers_;
  std::atomic<bool> closing_ = false;

  std::mutex outboxes_;  // guards the content of outboxes, and:
  std::vector<std::shared_ptr<Outbox>> to_send_;
  std::atomic<bool> listed_ = false;
  std::vector<std::shared_ptr<Outbox>> leaving_;  // guarded by socket_
  std::vector<Message> messages_to_send_;         // guarded by socket_

  std::mutex table_;
  std::unordered_map<std::string, std::shared_ptr<Remote>> remotes_;  // by id
  struct Dialed {
    std::string id;
    std::string key;
    std::shared_ptr<Connection> connection;
  };
  std::unordered_map<std::string, Dialed> dialed_;  // by endpoint
  const std::string prefix_;
  std::uint32_t dials_ = 0;

  ReceiveRole role_;  // role of handling arrivals; the thread that has it owns the members below
  std::vector<Router::Arrival> arrivals_;
  std::size_t arrived_ = 0;
  std::size_t opened_ = 0;
  std::vector<Message> messages_;  // messages of the arrival that was opened last
  std::size_t handled_ = 0;
  std::weak_ptr<Remote> sender_;  // sender of messages_; weak, because its link keeps this object alive

  Poller reader_;
  Word reader_word_ = Event::kEmpty;
  std::atomic<bool> reading_ = false;
  bool unread_ = false;  // used by the reader: it has left something
  bool waited_ = false;  // used by the reader: it has waited since it read
  bool only_ = false;    // meanwhile the receiver is not notified
};

}  // namespace lp::rpc
