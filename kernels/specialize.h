#pragma once

#include <optional>

#include "kernels/output_scaling.h"
#include "kernels/problem_size.h"
#include "kernels/tile_config.h"

/// From a config and what is known of the problem to what a kernel is traced with.
namespace nereid::kernels {

/// What the code takes for granted of the problem; 0 and false are always right.
struct ShapeFacts {
  int constant_k = 0;  ///< K where it is a constant of the code, else 0
  bool even_m = false; ///< M is a multiple of block_m
  bool even_n = false; ///< N is a multiple of block_n
  bool even_k = false; ///< K is a multiple of block_k

  NEREID_CONFIG(ShapeFacts, constant_k, even_m, even_n, even_k)
};

/// A kernel's config and what the library derives for one problem.
template <class Config> struct Specialized {
  Config config;
  ShapeFacts shape;
  Scaling scaling = Scaling::None;

  NEREID_CONFIG(Specialized, config, shape, scaling)
};

/// Whether a dimension is known and a multiple of its block.
bool is_even(const std::optional<ProblemSize> &size, int64_t ProblemSize::*dimension, int block);

/// What holds for products of that size.
ShapeFacts shape_facts(const TileConfig &tile, const std::optional<ProblemSize> &size);

} // namespace nereid::kernels
