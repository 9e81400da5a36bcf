#pragma once

#include <functional>
#include <span>
#include <string>

#include "jit/tune/report.h"
#include "jit/tune/request.h"

namespace nereid::jit {

/// Hexadecimal digits of a ranking's identity, as records have them.
std::string ranking_digest(const std::string &identity);

/// Compiles candidates in worker processes, loads what they gave into the device, and fills the outcomes:
/// kernels, resources, code identity under a ranking, or the reason of a rejection. `step` is
/// called after each compile.
void compile_candidates(const TuneRequest &request, std::span<const size_t> which, const Device &device,
                        const TuneOptions &options, const std::string &ranking_identity,
                        std::vector<TuneOutcome> &outcomes, const std::function<void()> &step = {});

} // namespace nereid::jit
