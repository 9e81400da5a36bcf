#pragma once

#include <string_view>

#include "kernels/problem_size.h"

namespace nereid::tools {

/// One shape of the demo, with the seed of its data.
struct DemoShape {
  std::string_view kind; ///< "test" or "benchmark"
  kernels::ProblemSize size;
  uint64_t seed;
};

/// The shapes of the amd-mxfp4-mm kernel competition (MI355X, 2026), M, N, K and seed as its task lists them.
inline constexpr DemoShape demo_shapes[] = {
    {"test", {8, 2112, 7168}, 124},       {"test", {16, 3072, 1536}, 6635},
    {"test", {64, 3072, 1536}, 45},       {"test", {256, 2880, 512}, 78},
    {"benchmark", {4, 2880, 512}, 4565},  {"benchmark", {16, 2112, 7168}, 15},
    {"benchmark", {32, 4096, 512}, 457},  {"benchmark", {32, 2880, 512}, 54},
    {"benchmark", {64, 7168, 2048}, 687}, {"benchmark", {256, 3072, 1536}, 7856},
};

} // namespace nereid::tools
