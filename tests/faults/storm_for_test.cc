#include "tests/faults/storm_for_test.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>

#include "lp/base/descriptor.h"
#include "lp/base/random.h"
#include "lp/base/shared_heap.h"

namespace lp::test {
namespace {

constexpr std::size_t kSampled = 61;  // every kSampled-th byte is checked

void append(const std::string& log, const char* name, const std::string& line) {
  const Descriptor file(open((log + "/" + name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (write(file.number(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

std::uint8_t byte_at(std::size_t i, std::uint8_t seed) { return static_cast<std::uint8_t>(i * 31 + seed); }

template <class Values>
void fill(Values&& values, std::uint8_t seed) {
  for (std::size_t i = 0; i < values.size(); i += kSampled) values[i] = byte_at(i, seed);
}
template <class Values>
bool right(const Values& values, std::size_t size, std::uint8_t seed) {
  if (values.size() != size) return false;
  for (std::size_t i = 0; i < size; i += kSampled) {
    if (values[i] != byte_at(i, seed)) return false;
  }
  return true;
}

class StormCaller {
 public:
  StormCaller(std::vector<Client<Store>> stores, const std::string& log, std::uint64_t who)
      : stores_(std::move(stores)), log_(log), who_(who), random_(who, "storm", 0) {}

  void step() {
    size_ = some_size();
    seed_ = static_cast<std::uint8_t>(random_.below(256));
    Client<Store>& store = stores_[random_.below(stores_.size())];
    switch (random_.below(6)) {
      case 0: ended("bytes", [&] { return right(store.call<&Store::bytes>(values()), size_, seed_); }); break;
      case 1: ended("array", [&] { return right(store.call<&Store::array>(array()), size_, seed_); }); break;
      case 2: ended("made", [&] { return right(store.call<&Store::made>(size_, seed_), size_, seed_); }); break;
      case 3: pipeline(store); break;
      case 4: drop(store); break;
      default: call_once(store);
    }
  }

 private:
  std::size_t some_size() {
    constexpr std::size_t kSizes[] = {0, 1, 100, 4'000, 40'000, 300'000, 3'000'000};
    const std::size_t size = kSizes[random_.below(std::size(kSizes))];
    return size < 2 ? size : size + random_.below(size);
  }
  std::vector<std::uint8_t> values() const {
    std::vector<std::uint8_t> made(size_);
    fill(made, seed_);
    return made;
  }
  Array<std::uint8_t> array() const {
    Array<std::uint8_t> made(size_);
    fill(made.edit(), seed_);
    return made;
  }

  // Every call ends with a right result, or because its store died.
  template <class F>
  std::string ended(const char* what, F is_right) {
    try {
      if (is_right()) return "value";
      append(log_, "wrong", std::string(what) + ": a wrong reply\n");
      return "wrong";
    } catch (const Error& error) {
      const bool killed = error.kind() == ErrorKind::disconnected && error.may_have_run();
      if (!killed && error.kind() != ErrorKind::stopped) {
        append(log_, "wrong", std::string(what) + ": " + error.what() + "\n");
      }
      return std::string(to_string(error.kind()));
    }
  }

  void pipeline(Client<Store>& store) {
    std::deque<Future<Array<std::uint8_t>>> going;
    for (std::uint64_t left = random_.below(40); left > 0; --left) going.push_back(store.async<&Store::array>(array()));
    for (auto& one : going) ended("pipelined", [&] { return right(one.get(), size_, seed_); });
  }
  // Nobody waits for these calls; some are cancelled.
  void drop(Client<Store>& store) {
    for (std::uint64_t left = random_.below(10); left > 0; --left) {
      auto dropped = store.async<&Store::made>(size_, seed_);
      if (left % 2 == 0) dropped.cancel();
    }
  }
  void call_once(Client<Store>& store) {
    const std::uint64_t number = who_ << 32 | ++count_;
    const std::string how = ended("once", [&] { return store.call<&Store::once>(number) == number + 1; });
    append(log_, "outcomes", std::to_string(number) + " " + how + "\n");
  }

  std::vector<Client<Store>> stores_;
  const std::string& log_;
  const std::uint64_t who_;
  Random random_;
  std::size_t size_ = 0;
  std::uint8_t seed_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

Usage usage_now() {
  Usage usage;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++usage.descriptors;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) usage.mappings += line.find("memfd:lp-") != std::string::npos;
  if (SharedHeap::current() != nullptr) usage.heap = SharedHeap::current()->used();
  return usage;
}

Array<std::uint8_t> Store::made(std::uint64_t size, std::uint8_t seed) const {
  Array<std::uint8_t> values(size);
  fill(values.edit(), seed);
  return values;
}

std::uint64_t Store::once(std::uint64_t number) {
  append(log_, "executions", std::to_string(number) + " " + std::to_string(getpid()) + "\n");
  return number + 1;
}

Self Store::self() const { return {.pid = getpid(), .incarnation = context_.incarnation()}; }

void storm(std::vector<Client<Store>> stores, const std::string& log, std::uint64_t who,
           const std::atomic<bool>& finished) {
  StormCaller caller(std::move(stores), log, who);
  while (!finished) caller.step();
}

void Storming::run(Context& context) {
  std::vector<Client<Store>> stores(stores_.begin(), stores_.end());
  {
    const auto self = [&](std::uint64_t thread) {
      return static_cast<std::uint64_t>(index_) << 24 | std::uint64_t{context_.incarnation()} << 4 | thread;
    };
    const Thread other = spawn("storms", [&] { storm(stores, log_, self(1), finished_); });
    storm(stores, log_, self(2), finished_);
  }
  ended_ = true;
  context.wait_for_stop();
}

// Pending returns of memory go with the next message to each store.
bool Storming::has_finished() const {
  if (ended_) stores_.all<&Store::self>();
  return ended_;
}

Self Storming::self() const { return {.pid = getpid(), .incarnation = context_.incarnation()}; }

Program make_storm(const StormConfig& config) {
  Program program("storm");
  const auto again = restart(100'000, Duration::zero());
  const auto stores =
      program.group<Store>({.name = "store", .replicas = config.stores, .on_failure = again}, context, config);
  program.group<Storming>({.name = "storming", .replicas = config.callers, .on_failure = again}, stores, index, context,
                          config);
  return program;
}

}  // namespace lp::test
