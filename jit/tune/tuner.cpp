// Compiles, runs, checks, ranks, and keeps what it finds.
#include "jit/tune/tuner.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/float_environment.h"
#include "jit/device/launch_scope.h"
#include "jit/tune/candidate_compile.h"
#include "jit/tune/check_request.h"
#include "jit/tune/guarded_call.h"
#include "jit/tune/memory_hooks.h"
#include "jit/tune/reason_text.h"
#include "jit/tune/same_code.h"
#include "jit/tune/table_file.h"
#include "llvm/Support/JSON.h"

namespace nereid {
namespace {

std::vector<std::string> codes_of(const std::vector<LaunchInfo> &launches) {
  std::vector<std::string> codes;
  for (const LaunchInfo &launch : launches)
    codes.push_back(launch.compiled->key());
  return codes;
}

/// What is often the cause.
constexpr const char *wrong_hint = " (outputs were filled with 0xFF before: memory that the kernel reads "
                                   "belongs to restore or reset_to_zero)";

/// One call of tune().
class Tuning {
public:
  Tuning(const TuneRequest &request, const Stream &stream, const TuneOptions &options, const Ranking &ranking,
         jit::MemoryHooks hooks, KernelTunings stored, TuneReport &report)
      : request_(request), stream_(stream), options_(options), ranking_(ranking), hooks_(std::move(hooks)),
        stored_(std::move(stored)), report_(report) {}

  Status run();

private:
  std::vector<size_t> compile();
  bool is_stored(TuneOutcome &outcome) const;
  Result<std::vector<LaunchInfo>> launch(const CandidateRun &run, const std::string &what,
                                         sim::Timing timing) const;
  const std::vector<LaunchInfo> *timed_twin(size_t index);
  Status check(size_t index);
  Status rank(size_t index, int runs);
  bool reject(size_t index, const char *reason, const Status &status);
  Status keep(const std::vector<size_t> &indices);
  std::vector<size_t> better_half(const std::vector<size_t> &alive) const;
  void report_progress(size_t count);

  TuneOutcome &outcome(size_t index) { return report_.candidates[index]; }

  const TuneRequest &request_;
  const Stream &stream_;
  const TuneOptions &options_;
  const Ranking &ranking_;
  jit::MemoryHooks hooks_;
  KernelTunings stored_;
  TuneReport &report_;
  size_t done_ = 0;
};

/// Those that remain to be run.
std::vector<size_t> Tuning::compile() {
  std::vector<size_t> all(request_.candidates.size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  jit::compile_candidates(request_, all, stream_.device(), options_, ranking_.identity(), report_.candidates,
                          [&] { report_progress(1); });
  jit::find_same_code(report_.candidates);
  std::erase_if(all, [&](size_t i) { return !outcome(i).record.rejected.empty() || is_stored(outcome(i)); });
  return all;
}

bool Tuning::is_stored(TuneOutcome &outcome) const {
  const TuningRecord *record =
      stored_.find(request_.key, outcome.record.config, outcome.record.ranking, outcome.record.caches);
  if (!record || record->code != outcome.record.code || record->identity != outcome.record.identity)
    return false;
  outcome.record = *record;
  outcome.stored = true;
  return true;
}

/// Within the candidate's budget; timed if the ranking wants times.
Result<std::vector<LaunchInfo>> Tuning::launch(const CandidateRun &run, const std::string &what,
                                               sim::Timing timing) const {
  const LaunchBudget budget(options_.instructions);
  const std::optional<sim::CacheState> caches = ranking_.timed_with();
  std::optional<TimedLaunches> timed;
  if (caches)
    timed.emplace(LaunchTiming{timing, *caches});
  Result<std::vector<LaunchInfo>> launches = jit::guarded_call(what, run);
  // The simulator's own message says where it was, which depends on the host's threads.
  if (!launches && LaunchBudget::left() == 0)
    return user_error(
        fmt::format("it executed its {} wave instructions and has not ended", options_.instructions),
        "Check the bounds of its loops, or raise TuneOptions::instructions");
  return launches;
}

/// Of a candidate with the same code as another, the launches of that one where they were timed here, else
/// null.
const std::vector<LaunchInfo> *Tuning::timed_twin(size_t index) {
  const std::optional<size_t> twin = outcome(index).same_code_as;
  if (!twin || !ranking_.timed_with() || !outcome(*twin).record.rejected.empty() ||
      outcome(*twin).launches.empty())
    return nullptr;
  return &outcome(*twin).launches;
}

/// Runs and validates; rejects what is not right.
Status Tuning::check(size_t index) {
  const TuneCandidate &candidate = request_.candidates[index];
  const std::vector<LaunchInfo> *timed = candidate.check ? nullptr : timed_twin(index);
  if (reject(index, "cannot be prepared", hooks_.before_checked_run(candidate)))
    return {};
  const auto run = [&](const CandidateRun &function, const char *what, sim::Timing timing) -> Status {
    NEREID_TRY(std::vector<LaunchInfo> launches, launch(function, what, timing));
    for (const LaunchInfo &info : launches)
      if (!info.compiled)
        return user_error(fmt::format("{} gives a launch without a kernel", what),
                          "Return what the launches returned");
    outcome(index).launches = std::move(launches);
    outcome(index).record.launches = static_cast<unsigned>(outcome(index).launches.size());
    return stream_.synchronize();
  };
  if (reject(index, "does not run",
             candidate.check
                 ? run(candidate.check, "the candidate's check", sim::Timing::Off)
                 : run(candidate.run, "the candidate's run", timed ? sim::Timing::Off : sim::Timing::On)))
    return {};
  if (reject(index, "wrong", jit::guarded_call("validate", request_.validate))) {
    outcome(index).record.rejected += wrong_hint;
    return {};
  }
  if (timed && !jit::take_times(*timed, outcome(index).launches) &&
      !reject(index, "cannot be prepared", hooks_.before_run()))
    reject(index, "does not run", run(candidate.run, "the candidate's run", sim::Timing::On));
  if (!candidate.check || reject(index, "cannot be prepared", hooks_.before_run()))
    return {};
  const std::vector<std::string> checked = codes_of(outcome(index).launches);
  if (!reject(index, "does not run", run(candidate.run, "the candidate's run", sim::Timing::Only)) &&
      codes_of(outcome(index).launches) != checked)
    reject(index, "wrong", user_error("its check launches other code than its run"));
  return {};
}

Status Tuning::rank(size_t index, int runs) {
  const CandidateRun run = [&] {
    return launch(request_.candidates[index].run, "the candidate's run", sim::Timing::Off);
  };
  const RankedCandidate candidate{stream_, outcome(index).launches, [&] { return hooks_.before_run(); }, run};
  const std::function<Result<double>()> rank = [&] { return ranking_.figure(candidate, runs); };
  TuningRecord &record = outcome(index).record;
  record.figure.reset();
  NEREID_TRY(const double figure, jit::guarded_call("the ranking", rank));
  if (!std::isfinite(figure) || figure <= 0)
    return nereid_error(fmt::format("{} {} is none", figure, ranking_.unit()));
  record.figure = rounded_figure(figure);
  record.unit = ranking_.unit();
  return {};
}

bool Tuning::reject(size_t index, const char *reason, const Status &status) {
  if (status)
    return false;
  TuningRecord &record = outcome(index).record;
  record.rejected = fmt::format("{}: {}", reason, jit::reason_text(status.error()));
  // The functions of the request, its budget and the machine decide here, not the code alone.
  outcome(index).tried_again = true;
  return true;
}

Status Tuning::keep(const std::vector<size_t> &indices) {
  report_progress(indices.size());
  // A table that has everything need not be writable.
  const bool all_stored =
      std::all_of(indices.begin(), indices.end(), [&](size_t i) { return outcome(i).stored; });
  if (options_.table.empty() || all_stored)
    return {};
  return TableFile(options_.table, request_.kernel, report_.device)
      .update([&](KernelTunings &table) -> Status {
        for (const size_t i : indices) {
          // A figure of what the code was before it would fail now says nothing any more.
          if (const TuningRecord &record = outcome(i).record;
              !record.rejected.empty() && !record.code.empty())
            table.drop_other_code(record, record.code);
          if (!outcome(i).tried_again)
            table.add(outcome(i).record);
        }
        return {};
      });
}

void Tuning::report_progress(size_t count) {
  done_ += count;
  if (!options_.progress || !count)
    return;
  const std::function<Status()> show = [&] {
    options_.progress(done_, 2 * request_.candidates.size());
    return Status();
  };
  (void)jit::guarded_call("progress", show); // a display that fails costs nothing
}

/// Of the candidates that are still measured those to measure more: the better half, and what ties with the
/// best.
std::vector<size_t> Tuning::better_half(const std::vector<size_t> &alive) const {
  std::vector<double> figures;
  for (const size_t i : alive)
    figures.push_back(*report_.candidates[i].record.figure);
  std::sort(figures.begin(), figures.end());
  const double bound = std::max(figures[(figures.size() - 1) / 2], figures[0] * tie_factor);
  std::vector<size_t> better;
  for (const size_t i : alive)
    if (*report_.candidates[i].record.figure <= bound)
      better.push_back(i);
  return better;
}

Status Tuning::run() {
  std::vector<size_t> alive = compile();
  std::vector<size_t> over;
  for (size_t i = 0; i < request_.candidates.size(); ++i)
    if (std::find(alive.begin(), alive.end(), i) == alive.end())
      over.push_back(i);
  NEREID_CHECK(keep(over));

  const Rungs rungs = ranking_.rungs();
  const int first = std::max(rungs.first, 1);
  for (int runs = first; !alive.empty(); runs = std::min(2 * runs, rungs.last)) {
    const bool last = runs >= rungs.last;
    std::vector<size_t> ranked;
    for (const size_t i : alive) {
      if (runs == first)
        NEREID_CHECK(check(i));
      if (outcome(i).record.rejected.empty())
        reject(i, "no figure", rank(i, runs));
      if (last || !outcome(i).record.rejected.empty())
        NEREID_CHECK(keep({i}));
      else
        ranked.push_back(i);
    }
    if (ranked.empty())
      break;
    alive = better_half(ranked);
    std::vector<size_t> worse;
    std::set_difference(ranked.begin(), ranked.end(), alive.begin(), alive.end(), std::back_inserter(worse));
    NEREID_CHECK(keep(worse));
  }
  return {};
}

std::optional<size_t> index_of_winner(const std::vector<TuneOutcome> &candidates) {
  std::vector<const TuningRecord *> records;
  for (const TuneOutcome &candidate : candidates)
    records.push_back(&candidate.record);
  const TuningRecord *winner = winner_of(records);
  const auto found = std::find(records.begin(), records.end(), winner);
  return winner ? std::optional(static_cast<size_t>(found - records.begin())) : std::nullopt;
}

/// Compiles the first candidate and takes it.
void take_default(const TuneRequest &request, const Device &device, const TuneOptions &options,
                  TuneReport &report) {
  const size_t first[] = {0};
  jit::compile_candidates(request, first, device, options, "", report.candidates);
  for (size_t i = 1; i < report.candidates.size(); ++i) {
    report.candidates[i].record.rejected = "not tried: mode off takes the first";
    report.candidates[i].untried = true;
  }
  if (report.candidates.front().record.rejected.empty())
    report.winner = 0;
}

TuneReport empty_report(const TuneRequest &request, const Device &device, const Ranking *ranking) {
  TuneReport report;
  report.kernel = request.kernel;
  report.key = request.key;
  report.device = llvm::json::fixUTF8(device.name());
  if (ranking) {
    report.ranking = ranking->name();
    report.unit = ranking->unit();
    if (const std::optional<sim::CacheState> caches = ranking->timed_with())
      report.caches = sim::cache_state_names.at(static_cast<size_t>(*caches));
  }
  const std::string identity = ranking ? jit::ranking_digest(ranking->identity()) : std::string();
  for (const TuneCandidate &candidate : request.candidates) {
    TuneOutcome &outcome = report.candidates.emplace_back();
    outcome.record.key = request.key;
    outcome.record.config = candidate.config;
    outcome.record.ranking = report.ranking;
    outcome.record.caches = report.caches;
    outcome.record.identity = identity;
  }
  return report;
}

} // namespace

Result<TuneReport> tune(const TuneRequest &request, const Stream &stream, const TuneOptions &options) {
  const FloatEnvironment environment; // figures are compared
  NEREID_CHECK(jit::check_request(request));
  NEREID_TRY(const bool capturing, stream.is_capturing());
  if (capturing)
    return user_error("tuning '" + request.kernel + "' on a stream that is being captured",
                      "Tune before the capture");
  const Device device = stream.device();
  NEREID_TRY(const TuneMode mode, jit::mode_of(options, device));
  if (mode == TuneMode::Off) {
    TuneReport report = empty_report(request, device, nullptr);
    take_default(request, device, options, report);
    return report;
  }
  if (!request.validate)
    return user_error("tuning '" + request.kernel + "' needs a reference to compare with",
                      "Set the request's validate");
  NEREID_TRY(jit::MemoryHooks hooks, jit::MemoryHooks::make(request, stream));
  const std::unique_ptr<Ranking> own = options.ranking ? nullptr : ranking_for(device, options.caches);
  const Ranking &ranking = options.ranking ? *options.ranking : *own;
  TuneReport report = empty_report(request, device, &ranking);
  KernelTunings stored(request.kernel, report.device);
  if (!options.table.empty()) {
    NEREID_TRY(stored, TableFile(options.table, request.kernel, report.device).read());
  }
  NEREID_CHECK(Tuning(request, stream, options, ranking, std::move(hooks), std::move(stored), report).run());
  report.winner = index_of_winner(report.candidates);
  return report;
}

} // namespace nereid
