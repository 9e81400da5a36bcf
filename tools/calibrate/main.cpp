// nereid-calibrate: how near simulated times are to measured ones, and the constants that bring them nearest.
#include <algorithm>
#include <set>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/raw_ostream.h>

#include "base/output_file.h"
#include "tools/calibrate/campaigns.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/parameters.h"
#include "tools/calibrate/samples.h"
#include "tools/calibrate/study.h"
#include "tools/calibrate/times.h"
#include "tools/options.h"
#include "tools/outcome.h"
#include "tools/standard_streams.h"

using namespace nereid;
using namespace nereid::calibrate;
using tools::Outcome;

namespace {

constexpr const char *footer =
    R"(FILE.csv has the columns M,N,K,tile_m,tile_n,us: device times of C[M,N] = A[M,K] B[N,K]^T in MXFP4
by the f4gemm kernel of that tile. DIR has the code objects, as aiter ships them for gfx950.

Examples:
  nereid-calibrate --objects f4gemm --times tests/data/mi355x_a4w4_times.csv --report
  nereid-calibrate --objects f4gemm --times times.csv --fit --profiles profiles.jsonl --json
  nereid-calibrate --quick --times tests/data/mi355x_a4w4_times.csv --fit

Exit codes: 0 done, 1 a launch cannot be simulated, 2 usage or bad input, 3 environment.)";

struct Options {
  std::string objects, times, profiles;
  std::string campaigns = "public";
  bool fit = false, report = false, json = false, quick = false;
  unsigned folds = 5, threads = 0;
  size_t worst = 12, all_tiles = 0;
};

/// What a calibration reads: profiles, and the tiles that have them.
struct Input {
  std::map<Tile, TileKernel> kernels;
  std::unique_ptr<ProfileStore> store;
  ProfileSource source = calibrate::counted_profile;
  std::vector<Tile> tiles;
};

Result<std::unique_ptr<Input>> open_input(const Options &options, const std::vector<Measurement> &rows) {
  auto input = std::make_unique<Input>();
  if (options.quick) {
    std::set<Tile> tiles;
    for (const Measurement &row : rows)
      tiles.insert(row.tile);
    input->tiles.assign(tiles.begin(), tiles.end());
    return input;
  }
  NEREID_TRY(input->kernels, find_tile_kernels(options.objects));
  NEREID_TRY(input->store, ProfileStore::open(options.profiles));
  input->source = simulated_profiles(input->kernels, *input->store);
  for (const auto &[tile, kernel] : input->kernels)
    input->tiles.push_back(tile);
  return input;
}

NamedAccuracy judge(const char *name, std::string title, std::span<const Sample> samples,
                    std::span<const double> predicted, size_t worst) {
  std::vector<Prediction> predictions;
  for (size_t i = 0; i < samples.size(); ++i)
    predictions.push_back({samples[i].measured, predicted[i]});
  return {name, std::move(title), accuracy(predictions, worst)};
}

std::vector<double> predict(std::span<const Sample> samples, const sim::DeviceModel &model) {
  std::vector<double> result;
  for (const Sample &sample : samples)
    result.push_back(predicted_us(sample, model));
  return result;
}

Result<Study> study(const Options &options) {
  NEREID_TRY(std::vector<Measurement> rows, read_times(options.times));
  for (Measurement &row : rows)
    row.early = options.campaigns == "public" && measured_early(row.shape);
  NEREID_TRY(const std::unique_ptr<Input> input, open_input(options, rows));
  const unsigned threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  NEREID_TRY(const std::vector<Sample> samples, samples_of(std::move(rows), input->source, threads));

  Study result;
  std::set<std::pair<size_t, size_t>> pairs;
  for (const Sample &sample : samples) {
    pairs.insert({sample.measured.shape.n, sample.measured.shape.k});
    result.early += sample.measured.early ? 1 : 0;
  }
  result.measurements = samples.size();
  result.pairs = pairs.size();
  result.shipped.campaign_us = early_offset_us;
  std::vector<double> predicted = predict(samples, result.shipped);
  result.models.push_back(judge("shipped", "With the shipped constants", samples, predicted, options.worst));
  // Each fold leaves measurements of other pairs (N,K), and more of them than there are constants.
  if (options.fit && (pairs.size() < 2 || samples.size() < parameters().size()))
    return user_error(fmt::format("--fit of {} measurements of {} pairs (N,K): there are {} constants",
                                  samples.size(), pairs.size(), parameters().size()),
                      "Give a table with more rows, or leave out --fit");
  if (options.fit) {
    std::vector<const Sample *> all;
    for (const Sample &sample : samples)
      all.push_back(&sample);
    result.fitted = calibrate::fit(all, result.shipped).model;
    result.models.push_back(judge("fitted", "Fitted to all of these measurements", samples,
                                  predict(samples, *result.fitted), options.worst));
    result.folds = options.folds;
    predicted = cross_validate(samples, options.folds, result.shipped);
    result.models.push_back(judge(
        "cross_validated", fmt::format("Cross-validated: {} folds over whole pairs (N,K)", options.folds),
        samples, predicted, options.worst));
  }
  result.among_measured = choice_among_measured(samples, predicted);
  if (options.all_tiles > 0) {
    NEREID_TRY(result.among_all,
               winner_among_all(samples, input->tiles, options.all_tiles,
                                result.fitted.value_or(result.shipped), input->source, threads));
  }
  return result;
}

Outcome run(const Options &options) {
  if (options.objects.empty() && !options.quick)
    return user_error("there are no code objects", "give --objects DIR, or --quick to count without them");
  if (!options.profiles.empty()) {
    const NamedFile output[] = {{"--profiles", options.profiles}}, input[] = {{"--times", options.times}};
    NEREID_CHECK(check_outputs(output, input));
  }
  const auto found = study(options);
  if (!found)
    return found.error();
  Outcome outcome;
  outcome.text = study_text(*found, options.report || !options.fit);
  outcome.json = study_json(*found);
  return outcome;
}

void add_options(CLI::App &app, Options &options) {
  app.footer(footer);
  app.add_option("--objects", options.objects, "Folder of the kernels' code objects");
  app.add_option("--times", options.times, "Table of measured times (CSV)")->required();
  app.add_flag("--fit", options.fit, "Fit the constants, and cross-validate the fit");
  app.add_flag("--report", options.report, "Also by tile, worst cases, choice of tile; without --fit always");
  app.add_flag("--json", options.json, "Print one JSON object");
  app.add_option("--profiles", options.profiles,
                 "File that keeps what was simulated, so that it is simulated once");
  app.add_flag("--quick", options.quick, "Count what launches need in place of simulating them");
  app.add_option(
         "--campaigns", options.campaigns,
         "Rows with an offset of their own: those of the public MI355X table's early campaign, or none")
      ->check(CLI::IsMember({"public", "none"}))
      ->capture_default_str();
  app.add_option("--folds", options.folds, "Of the cross-validation")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  tools::Option(*app.add_option("--worst", options.worst, "Worst cases listed")).at_least(0).shows_default();
  tools::Option(*app.add_option("--all-tiles", options.all_tiles,
                                "Shapes of the table for which the measured tile is compared with all tiles"))
      .at_least(0)
      .shows_default();
  app.add_option("--threads", options.threads, "Of the host; 0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

int finish(const Outcome &outcome, bool json) {
  if (!outcome.error.empty())
    llvm::errs() << "nereid-calibrate: " << outcome.error << "\n";
  llvm::outs() << (json ? llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(outcome.json))).str()
                        : outcome.text);
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::outs().clear_error();
    return static_cast<int>(tools::ExitCode::Environment);
  }
  return static_cast<int>(outcome.code);
}

} // namespace

int main(int argc, char **argv) {
  tools::reserve_standard_streams();
  CLI::App app("Compares simulated times with measured ones and fits the constants of the device model.",
               "nereid-calibrate");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    return finish(Outcome(user_error(error.what(), "see nereid-calibrate --help")), options.json);
  }
  try {
    return finish(run(options), options.json);
  } catch (const std::exception &failure) {
    return finish(Outcome(nereid_error(failure.what(), "please report this")), options.json);
  }
}
