// mpirun -np RANKS allreduce_mpi [LARGEST]

#include <mpi.h>

#include <cstdlib>

#include "tests/bench/allreduce/measure.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<Timed> times = measure<std::vector<float>>(
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kLargest,
      [](std::vector<float>& values) {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      },
      [] { MPI_Barrier(MPI_COMM_WORLD); });
  if (rank == 0) print(times);
  MPI_Finalize();
}
