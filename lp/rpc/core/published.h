#pragma once
// A large value that one service makes and many read. It is published once for each version. Readers on the same host
// read it in place; others receive it once each.
//
//   class Server {
//    public:
//     void push(const Gradient& gradient) { parameters.publish(updated(gradient)); }
//     lp::Published<lp::Array<float>> parameters;
//     using Remote = lp::Methods<&Server::push, &Server::parameters>;
//   };
//
//   const lp::Version<lp::Array<float>> now = client.read<&Server::parameters>();  // now.number(), *now
//
// A reader neither waits for the service's turn nor takes it. Only the contents of an lp::Array are read in place; the
// rest of a value is copied. A Published belongs to its service; thread-safe. A Version is a value.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/observation/waits.h"
#include "lp/wire/codec.h"

namespace lp {
namespace rpc {

class ServiceInstance;

// The name of a version: its number, and the Published object of one incarnation.
struct VersionName {
  std::uint64_t origin = 0;
  std::uint64_t number = 0;
  bool operator==(const VersionName&) const = default;
};

// Published without its type.
class Publication {
 public:
  struct Reading {
    VersionName name{};
    std::shared_ptr<const void> value{};  // null: the reader has it
  };

  explicit Publication(std::size_t old_versions);
  ~Publication();
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;

  std::uint64_t publish(std::shared_ptr<const void> value);
  // Returns the latest version, held by the caller of the current handler until that caller drops it.
  Reading read(const VersionName& known);
  // The versions that readers hold; nothing when they hold none.
  std::optional<HeldVersions> held() const;

 private:
  struct Hold {
    std::weak_ptr<const void> token;
    std::uint64_t number;
    std::string reader;
    Time since;
  };

  const std::size_t old_versions_;
  ServiceInstance* const node_;  // null: it was made outside all nodes
  mutable std::mutex mutex_;
  VersionName name_;
  std::shared_ptr<const void> value_;
  std::vector<Hold> holds_;
  std::size_t prune_at_ = 16;
};

}  // namespace rpc

// A version that a reader got. It stays unchanged and in memory as long as somebody has it.
template <class T>
class Version {
 public:
  using Value = const T;

  Version() = default;

  std::uint64_t number() const { return name_.number; }  // 1, 2, ... in the order of publishing; 0: none
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

  // For lp's own code.
  Version(const rpc::VersionName& name, std::shared_ptr<const T> value) : name_(name), value_(std::move(value)) {}
  const rpc::VersionName& name() const { return name_; }
  const std::shared_ptr<const T>& value() const { return value_; }

 private:
  rpc::VersionName name_{};
  std::shared_ptr<const T> value_{};
};

template <Sendable T>
class Published {
 public:
  // `old_versions`: how many earlier versions readers may hold at a time, before publish fails.
  explicit Published(std::size_t old_versions = 8) : publication_(old_versions) {}

  // Makes `value` the version that readers get from now on. This includes reads that follow the reply of the publishing
  // call. Returns the version's number. Throws Error::overloaded, which names a reader, when too many old versions are
  // held.
  std::uint64_t publish(T value) { return publication_.publish(std::make_shared<const T>(std::move(value))); }

  // Serves lp's reads. Throws Error::failed when nothing was published yet.
  Version<T> operator()(const rpc::VersionName& known) {
    rpc::Publication::Reading reading = publication_.read(known);
    return {reading.name, std::static_pointer_cast<const T>(std::move(reading.value))};
  }

 private:
  rpc::Publication publication_;
};

template <class T>
struct Codec<Version<T>> {
  static void encode(Writer& out, const Version<T>& version) {
    out.value(version.name());
    out.value(version.value() != nullptr);
    if (version.value() == nullptr) return;
    out.keep(version.value());
    out.value(*version);
  }
  static Version<T> decode(Reader& in) {
    const auto name = in.value<rpc::VersionName>();
    if (!in.value<bool>()) return {name, nullptr};
    return {name, std::make_shared<const T>(in.value<T>())};
  }
  using Parts = TypeList<T>;
};

namespace rpc {

template <class S, class T>
struct Signature<Published<T> S::*> {
  using Service = S;
  using Raw = Version<T>;
  using Params = Arguments<VersionName>;
  static constexpr bool takes_values = true;
  static constexpr bool takes_references = false;
};

// The versions that one client has read. Thread-safe.
class VersionCache {
 public:
  // Returns the part of a publication that is still there; nothing is a reading with an empty name.
  Publication::Reading find(std::uint64_t publication) const;
  // Keeps the reading: alive (`keep`), or only as long as other code keeps it alive.
  void put(std::uint64_t publication, const Publication::Reading& reading, bool keep);

 private:
  struct Entry {
    std::uint64_t publication;
    VersionName name;
    std::weak_ptr<const void> value;
    std::shared_ptr<const void> kept;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace rpc
}  // namespace lp
