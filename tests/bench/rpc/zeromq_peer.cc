// ZeroMQ over TCP: a ROUTER that answers in one thread, a DEALER that calls. Large data is a frame of its own, sent
// without a copy.

#include <cstring>

#include <zmq.hpp>

#include "tests/bench/rpc/raw_peers.h"

namespace lp::bench {
namespace {

constexpr std::size_t kCopied = 4096;  // data of up to kCopied bytes goes behind the number, in its frame
constexpr std::size_t kHead = sizeof(std::uint64_t);

void open(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
}

// `data` must stay unchanged until it was received.
void send_message(zmq::socket_t& socket, std::uint64_t number, std::span<const std::uint8_t> data) {
  const bool copied = data.size() <= kCopied;
  zmq::message_t head(kHead + (copied ? data.size() : 0));
  std::memcpy(head.data(), &number, kHead);
  if (copied) std::memcpy(head.data<std::uint8_t>() + kHead, data.data(), data.size());
  socket.send(head, copied ? zmq::send_flags::none : zmq::send_flags::sndmore);
  if (copied) return;
  zmq::message_t rest(
      const_cast<std::uint8_t*>(data.data()), data.size(), [](void*, void*) {}, nullptr);
  socket.send(rest, zmq::send_flags::none);
}

std::uint64_t number_of(const zmq::message_t& head) {
  std::uint64_t number = 0;
  std::memcpy(&number, head.data(), kHead);
  return number;
}

void serve(const std::function<void(const std::string&)>& ready) {
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::router);
  open(socket);
  socket.bind("tcp://127.0.0.1:*");
  ready(socket.get(zmq::sockopt::last_endpoint));
  for (;;) {
    zmq::message_t id;
    zmq::message_t head;
    static_cast<void>(socket.recv(id));
    static_cast<void>(socket.recv(head));
    socket.send(id, zmq::send_flags::sndmore);
    if (head.more()) {
      zmq::message_t data;
      static_cast<void>(socket.recv(data));
      socket.send(head, zmq::send_flags::sndmore);
      socket.send(data, zmq::send_flags::none);
    } else if (head.size() == kHead) {
      send_message(socket, number_of(head), bulk());
    } else {
      socket.send(head, zmq::send_flags::none);
    }
  }
}

class ZeromqCaller final : public Caller {
 public:
  explicit ZeromqCaller(const std::string& address) : socket_(context(), zmq::socket_type::dealer) {
    open(socket_);
    socket_.connect(address);
  }
  void send(const Message& request) override {
    if (request.data.empty()) {
      socket_.send(zmq::const_buffer(&request.number, kHead));
    } else {
      send_message(socket_, request.number, request.data);
    }
  }
  Reply receive(std::span<std::uint8_t>) override {
    static_cast<void>(socket_.recv(head_));
    if (!head_.more()) return {number_of(head_), {head_.data<std::uint8_t>() + kHead, head_.size() - kHead}};
    static_cast<void>(socket_.recv(data_));
    return {number_of(head_), {data_.data<std::uint8_t>(), data_.size()}};
  }

 private:
  // One for all callers of the process, and so one I/O thread.
  static zmq::context_t& context() {
    static zmq::context_t context;
    return context;
  }
  zmq::socket_t socket_;
  zmq::message_t head_;
  zmq::message_t data_;
};

std::unique_ptr<Caller> connect(const std::string& address) { return std::make_unique<ZeromqCaller>(address); }

}  // namespace

Peer zeromq_peer() { return {.name = "zeromq tcp", .serve = serve, .connect = connect}; }

}  // namespace lp::bench
