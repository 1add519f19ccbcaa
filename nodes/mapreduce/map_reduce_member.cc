#include "nodes/mapreduce/map_reduce_member.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "lp/base/error.h"

namespace lp::dataflow {
namespace {

class RemoteInput final : public InputSource {
 public:
  RemoteInput(Client<MapReduceMember> member, const std::string& path)
      : member_(std::move(member)), path_(path), size_(member_.call<&MapReduceMember::input_size>(path)) {}

  std::uint64_t size() const override { return size_; }
  bool is_remote() const override { return true; }

  std::size_t read_at(std::uint64_t offset, std::span<char> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const std::size_t wanted = std::min(into.size() - done, kCallBytes);
      const Array<std::byte> bytes = member_.call<&MapReduceMember::read_input>(path_, offset + done, wanted);
      if (bytes.size() > wanted) throw Error(ErrorKind::failed, path_ + ": more bytes came than were asked for");
      if (!bytes.empty()) std::memcpy(into.data() + done, bytes.data(), bytes.size());
      done += bytes.size();
      if (bytes.size() < wanted) break;
    }
    return done;
  }

 private:
  const Client<MapReduceMember> member_;
  const std::string path_;
  const std::uint64_t size_;
};

}  // namespace

bool is_readable(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

std::unique_ptr<InputSource> remote_input(Client<MapReduceMember> member, const std::string& path) {
  return std::make_unique<RemoteInput>(std::move(member), path);
}

std::unique_ptr<InputSource> open_anywhere(const std::string& path, const FindHolders& holders) {
  if (is_readable(path)) return open_here(path);
  std::string failures;
  for (const Client<MapReduceMember>& holder : holders(path)) {
    try {
      return remote_input(holder, path);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::stopped) throw;
      failures += std::string("; ") + error.what();
    }
  }
  if (failures.empty()) return open_here(path);  // whose error has the reason
  throw Error(ErrorKind::failed, path + " cannot be read here, nor by the workers that had it" + failures);
}

}  // namespace lp::dataflow
