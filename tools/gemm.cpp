// nereid gemm: C = A times B transposed of operands in files.
#include <cstring>

#include <fmt/format.h>

#include "kernels/host/problem.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_linear.h"
#include "tools/command.h"
#include "tools/files.h"
#include "tools/kernel_choice.h"
#include "tools/launch_json.h"
#include "tools/product.h"

namespace nereid::tools {
namespace {

struct GemmOptions {
  kernels::ProblemSize size;
  std::string a;
  std::string b;
  std::string b_scales;
  std::string out;
  std::string path = "auto";
  std::string config;
  bool check = false;
};

constexpr const char *gemm_footer =
    R"(C = A times B transposed. Files are raw little-endian: --a bf16 [M,K]; --b e2m1 [N,K/2] in
(16,16)-shuffled order; --b-scales e8m0 in shuffled order, ceil(N/256)*256 x ceil(K/32/8)*8 bytes; --out bf16 [M,N].
N is a multiple of 16, K of 32. The config addresses the GEMM launch.

Examples:
  nereid gemm --m 16 --n 2112 --k 7168 --a a.bin --b b.bin --b-scales bs.bin --out c.bin
  nereid gemm --m 16 --n 2112 --k 7168 --a a.bin --b b.bin --b-scales bs.bin --out c.bin --path workspace \
      --config block_n=64,split_k=4 --check --json)";

Result<kernels::host::Operands> read_operands(const GemmOptions &options) {
  const auto [m, n, k] = options.size;
  NEREID_TRY(const std::vector<uint8_t> a, read_file(options.a, m * k * 2, "bf16 A [M,K]"));
  NEREID_TRY(std::vector<uint8_t> b,
             read_file(options.b, kernels::host::shuffled_b_bytes(n, k), "shuffled B [N,K/2]"));
  NEREID_TRY(std::vector<uint8_t> b_scales,
             read_file(options.b_scales, kernels::host::shuffled_scale_bytes(n, k), "B's shuffled scales"));
  kernels::host::Operands operands{
      m, n, k, std::vector<uint16_t>(a.size() / 2), std::move(b), std::move(b_scales)};
  std::memcpy(operands.a.data(), a.data(), a.size());
  return operands;
}

/// Adds max_error and what is wrong.
void add_check(Outcome &outcome, const kernels::host::Operands &operands, const std::vector<uint16_t> &c) {
  const Result<kernels::host::Comparison> comparison = kernels::host::check_product(
      operands.m, operands.n, operands.k, operands.a, operands.b, operands.b_scales, c);
  if (!comparison) {
    outcome = comparison.error();
    return;
  }
  outcome.json["max_error"] = max_error_json(*comparison);
  outcome.text += fmt::format("max error {:.4g}, where {:.4g} is allowed\n", comparison->max_error,
                              comparison->bound_of_max_error);
  if (comparison->passed())
    return;
  const Error wrong = nereid_error(fmt::format("{} of {} elements are outside the tolerance, the first is {}",
                                               comparison->wrong, c.size(), *comparison->first_wrong));
  outcome.code = ExitCode::Wrong;
  outcome.error = wrong.text();
  outcome.json["error"] = to_json(wrong);
}

Outcome run(const CommonOptions &common, const GemmOptions &options) {
  NEREID_TRY(const kernels::GemmPath path, kernels::path_named(options.path));
  NEREID_TRY(const Partial<kernels::GemmConfig> config,
             kernels::parse_keys<kernels::GemmConfig>("mxfp4_linear", options.config));
  NEREID_CHECK(kernels::plan_gemm(path, config, options.size));
  NEREID_TRY(const kernels::host::Operands operands, read_operands(options));
  const NamedFile inputs[] = {{"--a", options.a}, {"--b", options.b}, {"--b-scales", options.b_scales}};
  const NamedFile outputs[] = {{"--out", options.out}};
  NEREID_CHECK(check_outputs(outputs, inputs));
  NEREID_TRY(const Device device, chosen_device(common));

  kernels::Mxfp4Linear linear(device);
  const Result<Product> product = run_product(device, linear, operands, path, config);
  if (!product)
    return failed_run(product.error());
  NEREID_CHECK(write_file(options.out, bytes_of(product->c)));

  Outcome outcome;
  outcome.json = llvm::json::Object{{"device", llvm::StringRef(device.kind_name()).str()},
                                    {"path", llvm::StringRef(name_of(product->report.path)).str()},
                                    {"launches", launches_json(product->report.launches)}};
  outcome.text = fmt::format("path {} on {}\n", name_of(product->report.path), device.kind_name());
  for (const kernels::LaunchRecord &record : product->report.launches)
    outcome.text += "  " + launch_text(record) + "\n";
  if (options.check)
    add_check(outcome, operands, product->c);
  return outcome;
}

} // namespace

void add_gemm(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<GemmOptions>();
  Subcommand command =
      add_command(app, invocation, "gemm", "Multiply bf16 A, quantised on the way, with shuffled MXFP4 B",
                  [&invocation, options] { return run(invocation.common, *options); });
  command.footer(gemm_footer);
  add_device_option(command, invocation);
  command.option("--m", options->size.m, "Rows of A and C").required();
  command.option("--n", options->size.n, "Rows of B, columns of C, a multiple of 16").required();
  command.option("--k", options->size.k, "Columns of A and B, a multiple of 32").required();
  command.option("--a", options->a, "File of A").required();
  command.option("--b", options->b, "File of B").required();
  command.option("--b-scales", options->b_scales, "File of B's scales").required();
  command.option("--out", options->out, "File for C").required();
  add_path_option(command, options->path);
  command.option("--config", options->config, "key=value,... of the GEMM launch");
  command.flag("--check", options->check, "Compare with the exact product; a difference is exit code 1");
}

} // namespace nereid::tools
