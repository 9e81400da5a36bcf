// Which candidate wins, by which figure, and what is set before its runs.
#include "jit/tune/tuner.h"

#include "jit/device/launch_scope.h"
#include "tests/jit/toy_tuning.h"

namespace nereid::test {
namespace {

TEST(Tuner, FindsTheBestOfWhatIsRight) {
  Toy toy;
  const ToyConfig wrong{.flaw = Flaw::Wrong};
  // A wave's work grows with the block; the grid always fits in one round.
  const ToyConfig good{.block = 256}, large{.block = 2048};
  const auto report = toy.tune(toy.request({large, wrong, good}));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->ranking, "simulated time");
  EXPECT_EQ(report->unit, "us");
  EXPECT_EQ(report->winner, 2u) << report->text();
  EXPECT_EQ(report->winning_config(), config_text(good));
  EXPECT_EQ(report->best<ToyConfig>().value().block, 256);
  EXPECT_NE(rejection(report, 1).find("differs"), std::string::npos);
  EXPECT_FALSE(report->candidates[1].record.figure);
  EXPECT_GT(report->candidates[0].record.figure, report->candidates[2].record.figure);
}

TEST(Tuner, HasNoWinnerWhenAllAreWrong) {
  Toy toy;
  const auto report = toy.tune(toy.request({{.flaw = Flaw::Wrong}}));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->winner);
  EXPECT_EQ(report->winning_config(), "");
  EXPECT_NE(report->json().find("\"winner\": null"), std::string::npos);
  const auto best = report->best<ToyConfig>();
  ASSERT_FALSE(best);
  EXPECT_NE(best.error().message.find("differs"), std::string::npos) << best.error().text();
}

TEST(Tuner, ReportsFiguresWithTheDigitsOfTheTable) {
  Toy toy;
  const FakeRanking ranking(
      [](const std::string &config, int) { return config.starts_with("block=128") ? 4.97 : 2.0000004; });
  const auto report = toy.tune(toy.request({{.block = 128}, {.block = 256}}), {.ranking = &ranking});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_NE(report->json().find("\"figure\": 4.97,"), std::string::npos) << report->json();
  EXPECT_NE(report->json().find("\"figure\": 2,"), std::string::npos) << report->json();
}

TEST(Tuner, TiesWithinTwoPercentGoToFewerLaunchesThenRegistersThenNaturalOrder) {
  Toy toy;
  const FakeRanking equal([](const std::string &config, int) {
    return config.starts_with("block=1024") ? 101.9 : config.starts_with("block=128") ? 100 : 103;
  });
  // 101.9 and 100 tie: both have one launch, and 128 takes no more registers and comes first.
  TuneRequest request = toy.request({{.block = 2048}, {.block = 1024}, {.block = 128}});
  auto report = toy.tune(request, {.ranking = &equal});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->winning_config(), "block=128,waves=4,waves_per_eu=0,flaw=none");

  // The same, launched twice, loses a tie although it is first.
  const CandidateRun once = request.candidates[2].run;
  request.candidates[2].run = [once]() -> Result<std::vector<LaunchInfo>> {
    NEREID_TRY(std::vector<LaunchInfo> launches, once());
    NEREID_TRY(const std::vector<LaunchInfo> again, once());
    launches.insert(launches.end(), again.begin(), again.end());
    return launches;
  };
  report = toy.tune(request, {.ranking = &equal});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->winning_config(), "block=1024,waves=4,waves_per_eu=0,flaw=none");
}

TEST(Tuner, ChoosesBetweenWholePaths) {
  Toy toy;
  const Buffer<float> half = toy.device.allocate<float>(toy.host.size()).value();
  TuneRequest request = toy.request({{.block = 512}});
  // Another path: a copy in between, two launches of two kernels.
  const ToyConfig config{.block = 256};
  const Kernel second("twice_again", twice);
  TuneCandidate first_half =
      candidate(toy.kernel, toy.device.stream(), {cdiv(toy.n, 256)}, config, toy.x, half, toy.n);
  TuneCandidate second_half =
      candidate(second, toy.device.stream(), {cdiv(toy.n, 256)}, config, toy.x, toy.z, toy.n);
  TuneCandidate path{.config = "path=two"};
  path.compile = [=](const Device &device) -> Result<CompiledKernels> {
    NEREID_TRY(CompiledKernels all, first_half.compile(device));
    NEREID_TRY(const CompiledKernels more, second_half.compile(device));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  path.run = [=]() -> Result<std::vector<LaunchInfo>> {
    NEREID_TRY(std::vector<LaunchInfo> all, first_half.run());
    NEREID_TRY(const std::vector<LaunchInfo> more, second_half.run());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  path.writes = second_half.writes;
  request.candidates.push_back(path);
  const auto report = toy.tune(request);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->candidates[1].record.launches, 2u);
  EXPECT_EQ(report->candidates[1].kernels.size(), 2u);
  ASSERT_TRUE(report->candidates[1].record.figure) << report->text();
  EXPECT_EQ(report->winner, 0u) << "two launches take more: " << report->text();
}

/// Each program counts itself; the last to arrive writes the result and sets the count back.
void arrive(const ToyConfig &, Ptr<i32> count, Ptr<i32> result, Int programs) {
  const Int before = atomic_add(count, 1);
  when(before == programs - 1, [&] {
    store(result, programs);
    store(count, 0);
  });
}

TEST(Tuner, RunsThatAreOnlyTimedLeaveTheMemoryToTheNextCandidate) {
  const Device device = Device::simulator();
  // More programs than are executed of a launch that is only timed.
  const int programs = 2000;
  const Buffer<int32_t> count = device.upload(std::vector<int32_t>{0}).value();
  const Buffer<int32_t> result = device.allocate<int32_t>(1).value();
  const Kernel kernel("arrive", arrive);
  TuneRequest request{.kernel = "arrive", .key = tuning_key({{"programs", programs}})};
  for (const int waves : {1, 2, 4, 8}) {
    TuneCandidate each = candidate(kernel, device.stream(), Grid{programs}, ToyConfig{.waves = waves}, count,
                                   result, programs);
    each.check = each.run;
    each.writes = {result}; // the count is what the launch before left
    request.candidates.push_back(each);
  }
  request.validate = [&]() -> Status {
    return result.to_host().value().front() == programs ? Status()
                                                        : Status(user_error("nobody was the last"));
  };
  const Result<TuneReport> report = tune(request, device.stream());
  ASSERT_TRUE(report) << report.error().text();
  for (const TuneOutcome &each : report->candidates)
    EXPECT_TRUE(each.record.figure) << report->text();
  EXPECT_EQ(count.to_host().value().front(), 0);
}

TEST(Tuner, RanksBySimulatedTimeSummedOverLaunches) {
  const Toy toy;
  std::vector<LaunchInfo> launches(2);
  launches[0].time = sim::LaunchTime{.us = 5};
  launches[1].time = sim::LaunchTime{.us = 7.5};
  const Stream stream = toy.device.stream();
  const RankedCandidate timed{stream, launches, {}, {}};
  const SimulatedTime ranking;
  EXPECT_EQ(ranking.figure(timed, 1).value(), 12.5);
  EXPECT_EQ(ranking.unit(), "us");
  EXPECT_NE(ranking.identity(), SimulatedTime(sim::CacheState::Warm).identity());
  launches[1].time.reset();
  EXPECT_FALSE(ranking.figure(timed, 1));
}

TEST(Tuner, MeasuresAsManyRunsAsAskedAndSetsMemoryBeforeEach) {
  const Toy toy;
  const Stream stream = toy.device.stream();
  const std::vector<LaunchInfo> launches;
  std::string order;
  const RankedCandidate candidate{stream, launches,
                                  [&]() -> Status {
                                    order += "set ";
                                    return {};
                                  },
                                  [&]() -> Result<std::vector<LaunchInfo>> {
                                    order += "run ";
                                    return std::vector<LaunchInfo>();
                                  }};
  const Result<double> figure = DeviceTime().figure(candidate, 3);
  ASSERT_TRUE(figure) << figure.error().text();
  EXPECT_GE(*figure, 0);
  EXPECT_EQ(order, "set run set run set run ");
}

TEST(Tuner, RanksByAnEstimateWhenAsked) {
  Toy toy;
  const Estimate estimate;
  const auto report = toy.tune(toy.request({{.block = 2048}, {.block = 256}}), {.ranking = &estimate});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->unit, "issue slots");
  EXPECT_EQ(report->winner, 1u) << report->text();
  EXPECT_FALSE(report->candidates[0].launches[0].time) << "nothing asked for it";
}

TEST(Ranking, IsTheOneOfTheDevice) { EXPECT_EQ(ranking_for(Device::simulator())->name(), "simulated time"); }

TEST(Tuner, OffTakesTheFirstWithoutLookingAtTheOthers) {
  Toy toy;
  TuneRequest request = toy.request({{.block = 512}, {.block = 256}});
  request.candidates[1].compile = [](const Device &) -> Result<CompiledKernels> { std::abort(); };
  request.validate = nullptr;
  const auto report = toy.tune(request, {.mode = TuneMode::Off});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->winner, 0u);
  EXPECT_EQ(report->candidates[0].kernels.size(), 1u);
  EXPECT_NE(rejection(report, 1).find("not tried"), std::string::npos);
  EXPECT_EQ(report->text().find("rejected"), std::string::npos) << report->text();
  EXPECT_NE(report->text().find("1 more not tried"), std::string::npos) << report->text();
}

TEST(Tuner, RefusesAModeThatTheDeviceHasNotAndRequestsThatSayTooLittle) {
  Toy toy;
  const auto refused = [](const Result<TuneReport> &report, const char *text) {
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().owner, Owner::User);
    EXPECT_NE(report.error().message.find(text), std::string::npos) << report.error().text();
  };
  refused(toy.tune(toy.request({{}}), {.mode = TuneMode::Measure}), "needs a GPU");
  refused(toy.tune(toy.request({})), "no candidate");
  refused(toy.tune(toy.request({{}, {}})), "two candidates");
  TuneRequest request = toy.request({{}});
  request.validate = nullptr;
  refused(toy.tune(request), "needs a reference");
  request = toy.request({{}});
  request.kernel.clear();
  refused(toy.tune(request), "name");
  request = toy.request({{}});
  request.candidates[0].writes.clear();
  refused(toy.tune(request), "needs to know what");
  request.candidates[0].writes.emplace_back(toy.z.at(0));
  refused(toy.tune(request), "buffer is not known");
  request.outputs.emplace_back(toy.z);
  EXPECT_TRUE(toy.tune(request));
  Toy other;
  request.restore.emplace_back(other.z);
  refused(toy.tune(request), "a buffer of restore lives on another device");
  request.restore.clear();
  request.outputs = {toy.z.at(0)};
  refused(toy.tune(request), "a range of outputs has no size");
  refused(toy.tune(other.request({{}})), "lives on another device");
}

// Without poison the second would be right by what the first left.
TEST(Tuner, PoisonsOutputsByDefault) {
  Toy toy;
  const auto report = toy.tune(toy.request({{.block = 1024}, {.block = 256, .flaw = Flaw::WritesNothing}}));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->winner, 0u);
  EXPECT_NE(rejection(report, 1).find("wrong: user error: element 0 differs"), std::string::npos)
      << report->text();
}

TEST(Tuner, ResetsRestoresAndPreparesBeforeEveryRun) {
  Toy toy;
  Buffer<float> sums = toy.device.upload(std::vector<float>(4, 1)).value();
  Buffer<float> kept = toy.device.upload(std::vector<float>(4, 3)).value();
  TuneRequest request = toy.request({{.block = 256}, {.block = 512}});
  request.reset_to_zero.emplace_back(sums);
  request.restore.emplace_back(kept);
  int prepared = 0, runs = 0;
  request.prepare = [&]() -> Status {
    ++prepared;
    EXPECT_EQ(sums.to_host().value(), std::vector<float>(4, 0));
    EXPECT_EQ(kept.to_host().value(), std::vector<float>(4, 3));
    return {};
  };
  for (TuneCandidate &candidate : request.candidates)
    candidate.run = [&, run = candidate.run] {
      ++runs;
      EXPECT_TRUE(sums.fill(7));
      EXPECT_TRUE(kept.fill(7));
      return run();
    };
  struct TwoRuns : FakeRanking {
    TwoRuns() : FakeRanking([](const std::string &, int) { return 1; }) {}
    Result<double> figure(const RankedCandidate &candidate, int) const override {
      for (int i = 0; i < 2; ++i) {
        NEREID_CHECK(candidate.before_run());
        NEREID_CHECK(candidate.run());
      }
      return 1.0;
    }
  } ranking;
  const auto report = toy.tune(request, {.ranking = &ranking});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->winner) << report->text();
  EXPECT_EQ(runs, 6);
  EXPECT_EQ(prepared, 6);
}

struct StagedConfig {
  int block = 256;
  int stages = 1;
  NEREID_CONFIG(StagedConfig, block, stages)
};

/// z = 2 x, n elements; no loop, so that stages have no effect.
void twice_staged(const StagedConfig &c, Ptr<const f32> x, Ptr<f32> z, Int n) {
  twice(ToyConfig{.block = c.block}, x, z, n);
}

TEST(Tuner, SaysWhichConfigsHaveTheSameCodeAndTimesOneOfThem) {
  Toy toy;
  const Kernel<twice_staged> kernel;
  TuneRequest request = toy.request({});
  for (const StagedConfig &config : {StagedConfig{.stages = 1}, {.block = 512}, {.stages = 2}, {.stages = 3}})
    request.candidates.push_back(
        candidate(kernel, toy.device.stream(), {cdiv(toy.n, config.block)}, config, toy.x, toy.z, toy.n));
  std::vector<std::string> timed;
  for (TuneCandidate &candidate : request.candidates)
    candidate.run = [&timed, run = candidate.run]() -> Result<std::vector<LaunchInfo>> {
      NEREID_TRY(std::vector<LaunchInfo> launches, run());
      if (launches.front().time)
        timed.push_back(launches.front().config());
      return launches;
    };
  // Of its second launch nothing is known from the first candidate.
  request.candidates[3].run = [run = request.candidates[3].run]() -> Result<std::vector<LaunchInfo>> {
    NEREID_TRY(std::vector<LaunchInfo> launches, run());
    NEREID_TRY(const std::vector<LaunchInfo> again, run());
    launches.insert(launches.end(), again.begin(), again.end());
    return launches;
  };
  const auto report = toy.tune(request);
  ASSERT_TRUE(report) << report.error().text();
  std::vector<std::optional<size_t>> same;
  for (const TuneOutcome &outcome : report->candidates)
    same.push_back(outcome.same_code_as);
  EXPECT_EQ(same, (std::vector<std::optional<size_t>>{{}, {}, 0, 0})) << report->text();
  EXPECT_EQ(timed, (std::vector<std::string>{"block=256,stages=1", "block=512,stages=1", "block=256,stages=3",
                                             "block=256,stages=3"}));
  const auto figure = [&](size_t i) { return report->candidates[i].record.figure; };
  ASSERT_TRUE(figure(0)) << report->text();
  EXPECT_EQ(figure(2), figure(0));
  EXPECT_NEAR(*figure(3), 2 * *figure(0), 0.01 * *figure(0));
  EXPECT_NE(report->text().find("(the same code as block=256,stages=1)"), std::string::npos)
      << report->text();
  EXPECT_NE(report->json().find("\"same_code_as\": \"block=256,stages=1\""), std::string::npos);
}

TEST(Tuner, HalvesWhereMeasuringCosts) {
  Toy toy;
  const FakeRanking ranking(
      [](const std::string &config, int) { return std::strtod(config.c_str() + 6, nullptr); }, {2, 8});
  const auto report = toy.tune(
      toy.request({{.block = 128}, {.block = 256}, {.block = 512}, {.block = 1024}, {.block = 2048}}),
      {.ranking = &ranking});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->winner, 0u);
  std::map<int, int> asked;
  for (const auto &[config, runs] : ranking.asked)
    ++asked[runs];
  EXPECT_EQ(asked, (std::map<int, int>{{2, 5}, {4, 3}, {8, 2}}));
  for (const TuneOutcome &outcome : report->candidates)
    EXPECT_TRUE(outcome.record.figure) << "every figure is kept";
}

TEST(Tuner, RunsTheCheckInPlaceOfTheRunWhereThereIsOne) {
  Toy toy;
  TuneRequest request = toy.request({{.block = 256}});
  std::string order;
  const CandidateRun run = request.candidates[0].run;
  request.candidates[0].check = [&, run] {
    order += "check ";
    return run();
  };
  request.candidates[0].run = [&, run] {
    order += "run ";
    return run();
  };
  request.validate = [&] {
    order += "validate ";
    return toy.check();
  };
  EXPECT_TRUE(toy.tune(request).value().winner);
  EXPECT_EQ(order, "check validate run ");
  EXPECT_FALSE(TimedLaunches::current()) << "launches outside are not timed";
}

TEST(Tuner, TellsItsProgress) {
  Toy toy;
  size_t last = 0;
  TuneOptions options;
  options.progress = [&](size_t done, size_t of) {
    EXPECT_GT(done, last);
    EXPECT_EQ(of, 4u);
    last = done;
  };
  EXPECT_TRUE(toy.tune(toy.request({{.block = 256}, {.block = 48}}), options));
  EXPECT_EQ(last, 4u);
}

} // namespace
} // namespace nereid::test
