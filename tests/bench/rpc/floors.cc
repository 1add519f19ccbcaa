#include "tests/bench/rpc/floors.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "lp/base/error.h"

namespace lp::bench {
namespace {

class Service {
 public:
  virtual ~Service() = default;
  virtual Message answer(Message call) = 0;
};

class Echo final : public Service {
 public:
  [[gnu::noinline]] Message answer(Message call) override { return call; }
};

class VirtualCaller final : public Caller {
 public:
  void send(const Message& request) override { reply_ = service_->answer(request); }
  Reply receive(std::span<std::uint8_t>) override { return {.number = reply_.number, .data = reply_.data.span()}; }

 private:
  std::unique_ptr<Service> service_ = std::make_unique<Echo>();
  Message reply_;
};

class VirtualSession final : public Session {
 public:
  VirtualSession() { callers_.push_back(std::make_unique<VirtualCaller>()); }
  std::vector<Figures> measure(const Work& work, int) override { return {bench::measure(work, callers_)}; }
  std::vector<int> services() const override { return {getpid()}; }
  std::vector<int> callers() const override { return {getpid()}; }

 private:
  std::vector<std::unique_ptr<Caller>> callers_;
};

}  // namespace

std::unique_ptr<Session> start_virtual_call() { return std::make_unique<VirtualSession>(); }

double copy_micros(Copy copy, int times) {
  std::vector<std::uint8_t> kept(copy == Copy::warm ? kBulk : 0, 1);
  std::vector<double> samples;
  for (int i = 0; i < times; ++i) {
    if (copy == Copy::fresh) kept = std::vector<std::uint8_t>();
    const Time begin = now();
    if (copy == Copy::fresh) {
      kept.assign(bulk().begin(), bulk().end());
    } else {
      std::memcpy(kept.data(), bulk().data(), kBulk);
    }
    samples.push_back(std::chrono::duration<double, std::micro>(now() - begin).count());
    if (kept.back() != bulk()[kBulk - 1]) throw Error(ErrorKind::failed, "a copy is not what was copied");
  }
  std::ranges::nth_element(samples, samples.begin() + times / 2);
  return samples[static_cast<std::size_t>(times / 2)];
}

}  // namespace lp::bench
