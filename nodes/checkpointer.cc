#include "nodes/checkpointer.h"

#include <cstddef>
#include <cstdio>
#include <span>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/message.h"

namespace lp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntry = "parameters";

}  // namespace

Checkpointer::Checkpointer(Clients<ParameterServer> servers, CheckpointerOptions options)
    : servers_(std::move(servers)), options_(std::move(options)) {
  if (!options_.size || options_.directory.empty() || options_.keep < 1 || options_.period <= Duration::zero()) {
    throw Error(ErrorKind::failed,
                "a checkpointer needs a directory, the size of the parameters, a period above 0, not " +
                    duration_text(options_.period) + ", and 1 file to keep or more, not " +
                    std::to_string(options_.keep));
  }
  std::error_code error;
  fs::create_directories(options_.directory, error);
  if (error) throw Error(ErrorKind::failed, options_.directory.string() + " cannot be made: " + error.message());
  size_ = options_.size();
}

void Checkpointer::run(Context& node) {
  while (node.wait_for(options_.period)) {
    try {
      node.exclusive([this] { save(); });
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::stopped) return;
      if (error.kind() != ErrorKind::disconnected) log_line(std::string("no snapshot was taken: ") + error.what());
    }
  }
}

std::string Checkpointer::save() {
  const Parameters parameters = all_parameters(servers_, size_);
  if (!written_.empty() && parameters.step == saved_) return written_.back();
  const fs::path file = options_.directory / ("parameters-" + std::to_string(parameters.step) + ".lpc");
  Checkpoint out = options_.beside;
  const std::span<const float> values(parameters.values.data(), static_cast<std::size_t>(parameters.values.size()));
  out.put(kEntry, Array<float>::copy_of(values));
  out.write(file, "checkpointer", parameters.step);
  saved_ = parameters.step;
  std::erase(written_, file);  // restored servers reach the same step again
  written_.push_back(file);
  remove_old();
  return file;
}

// A file that cannot be removed is from now on no longer ours.
void Checkpointer::remove_old() {
  for (std::error_code error; written_.size() > static_cast<std::size_t>(options_.keep); written_.pop_front()) {
    fs::remove(written_.front(), error);
  }
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
