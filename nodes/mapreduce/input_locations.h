#pragma once
// Which input files the host of each worker has. Hosts may have other files, or the same file by the same path. Owned
// by a master, in its turn.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nodes/dataflow/input_files.h"

namespace lp::dataflow {

class InputLocations {
 public:
  void set(std::uint32_t worker, FoundInputs found);

  // All files, by path, those on the master's own host included. Error::failed for a path that names nothing anywhere.
  std::vector<std::string> all_files(const FoundInputs& here) const;
  // The workers whose hosts have the file.
  std::vector<std::uint32_t> holders(const std::string& path) const;
  bool has(std::uint32_t worker, const std::string& path) const;
  bool differ() const { return differ_; }  // some workers have files that others lack
  // Whether the same workers have both.
  bool are_together(const std::string& one, const std::string& other) const;

 private:
  std::map<std::uint32_t, FoundInputs> found_{};  // by worker
  bool differ_ = false;
};

}  // namespace lp::dataflow
