#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/config.h"

/// What the library chooses where a caller does not: by tile and shape alone, so that a config means the same
/// kernel on every machine.
namespace nereid::kernels {

/// Programs needed for `size` in blocks of `block`.
constexpr int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

/// The config keys of each kernel.
const std::vector<std::string_view> &quant_keys();
const std::vector<std::string_view> &gemm_keys();
const std::vector<std::string_view> &batched_keys();
const std::vector<std::string_view> &grouped_keys();
const std::vector<std::string_view> &reduce_keys();

/// All keys of mxfp4_quant: the given values, checked, and the library's choice for the rest.
Result<ConfigValues> complete_quant(const ConfigValues &given, const std::optional<ProblemSize> &shape);
/// All keys of mxfp4_gemm_fused (A is bf16) or mxfp4_gemm (A is quantised).
Result<ConfigValues> complete_gemm(bool fused, const ConfigValues &given,
                                   const std::optional<ProblemSize> &shape);
/// All keys of mxfp4_batched_gemm; the shape is that of one product.
Result<ConfigValues> complete_batched(const ConfigValues &given, const std::optional<ProblemSize> &shape);
/// All keys of mxfp4_grouped_gemm; the shape's M is the rows of all experts.
Result<ConfigValues> complete_grouped(const ConfigValues &given, const std::optional<ProblemSize> &shape);
/// All keys of splitk_reduce.
Result<ConfigValues> complete_reduce(const ConfigValues &given, const std::optional<ProblemSize> &shape);

/// How mxfp4_linear computes a product.
enum class GemmPath : int { Auto, Fused, Atomic, Workspace, Staged };

/// "auto", "fused", ...
std::string_view name_of(GemmPath path);
/// The path of that name. Error (User) naming the paths there are.
Result<GemmPath> path_named(std::string_view name);

/// A path that is not Auto, and the whole config of its GEMM launch.
struct GemmPlan {
  GemmPath path = GemmPath::Fused;
  ConfigValues gemm;

  Reduce reduce() const { return static_cast<Reduce>(gemm.get_or("reduce", 0)); }
  int split_k() const { return gemm.get_or("split_k", 1); }
};

/// Chooses path and config for a shape. Auto: fused for K <= 512, workspace for M <= 16 and K >= 2048, atomic
/// for M <= 32, else staged; a config that asks for another way to reduce moves Auto to the path that has it.
/// Error (User): a bad shape, a config that contradicts the path.
Result<GemmPlan> plan_gemm(GemmPath path, const ConfigValues &given, const ProblemSize &shape);

/// The configs that each path is tuned over.
std::vector<ConfigValues> tuning_list(GemmPath path);
std::vector<ConfigValues> quant_tuning_list();

/// Error (User) unless m, n and k are positive, n is a multiple of 16 and k of 32. Without has_n n is 0.
Status check_shape(const ProblemSize &shape, bool has_n = true);

} // namespace nereid::kernels
