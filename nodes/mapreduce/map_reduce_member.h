#pragma once
// A node that works for the master of a map-reduce, as the master and other members see it: it reads the input files of
// its host for them. Values and pure functions; any thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/interval.h"
#include "lp/rpc/client.h"
#include "nodes/dataflow/input_files.h"

namespace lp {

class MapReduceMember {
 public:
  static constexpr Interval kLongestSearch = 1440_min;

  virtual ~MapReduceMember() = default;

  // The job's inputs on this host that it can read.
  virtual FoundInputs find_inputs() const = 0;
  // Error::failed when it is no input of the job, or cannot be read.
  virtual std::uint64_t input_size(const std::string& path) const = 0;
  // At most `size` bytes from `offset` on, fewer only at the end of the file.
  virtual Array<std::byte> read_input(const std::string& path, std::uint64_t offset, std::uint64_t size) const = 0;

  using Remote = Methods<deadline<&MapReduceMember::find_inputs, kLongestSearch>, &MapReduceMember::input_size,
                         &MapReduceMember::read_input>;
};

namespace dataflow {

inline constexpr std::size_t kCallBytes = std::size_t{1} << 20;  // the most that a call reads of a file

// Whether this node can read the file.
bool is_readable(const std::string& path);

// A file on the host of the member, which reads it.
std::unique_ptr<InputSource> remote_input(Client<MapReduceMember> member, const std::string& path);

// Opens the file here, or else where a member has it. Error::failed when nobody can read it.
using FindHolders = std::function<std::vector<Client<MapReduceMember>>(const std::string& path)>;
std::unique_ptr<InputSource> open_anywhere(const std::string& path, const FindHolders& holders);

}  // namespace dataflow
}  // namespace lp
