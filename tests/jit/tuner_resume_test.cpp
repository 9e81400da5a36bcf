// Tuning with a table: the same file from every run, nothing measured twice, nothing lost by a kill.
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>

#include <sys/wait.h>
#include <unistd.h>

#include "jit/tune/table_file.h"
#include "jit/tune/tuner.h"
#include "tests/jit/temporary_directory.h"
#include "tests/jit/toy_tuning.h"

namespace nereid::test {
namespace {

std::string content(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A directory for tables, and a cache that keeps processes from compiling the same kernels over again.
class Tables : public ::testing::Test {
protected:
  std::string directory(const std::string &name) const { return temporary_.path() + "/" + name; }
  std::string path(const std::string &name) const {
    return table_path(directory(name), "twice", "gfx950 simulator");
  }
  /// Tunes over all the configs, two of which are rejected; true when that gave a winner.
  static bool tune_all(const std::string &directory) {
    Toy toy;
    const auto report = toy.tune(toy.request(configs), {.table = directory, .workers = 2});
    return report && report->winner;
  }

  static inline const std::vector<ToyConfig> configs = {{.block = 256},  {.block = 512},
                                                        {.block = 1024}, {.block = 2048, .flaw = Flaw::Wrong},
                                                        {.waves = 17},   {.block = 256, .waves = 2}};

private:
  TemporaryDirectory temporary_;
  ScopedEnvironment cache_{"NEREID_CACHE_DIR", temporary_.path() + "/cache"};
};

TEST_F(Tables, HaveTheSameBytesFromEveryRun) {
  ASSERT_TRUE(tune_all(directory("one")));
  ASSERT_TRUE(tune_all(directory("two")));
  const std::string first = content(path("one"));
  EXPECT_EQ(first, content(path("two")));
  EXPECT_EQ(first.find("wrong: "), std::string::npos) << "validate may be what was wrong: " << first;
  EXPECT_NE(first.find("\"rejected\":\"does not compile: "), std::string::npos) << first;
  ASSERT_TRUE(tune_all(directory("one")));
  EXPECT_EQ(first, content(path("one"))) << "a run that finds everything stored changes nothing";
}

TEST_F(Tables, HaveTheSameBytesFromEightProcesses) {
  ASSERT_TRUE(tune_all(directory("one")));
  std::vector<pid_t> processes;
  for (int i = 0; i < 8; ++i) {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0)
      _exit(tune_all(directory("eight")) ? 0 : 1);
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(content(path("eight")), content(path("one")));
}

TEST_F(Tables, AddingAConfigMeasuresOnlyThatOne) {
  Toy toy;
  const FakeRanking ranking([](const std::string &config, int) { return static_cast<double>(config.size()); },
                            {2, 8});
  std::vector<ToyConfig> known = {{.block = 256}, {.block = 512}, {.block = 1024}, {.flaw = Flaw::Wrong}};
  const TuneOptions options{.ranking = &ranking, .table = directory("t")};
  const auto first = toy.tune(toy.request(known), options);
  ASSERT_TRUE(first) << first.error().text();
  ranking.asked.clear();
  known.insert(known.begin(), {.block = 128});
  TuneRequest request = toy.request(known);
  int runs = 0;
  for (TuneCandidate &candidate : request.candidates)
    candidate.run = [&, run = candidate.run] {
      ++runs;
      return run();
    };
  const auto report = toy.tune(request, options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(runs, 2) << "the new one, and the wrong one again";
  EXPECT_FALSE(report->candidates[0].stored);
  for (size_t i = 1; i < known.size(); ++i) {
    EXPECT_EQ(report->candidates[i].stored, i < known.size() - 1) << "what was wrong is tried again";
    EXPECT_EQ(report->candidates[i].record, first->candidates[i - 1].record);
  }
  for (const auto &[config, runs_of_it] : ranking.asked)
    EXPECT_EQ(config, config_text(known[0]));
}

TEST_F(Tables, FiguresOfOtherCodeOrRankingAreMeasuredAgain) {
  Toy toy;
  const auto stored = [&](const TuneOptions &options) {
    const auto report = toy.tune(toy.request({{.block = 256}}), options);
    EXPECT_TRUE(report) << report.error().text();
    return report && report->candidates[0].stored;
  };
  const FakeRanking fake([](const std::string &, int) { return 1; });
  EXPECT_FALSE(stored({.table = directory("t")}));
  EXPECT_TRUE(stored({.table = directory("t")}));
  EXPECT_FALSE(stored({.ranking = &fake, .table = directory("t")}));
  EXPECT_TRUE(stored({.ranking = &fake, .table = directory("t")}));
  // The same config of another kernel function, as after an edit of its source.
  struct Edited {
    static void doubles(const ToyConfig &c, Ptr<const f32> x, Ptr<f32> z, Int n) {
      Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
      Tile<i1> in_range = i < n;
      store(z + i, load(x + i, in_range) * 2.0F, in_range);
    }
  };
  TuneRequest request = toy.request({});
  const Kernel edited("twice", Edited::doubles);
  request.candidates.push_back(
      candidate(edited, toy.device.stream(), {cdiv(toy.n, 256)}, ToyConfig{}, toy.x, toy.z, toy.n));
  const auto report = toy.tune(request, {.ranking = &fake, .table = directory("t")});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(report->candidates[0].stored);
}

TEST_F(Tables, WhatTheMachineCouldNotDoIsTriedAgain) {
  Toy toy;
  const FakeRanking fake([](const std::string &, int) { return 1; });
  TuneRequest request = toy.request({{.block = 256}, {.block = 512}});
  const CandidateRun run = request.candidates[0].run;
  bool memory = false;
  request.candidates[0].run = [&]() -> Result<std::vector<LaunchInfo>> {
    return memory ? run() : environment_error("no memory is left");
  };
  const TuneOptions options{.ranking = &fake, .table = directory("t")};
  EXPECT_NE(rejection(toy.tune(request, options), 0).find("no memory is left"), std::string::npos);
  memory = true;
  const auto report = toy.tune(request, options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(report->candidates[0].stored);
  EXPECT_TRUE(report->candidates[0].record.figure);
  EXPECT_TRUE(report->candidates[1].stored);
}

TEST_F(Tables, RejectionsGoWithTheirCause) {
  const FakeRanking fake([](const std::string &, int) { return 1; });
  const auto fails_once = [&](const char *name,
                              const std::function<void(TuneRequest &, TuneOptions &)> &fail) {
    Toy toy;
    const TuneOptions options{.ranking = &fake, .table = directory(name)};
    TuneRequest broken = toy.request({{.block = 256}});
    TuneOptions for_broken = options;
    fail(broken, for_broken);
    EXPECT_NE(rejection(toy.tune(broken, for_broken), 0), "") << name;
    const auto report = toy.tune(toy.request({{.block = 256}}), options);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_FALSE(report->candidates[0].stored) << name;
    EXPECT_TRUE(report->winner) << name << ": " << report->text();
  };
  fails_once("budget", [](TuneRequest &, TuneOptions &options) { options.instructions = 10; });
  fails_once("validate", [](TuneRequest &request, TuneOptions &) {
    request.validate = []() -> Status { throw std::runtime_error("no reference"); };
  });
  fails_once("wrong", [](TuneRequest &request, TuneOptions &) {
    request.validate = [] { return Status(user_error("the reference was wrong")); };
  });
  fails_once("accept", [](TuneRequest &request, TuneOptions &) {
    request.accept = [](const CompiledKernel &) { return Status(user_error("not today")); };
  });
  const FakeRanking none([](const std::string &, int) { return -1; });
  fails_once("figure", [&](TuneRequest &, TuneOptions &options) { options.ranking = &none; });
}

TEST_F(Tables, WhatNoLongerIsRightLosesTheFigureOfItsOlderCode) {
  const FakeRanking fake([](const std::string &, int) { return 1; });
  const TuneOptions options{.ranking = &fake, .table = directory("t")};
  Toy toy;
  ASSERT_TRUE(toy.tune(toy.request({{.block = 256}}), options)->winner);
  TuneRequest edited = toy.request({{.block = 256, .flaw = Flaw::Wrong}});
  edited.candidates[0].config = config_text(ToyConfig{.block = 256});
  EXPECT_NE(rejection(toy.tune(edited, options), 0), "");
  const auto tunings = TableFile(directory("t"), "twice", "gfx950 simulator").read();
  ASSERT_TRUE(tunings) << tunings.error().text();
  EXPECT_TRUE(tunings->keys().empty()) << tunings->text();
}

TEST_F(Tables, CachesHaveFiguresOfTheirOwn) {
  Toy toy;
  const auto stored = [&](sim::CacheState caches) {
    const auto report = toy.tune(toy.request({{.block = 256}}), {.caches = caches, .table = directory("t")});
    EXPECT_TRUE(report) << report.error().text();
    return report && report->candidates[0].stored;
  };
  EXPECT_FALSE(stored(sim::CacheState::Cold));
  EXPECT_FALSE(stored(sim::CacheState::Warm));
  EXPECT_TRUE(stored(sim::CacheState::Cold));
  EXPECT_TRUE(stored(sim::CacheState::Warm));
  const std::string text = content(path("t"));
  EXPECT_NE(text.find("\"caches\":\"warm\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"caches\":\"cold\""), std::string::npos) << text;
}

TEST_F(Tables, ADamagedTableEndsTuningBeforeAnythingIsDone) {
  ASSERT_TRUE(tune_all(directory("t")));
  std::filesystem::resize_file(path("t"), 100);
  Toy toy;
  const auto report = toy.tune(toy.request(configs), {.table = directory("t")});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().owner, Owner::Environment);
  EXPECT_NE(report.error().message.find(path("t")), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path("t")), 100u);
}

TEST_F(Tables, SurviveKillsAtRandomPoints) {
  ASSERT_TRUE(tune_all(directory("whole")));
  const std::string whole = content(path("whole"));
  const int kills = std::getenv("NEREID_LONG_TESTS") ? 200 : 12;
  // Kills fall within a run, however fast the machine is: its kernels come from the cache here as below.
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(tune_all(directory("timed")));
  const std::chrono::duration<double, std::micro> run = std::chrono::steady_clock::now() - start;
  std::mt19937 random(7);
  int finished = 0;
  for (int i = 0; i < kills; ++i) {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0)
      _exit(tune_all(directory("killed")) ? 0 : 1);
    usleep(static_cast<useconds_t>(std::uniform_real_distribution<double>(0, run.count())(random)));
    kill(process, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    const auto tunings = TableFile(directory("killed"), "twice", "gfx950 simulator").read();
    ASSERT_TRUE(tunings) << tunings.error().text();
    // Every figure that is there is that of a run that was not killed.
    for (const std::string &key : tunings->keys())
      for (const TuningRecord &record : tunings->records(key))
        EXPECT_EQ(record, *KernelTunings::parse(whole, "whole")
                               .value()
                               .find(key, record.config, record.ranking, record.caches));
    if (WIFEXITED(status)) {
      ++finished;
      EXPECT_EQ(WEXITSTATUS(status), 0);
      EXPECT_EQ(content(path("killed")), whole);
      std::filesystem::remove_all(directory("killed"));
    }
  }
  EXPECT_LT(finished, kills) << "some were killed on the way";
  ASSERT_TRUE(tune_all(directory("killed")));
  EXPECT_EQ(content(path("killed")), whole);
}

} // namespace
} // namespace nereid::test
