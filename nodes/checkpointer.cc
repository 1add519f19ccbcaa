#include "nodes/checkpointer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "lp/base/error.h"

namespace lp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntry = "parameters";

}  // namespace

Checkpointer::Checkpointer(Clients<ParameterServer> servers, CheckpointerOptions options)
    : servers_(std::move(servers)),
      options_(std::move(options)),
      files_({.directory = options_.directory, .period = options_.period, .keep = options_.keep}, "parameters",
             "checkpointer") {
  if (!options_.size) throw Error(ErrorKind::failed, "a checkpointer needs the size of the parameters");
  size_ = options_.size();
}

void Checkpointer::run(Context& node) {
  save_snapshots(node, options_.period, [this] { save(); });
}

std::string Checkpointer::save() {
  const Parameters parameters = all_parameters(servers_, size_);
  const std::uint64_t step = options_.first_step + parameters.step;
  if (const auto newest = files_.newest(step)) return *newest;
  Checkpoint out = options_.beside;
  const std::span<const float> values(parameters.values.data(), static_cast<std::size_t>(parameters.values.size()));
  out.put(kEntry, Array<float>::copy_of(values));
  return files_.write(out, step);
}

Parameters load_parameters(const fs::path& file, Eigen::Index size) {
  const Checkpoint in = Checkpoint::read(file);
  const auto values = in.get<Array<float>>(kEntry);
  if (values.size() != static_cast<std::size_t>(size)) {
    throw Error(ErrorKind::failed, file.string() + " has " + std::to_string(values.size()) +
                                       " parameters, but the model has " + std::to_string(size));
  }
  return {.step = in.step(), .values = Eigen::Map<const Eigen::VectorXf>(values.data(), size)};
}

}  // namespace lp
