// rpc_bench_grpc: gRPC C++ over a Unix socket and over TCP loopback, started by rpc_bench. It uses gRPC's callback API
// with ByteBuffers, like generated code for raw methods: no protobuf, and no copy of the sent data, so that the figures
// are gRPC's best.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "tests/bench/rpc/process.h"

namespace lp::bench {
namespace {

constexpr const char* kMethod = "/lp.bench.Echo/answer";
constexpr std::size_t kHead = sizeof(std::uint64_t);

// `data` must stay unchanged until it was received.
grpc::ByteBuffer to_buffer(std::uint64_t number, std::span<const std::uint8_t> data) {
  const std::array<grpc::Slice, 2> slices{grpc::Slice(&number, kHead),
                                          grpc::Slice(data.data(), data.size(), grpc::Slice::STATIC_SLICE)};
  return grpc::ByteBuffer(slices.data(), slices.size());
}

// Copies the buffer to `head`, then to `data`; returns the number of bytes after the head.
std::size_t from_buffer(const grpc::ByteBuffer& buffer, std::uint64_t& number, std::span<std::uint8_t> data) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok() || buffer.Length() < kHead || buffer.Length() - kHead > data.size()) {
    throw Error(ErrorKind::failed, "a reply is not what was sent");
  }
  std::size_t at = 0;
  for (const grpc::Slice& slice : slices) {
    const std::size_t head = at < kHead ? std::min(slice.size(), kHead - at) : 0;
    std::memcpy(reinterpret_cast<std::uint8_t*>(&number) + at, slice.begin(), head);
    at += head;
    if (slice.size() > head) std::memcpy(data.data() + at - kHead, slice.begin() + head, slice.size() - head);
    at += slice.size() - head;
  }
  return at - kHead;
}

class EchoService final : public grpc::Service {
 public:
  EchoService() {
    AddMethod(new grpc::internal::RpcServiceMethod(kMethod, grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodCallback(
        0, new grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
               [](grpc::CallbackServerContext* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
                 if (request->Length() == kHead) {
                   std::uint64_t number = 0;
                   from_buffer(*request, number, {});
                   *reply = to_buffer(number, bulk());
                 } else {
                   *reply = *request;
                 }
                 grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
                 reactor->Finish(grpc::Status::OK);
                 return reactor;
               }));
  }
};

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return arguments;
}

void serve_at(const std::string& address, bool tcp, const std::function<void(const std::string&)>& ready) {
  EchoService service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) throw Error(ErrorKind::failed, "gRPC cannot listen on " + address);
  ready(tcp ? "ipv4:127.0.0.1:" + std::to_string(port) : address);
  server->Wait();
}

void serve_tcp(const std::function<void(const std::string&)>& ready) { serve_at("127.0.0.1:0", true, ready); }
void serve_unix(const std::function<void(const std::string&)>& ready) {
  serve_at("unix-abstract:lp_bench_grpc_" + std::to_string(getpid()), false, ready);
}

class GrpcCaller final : public Caller {
 public:
  explicit GrpcCaller(const std::string& address)
      : stub_(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), channel_arguments())) {}

  void send(const Message& request) override {
    auto call = std::make_unique<Call>();
    call->context.set_wait_for_ready(true);
    call->request = to_buffer(request.number, request.data);
    Call* const begun = call.release();  // owned by its callback, then by the queue
    stub_.UnaryCall(&begun->context, kMethod, {}, &begun->request, &begun->reply,
                    [this, begun](const grpc::Status& status) { finish(begun, status); });
  }

  Reply receive(std::span<std::uint8_t> buffer) override {
    const std::unique_ptr<Call> call = take();
    if (!call->status.ok()) throw Error(ErrorKind::failed, "gRPC: " + call->status.error_message());
    std::uint64_t number = 0;
    const std::size_t size = from_buffer(call->reply, number, buffer);
    return {.number = number, .data = buffer.first(size)};
  }

 private:
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer request;
    grpc::ByteBuffer reply;
    grpc::Status status;
  };

  void finish(Call* call, const grpc::Status& status) {
    call->status = status;
    const std::lock_guard lock(mutex_);
    done_.emplace_back(call);
    if (done_.size() == 1) ready_.set();
  }
  std::unique_ptr<Call> take() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (!done_.empty()) {
          std::unique_ptr<Call> call = std::move(done_.front());
          done_.pop_front();
          return call;
        }
      }
      ready_.wait();
    }
  }

  grpc::GenericStub stub_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Call>> done_;
  Event ready_;  // done_ was empty and is not
};

std::unique_ptr<Caller> connect(const std::string& address) { return std::make_unique<GrpcCaller>(address); }

}  // namespace
}  // namespace lp::bench

int main(int argc, char** argv) {
  using namespace lp::bench;  // NOLINT: a main of a benchmark
  const std::vector<Peer> peers{{.name = "grpc unix", .serve = serve_unix, .connect = connect},
                                {.name = "grpc tcp", .serve = serve_tcp, .connect = connect}};
  return become_peer_if_asked(argc, argv, peers).value_or(2);
}
