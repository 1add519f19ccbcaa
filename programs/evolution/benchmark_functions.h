#pragma once
// The functions by which searches are compared. Each is minimized; as an objective, its value is −f. Pure: any thread.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "programs/evolution/objective.h"

namespace lp {

// Σ x²: 0 at 0.
double sphere(std::span<const float> x);
// Σ 100 (x[i+1] − x[i]²)² + (1 − x[i])²: 0 at (1, 1, ..., 1), at the end of a curved valley. Rosenbrock, The Computer
// Journal 3(3), 1960; for more dimensions as in Hansen et al., "Real-parameter black-box optimization benchmarking
// 2009", function 8, without its shift.
double rosenbrock(std::span<const float> x);
// 10 n + Σ x² − 10 cos(2π x): 0 at 0, with a minimum near every integer point. Rastrigin 1974, as in Mühlenbein,
// Schomisch and Born, "The parallel genetic algorithm as function optimizer", 1991.
double rastrigin(std::span<const float> x);
// 20 + e − 20 exp(−0.2 √(Σ x² / n)) − exp(Σ cos(2π x) / n): 0 at 0, flat far from there. Ackley, "A connectionist
// machine for genetic hillclimbing", 1987; for n dimensions as in Bäck, "Evolutionary algorithms in theory and
// practice", 1996.
double ackley(std::span<const float> x);

std::vector<std::string> function_names();

// −f in these many dimensions. A search begins at a point that its seed chooses, in the cube in which the function is
// usually searched. Error::failed for an unknown name and for too few dimensions: 1, for Rosenbrock's function 2.
MakeObjective function_objective(const std::string& name, std::size_t dimensions);

}  // namespace lp
