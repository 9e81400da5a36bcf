// nereid sample: random operands that quant and gemm read.
#include <fmt/format.h>

#include <llvm/Support/FileSystem.h>

#include "kernels/host/problem.h"
#include "kernels/problem_size.h"
#include "tools/command.h"
#include "tools/files.h"

namespace nereid::tools {
namespace {

struct SampleOptions {
  kernels::ProblemSize size;
  std::string directory = ".";
  uint64_t seed = 1;
};

constexpr const char *sample_footer =
    R"(Files are raw little-endian, as quant and gemm read them: a.bin, bf16 [M,K] of normal distribution;
b.bin, e2m1 [N,K/2] in (16,16)-shuffled order; b_scales.bin, e8m0 in shuffled order.

Example:
  nereid sample --m 16 --n 2112 --k 7168 --out-dir data)";

/// One of the files of a sample.
struct SampleFile {
  std::string path;
  std::string_view data;
};

Outcome run(const SampleOptions &options) {
  const auto [m, n, k] = options.size;
  NEREID_CHECK(kernels::check_shape(options.size));
  if (const std::error_code failure = llvm::sys::fs::create_directories(options.directory))
    return environment_error(fmt::format("cannot create {}: {}", options.directory, failure.message()));
  const kernels::host::Operands operands = kernels::host::random_operands(m, n, k, options.seed);
  const SampleFile files[] = {{options.directory + "/a.bin", bytes_of(operands.a)},
                              {options.directory + "/b.bin", bytes_of(operands.b)},
                              {options.directory + "/b_scales.bin", bytes_of(operands.b_scales)}};
  Outcome outcome;
  llvm::json::Array list;
  for (const SampleFile &file : files) {
    NEREID_CHECK(write_file(file.path, file.data));
    outcome.text += fmt::format("{} {} bytes\n", file.path, file.data.size());
    list.push_back(llvm::json::Object{{"path", json_string(file.path)}, {"bytes", file.data.size()}});
  }
  outcome.json["files"] = std::move(list);
  return outcome;
}

} // namespace

void add_sample(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<SampleOptions>();
  Subcommand command = add_command(app, invocation, "sample", "Write random operands for quant and gemm",
                                   [options] { return run(*options); });
  command.footer(sample_footer);
  command.option("--m", options->size.m, "Rows of A").required();
  command.option("--n", options->size.n, "Rows of B, a multiple of 16").required();
  command.option("--k", options->size.k, "Columns of A and B, a multiple of 32").required();
  command.option("--out-dir", options->directory, "Directory of the files, created when missing")
      .shows_default();
  command.option("--seed", options->seed, "Of the random numbers").at_least(0).shows_default();
}

} // namespace nereid::tools
