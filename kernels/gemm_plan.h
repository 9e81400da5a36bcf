#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/mxfp4_gemm.h"

/// Which kernels multiply, by shape.
namespace nereid::kernels {

/// How mxfp4_linear computes a product: by one fused kernel, with a K split whose parts are added atomically
/// or in a workspace, or by quantising A first.
enum class GemmPath : int { Auto, Fused, Atomic, Workspace, TwoPass };

/// The names on the command line, in order.
inline constexpr std::array<std::string_view, 5> path_names = {"auto", "fused", "atomic", "workspace",
                                                               "staged"};

/// "auto", "fused", ...
std::string_view name_of(GemmPath path);
/// The path of that name. Error (User) naming the paths there are.
Result<GemmPath> path_named(std::string_view name);

/// A path that is not Auto, and the complete config of its GEMM launch.
struct GemmPlan {
  GemmPath path = GemmPath::Fused;
  GemmConfig gemm;
};

/// The device whose tables plan_gemm reads when it is told no other: the simulator's name.
inline constexpr std::string_view simulated_device = "gfx950 simulator";

/// Chooses path and config for a shape. Auto without a config takes what choose_plan (kernels/plan_choice.h)
/// finds in tables or by an estimate. Auto with a config: fused for K <= 512, workspace for M <= 16 and
/// K >= 2048, atomic for M <= 32, else two passes; a config that asks for another way to reduce moves it to
/// the path that has it. Error (User): a bad shape, a config that contradicts the path.
Result<GemmPlan> plan_gemm(GemmPath path, const Partial<GemmConfig> &given, const ProblemSize &size,
                           std::string_view device = simulated_device);

/// The configs that each path is tuned over.
std::vector<Partial<GemmConfig>> tuning_list(GemmPath path);

} // namespace nereid::kernels
