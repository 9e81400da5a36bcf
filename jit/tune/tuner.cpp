// Compiles, runs, checks and ranks candidates; reports as JSON files.
#include "jit/tune/tuner.h"

#include <algorithm>

#include <fmt/format.h>

#include "jit/compile/resources_json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid {
namespace {

constexpr double tie = 1.02;

std::string reason_to_reject(const CompiledKernel &kernel) {
  const Resources r = kernel.resources();
  if (r.scratch || r.spills)
    return fmt::format("kernel '{}' spills: {} registers, {} bytes of scratch", kernel.name(), r.spills,
                       r.scratch);
  if (!r.occupancy)
    return fmt::format("kernel '{}': a workgroup does not fit: {} registers a lane, {} bytes of LDS",
                       kernel.name(), r.vgpr, r.lds);
  const int wanted = kernel.function().options.waves_per_eu;
  if (static_cast<int>(r.occupancy) < wanted)
    return fmt::format("kernel '{}' has {} waves a SIMD, waves_per_eu asks for {}", kernel.name(),
                       r.occupancy, wanted);
  return {};
}

void compile(const TuneCandidate &candidate, TuneOutcome &outcome) {
  auto compiled = candidate.compile();
  if (!compiled) {
    outcome.rejected = "does not compile: " + compiled.error().text();
    return;
  }
  outcome.kernels = std::move(*compiled);
  for (const auto &kernel : outcome.kernels)
    if (outcome.rejected.empty())
      outcome.rejected = reason_to_reject(*kernel);
}

Status run_and_check(const TuneRequest &request, const TuneCandidate &candidate, const Stream &stream,
                     TuneOutcome &outcome) {
  if (request.prepare)
    NEREID_CHECK(request.prepare());
  NEREID_TRY(outcome.launches, candidate.run());
  NEREID_CHECK(stream.synchronize());
  return request.validate();
}

std::optional<size_t> choose(const std::vector<TuneOutcome> &candidates) {
  std::optional<double> best;
  for (const TuneOutcome &c : candidates)
    if (c.figure && (!best || *c.figure < *best))
      best = c.figure;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].figure && *candidates[i].figure <= *best * tie)
      return i;
  return std::nullopt;
}

llvm::json::Object json_of(const TuneOutcome &c) {
  llvm::json::Array kernels;
  for (const auto &kernel : c.kernels)
    kernels.push_back(llvm::json::Object{{"kernel", kernel->name()},
                                         {"resources", jit::resources_json(kernel->resources())},
                                         {"jit_ms", kernel->times().total()}});
  llvm::json::Array launches;
  for (const LaunchInfo &launch : c.launches) {
    llvm::json::Object object{{"kernel", launch.kernel()},
                              {"grid", llvm::json::Array{launch.grid.x, launch.grid.y, launch.grid.z}}};
    if (launch.instructions) {
      object["instructions"] = static_cast<int64_t>(launch.instructions->total);
      object["longest_wave"] = static_cast<int64_t>(launch.instructions->longest_wave);
    }
    launches.push_back(std::move(object));
  }
  return llvm::json::Object{
      {"config", c.config},
      {"figure", c.figure ? llvm::json::Value(*c.figure) : llvm::json::Value(nullptr)},
      {"rejected", c.rejected.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(c.rejected)},
      {"kernels", std::move(kernels)},
      {"launches", std::move(launches)}};
}

} // namespace

Result<TuneReport> tune(const TuneRequest &request, const Stream &stream, const Ranking &ranking) {
  if (request.candidates.empty())
    return user_error("there is no candidate to tune '" + request.kernel + "' with");
  if (!request.validate)
    return user_error("tuning '" + request.kernel + "' needs a reference to compare with");
  TuneReport report{request.kernel,
                    request.key,
                    stream.device().name(),
                    std::string(ranking.name()),
                    std::string(ranking.unit()),
                    std::vector<TuneOutcome>(request.candidates.size()),
                    std::nullopt};
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(request.threads));
    for (size_t i = 0; i < request.candidates.size(); ++i) {
      report.candidates[i].config = request.candidates[i].config;
      pool.async([&, i] { compile(request.candidates[i], report.candidates[i]); });
    }
    pool.wait();
  }
  for (size_t i = 0; i < request.candidates.size(); ++i) {
    TuneOutcome &outcome = report.candidates[i];
    if (!outcome.rejected.empty())
      continue;
    if (Status right = run_and_check(request, request.candidates[i], stream, outcome); !right) {
      outcome.rejected = "wrong: " + right.error().text();
      continue;
    }
    Result<double> figure = ranking.figure(stream, outcome.launches, request.candidates[i].run);
    if (figure)
      outcome.figure = *figure;
    else
      outcome.rejected = "no figure: " + figure.error().text();
  }
  report.winner = choose(report.candidates);
  return report;
}

std::string TuneReport::winning_config() const { return winner ? candidates[*winner].config : std::string(); }

std::string TuneReport::json() const {
  llvm::json::Array all;
  for (const TuneOutcome &candidate : candidates)
    all.push_back(json_of(candidate));
  llvm::json::Value value =
      llvm::json::Object{{"kernel", kernel},
                         {"key", key},
                         {"device", device},
                         {"ranking", ranking},
                         {"unit", unit},
                         {"winner", winner ? llvm::json::Value(winning_config()) : nullptr},
                         {"candidates", std::move(all)}};
  return fmt::format("{}\n", llvm::formatv("{0:2}", value).str());
}

std::string TuningStore::path(const std::string &kernel, const std::string &key) const {
  std::string name = kernel + "-" + key;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-'; }, '_');
  return directory_ + "/" + name + ".json";
}

Status TuningStore::store(const TuneReport &report) const {
  const std::string file = path(report.kernel, report.key);
  std::error_code failed = llvm::sys::fs::create_directories(directory_);
  if (!failed) {
    llvm::raw_fd_ostream stream(file, failed);
    if (!failed) {
      stream << report.json();
      stream.close();
      failed = stream.error();
      stream.clear_error();
    }
  }
  if (failed)
    return environment_error("cannot write " + file + ": " + failed.message());
  return {};
}

std::optional<std::string> TuningStore::winner(const std::string &kernel, const std::string &key,
                                               const std::string &device) const {
  auto file = llvm::MemoryBuffer::getFile(path(kernel, key));
  if (!file)
    return std::nullopt;
  auto json = llvm::json::parse((*file)->getBuffer());
  if (!json) {
    llvm::consumeError(json.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *object = json->getAsObject();
  if (!object || object->getString("kernel") != llvm::StringRef(kernel) ||
      object->getString("key") != llvm::StringRef(key) ||
      object->getString("device") != llvm::StringRef(device))
    return std::nullopt;
  std::optional<llvm::StringRef> winner = object->getString("winner");
  return winner ? std::optional(winner->str()) : std::nullopt;
}

} // namespace nereid
