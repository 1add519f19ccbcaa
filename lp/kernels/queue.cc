// Built with -ffp-contract=off, like all that runs kernels.
#include "lp/kernels/queue.h"

#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <variant>

#include <Eigen/Core>

#include "lp/base/array.h"

namespace lp::kernels {
namespace {

using Matrix = Eigen::Map<const Eigen::MatrixXf>;

Matrix matrix(const float* data, std::uint64_t rows, std::uint64_t columns) {
  return {data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

// Work on the host is done before somebody can mark it.
class Done final : public cuda::Mark {
 public:
  void wait() const override {}
};

class HostQueue final : public Queue {
 public:
  explicit HostQueue(Grid grid) : grid_(grid) {}

  void* allocate(std::size_t bytes) override {
    Buffer buffer = Buffer::zeroed(bytes);
    void* const data = buffer.edit().data();
    memory_.emplace(data, std::move(buffer));
    return data;
  }
  void free(void* memory) noexcept override { memory_.erase(memory); }

  void to_device(void* to, const void* host, std::size_t bytes) override { copy(to, host, bytes); }
  void to_host(void* host, const void* from, std::size_t bytes) override { copy(host, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  void to_device_beside(void* to, const void* host, std::size_t bytes) override { copy(to, host, bytes); }
  void to_host_beside(void* host, const void* from, std::size_t bytes, const cuda::Mark&) override {
    copy(host, from, bytes);
  }

  void run(const Kernel& kernel) override {
    std::visit([this](const auto& one) { run_grid(one, grid_); }, kernel);
  }

  void multiply(const Product& product) override {
    const auto [transposed, rows, columns, inner, a, b, c] = product;
    Eigen::Map<Eigen::MatrixXf> out(c, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    if (inner == 0 || rows == 0 || columns == 0) {  // Eigen computes addresses inside empty matrices, which have none
      out.setZero();
      return;
    }
    switch (transposed) {
      case Product::Transposed::none: out.noalias() = matrix(a, rows, inner) * matrix(b, inner, columns); break;
      case Product::Transposed::first:
        out.noalias() = matrix(a, inner, rows).transpose() * matrix(b, inner, columns);
        break;
      case Product::Transposed::second:
        out.noalias() = matrix(a, rows, inner) * matrix(b, columns, inner).transpose();
        break;
    }
  }

  std::shared_ptr<const cuda::Mark> mark() override { return std::make_shared<const Done>(); }
  void follow(const cuda::Mark& mark) override { mark.wait(); }
  void wait() override {}
  void* native() const override { return nullptr; }  // the host has no streams
  bool on_device() const override { return false; }

 private:
  const Grid grid_;
  std::unordered_map<void*, Buffer> memory_{};
};

}  // namespace

std::unique_ptr<Queue> host_queue(Grid grid) { return std::make_unique<HostQueue>(grid); }

}  // namespace lp::kernels
