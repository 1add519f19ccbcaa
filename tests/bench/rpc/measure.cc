#include "tests/bench/rpc/measure.h"

#include <algorithm>
#include <cstring>

#include "lp/base/error.h"

namespace lp::bench {
namespace {

constexpr Duration kShort = std::chrono::microseconds(2);  // shorter calls are timed many at once
constexpr int kMany = 256;

void check(const Reply& reply, std::uint64_t number, std::span<const std::uint8_t> expected) {
  const bool right = reply.number == number && reply.data.size() == expected.size() &&
                     reply.data.front() == expected.front() && reply.data.back() == expected.back();
  if (!right) throw Error(ErrorKind::failed, "a reply is not what was sent");
}

void check_all(const Reply& reply, std::span<const std::uint8_t> expected) {
  if (!std::ranges::equal(reply.data, expected)) throw Error(ErrorKind::failed, "a reply is not what was sent");
}

// Times `call`, each run of which must end, until the work's end.
template <class Call>
Figures time_each(const Work& work, Call call) {
  const Time first = now();
  call();
  const int many = now() - first < kShort ? kMany : 1;
  const Time begin{Duration(work.begin)};
  const Time end = begin + Duration(work.duration);
  std::vector<double> samples;
  for (Time before = now(); before < end || samples.empty();) {
    for (int i = 0; i < many; ++i) call();
    const Time after = now();
    if (before >= begin) samples.push_back(std::chrono::duration<double, std::micro>(after - before).count() / many);
    before = after;
  }
  std::ranges::sort(samples);
  return {.calls = samples.size() * static_cast<std::size_t>(many),
          .median = samples[samples.size() / 2],
          .high = samples[samples.size() * 99 / 100]};
}

Figures round_trips(const Work& work, Caller& caller, Message message) {
  std::vector<std::uint8_t> buffer(work.size);
  check_all(caller.round_trip(message, buffer), message.data.span());
  caller.round_trip(message, buffer);
  return time_each(work, [&] {
    ++message.number;
    check(caller.round_trip(message, buffer), message.number, message.data.span());
  });
}

Figures pipelined(const Work& work, Caller& caller, Message message) {
  std::vector<std::uint8_t> buffer(work.size);
  const Time begin{Duration(work.begin)};
  const Time end = begin + Duration(work.duration);
  std::uint64_t sum = 0;  // the sum of the sent numbers that did not come back: replies may overtake
  const auto send = [&] {
    ++message.number;
    sum += message.number;
    caller.send(message);
  };
  const auto receive = [&] {
    const Reply reply = caller.receive(buffer);
    check(reply, reply.number, message.data.span());
    sum -= reply.number;
  };
  for (std::uint64_t i = 0; i < work.window; ++i) send();
  std::uint64_t calls = 0;
  for (Time time = now(); time < end; time = now()) {
    receive();
    send();
    if (time >= begin) ++calls;
  }
  for (std::uint64_t i = 0; i < work.window; ++i) receive();
  if (sum != 0) throw Error(ErrorKind::failed, "a call has no reply of its own");
  const double micros = std::chrono::duration<double, std::micro>(Duration(work.duration)).count();
  return {.calls = calls, .median = micros / static_cast<double>(calls), .high = 0};
}

Figures pulls(const Work& work, Caller& caller, bool into) {
  std::vector<std::uint8_t> buffer(kBulk);
  Message ask;
  const auto pull = [&] {
    ++ask.number;
    const Reply reply = caller.round_trip(ask, buffer);
    check(reply, ask.number, bulk().span());
    if (into && reply.data.data() != buffer.data()) std::memcpy(buffer.data(), reply.data.data(), reply.data.size());
    return into ? std::span<const std::uint8_t>(buffer) : reply.data;
  };
  check_all({.number = 0, .data = pull()}, bulk().span());
  return time_each(work, pull);
}

Figures reads(const Work& work, Caller& caller) {
  check_all({.number = 0, .data = caller.read()}, bulk().span());
  return time_each(work, [&] {
    const std::span<const std::uint8_t> read = caller.read();
    check({.number = 0, .data = read}, 0, bulk().span());
  });
}

Figures fan_outs(const Work& work, const std::vector<std::unique_ptr<Caller>>& callers, Message message) {
  std::vector<std::uint8_t> buffer(work.size);
  return time_each(work, [&] {
    ++message.number;
    for (const auto& caller : callers) caller->send(message);
    for (const auto& caller : callers) check(caller->receive(buffer), message.number, message.data.span());
  });
}

}  // namespace

Array<std::uint8_t> some_bytes(std::size_t size) {
  auto bytes = Array<std::uint8_t>::uninitialized(size);
  std::uint32_t value = 1;
  for (std::uint8_t& byte : bytes.edit()) {
    value = value * 1664525 + 1013904223;  // Numerical Recipes' generator
    byte = static_cast<std::uint8_t>(value >> 24);
  }
  return bytes;
}

const Array<std::uint8_t>& bulk() {
  static const Array<std::uint8_t> bytes = some_bytes(kBulk);
  return bytes;
}

Figures measure(const Work& work, const std::vector<std::unique_ptr<Caller>>& callers) {
  Message message{.number = 0, .data = some_bytes(work.size)};
  switch (work.kind) {
    case Kind::round_trip: return round_trips(work, *callers.front(), std::move(message));
    case Kind::pipelined: return pipelined(work, *callers.front(), std::move(message));
    case Kind::pull:
    case Kind::pull_into: return pulls(work, *callers.front(), work.kind == Kind::pull_into);
    case Kind::read: return reads(work, *callers.front());
    case Kind::fan_out: return fan_outs(work, callers, std::move(message));
  }
  return {};
}

}  // namespace lp::bench
