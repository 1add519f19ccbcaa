// allreduce_gloo RANK RANKS FOLDER [LARGEST]: one rank; the ranks find each other by the folder, which is empty at
// first.

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <memory>

#include "tests/bench/allreduce/measure.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int rank = std::atoi(argv[1]);
  gloo::rendezvous::FileStore store(argv[3]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, std::atoi(argv[2]));
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice("localhost");
  context->connectFullMesh(store, device);
  const std::vector<Timed> times = measure<std::vector<float>>(
      argc > 4 ? std::strtoull(argv[4], nullptr, 10) : kLargest,
      [&](std::vector<float>& values) {
        gloo::AllreduceOptions options(context);
        options.setOutput(values.data(), values.size());
        options.setReduceFunction(
            [](void* to, const void* a, const void* b, std::size_t count) { gloo::sum<float>(to, a, b, count); });
        gloo::allreduce(options);
      },
      [&] {
        gloo::BarrierOptions options(context);
        gloo::barrier(options);
      });
  if (rank == 0) print(times);
}
