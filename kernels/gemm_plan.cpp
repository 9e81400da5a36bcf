// The choice of a path for a product, and what a config says against it.
#include "kernels/gemm_plan.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/plan_choice.h"

namespace nereid::kernels {
namespace {

GemmPath path_of_shape(const ProblemSize &size) {
  if (size.k <= 512)
    return GemmPath::Fused;
  if (size.m <= 16 && size.k >= 2048)
    return GemmPath::Workspace;
  return size.m <= 32 ? GemmPath::Atomic : GemmPath::TwoPass;
}

/// The path that Auto takes when the config says how to reduce.
GemmPath path_for(GemmPath chosen, const Partial<GemmConfig> &given) {
  if (chosen == GemmPath::TwoPass)
    return chosen;
  if (given.reduce)
    switch (*given.reduce) {
    case Reduce::None:
      return GemmPath::Fused;
    case Reduce::Atomic:
      return GemmPath::Atomic;
    case Reduce::Workspace:
    case Reduce::LastArrival:
      return GemmPath::Workspace;
    }
  if (chosen == GemmPath::Fused && given.split_k.value_or(1) > 1)
    return GemmPath::Workspace;
  return chosen;
}

Error contradiction(GemmPath path, const Partial<GemmConfig> &entry) {
  return user_error(fmt::format("--config {} contradicts --path {}", config_text(entry), name_of(path)),
                    "drop one of the two");
}

/// Error (User) where the config's way to reduce is none of the path's.
Status check_path(GemmPath path, std::optional<Reduce> reduce) {
  if (!reduce)
    return {};
  bool allowed = true;
  switch (path) {
  case GemmPath::Auto:
  case GemmPath::TwoPass:
    break;
  case GemmPath::Fused:
    allowed = *reduce == Reduce::None;
    break;
  case GemmPath::Atomic:
    allowed = *reduce == Reduce::Atomic;
    break;
  case GemmPath::Workspace:
    allowed = *reduce == Reduce::Workspace || *reduce == Reduce::LastArrival;
    break;
  }
  return allowed ? Status() : contradiction(path, {.reduce = reduce});
}

} // namespace

std::string_view name_of(GemmPath path) { return path_names.at(static_cast<size_t>(path)); }

Result<GemmPath> path_named(std::string_view name) {
  const auto found = std::find(path_names.begin(), path_names.end(), name);
  if (found == path_names.end())
    return user_error(fmt::format("there is no path '{}'", name),
                      fmt::format("paths: {}", fmt::join(path_names, ", ")));
  return static_cast<GemmPath>(found - path_names.begin());
}

Result<GemmPlan> plan_gemm(GemmPath path, const Partial<GemmConfig> &given, const ProblemSize &size,
                           std::string_view device) {
  NEREID_CHECK(check_shape(size));
  NEREID_CHECK(check_limits(config_values(given)));
  const bool automatic = path == GemmPath::Auto;
  if (automatic && given == Partial<GemmConfig>{})
    return choose_plan(size, device);
  if (automatic)
    path = path_for(path_of_shape(size), given);
  else if (path == GemmPath::Fused && given.split_k.value_or(1) != 1)
    return contradiction(path, {.split_k = given.split_k});
  NEREID_CHECK(check_path(path, given.reduce));

  Partial<GemmConfig> wanted = given;
  const bool is_split = path == GemmPath::Atomic || path == GemmPath::Workspace;
  if (is_split) {
    const int64_t iterations = blocks(size.k, given.tile.block_k.value_or(TileConfig{}.block_k));
    wanted.reduce = given.reduce.value_or(path == GemmPath::Atomic ? Reduce::Atomic : Reduce::Workspace);
    wanted.split_k = given.split_k.value_or(static_cast<int>(std::min<int64_t>(8, iterations)));
  }
  NEREID_TRY(const GemmConfig gemm, path == GemmPath::TwoPass ? gemm_kernel.complete(wanted, size)
                                                              : gemm_fused_kernel.complete(wanted, size));
  return GemmPlan{path, gemm};
}

} // namespace nereid::kernels
