// From candidates to kernels, their resources and their identity.
#include "jit/tune/candidate_compile.h"

#include <algorithm>

#include "jit/tune/compile_all.h"
#include "jit/tune/guarded_call.h"
#include "jit/tune/reason_text.h"
#include "jit/tune/resource_checks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace nereid::jit {
namespace {

/// Enough to tell codes of one config apart; lines stay readable.
constexpr size_t code_digits = 16;

/// Of the SHA-256 of all keys, which cover code generator and compiler, and of what the ranking is.
std::string code_identity(const CompiledKernels &kernels, const std::string &ranking_identity) {
  llvm::SHA256 hash;
  hash.update(ranking_identity);
  for (const auto &kernel : kernels)
    hash.update("\n" + kernel->key());
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, code_digits);
}

/// Sets why the kernels may not win, if they may not.
void check_kernels(const TuneRequest &request, TuneOutcome &outcome) {
  Status fits;
  for (const auto &kernel : outcome.kernels)
    if (fits)
      fits = check_resources(*kernel);
  for (const auto &kernel : outcome.kernels)
    if (fits && request.accept) {
      fits = guarded_call("accept", request.accept, *kernel);
      outcome.tried_again = !fits;
    }
  if (!fits)
    outcome.record.rejected = "does not fit: " + reason_text(fits.error());
}

void record_resources(const CompiledKernels &kernels, TuningRecord &record) {
  record.occupancy = kernels.front()->resources().occupancy;
  for (const auto &kernel : kernels) {
    const Resources r = kernel->resources();
    record.occupancy = std::min(record.occupancy, r.occupancy);
    record.vgpr = std::max(record.vgpr, r.vgpr);
    record.lds = std::max(record.lds, r.lds);
  }
}

} // namespace

std::string ranking_digest(const std::string &identity) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(identity)), /*LowerCase=*/true)
      .substr(0, code_digits);
}

void compile_candidates(const TuneRequest &request, std::span<const size_t> which, const Device &device,
                        const TuneOptions &options, const std::string &ranking_identity,
                        std::vector<TuneOutcome> &outcomes, const std::function<void()> &step) {
  std::vector<CompileFunction> functions;
  for (const size_t i : which)
    functions.push_back(request.candidates[i].compile);
  std::vector<Result<CompiledKernels>> compiled =
      compile_all(functions, device, {options.workers, options.compile_seconds}, step);
  for (size_t job = 0; job < which.size(); ++job) {
    TuneOutcome &outcome = outcomes[which[job]];
    Result<CompiledKernels> &kernels = compiled[job];
    if (!kernels) {
      outcome.record.rejected = "does not compile: " + reason_text(kernels.error());
      continue;
    }
    outcome.kernels = std::move(*kernels);
    outcome.record.code = code_identity(outcome.kernels, ranking_identity);
    record_resources(outcome.kernels, outcome.record);
    check_kernels(request, outcome);
  }
}

} // namespace nereid::jit
